#include "runtime/neighbor/neighbor_exchange.hpp"

#include <algorithm>
#include <functional>

#include "model/mixed.hpp"
#include "model/route/catalogue.hpp"
#include "runtime/choose/selection.hpp"
#include "runtime/context.hpp"
#include "runtime/device/piece_kernels.hpp"
#include "runtime/execute/pushed_requests.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/neighbor/exchange_draft.hpp"
#include "runtime/neighbor/exchange_state.hpp"
#include "runtime/neighbor/plan_cache.hpp"
#include "runtime/neighbor/program_trials.hpp"
#include "runtime/neighbor/trials.hpp"
#include "runtime/plan/planning.hpp"
#include "runtime/planned_exchanges.hpp"

namespace commpass {

Exchange::Exchange(std::unique_ptr<State> state) : state_(std::move(state)) {}
void Exchange::start() { state_->executor->start(); }  // whose time TriedRequests::begin() counts
bool Exchange::test() {
  return state_->run([](Executor& executor) { return executor.test(); });
}
void Exchange::wait() {
  state_->run([](Executor& executor) { executor.wait(); });
}
const std::string& Exchange::strategy() const { return state_->decision.strategy; }
std::optional<Seconds> Exchange::predicted_seconds() const { return state_->decision.predicted_s; }
std::optional<Seconds> Exchange::measured_seconds() const { return state_->decision.measured_s; }
const std::string& Exchange::explanation() const { return state_->decision.explanation; }
Bytes Exchange::buffer_bytes() const { return state_->buffer_bytes; }
Bytes Exchange::bytes_to_other_nodes() const { return state_->bytes_to_other_nodes; }

Bytes bytes_to_other_nodes(const Plan& plan, const Context& context) {
  const auto& layout = context.layout;
  Bytes sum = 0;
  for (const auto& batch : plan.batches)
    for (const auto& message : batch.sends)
      if (layout.node(message.peer) != layout.node(context.comm.rank())) sum += message.bytes;
  return sum;
}

Exchange exchange_of_plan(const std::shared_ptr<Context>& context, const Context::Address& address, const Plan& plan,
                          const void* send_buffer, void* receive_buffer, Decision decision,
                          std::unique_ptr<Landings> landings) {
  const auto landing_bytes = landings ? landings->bytes() : 0;
  const auto by_messages = [&](const Plan& of) {
    return std::make_unique<PersistentRequests>(of, address.comm, address.tag, send_buffer, receive_buffer,
                                                context->machine, host_memory(), RequestLife::persistent,
                                                context->send_limits());
  };
  auto requests = push_where_shared(plan, std::move(landings), address.comm, host_memory(), by_messages).first;
  return Exchange(std::make_unique<Exchange::State>(
      Exchange::State{.context = context,
                      .address = address,
                      .decision = std::move(decision),
                      .buffer_bytes = plan.transit_bytes + plan.packing_bytes + landing_bytes,
                      .bytes_to_other_nodes = bytes_to_other_nodes(plan, *context),
                      .executor = std::make_unique<Executor>(std::move(requests))}));
}

namespace {

/// The wish of a rank, until all have agreed on it.
struct Intent {
  Strategy strategy;
  std::optional<SelectionOptions> selection;  ///< unless the strategy is named
  Decision decision;
  std::optional<WisdomKey> key{};     ///< see PlannedDecision
  DataPath path;                      ///< that is named
  PlanCache::Entry* known = nullptr;  ///< a known plan
  Failure failure;
};

/// May the exchange try contenders? By default this is bounded: each contender may take buffers, and a communicator for
/// the MPI library's collective, of which libraries have a few thousand. Further plans of a pattern stay cheap.
bool may_try(const Context& context, const ExchangeOptions& options, bool is_known) {
  constexpr int tried_by_default_max = 64;
  return options.planner || context.planner || (!is_known && context.tried_exchanges < tried_by_default_max);
}

/// The wish for a known plan. It includes whether the MPI library's communicator is free, whether contenders are tried
/// again, and what trials have found, on which all ranks must agree.
/// @param found  by trials in exchanges of the pattern so far
std::uint64_t number_of_known(const PlanCache::Entry& entry, bool tries,
                              const std::optional<TrialResult::Found>& found) {
  return mixed({entry.number, entry.has_free_graph() ? 1U : 0U, tries ? 1U : 0U, found ? 1 + found->contender : 0});
}

/// The decision that trials of the same pattern have led to.
void take_result(Decision& decision, const TrialResult::Found& found) {
  static_cast<Contender&>(decision) = decision.contenders[found.contender];
  decision.measured_s = found.measured_s;
  decision.explanation += decision.strategy + " was the fastest in exchanges of this pattern, which have tried them.\n";
  decision.contenders.clear();
}

Intent intend_known(PlanCache::Entry& entry, bool tries, const std::optional<TrialResult::Found>& found,
                    ExchangeDraft& draft, const Failure& before) {
  Intent intent;
  intent.known = &entry;
  intent.failure = before;
  attempt(intent.failure, [&] {
    const auto& known = *entry.known;
    intent.decision = known.decision;
    intent.key = known.key;
    const auto number = found ? found->contender : known.trials ? known.decision.incumbent() : 0;
    if (found) take_result(intent.decision, *found);
    if (!tries && !intent.decision.contenders.empty()) {
      intent.decision.contenders.clear();
      intent.decision.explanation += "This one tries none: an earlier plan of the pattern does.\n";
    }
    const auto& way = known.ways[number];
    intent.path = way.path;
    draft.use(intent.decision.requests);
    draft.begin_again(way, entry.free_graph(way));
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
    const auto how = how_to_choose(context, options.planner, options.planner_seconds);
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
/// @param tries  may contenders be tried in exchanges of the program? That of rank 0 holds
void decide(const Context& context, const Context::Address& address, const BuffersAndEdges& given,
            const DeviceUse& devices, bool tries, Intent& intent) {
  intent.selection->added_value_bytes = given.added_value_bytes();
  // Sums keep the order of their additions, and so their bits. Trials do not wait for a device. Of a family the caller
  // has named all that may run.
  auto& planner = intent.selection->how.planner;
  if (planner == PlannerMode::adaptive &&
      (given.sums || devices.is_used || intent.selection->automatic || !context.may_try_calls || !tries))
    planner = PlannerMode::estimate;
  auto planned = decide_planned(context, given.sends, given.are_values, devices, *intent.selection,
                                [&](Decision& priced) { choose_by_trials(context, address, given, priced); });
  auto& chosen = planned.decision;
  all_or_none(context.comm.get(), [&] {
    chosen.explanation.insert(0, intent.decision.explanation);
    intent.strategy = parse_strategy(chosen.strategy);
    if (intent.selection->automatic) intent.strategy.path = intent.path;
    else intent.path = intent.strategy.path;
    chosen.strategy = to_string(intent.strategy);
  });
  if (chosen.how.planner != PlannerMode::adaptive || context.layout.ranks() == 1) chosen.contenders.clear();
  intent.decision = std::move(chosen);
  intent.key = std::move(planned.key);
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

/// Plans the contenders that the program's exchanges try. Collective.
/// @param incumbent  is planned already
/// @return in the order of the decision's contenders
std::vector<PlannedContender> plan_all(const Context& context, const Context::Address& address,
                                       const BuffersAndEdges& given, Intent& intent,
                                       std::vector<PlannedContender> incumbent) {
  const auto number = intent.decision.incumbent();
  auto planned = intent.known ? plan_again(context, address, given, *intent.known, number)
                              : plan_contenders(context, address, given, intent.decision.contenders, number);
  planned[intent.decision.incumbent()] = std::move(incumbent.front());  // some may be gone
  return planned;
}

}  // namespace

Exchange plan_exchange(const std::shared_ptr<Context>& context, const void* send_buffer,
                       std::span<const SendEdge> sends, void* receive_buffer, std::span<const ReceiveEdge> receives,
                       const ExchangeOptions& options, const Failure& before, Summation* sums) {
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
  const auto found = known && known->known->trials ? known->known->trials->found() : std::nullopt;
  const bool tries = may_try(*context, options, known != nullptr);
  const auto wish = known ? number_of_known(*known, tries, found) : number_of(name);  // before the draft uses the graph
  auto intent =
      known ? intend_known(*known, tries, found, draft, failure) : intend(*context, name, options, draft, failure);
  // If all ranks have the same wish, no broadcast is needed.
  auto opening = open_planning(comm, intent.failure, wish, draft.mismatch(), devices);
  const bool is_elsewhere = opening.is_same_strategy && known && known->known->is_on_device != opening.devices.is_used;
  if (!opening.is_same_strategy || is_elsewhere) {
    const auto common = broadcast(comm, name);
    intent = intend(*context, common, options, draft, failure);
    opening = open_planning(comm, intent.failure, number_of(common), draft.mismatch(), devices);
  }
  if (opening.has_failed) agree(comm, intent.failure);
  if (intent.selection) decide(*context, address, given, opening.devices, tries, intent);
  bool are_edges_matched = opening.are_edges_matched;
  draft.use(intent.decision.requests);
  const bool shares_copies = intent.path.copies > 1 && opening.devices.is_used;
  if (shares_copies) draft.share_copies(intent.path.copies);
  if (!draft.is_begun()) are_edges_matched = draft.begin_with_all(intent.strategy, intent.failure);
  auto requests = draft.finish(are_edges_matched);
  auto planned = insist([] { return std::vector<PlannedContender>(1); });
  planned.front() = {std::move(requests), draft.way(), draft.graph(), draft.buffer_bytes()};
  if (!intent.decision.contenders.empty()) planned = plan_all(*context, address, given, intent, std::move(planned));
  if (planned.size() == 1) intent.decision.contenders.clear();
  const bool has_trials = planned.size() > 1;
  if (has_trials) ++context->tried_exchanges;
  const auto told = has_trials ? context->next_address() : Context::Address();
  auto result = intent.known ? intent.known->known->trials : nullptr;
  if (has_trials && !intent.known)
    insist([&] {
      result = std::make_shared<TrialResult>();
      intent.decision.explanation += describe_trials(intent.decision.contenders);
    });
  const auto known_from_now_on = [&] {
    KnownPlan plan{
        options,    {sends.begin(), sends.end()}, {receives.begin(), receives.end()}, intent.decision, {}, result,
        intent.key, opening.devices.is_used,      given.added_value_bytes()};
    for (const auto& each : planned) plan.ways.push_back(each.way);
    return plan;
  };
  std::shared_ptr<NeighborGraph> graph;  // of the one that the MPI library runs
  Bytes buffer_bytes = 0;
  for (const auto& each : planned) {
    if (each.graph) graph = each.graph;
    buffer_bytes += each.buffer_bytes;
  }
  if (intent.known) plans.use(*intent.known);
  else if (intent.path.copies == 1) plans.keep(std::cref(known_from_now_on), graph);
  if (opening.devices.is_used) {
    insist([&] { tell_path(intent.decision, intent.path); });
    insist([&] { intent.decision.explanation += tell_packing(given); });
  }
  auto state = insist([] { return std::make_unique<Exchange::State>(); });
  *state = {context,
            std::move(address),
            std::move(intent.decision),
            buffer_bytes,
            bytes_to_other_nodes(draft.run(), *context),
            std::move(graph)};
  std::unique_ptr<BatchRequests> running;
  if (!has_trials) {
    running = std::move(planned.front().requests);
  } else {
    std::unique_ptr<TriedRequests> tried;
    all_or_none(comm, [&] {
      tried = try_contenders(*state, std::move(planned), told, std::move(result), std::move(intent.key));
    });
    state->tried = tried.get();
    running = std::move(tried);
  }
  state->executor = insist([&] { return std::make_unique<Executor>(std::move(running)); });
  return Exchange(std::move(state));
}

}  // namespace commpass
