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

/// The exchanges after which pricing a class like this takes a tenth of their time.
std::int64_t patience_for(Seconds pricing, Seconds exchange) {
  constexpr double most_part = 0.1;
  const double wanted = std::ceil(pricing / (most_part * std::max(exchange, 1e-12)));
  return static_cast<std::int64_t>(std::clamp(wanted, 1.0, static_cast<double>(most_patience)));
}

/// The same for a class that is farther away.
std::int64_t patience_at(int distance, std::int64_t of_neighbour) {
  constexpr int most_shift = 62;
  return of_neighbour >> std::min(2 * (distance - 1), most_shift);
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
  tried_ = &decided;
  return decided.contenders[decided.trials->next()];
}

const Contender& OneShotChooser::choose(const std::string& name, const ExchangeClass& wanted, const Price& price,
                                        const HowToChoose& how) {
  tried_ = nullptr;
  is_lasting_ = false;
  auto& family = insist([&]() -> auto& { return families_[name]; });
  const auto own = family.decided.find(wanted);
  if (own != family.decided.end()) {
    if (own->second.how.planner >= how.planner) return run_of(own->second, how.planner);
  } else if (!family.decided.empty()) {
    const auto& [near, decided] = *nearest_in(family.decided, wanted);
    const auto asked = ++insist([&]() -> auto& { return family.asked[wanted]; });
    // Who pays for timing pays for as much pricing, too.
    const bool is_affordable = how.planner != PlannerMode::estimate && decided.pricing_s <= how.seconds;
    if (!is_affordable && asked < patience_at(distance(near, wanted), decided.patience)) return decided;
  }
  decide(name, std::span(&wanted, 1), price, how);
  family.asked.erase(wanted);
  return run_of(family.decided.at(wanted), how.planner);
}

/// Of the trials of a class. Where they are over, the result stays.
void OneShotChooser::end_round(Decided& decided) {
  auto& trials = *decided.trials;
  end_round_together(comm_, trials);
  if (!trials.is_over()) return;
  if (tell_) try {
      tell_("Measured" + explain(trials, decided.contenders));
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): it is told, and no more
    }
  decided.take_fastest(trials);
  decided.trials.reset();
}

void OneShotChooser::note(Seconds seconds) {
  auto& tried = *std::exchange(tried_, nullptr);
  if (tried.trials->note(seconds)) end_round(tried);
}

const Contender& OneShotChooser::choose_another() {
  auto& tried = *std::exchange(tried_, nullptr);
  if (tried.trials->next() == 0) tried.trials.reset();  // without the baseline nothing is found
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
      decision.patience = patience_for(decision.pricing_s, decision.predicted_s.value_or(0));
    }
    return decisions;
  };
  auto told = decided_by_rank_0(comm_, price_all);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    Decided decided{std::move(told[i])};
    decided.how.planner = how.planner;
    if (decided.contenders.size() > 1 && how.planner != PlannerMode::estimate)
      insist(
          [&] { decided.trials.emplace(decided.contenders.size(), TrialBounds{.loss_max_s = decided.how.seconds}); });
    auto& decisions = insist([&]() -> auto& { return families_[family].decided; });
    const auto [place, is_new] = insist([&] { return decisions.try_emplace(classes[i]); });
    if (is_new || how.planner != PlannerMode::estimate) place->second = std::move(decided);
  }
}

}  // namespace commpass
