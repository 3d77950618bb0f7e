#include "runtime/choose/one_shot_chooser.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <new>
#include <utility>

#include "model/base/text.hpp"
#include "runtime/choose/end_round.hpp"
#include "runtime/context.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
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

constexpr char line_end = '\n', field_end = ' ';

/// What rank 0 tells of a class: how long pricing it took, how long a neighbouring class is to wait, and the time that
/// trials may lose; the cheapest, and those to be timed.
std::string lines_of(const OneShotOffer& offer, Seconds pricing_s, Seconds loss_max_s) {
  std::vector<Contender> contenders{offer.cheapest};
  contenders.insert(contenders.end(), offer.trials.begin(), offer.trials.end());
  return fmt::format("{1}{0}{2}{0}{3}\n{4}\n", field_end, pricing_s,
                     patience_for(pricing_s, offer.cheapest.predicted_s.value_or(0)), loss_max_s, to_text(contenders));
}

/// The lines of all classes, which rank 0 prices. Collective. @throws Error, the same on every rank
std::vector<std::string> priced_by_rank_0(MPI_Comm comm, std::size_t classes, const OneShotChooser::Price& price,
                                          Seconds loss_max_s) {
  const auto text = found_by_rank_0(comm, [&] {
    std::string lines;
    for (std::size_t i = 0; i < classes; ++i) {
      const double begin = MPI_Wtime();
      const auto offer = price(i);
      lines += lines_of(offer, MPI_Wtime() - begin, loss_max_s);
    }
    return lines;
  });
  return insist([&] { return split(text, line_end); });
}

}  // namespace

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
  return &nearest_in(found->second.decided, wanted)->second.choice;
}

const Contender& OneShotChooser::run_of(Decided& decided, PlannerMode planner) {
  is_lasting_ = !decided.trials;
  if (is_lasting_ || planner == PlannerMode::estimate) return decided.choice;
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
    if (own->second.planner >= how.planner) return run_of(own->second, how.planner);
  } else if (!family.decided.empty()) {
    const auto& [near, decided] = *nearest_in(family.decided, wanted);
    const auto asked = ++insist([&]() -> auto& { return family.asked[wanted]; });
    // Who pays for timing pays for as much pricing, too.
    const bool is_affordable = how.planner != PlannerMode::estimate && decided.pricing_s <= how.seconds;
    if (!is_affordable && asked < patience_at(distance(near, wanted), decided.patience)) return decided.choice;
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
      std::vector<std::string> names;
      for (const auto& contender : decided.contenders) names.push_back(contender.strategy);
      tell_("Measured" + explain(trials, names));
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): it is told, and no more
    }
  const auto fastest = trials.fastest();
  decided.choice = std::move(decided.contenders[fastest]);
  decided.choice.measured_s = trials.median_s(fastest);
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
  return run_of(tried, tried.planner);
}

void OneShotChooser::decide(const std::string& family, std::span<const ExchangeClass> classes, const Price& price,
                            const HowToChoose& how) {
  assemble(comm_);
  const auto lines = priced_by_rank_0(comm_, classes.size(), price, how.seconds);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    Decided decided;
    decided.planner = how.planner;
    insist([&] {
      const auto numbers = split(lines[2 * i], field_end);
      decided.pricing_s = *parse_number<Seconds>(numbers[0]);
      decided.patience = *parse_number<std::int64_t>(numbers[1]);
      decided.contenders = parse_contenders(lines[2 * i + 1]);
      decided.choice = decided.contenders.front();
      decided.contenders.erase(decided.contenders.begin());
      if (decided.contenders.size() > 1 && how.planner != PlannerMode::estimate)
        decided.trials.emplace(decided.contenders.size(),
                               TrialBounds{.loss_max_s = *parse_number<Seconds>(numbers[2])});
    });
    auto& decisions = insist([&]() -> auto& { return families_[family].decided; });
    const auto [place, is_new] = insist([&] { return decisions.try_emplace(classes[i]); });
    if (is_new || how.planner != PlannerMode::estimate) place->second = std::move(decided);
  }
}

}  // namespace commpass
