#include "selector/report/sweep_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "selector/choose/baseline.hpp"

namespace commpass {

namespace {

bool is_size(const std::string& key) { return key == "bytes" || key == "cap"; }
bool is_memory(const std::string& key) { return key == "memory"; }

Json json_value(const std::string& key, std::int64_t value) {
  return is_memory(key) ? Json(print_value(key, value)) : Json(value);
}

/// "ranks=64; bytes from 4KiB to 8KiB: two-step gives way to standard".
std::string describe_crossover(const SweepReport& report, const Crossover& crossover) {
  const auto &before = report.points[crossover.before], &after = report.points[crossover.after];
  std::vector<std::string> others;
  for (std::size_t k = 0; k < report.keys.size(); ++k)
    if (k != crossover.key) others.push_back(report.keys[k] + "=" + print_value(report.keys[k], before.values[k]));
  const auto& key = report.keys[crossover.key];
  return fmt::format("{}{}{} from {} to {}: {} gives way to {}", join(others, ", "), others.empty() ? "" : "; ", key,
                     print_value(key, before.values[crossover.key]), print_value(key, after.values[crossover.key]),
                     route_and_path(before.chosen->strategy), route_and_path(after.chosen->strategy));
}

/// The uncertainty of the profile; points without a choice do not have it.
double report_uncertainty(const SweepReport& report) {
  double uncertainty = 0;
  for (const auto& point : report.points) uncertainty = std::max(uncertainty, point.ties.uncertainty);
  return uncertainty;
}

/// The point with the shortest predicted time.
const SweepPoint* best_of(const SweepReport& report) {
  const auto seconds = [](const SweepPoint& point) {
    return point.chosen ? point.chosen->cost.seconds : std::numeric_limits<Seconds>::infinity();
  };
  const auto best = std::ranges::min_element(report.points, {}, seconds);
  return best == report.points.end() || !best->chosen ? nullptr : &*best;
}

/// Do the keys change only the strategy? Then the report names the best point.
bool is_of_strategies(const SweepReport& report) {
  return std::ranges::none_of(report.keys, [](const std::string& key) {
    return key == "bytes" || key == "ranks" || key == "ppn" || is_memory(key);
  });
}

std::optional<double> ratio_to_choice(const SweepPoint& point, const std::optional<Seconds>& seconds) {
  if (!point.chosen || !seconds || point.chosen->cost.seconds <= 0) return std::nullopt;
  return *seconds / point.chosen->cost.seconds;
}

}  // namespace

std::optional<double> SweepPoint::gain() const { return ratio_to_choice(*this, standard_s); }
std::optional<double> SweepPoint::gain_over_mpi() const { return ratio_to_choice(*this, mpi_s); }

std::string SweepPoint::speed() const {
  if (!gain() || *standard_s <= 0) return {};
  auto text = compare_speed(chosen->cost.seconds, *standard_s);
  return text.substr(0, text.rfind(' '));
}

std::string route_and_path(const Strategy& strategy) { return strategy.route + to_string(strategy.path); }

std::string print_value(const std::string& key, std::int64_t value) {
  if (is_memory(key)) return name_of(value == memory_device ? DataPlace::device : DataPlace::host);
  return is_size(key) ? print_bytes(value) : std::to_string(value);
}

std::vector<std::int64_t> values_of(const SweepReport& report, std::size_t key) {
  std::vector<std::int64_t> values;
  for (const auto& point : report.points)
    if (std::ranges::find(values, point.values[key]) == values.end()) values.push_back(point.values[key]);
  return values;
}

std::vector<std::string> notes_of(const SweepReport& report) {
  std::vector<std::string> notes;
  for (const auto& point : report.points)
    if (!point.note.empty() && std::ranges::find(notes, point.note) == notes.end()) notes.push_back(point.note);
  return notes;
}

std::vector<Crossover> crossovers(const SweepReport& report) {
  std::vector<Crossover> result;
  std::size_t stride = 1;  // between neighbours along the key, the last one first
  for (std::size_t k = report.keys.size(); k-- > 0; stride *= values_of(report, k).size())
    for (std::size_t p = 0; p + stride < report.points.size(); ++p) {
      const auto &before = report.points[p], &after = report.points[p + stride];
      bool are_neighbours = before.chosen && after.chosen;
      for (std::size_t other = 0; other < report.keys.size(); ++other)
        if (other != k) are_neighbours = are_neighbours && before.values[other] == after.values[other];
      if (are_neighbours && route_and_path(before.chosen->strategy) != route_and_path(after.chosen->strategy))
        result.push_back({k, p, p + stride});
    }
  return result;
}

std::string sweep_table(const SweepReport& report) {
  auto text = wrap_lines(context_lines(report.context));
  std::size_t width = std::string("chosen").size(), tied = 0;
  for (const auto& point : report.points) {
    if (point.chosen) width = std::max(width, to_string(as_run(*point.chosen)).size());
    tied += point.ties.strategies.empty() ? 0 : 1;
  }
  // Wide tables have no column of `standard`, which follows from that of the choice.
  constexpr std::size_t key_width = 10, width_beside = 57, line_width = 100;
  const bool has_standard = key_width * report.keys.size() + width + width_beside <= line_width;
  const auto standard_of = [&](const std::string& cell) {
    return has_standard ? fmt::format("  {:>9}", cell) : std::string();
  };
  text += "\n";
  for (const auto& key : report.keys) append(text, "{:>8}  ", key);
  append(text, "{:<{}}  {:>9}  {:>9}{}  {:>17}{}\n", "chosen", width, "predicted", "mpi", standard_of("standard"),
         "than standard", tied > 0 ? "  ties" : "");
  const auto time_of = [](const std::optional<Seconds>& seconds) { return seconds ? format_seconds(*seconds) : "-"; };
  for (const auto& point : report.points) {
    std::string values;
    for (std::size_t k = 0; k < report.keys.size(); ++k)
      values += fmt::format("{:>8}  ", print_value(report.keys[k], point.values[k]));
    if (!point.chosen) {
      text += wrap_lines(fmt::format("{}- ({})\n", values, point.reason));
      continue;
    }
    append(text, "{}{:<{}}  {:>9}  {:>9}{}  {:>17}", values, to_string(as_run(*point.chosen)), width,
           format_seconds(point.chosen->cost.seconds), time_of(point.mpi_s), standard_of(time_of(point.standard_s)),
           point.speed().empty() ? "-" : point.speed());
    if (tied > 0) append(text, "  {:>4}", point.ties.strategies.size());
    text += "\n";
  }
  if (tied > 0)
    text += wrap_lines(fmt::format(
        "\nTies: at {} of {} points this profile cannot tell several strategies from the fastest by prediction ({}); "
        "the simplest of these is taken.\n",
        tied, report.points.size(), format_share(report_uncertainty(report))));
  const auto found = crossovers(report);
  if (!found.empty()) text += "\nCrossovers:\n";
  for (const auto& crossover : found) append(text, "  {}\n", describe_crossover(report, crossover));
  if (const auto* best = best_of(report); best && is_of_strategies(report))
    append(text, "\nBest: {}, {}\n", to_string(as_run(*best->chosen)), format_seconds(best->chosen->cost.seconds));
  for (const auto& note : notes_of(report)) text += wrap_lines(fmt::format("Note: {}.\n", note));
  return text;
}

std::string sweep_csv(const SweepReport& report) {
  auto header = report.keys;
  for (const auto* column : {"chosen", "predicted_s", "standard_s", "times_faster_than_standard", "mpi_s",
                             "times_faster_than_mpi", "fastest_by_prediction", "ties"})
    header.emplace_back(column);
  for (const auto& name : report.named) header.push_back(name + " predicted_s");
  auto text = csv_line(header);
  for (const auto& point : report.points) {
    std::vector<std::string> fields;
    for (std::size_t k = 0; k < report.keys.size(); ++k)
      fields.push_back(is_memory(report.keys[k]) ? print_value(report.keys[k], point.values[k])
                                                 : std::to_string(point.values[k]));
    fields.push_back(point.chosen ? to_string(as_run(*point.chosen)) : "");
    fields.push_back(csv_number(point.chosen ? std::optional(point.chosen->cost.seconds) : std::nullopt));
    fields.push_back(csv_number(point.standard_s));
    fields.push_back(csv_number(point.gain()));
    fields.push_back(csv_number(point.mpi_s));
    fields.push_back(csv_number(point.gain_over_mpi()));
    fields.push_back(point.ties.fastest ? to_string(*point.ties.fastest) : "");
    fields.push_back(point.chosen ? std::to_string(point.ties.strategies.size()) : "");
    for (const auto& seconds : point.named) fields.push_back(csv_number(seconds));
    text += csv_line(fields);
  }
  return text;
}

std::string sweep_json(const SweepReport& report) {
  auto json = json_head(report.context);
  json["keys"] = report.keys;
  json["uncertainty"] = report_uncertainty(report);
  json["points"] = Json::array();
  for (const auto& point : report.points) {
    Json entry;
    for (std::size_t k = 0; k < report.keys.size(); ++k)
      entry[report.keys[k]] = json_value(report.keys[k], point.values[k]);
    if (point.chosen) {
      entry["chosen"] = to_string(as_run(*point.chosen));
      entry["predicted_s"] = point.chosen->cost.seconds;
      if (point.ties.fastest) entry["fastest_by_prediction"] = to_string(*point.ties.fastest);
      entry["tie_count"] = point.ties.strategies.size();
    } else {
      entry["not_applicable"] = point.reason;
    }
    if (point.standard_s) entry["standard_s"] = *point.standard_s;
    if (const auto gain = point.gain()) entry["times_faster_than_standard"] = *gain;
    if (point.mpi_s) entry["mpi_s"] = *point.mpi_s;
    if (const auto gain = point.gain_over_mpi()) entry["times_faster_than_mpi"] = *gain;
    for (std::size_t i = 0; i < point.named.size(); ++i)
      if (point.named[i]) entry["named"][report.named[i]] = *point.named[i];
    if (!point.note.empty()) entry["note"] = point.note;
    json["points"].push_back(std::move(entry));
  }
  json["crossovers"] = Json::array();
  for (const auto& crossover : crossovers(report)) {
    const auto &before = report.points[crossover.before], &after = report.points[crossover.after];
    Json entry{{"key", report.keys[crossover.key]}};
    for (std::size_t k = 0; k < report.keys.size(); ++k)
      if (k != crossover.key) entry["at"][report.keys[k]] = json_value(report.keys[k], before.values[k]);
    entry["from"] = json_value(report.keys[crossover.key], before.values[crossover.key]);
    entry["to"] = json_value(report.keys[crossover.key], after.values[crossover.key]);
    entry["before"] = route_and_path(before.chosen->strategy);
    entry["after"] = route_and_path(after.chosen->strategy);
    json["crossovers"].push_back(std::move(entry));
  }
  return json_text(json);
}

}  // namespace commpass
