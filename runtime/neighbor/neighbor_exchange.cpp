#include "runtime/neighbor/neighbor_exchange.hpp"

#include <algorithm>
#include <variant>

#include "model/error.hpp"
#include "model/route/catalogue.hpp"
#include "runtime/choose/gather_pattern.hpp"
#include "runtime/choose/selection.hpp"
#include "runtime/context.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/execute/library_executor.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"

namespace commpass {

struct Exchange::State {
  std::shared_ptr<Context> context;  ///< keeps the MPI communicator alive, and
  Context::Address address;          ///< that on which it sends, if it is another
  Decision decision;
  Bytes buffer_bytes = 0;
  std::variant<std::unique_ptr<Executor>, std::unique_ptr<LibraryExecutor>> executor;  ///< last, so that it goes first
};

Exchange::Exchange(std::unique_ptr<State> state) : state_(std::move(state)) {}
Exchange::~Exchange() = default;
Exchange::Exchange(Exchange&&) noexcept = default;
Exchange& Exchange::operator=(Exchange&&) noexcept = default;
void Exchange::start() {
  std::visit([](auto& executor) { executor->start(); }, state_->executor);
}
bool Exchange::test() {
  return std::visit([](auto& executor) { return executor->test(); }, state_->executor);
}
void Exchange::wait() {
  std::visit([](auto& executor) { executor->wait(); }, state_->executor);
}
const std::string& Exchange::strategy() const { return state_->decision.strategy; }
std::optional<Seconds> Exchange::predicted_seconds() const { return state_->decision.predicted_s; }
const std::string& Exchange::explanation() const { return state_->decision.explanation; }
Bytes Exchange::buffer_bytes() const { return state_->buffer_bytes; }

namespace {

struct Chosen {
  Strategy strategy;
  Decision decision;
};

/// What is named, or the cheapest. Collective.
Chosen choose(Context& context, std::span<const SendEdge> sends, const ExchangeOptions& options) {
  const MPI_Comm comm = context.comm.get();
  auto named = broadcast(comm, options.strategy);
  std::string named_as;
  Chosen chosen;
  std::optional<SelectionOptions> selection;
  all_or_none(comm, [&] {
    if (named.empty()) named = context.named.strategy;
    std::optional<Strategy> wanted;
    if (!named.empty()) {
      wanted = parse_strategy(named);
      named_as = named + " was named by the caller or COMMPASS_STRATEGY.\n";
      chosen.decision = {to_string(*wanted), std::nullopt, named_as};
    }
    if (!wanted || is_automatic(*wanted))
      selection = SelectionOptions{options.model, options.calls, options.most_edges_gathered, context.threads, wanted};
  });
  if (selection) chosen.decision = select_strategy(comm, context.layout, context.machine, sends, *selection);
  all_or_none(comm, [&] {
    if (selection) chosen.decision.explanation.insert(0, named_as);
    chosen.strategy = parse_strategy(chosen.decision.strategy);
  });
  return chosen;
}

void require_buffers(const void* send_buffer, std::span<const SendEdge> sends, const void* receive_buffer,
                     std::span<const ReceiveEdge> receives) {
  const auto has_bytes = [](const auto& edge) { return edge.bytes > 0; };
  if ((!send_buffer && std::ranges::any_of(sends, has_bytes)) ||
      (!receive_buffer && std::ranges::any_of(receives, has_bytes)))
    throw InputError("exchange", "a buffer is null but has edges", "give the buffer");
}

}  // namespace

Exchange plan_exchange(const std::shared_ptr<Context>& context, const void* send_buffer,
                       std::span<const SendEdge> sends, void* receive_buffer, std::span<const ReceiveEdge> receives,
                       const ExchangeOptions& options) {
  const MPI_Comm comm = context->comm.get();
  assemble(comm);
  auto chosen = choose(*context, sends, options);
  const auto& strategy = chosen.strategy;
  const auto tables = share_tables(comm, strategy, context->layout, sends);
  std::unique_ptr<Route> route;
  all_or_none(comm, [&] {
    route = make_route(strategy, context->layout, tables);
    if (is_run_by_library(*route) && !NeighborhoodCollective::is_available())
      throw NotApplicable(chosen.decision.strategy, "the MPI library that runs has no neighbourhood collectives");
    require_buffers(send_buffer, sends, receive_buffer, receives);
  });
  const auto plan = make_plan(comm, *route, strategy.window, sends, receives, strategy.coalescing);
  const auto address = context->next_address();
  std::unique_ptr<Exchange::State> state;
  all_or_none(comm, [&] {
    state = std::make_unique<Exchange::State>(
        Exchange::State{context, address, std::move(chosen.decision), plan.transit_bytes + plan.packing_bytes, {}});
    if (!is_run_by_library(*route))
      state->executor = std::make_unique<Executor>(plan, address.comm, address.tag, send_buffer, receive_buffer);
  });
  if (is_run_by_library(*route))
    state->executor =
        insist([&] { return std::make_unique<LibraryExecutor>(plan, comm, send_buffer, receive_buffer); });
  return Exchange(std::move(state));
}

}  // namespace commpass
