#include "runtime/choose/decision.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "model/base/text.hpp"
#include "model/cost/cost.hpp"
#include "model/route/strategy.hpp"
#include "runtime/choose/warn_once.hpp"
#include "runtime/context.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

namespace {

/// The endings of names that say how data on devices gets into messages, each once. For data in host memory, and where
/// no path has a price, the empty one: MPI's messages.
std::vector<std::string> paths_of(std::span<const Contender> contenders) {
  std::vector<std::string> paths;
  for (const auto& contender : contenders) {
    auto path = parse_strategy(contender.strategy).path;
    path.is_shared = false;
    if (const auto text = to_string(path); std::ranges::find(paths, text) == paths.end()) paths.push_back(text);
  }
  return paths;
}

constexpr char between_decisions = '\0', before_explanation = '\n', between_contenders = ';', between_fields = '\t';

constexpr double absent_s = -1;

/// The decision itself, and its contenders.
std::string to_text(const Decision& decision) {
  auto text = fmt::format("{1}{0}{2}{0}{3}{0}{4}", between_fields, decision.how.seconds, decision.from_bytes,
                          decision.pricing_s, decision.patience);
  const auto add = [&](const Contender& contender) {
    text += fmt::format("{1}{2}{0}{3}{0}{4}{0}{5}{0}{6}", between_fields, between_contenders, contender.strategy,
                        contender.predicted_s.value_or(absent_s), contender.survey_interval,
                        contender.measured_s.value_or(absent_s), static_cast<int>(contender.requests));
  };
  add(decision);
  for (const auto& contender : decision.contenders) add(contender);
  return text + before_explanation + decision.explanation;
}

Contender parse_contender(const std::string& text) {
  const auto fields = split(text, between_fields);
  const auto seconds = [&](std::size_t field) {
    const auto value = *parse_number<double>(fields[field]);
    return value < 0 ? std::nullopt : std::optional(value);
  };
  return {fields[0], seconds(1), *parse_number<int>(fields[2]), seconds(3),
          static_cast<RequestLife>(*parse_number<int>(fields[4]))};
}

Decision parse_decision(const std::string& text) {
  const auto line_end = text.find(before_explanation);
  const auto parts = split(text.substr(0, line_end), between_contenders);
  const auto numbers = split(parts[0], between_fields);
  Decision decision{parse_contender(parts[1]), text.substr(line_end + 1)};
  decision.how.seconds = *parse_number<Seconds>(numbers[0]);
  decision.from_bytes = *parse_number<double>(numbers[1]);
  decision.pricing_s = *parse_number<Seconds>(numbers[2]);
  decision.patience = *parse_number<std::int64_t>(numbers[3]);
  for (std::size_t i = 2; i < parts.size(); ++i) decision.contenders.push_back(parse_contender(parts[i]));
  return decision;
}

}  // namespace

std::vector<Contender> with_programs_methods(std::span<const Contender> by_price, bool has_library_call) {
  std::vector<Contender> result;
  const auto add = [&](const Contender& contender) {
    if (std::ranges::find(result, contender.strategy, &Contender::strategy) == result.end())
      result.push_back(contender);
  };
  const auto add_by_name = [&](const std::string& name) {
    const auto known = std::ranges::find(by_price, name, &Contender::strategy);
    add(known != by_price.end() ? *known : Contender{name, {}, by_price.front().survey_interval});
  };
  for (const auto& path : paths_of(by_price)) {
    if (has_library_call) add_by_name("mpi" + path);
    add_by_name("standard" + path);
  }
  for (const auto& contender : by_price) add(contender);
  return result;
}

std::vector<Contender> contenders_to_try(std::span<const Candidate> ranking, const std::string& twin,
                                         bool has_library_call,
                                         const std::function<Contender(const Candidate&)>& contender_of,
                                         const std::function<bool(const Candidate&)>& is_tried) {
  const auto tried = contenders_of(ranking, PlannerMode::adaptive, contender_of, is_tried);
  auto contenders = with_programs_methods(tried, has_library_call);
  std::erase_if(contenders, [&](const Contender& contender) {
    const auto strategy = parse_strategy(contender.strategy);
    const auto same = std::ranges::find_if(ranking, [&](const Candidate& each) {
      return each.strategy.route == strategy.route && as_run(each) == strategy;
    });
    return same != ranking.end() && !is_tried(*same);
  });
  try_behind(tried.front().strategy, twin, contenders);
  if (contenders.size() > most_timed(PlannerMode::adaptive)) contenders.resize(most_timed(PlannerMode::adaptive));
  return contenders;
}

void try_behind(const std::string& incumbent, const std::string& strategy, std::vector<Contender>& contenders) {
  if (strategy.empty() || strategy == incumbent) return;
  const auto known = std::ranges::find(contenders, strategy, &Contender::strategy);
  const auto added = known != contenders.end() ? *known : Contender{strategy, {}, contenders.front().survey_interval};
  if (known != contenders.end()) contenders.erase(known);
  contenders.insert(std::ranges::find(contenders, incumbent, &Contender::strategy) + 1, added);
}

PlannerMode planner_mode(const Context& context, std::optional<PlannerMode> wanted) {
  return wanted ? *wanted : context.planner.value_or(PlannerMode::adaptive);
}

HowToChoose how_to_choose(const Context& context, std::optional<PlannerMode> planner, std::optional<Seconds> seconds) {
  if (seconds) check_planner_seconds(*seconds);
  const auto mode = planner_mode(context, planner);
  return {mode, seconds.value_or(default_planner_seconds(mode))};
}

std::vector<Decision> decided_by_rank_0(MPI_Comm comm, const std::function<std::vector<Decision>()>& decide) {
  const auto text = found_by_rank_0(comm, [&] {
    std::string decisions;
    for (const auto& decision : decide()) decisions += to_text(decision) + between_decisions;
    return decisions;
  });
  std::vector<Decision> decisions;
  all_or_none(comm, [&] {
    auto texts = split(text, between_decisions);
    texts.pop_back();  // nothing follows the last one
    for (const auto& each : texts) decisions.push_back(parse_decision(each));
  });
  return decisions;
}

std::size_t Decision::incumbent() const {
  return static_cast<std::size_t>(std::ranges::find(contenders, strategy, &Contender::strategy) - contenders.begin());
}

void Decision::take_fastest(TrialTimer& trials) {
  const auto fastest = trials.fastest();
  static_cast<Contender&>(*this) = std::move(contenders[fastest]);
  measured_s = trials.median_s(fastest);
}

std::string explain(TrialTimer& trials, std::span<const Contender> contenders, const std::string& sample) {
  std::vector<std::string> names;
  for (const auto& [strategy, predicted_s, survey_interval, measured_s, requests] : contenders)
    names.push_back(strategy + (requests == RequestLife::immediate ? " with new requests each time" : ""));
  return explain(trials, names, sample);
}

void end_round_together(MPI_Comm comm, TrialTimer& trials) {
  const auto seconds = trials.round();
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX,
                    comm);
  trials.end_round();
}

std::string why_unpriced(const Layout& layout, const Machine& machine) {
  const auto missing = missing_parameters(layout, machine);
  return missing ? fmt::format("profile {}: {}; {}.", machine.name, missing->what, missing->remedy) : std::string();
}

void warn_unpriced(const std::string& why, Rank rank) {
  warn_once(fmt::format("no strategy is chosen, but exchanges run {}, all-to-alls that are called once {}, and sparse "
                        "exchanges {}: {}",
                        unpriced_exchange, unpriced_alltoallv, unpriced_sparse, why),
            rank);
}

}  // namespace commpass
