#include "selector/report/what_if_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "selector/report/sweep_report.hpp"

namespace commpass {

std::string format_change(double ratio) {
  constexpr double least_change = 5e-4;
  return std::abs(ratio - 1) < least_change ? "as now" : format_error(ratio - 1);
}

std::string describe_change(const ChangedChoice& change) {
  return fmt::format("*{:.2g}: {}", change.factor, route_and_path(*change.strategy));
}

namespace {

/// "Doubling levels.network.host.*.alpha_s: +31 %; the choice changes at 3.1 times, to standard".
std::string describe(const Sensitivity& row) {
  auto text = fmt::format("Doubling {}: {}", row.parameter, format_change(row.doubled));
  if (!row.rise.strategy) return text + fmt::format("; the choice stays up to {} times", sensitivity_factor_max);
  return text +
         fmt::format("; the choice changes at {:.2g} times, to {}", row.rise.factor, to_string(*row.rise.strategy));
}

}  // namespace

Document document_of(const SensitivityReport& report) {
  Document document(report.context);
  document.facts({{"chosen", report.chosen}, {"predicted_s", report.predicted_s}});
  document.text(fmt::format("\nChosen: {}, {}\n\n", report.chosen, format_seconds(report.predicted_s)));
  Table table{"parameters"};
  const auto add = [&](Column column, auto cell_of) {
    table.column(std::move(column), report.parameters, [&](const Sensitivity& row) -> Cell { return cell_of(row); });
  };
  add({.key = "parameter", .heading = "parameter", .width = -1, .gap = 0}, [](auto& row) { return row.parameter; });
  add({"value_least"}, [](auto& row) { return row.least; });
  add({"value_most"}, [](auto& row) { return row.most; });
  add({.key = "doubled", .heading = "doubled", .width = 9},
      [](auto& row) { return Cell(row.doubled, format_change(row.doubled)); });
  add({.key = "halved", .heading = "halved", .width = 9},
      [](auto& row) { return Cell(row.halved, format_change(row.halved)); });
  for (const auto& [key, heading, change] : {std::tuple("rise", "changes up at", &Sensitivity::rise),
                                             std::tuple("fall", "changes down at", &Sensitivity::fall)}) {
    add({.key = std::string(key) + "_factor"}, [change = change](const Sensitivity& row) {
      return (row.*change).strategy ? Cell((row.*change).factor) : Cell();
    });
    add({.key = std::string(key) + "_strategy", .heading = heading, .width = -1, .if_absent = "-"},
        [change = change](const Sensitivity& row) {
          const auto& to = row.*change;
          return to.strategy ? Cell(Json(to_string(*to.strategy)), describe_change(to)) : Cell();
        });
  }
  document.add(std::move(table));
  document.fact("parameters_without_effect", report.without_effect);
  document.fact("contenders", report.contenders);
  if (!report.parameters.empty()) document.paragraph("\n" + describe(report.parameters.front()) + ".\n");
  document.paragraph(fmt::format(
      "doubled, halved: the change of the predicted time of {} with twice and with half of this parameter alone. "
      "changes: the nearest factor with another choice among {} strategies, the best of each route by the "
      "profile. {} other parameters have no effect.\n",
      report.chosen, report.contenders, report.without_effect));
  return document;
}

namespace {

/// Seconds, bytes and partners: the less the better.
using Uses = std::array<double, 3>;

Uses uses_of(const Candidate& candidate, const Calls& calls) {
  return {comparable(ranked_seconds(candidate, calls)), static_cast<double>(*candidate.buffered_bytes_max),
          static_cast<double>(candidate.demand->partners)};
}

bool is_no_worse(const Uses& one, const Uses& other) {
  return one[0] <= other[0] && one[1] <= other[1] && one[2] <= other[2];
}

std::vector<const Candidate*> known_candidates(const Report& report) {
  std::vector<const Candidate*> known;
  for (const auto* rows : {&report.rows, &report.baselines})
    for (const auto& row : *rows)
      if (row.is_priced && row.candidate.demand && row.candidate.buffered_bytes_max) known.push_back(&row.candidate);
  if (known.empty())
    throw InputError("--pareto", "closed forms do not tell memory and partners of a strategy",
                     "use a pattern of fewer ranks, whose messages are priced one by one");
  std::ranges::stable_sort(known, {}, [&](const Candidate* c) { return uses_of(*c, report.calls)[0]; });
  return known;
}

/// @param known  by time: a strategy is beaten or equalled by one before it
std::vector<const Candidate*> front_of(const std::vector<const Candidate*>& known, const Report& report) {
  std::vector<const Candidate*> front;
  for (const auto* candidate : known) {
    const auto uses = uses_of(*candidate, report.calls);
    const bool is_beaten = std::ranges::any_of(
        front, [&](const Candidate* other) { return is_no_worse(uses_of(*other, report.calls), uses); });
    // One of the same time may come later and use less.
    std::erase_if(
        front, [&](const Candidate* other) { return !is_beaten && is_no_worse(uses, uses_of(*other, report.calls)); });
    if (!is_beaten) front.push_back(candidate);
  }
  return front;
}

}  // namespace

ParetoFront pareto_front(const Report& report) {
  auto known = known_candidates(report);
  auto front = front_of(known, report);
  return {std::move(known), std::move(front)};
}

Document pareto_document(const Report& report) {
  const auto pareto = pareto_front(report);
  Document document(report.context);
  document.facts({{"chosen", report.chosen}, {"priced", pareto.known.size()}});
  document.text("\n");
  Table table{"front"};
  const auto add = [&](Column column, auto cell_of) {
    table.column(std::move(column), pareto.front,
                 [&](const Candidate* candidate) -> Cell { return cell_of(*candidate); });
  };
  add(mark_column(-2), [&](const Candidate& c) { return to_string(c.strategy) == report.chosen ? "*" : ""; });
  add({.key = "strategy", .heading = "strategy", .width = -1, .gap = 0},
      [](const Candidate& c) { return to_string(c.strategy); });
  add({"predicted_s", "predicted", 10},
      [&](const Candidate& c) { return seconds_cell(ranked_seconds(c, report.calls)); });
  add({"buffer_bytes", "memory", 10}, [](const Candidate& c) { return bytes_cell(*c.buffered_bytes_max); });
  add({"partners", "partners", 9}, [](const Candidate& c) { return c.demand->partners; });
  table.marked = static_cast<std::size_t>(
      std::ranges::find(pareto.front, report.chosen, [](const Candidate* c) { return to_string(c->strategy); }) -
      pareto.front.begin());
  document.add(std::move(table));
  document.paragraph(
      fmt::format("\n{} of {} priced strategies: no other one is as good as one of these in all three, the predicted "
                  "time, the memory "
                  "of a rank for blocks that it forwards, and the ranks to which a rank sends. * is the choice for the "
                  "least time.\n",
                  pareto.front.size(), pareto.known.size()));
  document.note(report.note);
  return document;
}

}  // namespace commpass
