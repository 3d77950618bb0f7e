#include "runtime/choose/one_shot_chooser.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/base/text.hpp"
#include "runtime/context.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

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

/// What rank 0 tells of a choice besides the name of its strategy.
struct Numbers {
  Seconds predicted_s = 0, pricing_s = 0;
  std::int64_t survey_interval = 0, has_prediction = 0, patience = 0;
};
static_assert(std::is_trivially_copyable_v<Numbers>);

Numbers numbers_of(const OneShotChoice& choice, Seconds pricing) {
  return {choice.predicted_s.value_or(0), pricing, choice.survey_interval, choice.predicted_s.has_value(),
          patience_for(pricing, choice.predicted_s.value_or(0))};
}

OneShotChoice choice_of(const std::string& strategy, const Numbers& numbers) {
  OneShotChoice choice{strategy, {}, static_cast<int>(numbers.survey_interval)};
  if (numbers.has_prediction) choice.predicted_s = numbers.predicted_s;
  return choice;
}

// Of names of strategies: those of a class are that of the cheapest, and those to be timed.
constexpr char class_separator = '\n', trial_separator = ';';

/// What rank 0 offers for a class, how long that took, and how long a neighbouring class is to wait.
struct Offered {
  OneShotOffer offer;
  Seconds pricing_s = 0;
  std::int64_t patience = 0;
};

/// Collective. @throws Error, the same on every rank
std::vector<Offered> offered_by_rank_0(MPI_Comm comm, std::size_t classes, const OneShotChooser::Price& price,
                                       bool with_trials) {
  std::string names;
  std::vector<Numbers> numbers;
  const auto tell = [&](const OneShotChoice& choice, Seconds pricing) {
    names += choice.strategy;
    numbers.push_back(numbers_of(choice, pricing));
  };
  all_or_none(comm, [&] {
    if (rank_in(comm) != 0) return;
    for (std::size_t i = 0; i < classes; ++i) {
      const double begin = MPI_Wtime();
      const auto offer = price(i);
      const Seconds pricing = MPI_Wtime() - begin;
      if (i > 0) names += class_separator;
      tell(offer.cheapest, pricing);
      if (!with_trials) continue;
      for (const auto& trial : offer.trials) {
        names += trial_separator;
        tell(trial, pricing);
      }
    }
  });
  names = broadcast(comm, names);
  std::vector<std::vector<std::string>> of_classes;
  insist([&] {
    of_classes.clear();
    std::size_t count = 0;
    for (const auto& line : split(names, class_separator)) {
      of_classes.push_back(split(line, trial_separator));
      count += of_classes.back().size();
    }
    numbers.resize(count);
  });
  COMMPASS_MPI_CALL(MPI_Bcast, numbers.data(), static_cast<int>(numbers.size() * sizeof(Numbers)), MPI_BYTE, 0, comm);
  return insist([&] {
    std::vector<Offered> offered;
    auto next = numbers.cbegin();
    for (const auto& strategies : of_classes) {
      offered.push_back({{choice_of(strategies.front(), *next)}, next->pricing_s, next->patience});
      ++next;
      for (std::size_t i = 1; i < strategies.size(); ++i)
        offered.back().offer.trials.push_back(choice_of(strategies[i], *next++));
    }
    return offered;
  });
}

}  // namespace

