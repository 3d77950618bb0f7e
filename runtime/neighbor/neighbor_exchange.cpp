#include "runtime/neighbor/neighbor_exchange.hpp"

#include <algorithm>
#include <functional>

#include "model/mixed.hpp"
#include "model/route/catalogue.hpp"
#include "runtime/choose/selection.hpp"
#include "runtime/context.hpp"
#include "runtime/device/piece_kernel.hpp"
#include "runtime/execute/pushed_requests.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/neighbor/exchange_draft.hpp"
#include "runtime/neighbor/exchange_state.hpp"
#include "runtime/neighbor/plan_cache.hpp"
#include "runtime/neighbor/trials.hpp"
#include "runtime/plan/planning.hpp"
#include "runtime/planned_exchanges.hpp"

namespace commpass {

Exchange::Exchange(std::unique_ptr<State> state) : state_(std::move(state)) {}
void Exchange::start() { state_->executor->start(); }
bool Exchange::test() { return state_->executor->test(); }
void Exchange::wait() { state_->executor->wait(); }
const std::string& Exchange::strategy() const { return state_->decision.strategy; }
std::optional<Seconds> Exchange::predicted_seconds() const { return state_->decision.predicted_s; }
std::optional<Seconds> Exchange::measured_seconds() const { return state_->decision.measured_s; }
const std::string& Exchange::explanation() const { return state_->decision.explanation; }
Bytes Exchange::buffer_bytes() const { return state_->buffer_bytes; }
Bytes Exchange::bytes_to_other_nodes() const { return state_->bytes_to_other_nodes; }

namespace {

Bytes bytes_to_other_nodes(const Plan& plan, const Context& context) {
  const auto& layout = context.layout;
  Bytes sum = 0;
  for (const auto& batch : plan.batches)
    for (const auto& message : batch.sends)
      if (layout.node(message.peer) != layout.node(context.comm.rank())) sum += message.bytes;
  return sum;
}

}  // namespace

Exchange exchange_of_plan(const std::shared_ptr<Context>& context, const Context::Address& address, const Plan& plan,
                          const void* send_buffer, void* receive_buffer, Decision decision,
                          std::unique_ptr<Landings> landings) {
  const auto landing_bytes = landings ? landings->bytes() : 0;
  auto by_messages = std::make_unique<PersistentRequests>(
      landings ? landings->rest_of(plan) : plan, address.comm, address.tag, send_buffer, receive_buffer,
      context->machine, host_memory(), RequestLife::persistent, context->send_limits());
  std::unique_ptr<BatchRequests> requests;
  if (landings)
    requests = std::make_unique<PushedRequests>(plan, std::move(landings), std::move(by_messages), address.comm,
                                                host_memory());
  else requests = std::move(by_messages);
  return Exchange(std::make_unique<Exchange::State>(
      Exchange::State{context, address, std::move(decision), plan.transit_bytes + plan.packing_bytes + landing_bytes,
                      bytes_to_other_nodes(plan, *context), std::make_unique<Executor>(std::move(requests))}));
}

namespace {

/// The wish of a rank, until all have agreed on it.
struct Intent {
  Strategy strategy;
  std::optional<SelectionOptions> selection;  ///< unless the strategy is named
  Decision decision;
  DataPath path;                      ///< that is named
  PlanCache::Entry* known = nullptr;  ///< a known plan
  Failure failure;
};

/// The wish for a known plan. It includes whether the MPI library's communicator is free, on which all ranks must
/// agree.
std::uint64_t number_of_known(const PlanCache::Entry& entry) {
  return mixed({entry.number, entry.has_free_graph() ? 1U : 0U});
}

Intent intend_known(PlanCache::Entry& entry, ExchangeDraft& draft, const Failure& before) {
  Intent intent;
  intent.known = &entry;
  intent.failure = before;
  attempt(intent.failure, [&] {
    intent.decision = entry.known->decision;
    intent.path = entry.known->path;
    draft.begin_again(*entry.known, entry.has_free_graph() ? entry.graph : nullptr);
  });
  return intent;
}

/// @param name  of a strategy; empty: the choice
Intent intend(const Context& context, const std::string& name, const ExchangeOptions& options, ExchangeDraft& draft,
              const Failure& before) {
  Intent intent;
  intent.failure = before;
  draft.reset();
  attempt(intent.failure, [&] {
    const bool is_named = !name.empty();
    auto how = how_to_choose(context, options.planner, options.planner_seconds);
    // Starts of planned exchanges have no collective in which ranks could agree on trials.
    if (how.planner == PlannerMode::adaptive) how.planner = PlannerMode::estimate;
    if (is_named) {
      intent.strategy = parse_strategy(name);
      intent.path = intent.strategy.path;
      intent.decision.strategy = to_string(intent.strategy);
      intent.decision.explanation = name + " was named by the caller or COMMPASS_STRATEGY.\n";
    }
    if (!is_named || is_automatic(intent.strategy)) {
      intent.strategy.path = {};
      intent.selection = SelectionOptions{options.model,
                                          options.calls,
                                          options.most_edges_gathered,
                                          context.threads,
                                          is_named ? std::optional(intent.strategy) : std::nullopt,
                                          context.grid,
                                          how};
    } else if (pattern_need(intent.strategy) == PatternNeed::nothing && intent.path.copies == 1) {
      draft.begin(intent.strategy);
    }
  });
  return intent;
}

/// Chooses a strategy that is not named. Collective.
void decide(const Context& context, const Context::Address& address, const BuffersAndEdges& given,
            const DeviceUse& devices, Intent& intent) {
  intent.selection->added_value_bytes = given.added_value_bytes();
  auto chosen = decide_planned(context, given.sends, given.are_values, devices, *intent.selection,
                               [&](Decision& priced) { choose_by_trials(context, address, given, priced); });
  all_or_none(context.comm.get(), [&] {
    chosen.explanation.insert(0, intent.decision.explanation);
    intent.strategy = parse_strategy(chosen.strategy);
    if (intent.selection->automatic) intent.strategy.path = intent.path;
    else intent.path = intent.strategy.path;
    chosen.strategy = to_string(intent.strategy);
  });
  chosen.contenders.clear();
  intent.decision = std::move(chosen);
}

DeviceUse use_of_devices(const DeviceSides& sides) {
  return {sides.any(), sides.any() && !sides.device().backend->is_known_to_mpi()};
}

/// The reason why no kernel copies many small blocks on a device, if none does.
std::string tell_packing(const BuffersAndEdges& given) {
  const auto& sides = given.sides;
  if (!sides.any() || std::max(given.sends.size(), given.receives.size()) < worth_a_kernel) return {};
  const auto why = sides.device().backend->why_no_kernel(sides.device().number);
  return why.empty() ? why : "Blocks on devices are copied one by one: " + why + "\n";
}

/// Data on devices is staged where no path is named or has a price.
void tell_path(Decision& decision, const DataPath& named) {
  if (!named.is_host()) return;
  auto strategy = decision.strategy + to_string(DataPath{DataPath::Kind::staged});
  decision.explanation += "Data on devices is copied to host memory, exchanged there and copied back.\n";
  decision.strategy = std::move(strategy);
}

}  // namespace

Exchange plan_exchange(const std::shared_ptr<Context>& context, const void* send_buffer,
                       std::span<const SendEdge> sends, void* receive_buffer, std::span<const ReceiveEdge> receives,
                       const ExchangeOptions& options, const Failure& before, const Summation* sums) {
  const MPI_Comm comm = context->comm.get();
  auto& plans = *context->plans;
  auto address = context->next_address();
  BuffersAndEdges given{send_buffer, sends, receive_buffer, receives, {}, options.are_values, sums};
  Failure failure = before;
  attempt(failure, [&] { given.sides = find_device_sides(send_buffer, sends, receive_buffer, receives); });
  const auto devices = use_of_devices(given.sides);
  ExchangeDraft draft(*context, address, given);
  const auto& name = options.strategy.empty() ? context->named.strategy : options.strategy;
  auto* const known = options.anew ? nullptr : plans.find(options, sends, receives, given.added_value_bytes());
  const auto wish = known ? number_of_known(*known) : number_of(name);  // before the draft uses the graph
  auto intent = known ? intend_known(*known, draft, failure) : intend(*context, name, options, draft, failure);
  // If all ranks have the same wish, no broadcast is needed.
  auto opening = open_planning(comm, intent.failure, wish, draft.mismatch(), devices);
  const bool is_elsewhere = opening.is_same_strategy && known && known->known->is_on_device != opening.devices.is_used;
  if (!opening.is_same_strategy || is_elsewhere) {
    const auto common = broadcast(comm, name);
    intent = intend(*context, common, options, draft, failure);
    opening = open_planning(comm, intent.failure, number_of(common), draft.mismatch(), devices);
  }
  if (opening.has_failed) agree(comm, intent.failure);
  if (intent.selection) decide(*context, address, given, opening.devices, intent);
  bool are_edges_matched = opening.are_edges_matched;
  draft.use(intent.decision.requests);
  const bool shares_copies = intent.path.copies > 1 && opening.devices.is_used;
  if (shares_copies) draft.share_copies(intent.path.copies);
  if (!draft.is_begun()) are_edges_matched = draft.begin_with_all(intent.strategy, intent.failure);
  auto executor = draft.finish(are_edges_matched);
  const auto known_from_now_on = [&] {
    return KnownPlan{options,
                     {sends.begin(), sends.end()},
                     {receives.begin(), receives.end()},
                     intent.decision,
                     draft.plan(),
                     draft.is_run_by_library(),
                     intent.path,
                     opening.devices.is_used,
                     given.added_value_bytes()};
  };
  if (intent.known) plans.use(*intent.known);
  else if (intent.path.copies == 1) plans.keep(std::cref(known_from_now_on), draft.graph());
  if (opening.devices.is_used) {
    insist([&] { tell_path(intent.decision, intent.path); });
    insist([&] { intent.decision.explanation += tell_packing(given); });
  }
  auto state = insist([] { return std::make_unique<Exchange::State>(); });
  *state = {context,
            std::move(address),
            std::move(intent.decision),
            draft.buffer_bytes(),
            bytes_to_other_nodes(draft.run(), *context),
            std::move(executor)};
  return Exchange(std::move(state));
}

}  // namespace commpass
