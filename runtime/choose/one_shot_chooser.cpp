#include "runtime/choose/one_shot_chooser.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <new>
#include <utility>

#include "runtime/context.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/timed_start.hpp"

namespace commpass {

namespace {

constexpr std::int64_t most_patience = 1 << 16;

constexpr double pricing_share = 0.1;  // of the time of exchanges

/// The exchanges after which pricing a class like this takes a tenth of their time.
std::int64_t patience_for(Seconds pricing, Seconds exchange) {
  const double wanted = std::ceil(pricing / (pricing_share * std::max(exchange, 1e-12)));
  return static_cast<std::int64_t>(std::clamp(wanted, 1.0, static_cast<double>(most_patience)));
}

/// The same for a class that is farther away.
std::int64_t patience_at(int distance, std::int64_t of_neighbour) {
  constexpr int most_shift = 62;
  return of_neighbour >> std::min(2 * (distance - 1), most_shift);
}

/// What an exchange takes by price; of a contender without one that is by another. 0: none has one
Seconds seconds_of(const Decision& decision) {
  const auto priced = std::ranges::find_if(
      decision.contenders, [](const Contender& contender) { return contender.predicted_s.has_value(); });
  const auto other_s = priced == decision.contenders.end() ? 0 : *priced->predicted_s;
  return decision.predicted_s.value_or(other_s);
}

}  // namespace

HowToChoose how_to_try_calls(const Context& context, std::optional<PlannerMode> planner,
                             std::optional<Seconds> seconds) {
  const auto how = how_to_choose(context, planner, seconds);
  return context.may_try_calls && context.layout.ranks() > 1 ? how : HowToChoose{};
}

std::function<void(const std::string& text)> telling_of_trials(const Context& context, const char* what) {
  if (!context.verbose || context.comm.rank() != 0) return {};
  return [what](const std::string& text) {
    for (const char* const part : {"commpass: ", what, ": ", text.c_str()}) std::fputs(part, stderr);
  };
}

void begin_together(MPI_Comm comm) {
  assemble(comm);
  common_start(comm);
}

OneShotChooser::Decisions::const_iterator OneShotChooser::nearest_in(const Decisions& decided,
                                                                     const ExchangeClass& wanted) {
  if (const auto found = decided.find(wanted); found != decided.end()) return found;
  return std::ranges::min_element(decided, {}, [&](const auto& entry) { return distance(entry.first, wanted); });
}

const Contender* OneShotChooser::nearest(const std::string& family, const ExchangeClass& wanted) const {
  const auto found = families_.find(family);
  if (found == families_.end() || found->second.decided.empty()) return nullptr;
  return &nearest_in(found->second.decided, wanted)->second;
}

const Contender& OneShotChooser::run_of(Decided& decided, PlannerMode planner) {
  is_lasting_ = !decided.trials;
  if (is_lasting_ || planner == PlannerMode::estimate) return decided;
  if (decided.pace) {
    if (decided.calls_left > 0) {
      --decided.calls_left;
      is_lasting_ = true;
      calls_left_ = &decided.calls_left;
      return decided;
    }
    tried_at_s_ = MPI_Wtime();
  }
  tried_ = &decided;
  if (decided.pace && !decided.pace->knows_call()) return decided;
  return decided.contenders[decided.trials->next()];
}

const Contender& OneShotChooser::choose(const std::string& name, const ExchangeClass& wanted, const Price& price,
                                        const HowToChoose& how) {
  tried_ = nullptr;
  is_lasting_ = false;
  calls_left_ = nullptr;
  auto& family = insist([&]() -> auto& { return families_[name]; });
  const auto has_to_wait = [&](double patience) {
    return static_cast<double>(++insist([&]() -> auto& { return family.asked[wanted]; })) < patience;
  };
  const auto own = family.decided.find(wanted);
  if (own != family.decided.end()) {
    auto& decided = own->second;
    if (decided.how.planner >= how.planner) return run_of(decided, how.planner);
    // Pricing anew for trials by a share takes the same share.
    constexpr double ratio = pricing_share / TrialBudget::default_share;
    if (how.planner == PlannerMode::adaptive && has_to_wait(ratio * static_cast<double>(decided.patience)))
      return decided;
  } else if (!family.decided.empty()) {
    const auto& [near, decided] = *nearest_in(family.decided, wanted);
    // Who pays for timing pays for as much pricing, too.
    const bool is_affordable = how.planner >= PlannerMode::measure && decided.pricing_s <= how.seconds;
    if (has_to_wait(static_cast<double>(patience_at(distance(near, wanted), decided.patience))) && !is_affordable)
      return decided;
  }
  decide(name, std::span(&wanted, 1), price, how);
  family.asked.erase(wanted);
  return run_of(family.decided.at(wanted), how.planner);
}

void OneShotChooser::begin_trials(Decided& decided) {
  const auto& contenders = decided.contenders;
  const bool has_pace = decided.how.planner == PlannerMode::adaptive;
  insist([&] {
    decided.trials.emplace(contenders.size(),
                           has_pace ? TrialPace::bounds : TrialBounds{.loss_max_s = decided.how.seconds});
  });
  if (!has_pace) return;
  // Contenders are prepared in about the time in which they are priced.
  insist(
      [&] { decided.pace = std::make_unique<TrialPace>(contenders.size(), decided.incumbent(), decided.pricing_s); });
  decided.calls_left = TrialPace::calls_before;
}

/// A round of trials with a pace, or the time of a call of the incumbent.
void OneShotChooser::end_paced(Decided& decided, std::span<const Seconds> times) {
  auto& pace = *decided.pace;
  const double begin_s = MPI_Wtime();
  pace.add_elapsed(begin_s - tried_at_s_);
  const auto told = pace.tell(times);
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, told.data(), static_cast<int>(told.size()), MPI_DOUBLE, MPI_MAX,
                    comm_);
  pace.add_elapsed(MPI_Wtime() - begin_s);
  auto& trials = *decided.trials;
  decided.calls_left = pace.knows_call() ? pace.end_round(trials) : pace.end_call();
  if (trials.is_over() || trials.is_running(pace.incumbent())) return;
  pace.replace_incumbent(trials.fastest());
  insist([&] { static_cast<Contender&>(decided) = decided.contenders[pace.incumbent()]; });
}