int distance(const ExchangeClass& a, const ExchangeClass& b) {
  int most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

HowToChoose how_to_choose(const Context& context, std::optional<PlannerMode> planner, std::optional<Seconds> seconds) {
  if (seconds) check_planner_seconds(*seconds);
  const auto mode = planner.value_or(context.planner);
  if (!context.may_try_calls || context.layout.ranks() == 1) return {};
  return {mode, seconds.value_or(default_planner_seconds(mode))};
}

std::function<void(const std::string& text)> telling_of_trials(const Context& context, const char* what) {
  if (!context.verbose || context.comm.rank() != 0) return {};
  return [what](const std::string& text) {
    for (const char* const part : {"commpass: ", what, ": ", text.c_str()}) std::fputs(part, stderr);
  };
}

OneShotChooser::Decisions::const_iterator OneShotChooser::nearest_in(const Decisions& decided,
                                                                     const ExchangeClass& wanted) {
  if (const auto found = decided.find(wanted); found != decided.end()) return found;
  return std::ranges::min_element(decided, {}, [&](const auto& entry) { return distance(entry.first, wanted); });
}

const OneShotChoice* OneShotChooser::nearest(const std::string& family, const ExchangeClass& wanted) const {
  const auto found = families_.find(family);
  if (found == families_.end() || found->second.decided.empty()) return nullptr;
  return &nearest_in(found->second.decided, wanted)->second.choice;
}

const OneShotChoice& OneShotChooser::run_of(Decided& decided, const HowToChoose& how) {
  if (!decided.trials || how.planner == PlannerMode::estimate) return decided.choice;
  tried_ = &decided;
  return decided.trials->next();
}

const OneShotChoice& OneShotChooser::choose(const std::string& name, const ExchangeClass& wanted, const Price& price,
                                            const HowToChoose& how) {
  tried_ = nullptr;
  auto& family = insist([&]() -> auto& { return families_[name]; });
  const auto own = family.decided.find(wanted);
  if (own != family.decided.end()) {
    if (own->second.planner >= how.planner) return run_of(own->second, how);
  } else if (!family.decided.empty()) {
    const auto& [near, decided] = *nearest_in(family.decided, wanted);
    const auto asked = ++insist([&]() -> auto& { return family.asked[wanted]; });
    // Who pays for timing pays for as much pricing, too.
    const bool is_affordable = how.planner != PlannerMode::estimate && decided.pricing_s <= how.seconds;
    if (!is_affordable && asked < patience_at(distance(near, wanted), decided.patience)) return decided.choice;
  }
  decide(name, std::span(&wanted, 1), price, how);
  family.asked.erase(wanted);
  return run_of(family.decided.at(wanted), how);
}

/// The result stays.
void OneShotChooser::end_trials(Decided& decided) {
  if (tell_) tell_(decided.trials->explanation());
  decided.choice = decided.trials->take();
  decided.trials.reset();
}

void OneShotChooser::note(Seconds seconds) {
  auto& tried = *std::exchange(tried_, nullptr);
  tried.trials->add(seconds);
  if (tried.trials->is_over()) end_trials(tried);
}

const OneShotChoice& OneShotChooser::choose_another() {
  auto& tried = *std::exchange(tried_, nullptr);
  if (!tried.trials->drop()) tried.trials.reset();
  else if (tried.trials->is_over()) end_trials(tried);
  if (!tried.trials) return tried.choice;
  tried_ = &tried;
  return tried.trials->next();
}

void OneShotChooser::decide(const std::string& family, std::span<const ExchangeClass> classes, const Price& price) {
  decide(family, classes, price, {});
}

void OneShotChooser::decide(const std::string& family, std::span<const ExchangeClass> classes, const Price& price,
                            const HowToChoose& how) {
  assemble(comm_);
  const bool with_trials = how.planner != PlannerMode::estimate;
  auto offered = offered_by_rank_0(comm_, classes.size(), price, with_trials);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    auto& offer = offered[i].offer;
    std::unique_ptr<OneShotTrials> trials;
    if (offer.trials.size() > 1)
      trials = insist([&] { return std::make_unique<OneShotTrials>(comm_, offer.trials, how.seconds); });
    auto& decisions = insist([&]() -> auto& { return families_[family].decided; });
    const auto [place, is_new] = insist([&] { return decisions.try_emplace(classes[i]); });
    if (!is_new && !with_trials) continue;
    place->second = {std::move(offer.cheapest), offered[i].pricing_s, offered[i].patience, how.planner,
                     std::move(trials)};
  }
}

}  // namespace commpass
