#include "runtime/neighbor/one_stage_exchange.hpp"

#include <new>
#include <utility>

#include "model/base/error.hpp"
#include "runtime/context.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/neighbor/exchange_draft.hpp"

namespace commpass {

namespace {

void require_one_batch(const std::string& name, const BatchRequests& requests) {
  if (requests.batches() > 1) throw NotApplicable(name, "its messages do not all leave at once");
}

/// Packs datatypes with gaps itself, as the library's call does. Collective.
/// @return null on all ranks: it shares no memory
std::unique_ptr<PackedRequests> plan_contender(const Exchange::State& state, const Strategy& strategy,
                                               const TypedSide& sends, const TypedSide& receives, Failure failure) {
  const MPI_Comm comm = state.context->comm.get();
  auto packed = insist([] { return std::make_unique<PackedRequests>(); });
  TypedEdges edges;
  attempt(failure, [&] { edges = edges_of(*packed, sends, receives, false, comm); });
  if (failure) edges = {};
  ExchangeDraft draft(*state.context, state.address, {edges.from, edges.sends, edges.to, edges.receives});
  const bool are_matched = draft.begin_with_all(strategy, failure);
  auto requests = draft.finish(are_matched);
  if (strategy.path.is_shared != draft.has_landings()) return nullptr;
  packed->surround(std::move(requests));
  all_or_none(comm, [&] { require_one_batch(to_string(strategy), *packed); });
  return packed;
}

}  // namespace

Exchange plan_one_stage_exchange(const std::shared_ptr<Context>& context, const TypedSide& sends,
                                 const TypedSide& receives, OneStageContenders given, const Failure& before) {
  const MPI_Comm comm = context->comm.get();
  auto state = insist([] { return std::make_unique<Exchange::State>(); });
  state->context = context;
  state->address = context->next_address();
  auto& names = state->decision.contenders;
  std::vector<TriedRequests::Contender> contenders;
  const auto add = [&](const std::string& name, std::unique_ptr<BatchRequests> requests, bool is_kept) {
    insist([&] { contenders.push_back({std::move(requests), is_kept}); });
    insist([&] { names.push_back({name}); });
  };
  if (given.library_call) add("mpi", std::move(given.library_call), true);
  for (const auto& name : given.strategies) {
    const auto strategy = parse_strategy(name);
    if (auto planned = plan_contender(*state, strategy, sends, receives, before))
      add(name, std::move(planned), strategy.path.is_shared);
  }
  if (contenders.empty()) throw NotApplicable(given.strategies.front(), "its messages cannot go that way");
  insist([&] { static_cast<Contender&>(state->decision) = names.front(); });
  std::unique_ptr<BatchRequests> running;
  if (contenders.size() == 1) {
    running = std::move(contenders.front().requests);
  } else {
    const auto told = context->next_address();
    all_or_none(comm, [&] {
      const auto tell = [decision = &state->decision, told_on = told.further](std::size_t contender,
                                                                              TrialTimer& trials) {
        try {
          static_cast<Contender&>(*decision) = decision->contenders[contender];
        } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): it is told of an older one
        }
        decision->measured_s = trials.median_s(contender);
      };
      auto tried = std::make_unique<TriedRequests>(
          std::move(contenders), TriedRequests::Trials{0, given.calls_ahead, told.comm, told.tag, tell});
      state->tried = tried.get();
      running = std::move(tried);
    });
  }
  state->executor = insist([&] { return std::make_unique<Executor>(std::move(running)); });
  return Exchange(std::move(state));
}

}  // namespace commpass
