#include "runtime/sparse/sparse_chooser.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "model/base/error.hpp"
#include "runtime/choose/decision.hpp"
#include "runtime/choose/environment_names.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/nonblocking_reduction.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/sparse/slot_window.hpp"
#include "runtime/sparse/sparse_call.hpp"
#include "runtime/sparse/staged_routes.hpp"
#include "selector/choose/ties.hpp"

namespace commpass {

namespace {

/// Traffic that the first exchange is chosen for: a few small messages.
constexpr double first_messages = 8, first_bytes = 64;

/// On each rank, for a trial that is not the cheapest by price.
constexpr Bytes most_window_to_try = Bytes{1} << 24;

/// For messages of the size of those of the largest sender.
Bytes window_bytes(const SparseTraffic& traffic, Rank ranks) {
  const auto bytes = traffic.messages_max > 0 ? traffic.bytes_max / traffic.messages_max : 0;
  return SlotWindow::bytes_of_window(ranks, SlotWindow::slot_bytes_for(bytes));
}

// Families of strategies:
const std::string any, without_slots = "without slots", any_shared = "shared",
                       shared_without_slots = "shared without slots";

}  // namespace

SparseChooser::SparseChooser(std::shared_ptr<const Context> context, MPI_Comm comm, const TallyOperation& combine)
    : context_(std::move(context)),
      comm_(comm),
      combine_(combine),
      tells_misfit_(context_->verbose && rank_in(comm) == 0),
      chooser_(context_->comm.get(), telling_of_trials(*context_, "sparse exchange")) {
  if (context_->unpriced.empty()) decide_first();
}

Tally SparseChooser::told_by_all(const Tally& own) {
  NonblockingReduction reduction;
  insist([&] { reduction.start_tally(comm_, own.numbers(), combine_); });
  reduction.wait();
  const auto all = Tally::of(reduction.result());
  require_same_bytes(all);
  return all;
}

bool SparseChooser::fits(const SparseRequest& request) {
  const auto& named = context_->named.sparse;
  if (request.can_put || !discovery_row(parse_sparse_strategy(named).discovery).constant_size_only) return true;
  if (tells_misfit_)
    tell_misfit("COMMPASS_SPARSE_STRATEGY", named,
                request.constant ? "an exchange that has no slots" : "messages of different sizes", {});
  tells_misfit_ = false;
  return false;
}

SparseChosen SparseChooser::choose(const SparseRequest& request, std::optional<Tally>& all) {
  constexpr const char *by_caller = "it was named by the caller", *by_environment = "COMMPASS_SPARSE_STRATEGY names it";
  if (const auto& named = request.options.strategy; !named.empty()) {
    auto strategy = insist([&] { return parse_sparse_strategy(named); });
    if (discovery_row(strategy.discovery).constant_size_only && !request.constant)
      throw NotApplicable(named, "messages have different sizes");
    return {std::move(strategy), {}, by_caller, true};
  }
  if (const auto& named = context_->named.sparse; !named.empty() && insist([&] { return fits(request); }))
    return {insist([&] { return parse_sparse_strategy(named); }), {}, by_environment};
  if (!context_->unpriced.empty()) {
    warn_unpriced(context_->unpriced, rank_in(comm_));
    return {insist([&] { return parse_sparse_strategy(unpriced_sparse); }), {}, "no strategy has a price"};
  }
  if (const auto numbers = survey_.complete()) known_ = Tally::of(*numbers).statistics;
  // What one rank knows of this exchange must not decide: the others do not know it.
  if (request.constant && request.blocking && !known_ && !request.options.messages && context_->layout.ranks() > 1) {
    all = told_by_all(request.own);
    known_ = all->statistics;
  }
  // How large the messages of this exchange are, only their senders know; so whether there are slots must not depend on
  // that.
  return cheapest(request);
}

SparseChosen SparseChooser::cheapest(const SparseRequest& request) {
  const auto& options = request.options;
  const auto& layout = context_->layout;
  const bool knows = known_ && !options.messages;
  const double messages = options.messages.value_or(first_messages),
               bytes = options.messages ? options.bytes : first_bytes;
  const auto wanted = knows ? class_of(*known_, layout.ranks()) : class_of_expected(messages, bytes, layout);
  const bool has_memory = request.has_memory && !context_->machine.shared.empty();
  const auto how = how_to_try_calls(*context_, options.planner, options.planner_seconds);
  const auto price = [&](std::size_t) {
    return price_of(knows ? *known_ : expected_traffic(messages, bytes, layout), request.may_make_slots, has_memory,
                    how.planner);
  };
  const auto& family = has_memory ? (request.may_make_slots ? any_shared : shared_without_slots)
                                  : (request.may_make_slots ? any : without_slots);
  const auto nearest = [&]() -> auto& {
    const auto* const near = chooser_.nearest(family, wanted);
    return near ? *near : *chooser_.nearest(without_slots, wanted);  // of which some are decided first
  };
  const auto& choice = request.blocking ? chooser_.choose(family, wanted, std::cref(price), how) : nearest();
  return {
      insist([&] { return parse_sparse_strategy(choice.strategy); }), choice.predicted_s,
      choice.measured_s ? "nothing that was timed in earlier exchanges is faster"
      : knows
          ? "it is the fastest by prediction, or the simplest of its ties, for about what all ranks have sent before"
      : options.messages ? "it is the fastest by prediction, or the simplest of its ties, for about what the hint says"
                         : "it is the fastest by prediction, or the simplest of its ties, for a few small messages: "
                           "nothing is known yet",
      false, request.blocking && chooser_.is_trial()};
}

SparseChosen SparseChooser::choose_another(const SparseChosen& tried) {
  const auto& choice = chooser_.choose_another();
  return {insist([&] { return parse_sparse_strategy(choice.strategy); }), choice.predicted_s, tried.reason, false,
          chooser_.is_trial()};
}

/// On rank 0.
Decision SparseChooser::price_of(const SparseTraffic& statistics, bool has_slots, bool has_memory,
                                 PlannerMode planner) {
  constexpr bool constant_size = true;  // puts are left out where there are no slots
  if (!prices_) prices_.emplace(context_->layout, context_->machine, constant_size);
  const auto choice_of = [](const SparseCandidate& candidate) {
    return Contender{to_string(candidate.strategy), candidate.seconds, longest_survey_interval};
  };
  auto ranking = prices_->rank(statistics);
  std::erase_if(ranking, [&](const SparseCandidate& candidate) {
    return (!has_slots && discovery_row(candidate.strategy.discovery).constant_size_only) ||
           (!has_memory && candidate.strategy.route.path.is_shared);
  });
  Decision decision{choice_of(ranking.front())};
  if (planner == PlannerMode::estimate) return decision;
  if (planner == PlannerMode::adaptive) {
    const auto simplest = std::ranges::find(
        ranking, unpriced_sparse, [](const SparseCandidate& candidate) { return to_string(candidate.strategy); });
    if (simplest - ranking.begin() > 1) std::rotate(ranking.begin() + 1, simplest, simplest + 1);
  }
  // Trials keep their communicators all the time, and their window for as long as this.
  std::set<std::string> routes;
  const bool has_large_window = window_bytes(statistics, context_->layout.ranks()) > most_window_to_try;
  const auto tied_s = (1 + uncertainty_for_trials(context_->machine, context_->layout)) *
                      std::ranges::min(ranking, {}, &SparseCandidate::seconds).seconds;
  const auto is_tried = [&](const SparseCandidate& candidate) {
    const auto& strategy = candidate.strategy;
    if (planner == PlannerMode::adaptive && &candidate != ranking.data() && candidate.seconds > tied_s &&
        to_string(strategy) != unpriced_sparse)
      return false;
    if (&candidate != ranking.data() && discovery_row(strategy.discovery).constant_size_only && has_large_window)
      return false;
    if (strategy.is_direct()) return true;
    const auto route = StagedRoutes::name_of(strategy);
    if (routes.size() == StagedRoutes::most_split && !routes.contains(route)) return false;
    routes.insert(route);
    return true;
  };
  decision.contenders = contenders_of(std::span<const SparseCandidate>(ranking), planner, choice_of, is_tried);
  return decision;
}

/// For numbers and sizes of messages that are far apart, so that any exchange has something near. Collective.
void SparseChooser::decide_first() {
  struct Expected {
    double messages = first_messages, bytes = first_bytes;
  };
  std::vector<Expected> expected{{}};
  std::vector<ExchangeClass> classes;
  insist([&] {
    expected.resize(1);
    classes.clear();
    for (double messages = 1; messages < context_->layout.ranks(); messages *= 8)
      for (const double bytes : {8.0, 512.0, 32768.0, 2097152.0}) expected.push_back({messages, bytes});
    for (const auto& e : expected) classes.push_back(class_of_expected(e.messages, e.bytes, context_->layout));
  });
  const auto price = [&](std::size_t i) {
    return price_of(expected_traffic(expected[i].messages, expected[i].bytes, context_->layout), false, false,
                    PlannerMode::estimate);
  };
  chooser_.decide(without_slots, classes, std::cref(price));
}

void SparseChooser::add_received(SparseTraffic& sends) const {
  sends.received_messages_max = own_.received_messages_max;
  sends.received_bytes_max = own_.received_bytes_max;
}

void SparseChooser::learn(const SparseCall& call) {
  own_.received_messages_max = own_.received_bytes_max = 0;
  for (const auto& message : call.received()) {
    if (message.source == rank_in(comm_)) continue;
    ++own_.received_messages_max;
    own_.received_bytes_max += std::ssize(message.bytes);
  }
  const bool is_due = survey_.is_due();
  if (call.combined()) known_ = call.combined()->statistics;
  else if (is_due)
    survey_.begin([&](NonblockingReduction& reduction) {
      reduction.start_tally(comm_, Tally{{}, 0, own_}.numbers(), combine_);
    });
}

}  // namespace commpass