/// Of the trials of a class. Where they are over, the result stays.
void OneShotChooser::end_round(Decided& decided) {
  auto& trials = *decided.trials;
  if (decided.pace) end_paced(decided, trials.round());
  else end_round_together(comm_, trials);
  if (!trials.is_over()) return;
  if (tell_) try {
      tell_("Measured" + explain(trials, decided.contenders));
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): it is told, and no more
    }
  decided.take_fastest(trials);
  decided.trials.reset();
  decided.pace.reset();
}

void OneShotChooser::note(Seconds seconds) {
  auto& tried = *std::exchange(tried_, nullptr);
  if (tried.pace && !tried.pace->knows_call()) return end_paced(tried, std::span(&seconds, 1));
  if (tried.trials->note(seconds)) end_round(tried);
  else if (tried.pace) tried.pace->add_elapsed(MPI_Wtime() - tried_at_s_);
}

const Contender& OneShotChooser::choose_another() {
  auto& tried = *std::exchange(tried_, nullptr);
  const bool is_call = tried.pace && !tried.pace->knows_call();
  if (is_call || tried.trials->next() == 0) tried.trials.reset();  // without the baseline nothing is found
  else if (tried.trials->drop_next()) end_round(tried);
  return run_of(tried, tried.how.planner);
}

void OneShotChooser::decide(const std::string& family, std::span<const ExchangeClass> classes, const Price& price,
                            const HowToChoose& how) {
  assemble(comm_);
  const auto price_all = [&] {
    std::vector<Decision> decisions;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const double begin = MPI_Wtime();
      auto& decision = decisions.emplace_back(price(i));
      decision.how = how;
      decision.pricing_s = MPI_Wtime() - begin;
      decision.patience = patience_for(decision.pricing_s, seconds_of(decision));
    }
    return decisions;
  };
  auto told = decided_by_rank_0(comm_, price_all);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    Decided decided{std::move(told[i])};
    decided.how.planner = how.planner;
    if (decided.contenders.size() > 1 && how.planner != PlannerMode::estimate) begin_trials(decided);
    auto& decisions = insist([&]() -> auto& { return families_[family].decided; });
    const auto [place, is_new] = insist([&] { return decisions.try_emplace(classes[i]); });
    if (is_new || how.planner != PlannerMode::estimate) place->second = std::move(decided);
  }
}

}  // namespace commpass
