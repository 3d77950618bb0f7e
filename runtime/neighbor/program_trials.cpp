#include "runtime/neighbor/program_trials.hpp"

#include <algorithm>
#include <deque>
#include <new>
#include <utility>

#include "runtime/choose/known_wisdom.hpp"
#include "runtime/choose/one_shot_chooser.hpp"
#include "runtime/context.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/neighbor/exchange_draft.hpp"

namespace commpass {

std::string describe_trials(std::span<const Contender> contenders) {
  std::string names;
  for (const auto& contender : contenders) names += (names.empty() ? "" : ", ") + contender.strategy;
  return "Prices cannot tell which is the fastest, so exchanges of the program try: " + names + ".\n";
}

std::vector<PlannedContender> plan_again(const Context& context, const Context::Address& address,
                                         const BuffersAndEdges& given, const PlanCache::Entry& entry, std::size_t but) {
  const auto& known = *entry.known;
  std::vector<PlannedContender> planned;
  std::deque<ExchangeDraft> drafts;
  all_or_none(context.comm.get(), [&] {
    planned.resize(known.ways.size());
    for (std::size_t i = 0; i < known.ways.size(); ++i) {
      auto& draft = drafts.emplace_back(context, address, given);
      draft.use(known.decision.contenders[i].requests);
      if (i != but) draft.begin_again(known.ways[i], entry.free_graph(known.ways[i]));
    }
  });
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    if (i == but) continue;
    auto requests = drafts[i].finish(true);
    planned[i] = {std::move(requests), known.ways[i], drafts[i].graph(), drafts[i].buffer_bytes()};
  }
  return planned;
}

namespace {

/// The effects of trials in the program's exchanges, on this rank.
struct Trying {
  Exchange::State& state;
  std::vector<Contender> contenders;
  std::vector<Bytes> buffer_bytes, bytes_to_other_nodes;  ///< of each
  std::shared_ptr<TrialResult> result;
  std::optional<WisdomKey> key;
  std::shared_ptr<const OwnCommunicator> told_on;  ///< see Context::Address

  /// What needs memory is left out where there is none.
  void take(std::size_t contender, TrialTimer& trials) {
    auto& decision = state.decision;
    if (!trials.is_over()) return without_memory([&] { static_cast<Contender&>(decision) = contenders[contender]; });
    contenders[contender].measured_s = trials.median_s(contender);
    without_memory([&] {
      const auto text = explain(trials, contenders);
      decision.explanation += "Measured in exchanges of the program" + text;
      if (const auto tell = telling_of_trials(*state.context, "planned exchange")) tell("Measured" + text);
    });
    static_cast<Contender&>(decision) = std::move(contenders[contender]);
    for (std::size_t i = 0; i < contenders.size(); ++i)
      if (i != contender) state.buffer_bytes -= buffer_bytes[i];
    state.bytes_to_other_nodes = bytes_to_other_nodes[contender];
    result->keep({contender, decision.measured_s.value_or(0)});
    if (key) without_memory([&] { keep_wisdom(*state.context->wisdom, *key, decision); });
  }

 private:
  template <class Action>
  static void without_memory(Action action) {
    try {
      action();
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): see take()
    }
  }
};

}  // namespace

std::unique_ptr<TriedRequests> try_contenders(Exchange::State& state, std::vector<PlannedContender> planned,
                                              const Context::Address& told, std::shared_ptr<TrialResult> result,
                                              std::optional<WisdomKey> key) {
  // Eight rounds, in which three contenders take a third longer, and in which times are told, lose about as much as a
  // hundredth of these.
  constexpr double calls_of_a_plan = 2000, calls_max = 1e9;
  const auto& decision = state.decision;
  Trying trying{state, decision.contenders, {}, {}, std::move(result), std::move(key), told.further};
  std::vector<TriedRequests::Contender> contenders;
  for (auto& each : planned) {
    trying.buffer_bytes.push_back(each.way.path.is_shared ? 0 : each.buffer_bytes);
    trying.bytes_to_other_nodes.push_back(bytes_to_other_nodes(*each.way.plan, *state.context));
    contenders.push_back({std::move(each.requests), each.way.path.is_shared});
  }
  return std::make_unique<TriedRequests>(
      std::move(contenders),
      TriedRequests::Trials{decision.incumbent(),
                            static_cast<std::int64_t>(std::min(decision.calls.value_or(calls_of_a_plan), calls_max)),
                            told.comm, told.tag,
                            [trying = std::move(trying)](std::size_t contender, TrialTimer& trials) mutable {
                              trying.take(contender, trials);
                            }});
}

}  // namespace commpass
