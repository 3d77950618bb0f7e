#include "selector/report/join_launches.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/median.hpp"

namespace commpass {

namespace {

OverLaunches over(const std::vector<double>& values) {
  const auto [min, max] = std::ranges::minmax(values);
  return {min, median(values), max};
}

/// The measured rows of one launch; rows that were only predicted are left out.
std::vector<LaunchRow> rows_of(const Json& report) {
  std::vector<LaunchRow> rows;
  const auto add = [&](const Json& row, const char* name, bool is_strategy) {
    const auto* const measured = row.find("measured_s");
    if (!measured) return;
    std::optional<Seconds> predicted;
    if (const auto* found = row.find("predicted_s")) predicted = found->get<double>();
    rows.push_back({row.at(name).get<std::string>(), is_strategy, predicted, over({measured->get<double>()})});
  };
  for (const auto& row : report.at("ranking")) add(row, "strategy", true);
  for (const auto& row : report.value("baselines", Json::array())) {
    const bool is_strategy = !row.contains("name");
    add(row, is_strategy ? "strategy" : "name", is_strategy);
  }
  return rows;
}

Seconds chosen_seconds(const Json& report, const std::vector<LaunchRow>& rows) {
  if (report.contains("chosen_s")) return report.at("chosen_s").get<double>();
  const auto row = std::ranges::find(rows, report.at("chosen").get<std::string>(), &LaunchRow::name);
  if (row == rows.end()) throw InputError("measure", "the choice was not measured", "leave out --strategy");
  return row->measured_s.median;
}

JoinedLaunches join_reports(const std::vector<Json>& reports) {
  std::vector<std::vector<LaunchRow>> launches;
  for (const auto& report : reports) launches.push_back(rows_of(report));
  JoinedLaunches joined{reports.size(), reports.front().at("chosen").get<std::string>(), {}, {}};
  std::map<std::string, std::vector<double>> times;
  for (const auto& rows : launches)
    for (const auto& row : rows) times[row.name].push_back(row.measured_s.median);
  for (auto row : launches.front()) {
    if (times[row.name].size() != launches.size()) continue;
    row.measured_s = over(times[row.name]);
    joined.rows.push_back(std::move(row));
  }
  if (joined.rows.empty()) throw InputError("measure", "no strategy was measured in all launches", "name one");
  const auto median_of = [](const LaunchRow& row) { return row.measured_s.median; };
  const auto& fastest = times[std::ranges::min_element(joined.rows, {}, median_of)->name];
  std::vector<double> regrets;
  for (std::size_t i = 0; i < launches.size(); ++i)
    regrets.push_back(chosen_seconds(reports[i], launches[i]) / fastest[i]);
  joined.regret = over(regrets);
  return joined;
}

}  // namespace

JoinedLaunches join_launches(std::span<const std::string> reports) {
  std::vector<Json> parsed;
  try {
    for (const auto& report : reports) parsed.push_back(Json::parse_or_null(report));
    return join_reports(parsed);
  } catch (const JsonError&) {
    throw InputError(fmt::format("launch {}", parsed.size() + 1), "it has printed no report of 'measure --json'",
                     "run 'commpass measure --json' by the same launcher to see what it prints");
  }
}

Document document_of(const JoinedLaunches& joined) {
  const auto interval = [](const OverLaunches& each) { return Json{each.min, each.max}; };
  const auto& regret = joined.regret;
  Document document;
  document.facts({{"schema_version", 1}, {"launches", joined.launches}, {"chosen", joined.chosen}});
  document.text(fmt::format("launches: {}\n\n", joined.launches));
  Table lines{"",
              {mark_column(),
               {.key = {}, .heading = "strategy", .gap = 1},
               {"", "predicted", 10},
               {"", "measured", 10},
               {"", "in all launches"}}};
  const std::vector<Column> columns{{"predicted_s"}, {"measured_s"}, {"measured_interval_s"}};
  Table ranking{"ranking", columns}, baselines{"baselines", columns};
  ranking.columns.insert(ranking.columns.begin(), {"strategy"});
  baselines.columns.insert(baselines.columns.begin(), {"name"});
  for (const auto& [name, is_strategy, predicted_s, measured_s] : joined.rows) {
    lines.add({name == joined.chosen ? "*" : "", name, seconds_cell(predicted_s), seconds_cell(measured_s.median),
               format_seconds(measured_s.min) + " to " + format_seconds(measured_s.max)});
    (is_strategy ? ranking : baselines).add({name, predicted_s, measured_s.median, Cell(interval(measured_s))});
  }
  for (auto* table : {&lines, &ranking, &baselines}) document.add(std::move(*table));
  document.text(fmt::format("\nChosen: {}, regret {} ({} to {}){}\n", joined.chosen, format_fixed(regret.median, 3),
                            format_fixed(regret.min, 3), format_fixed(regret.max, 3),
                            joined.is_fastest_in_some() && regret.median > 1 ? ", not distinguishable from 1" : ""));
  document.facts({{"regret", regret.median},
                  {"regret_interval", interval(regret)},
                  {"regret_is_distinguishable", !joined.is_fastest_in_some()}});
  return document;
}

}  // namespace commpass
