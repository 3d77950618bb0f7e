#include "runtime/neighbor/neighbor_exchange.hpp"

#include "model/route/catalogue.hpp"
#include "runtime/choose/gather_pattern.hpp"
#include "runtime/choose/selection.hpp"
#include "runtime/context.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/neighbor/exchange_draft.hpp"
#include "runtime/plan/opening.hpp"

namespace commpass {

struct Exchange::State {
  std::shared_ptr<Context> context;  ///< keeps the MPI communicator alive, and
  Context::Address address;          ///< that on which it sends, if it is another
  Decision decision;
  Bytes buffer_bytes = 0;
  std::unique_ptr<Executor> executor;  ///< last, so that it goes first
};

Exchange::Exchange(std::unique_ptr<State> state) : state_(std::move(state)) {}
Exchange::~Exchange() = default;
Exchange::Exchange(Exchange&&) noexcept = default;
Exchange& Exchange::operator=(Exchange&&) noexcept = default;
void Exchange::start() { state_->executor->start(); }
bool Exchange::test() { return state_->executor->test(); }
void Exchange::wait() { state_->executor->wait(); }
const std::string& Exchange::strategy() const { return state_->decision.strategy; }
std::optional<Seconds> Exchange::predicted_seconds() const { return state_->decision.predicted_s; }
const std::string& Exchange::explanation() const { return state_->decision.explanation; }
Bytes Exchange::buffer_bytes() const { return state_->buffer_bytes; }

Exchange plan_exchange(const std::shared_ptr<Context>& context, const void* send_buffer,
                       std::span<const SendEdge> sends, void* receive_buffer, std::span<const ReceiveEdge> receives,
                       const ExchangeOptions& options, const Failure& before) {
  const MPI_Comm comm = context->comm.get();
  auto address = context->next_address();
  ExchangeDraft draft(*context, address, {send_buffer, sends, receive_buffer, receives});
  Strategy strategy;
  std::optional<SelectionOptions> selection;  // unless the strategy is named
  Decision decision;
  Failure failure;
  const auto open = [&](const std::string& name) {
    failure = before;
    selection.reset();
    draft.reset();
    attempt(failure, [&] {
      const bool is_named = !name.empty();
      decision = {};
      if (is_named) {
        strategy = parse_strategy(name);
        decision = {to_string(strategy), std::nullopt, name + " was named by the caller or COMMPASS_STRATEGY.\n"};
      }
      if (!is_named || is_automatic(strategy))
        selection = SelectionOptions{options.model,
                                     options.calls,
                                     options.most_edges_gathered,
                                     context->threads,
                                     is_named ? std::optional(strategy) : std::nullopt,
                                     context->grid};
      else if (pattern_need(strategy) == PatternNeed::nothing) draft.begin(strategy);
    });
    return open_planning(comm, failure, name, draft.mismatch());
  };
  const auto& name = options.strategy.empty() ? context->named.strategy : options.strategy;
  auto opening = open(name);  // ranks that name the same need not tell each other first
  if (!opening.is_same_strategy) opening = open(broadcast(comm, name));
  if (opening.has_failed) agree(comm, failure);
  if (selection) {
    auto chosen = select_strategy(comm, context->layout, context->machine, sends, *selection);
    all_or_none(comm, [&] {
      chosen.explanation.insert(0, decision.explanation);
      strategy = parse_strategy(chosen.strategy);
    });
    decision = std::move(chosen);
  }
  if (!draft.is_begun()) {
    const auto tables = share_tables(comm, strategy, context->layout, sends);
    attempt(failure, [&] { draft.begin(strategy, tables); });
    opening = open_planning(comm, failure, {}, draft.mismatch());
    if (opening.has_failed) agree(comm, failure);
  }
  auto executor = draft.finish(opening.are_edges_matched);
  auto state = insist([] { return std::make_unique<Exchange::State>(); });
  *state = {context, std::move(address), std::move(decision), draft.buffer_bytes(), std::move(executor)};
  return Exchange(std::move(state));
}

}  // namespace commpass
