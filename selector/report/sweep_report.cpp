#include "selector/report/sweep_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/parameters.hpp"
#include "selector/choose/baseline.hpp"

namespace commpass {

std::string people_key(const std::string& key) { return key.substr(0, key.find_last_not_of("=*") + 1); }

namespace {

bool is_size(const std::string& key) { return key == "bytes" || key == "cap"; }
bool is_memory(const std::string& key) { return key == "memory"; }

/// Of a parameter of the profile, which ends in '=' or, for factors, in '*'.
bool is_parameter(const std::string& key) { return key.ends_with('=') || key.ends_with('*'); }

Json json_value(const std::string& key, double value) {
  if (is_memory(key)) return print_value(key, value);
  return is_parameter(key) ? Json(value) : Json(static_cast<std::int64_t>(value));
}

/// The name in JSON and CSV: "network.alpha_s" of values, "network.alpha_s*" of factors.
std::string json_key(const std::string& key) { return key.ends_with('=') ? people_key(key) : key; }

/// "ranks=64; bytes from 4KiB to 8KiB: two-step gives way to standard".
std::string describe_crossover(const SweepReport& report, const Crossover& crossover) {
  const auto &before = report.points[crossover.before], &after = report.points[crossover.after];
  std::vector<std::string> others;
  for (std::size_t k = 0; k < report.keys.size(); ++k)
    if (k != crossover.key)
      others.push_back(people_key(report.keys[k]) + "=" + print_value(report.keys[k], before.values[k]));
  const auto& key = report.keys[crossover.key];
  return fmt::format("{}{}{} from {} to {}: {} gives way to {}", join(others, ", "), others.empty() ? "" : "; ",
                     people_key(key), print_value(key, before.values[crossover.key]),
                     print_value(key, after.values[crossover.key]), route_and_path(before.chosen->strategy),
                     route_and_path(after.chosen->strategy));
}

Json json_of(const SweepReport& report, const Crossover& crossover) {
  const auto &before = report.points[crossover.before], &after = report.points[crossover.after];
  const auto& key = report.keys[crossover.key];
  Json entry{{"key", json_key(key)}};
  for (std::size_t k = 0; k < report.keys.size(); ++k)
    if (k != crossover.key) entry["at"][json_key(report.keys[k])] = json_value(report.keys[k], before.values[k]);
  entry["from"] = json_value(key, before.values[crossover.key]);
  entry["to"] = json_value(key, after.values[crossover.key]);
  entry["before"] = route_and_path(before.chosen->strategy);
  entry["after"] = route_and_path(after.chosen->strategy);
  return entry;
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
  return std::ranges::all_of(report.keys, [](const std::string& key) {
    return key == "radix" || key == "cap" || key == "window" || key == "dims";
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

std::string print_value(const std::string& key, double value) {
  if (is_memory(key)) return name_of(value == memory_device ? DataPlace::device : DataPlace::host);
  if (key.ends_with('*')) return "*" + fmt::format("{:.4g}", value);
  if (key.ends_with('=')) {
    const auto name = people_key(key.substr(key.rfind('.') + 1));
    const auto* const row = find_parameter(name);
    if (!row) return csv_number(value);
    return format_parameter(row->unit, row->is_integer() ? ParameterValue(std::llround(value)) : ParameterValue(value));
  }
  const std::int64_t integer = std::llround(value);
  return is_size(key) ? print_bytes(integer) : std::to_string(integer);
}

std::vector<double> values_of(const SweepReport& report, std::size_t key) {
  std::vector<double> values;
  for (const auto& point : report.points)
    if (std::ranges::find(values, point.values[key]) == values.end()) values.push_back(point.values[key]);
  return values;
}

std::vector<std::string> notes_of(const SweepReport& report) {
  // The numbers of stand-ins change with a parameter of the profile.
  const auto parts_of = [](const std::string& note) {
    constexpr std::string_view before = " lacks ";
    const auto lacks = note.find(before);
    auto parts = split(note.substr(lacks == std::string::npos ? 0 : lacks + before.size()), ';');
    for (auto& part : parts) {
      part.erase(0, std::min(part.find_first_not_of(' '), part.size()));
      part.resize(std::min(part.find_first_of("0123456789"), part.size()));
    }
    return parts;
  };
  const auto includes = [&](const std::string& note, const std::string& other) {
    const auto parts = parts_of(note);
    return std::ranges::all_of(parts_of(other),
                               [&](const std::string& part) { return std::ranges::find(parts, part) != parts.end(); });
  };
  std::vector<std::string> notes;
  for (const auto& point : report.points) {
    if (point.note.empty() || std::ranges::any_of(notes, [&](const auto& note) { return includes(note, point.note); }))
      continue;
    std::erase_if(notes, [&](const std::string& note) { return includes(point.note, note); });
    notes.push_back(point.note);
  }
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

namespace {

/// @param has_ties  of some point
Table points_of(const SweepReport& report, bool has_ties) {
  std::size_t width = std::string("chosen").size();
  for (const auto& point : report.points)
    if (point.chosen) width = std::max(width, to_string(as_run(*point.chosen)).size());
  // Wide tables have no column of `standard`, which follows from that of the choice.
  constexpr std::size_t key_width = 10, width_beside = 57, line_width = 100;
  const bool has_standard = key_width * report.keys.size() + width + width_beside <= line_width;
  Table table{"points"};
  const auto add = [&](Column column, auto cell_of) {
    table.column(std::move(column), report.points, [&](const SweepPoint& point) -> Cell { return cell_of(point); });
  };
  const auto add_if_chosen = [&](const Column& column, auto cell_of) {
    add(column, [&](const SweepPoint& point) { return point.chosen ? Cell(cell_of(point)) : Cell(); });
  };
  const auto if_any = [](const std::string& text) { return text.empty() ? Cell() : Cell(text); };
  const auto fastest = [](const SweepPoint& point) {
    return point.ties.fastest ? Cell(to_string(*point.ties.fastest)) : Cell();
  };
  const auto ties = [](const SweepPoint& point) { return point.ties.strategies.size(); };
  const auto mpi_s = [](const SweepPoint& point) { return seconds_cell(point.mpi_s); };
  for (std::size_t k = 0; k < report.keys.size(); ++k)
    add({json_key(report.keys[k]), people_key(report.keys[k]), 8, {}, k == 0 ? std::size_t{0} : 2},
        [&](const SweepPoint& point) {
          return Cell(json_value(report.keys[k], point.values[k]), print_value(report.keys[k], point.values[k]));
        });
  add_if_chosen({"chosen", "chosen"}, [](const SweepPoint& point) { return to_string(as_run(*point.chosen)); });
  add_if_chosen({"predicted_s", "predicted", 9},
                [](const SweepPoint& point) { return seconds_cell(point.chosen->cost.seconds); });
  add_if_chosen(json_column("fastest_by_prediction"), fastest);
  add_if_chosen(json_column("tie_count"), ties);
  add(json_column("not_applicable"),
      [](const SweepPoint& point) { return point.chosen ? Cell() : Cell(point.reason); });
  add({"", "mpi", 9, "-"}, mpi_s);
  add({"standard_s", "standard", 9, "-", 2, has_standard ? Forms::all : Forms::programs},
      [](const SweepPoint& point) { return seconds_cell(point.standard_s); });
  add({"times_faster_than_standard"}, [](const SweepPoint& point) { return point.gain(); });
  add({"mpi_s"}, mpi_s);
  add({"times_faster_than_mpi"}, [](const SweepPoint& point) { return point.gain_over_mpi(); });
  add({"", "than standard", 17, "-"}, [&](const SweepPoint& point) { return if_any(point.speed()); });
  add(csv_column("fastest_by_prediction"), fastest);
  add_if_chosen({"ties", "ties", 4, {}, 2, has_ties ? Forms::but_json : Forms::csv}, ties);
  add(json_column("named"), [&](const SweepPoint& point) {
    Json named;
    for (std::size_t i = 0; i < point.named.size(); ++i)
      if (point.named[i]) named[report.named[i]] = *point.named[i];
    return named.is_null() ? Cell() : Cell(named);
  });
  add(json_column("by_route"), [&](const SweepPoint& point) {
    Json times;
    for (const auto& [route, seconds] : point.by_route) times[route] = seconds;
    return times.is_null() ? Cell() : Cell(times);
  });
  add(json_column("note"), [&](const SweepPoint& point) { return if_any(point.note); });
  for (std::size_t i = 0; i < report.named.size(); ++i)
    add(csv_column(report.named[i] + " predicted_s"),
        [&](const SweepPoint& point) { return i < point.named.size() ? point.named[i] : Cell(); });
  for (std::size_t p = 0; p < report.points.size(); ++p) {
    if (report.points[p].chosen) continue;
    auto& line = table.rows[p].instead;
    for (std::size_t k = 0; k < report.keys.size(); ++k) append(line, "{:>8}  ", table.rows[p].cells[k].text);
    line = wrap_lines(fmt::format("{}- ({})\n", line, report.points[p].reason));
  }
  return table;
}

/// The names of a table of prices: those that are fastest somewhere, then those that come nearest to it.
std::vector<std::string> priced_names(const SweepReport& report) {
  std::map<std::string, double> nearest;  // least ratio to the fastest of a point
  for (const auto& point : report.points) {
    const auto prices = prices_of(report, point);
    const auto least = std::ranges::min_element(prices, {}, &std::pair<const std::string, Seconds>::second);
    for (const auto& [name, seconds] : prices) {
      const double ratio = least->second > 0 ? seconds / least->second : 1;
      const auto [entry, is_new] = nearest.try_emplace(name, ratio);
      if (!is_new) entry->second = std::min(entry->second, ratio);
    }
  }
  std::vector<std::string> names;
  for (const auto& [name, ratio] : nearest) names.push_back(name);
  std::ranges::stable_sort(names, {}, [&](const std::string& name) { return nearest[name]; });
  return names;
}

/// The predicted time of each named strategy, or of the best of each route, over one key. As many columns as a line has
/// room for; the fastest of a row has an asterisk.
Table prices_table(const SweepReport& report) {
  Table table{.key = {}, .forms = Forms::people, .caption = {}};
  const auto key = people_key(report.keys[0]);
  auto room = text_columns - std::max<std::size_t>(8, key.size());
  table.column({.key = {}, .heading = key, .width = 8, .gap = 0}, report.points,
               [&](const SweepPoint& point) { return Cell(print_value(report.keys[0], point.values[0])); });
  for (const auto& name : priced_names(report)) {
    constexpr std::size_t narrowest = 9, gap = 2;
    const auto width = std::max(name.size(), narrowest);
    if (width + gap > room) break;
    room -= width + gap;
    table.column({.key = {}, .heading = name, .width = static_cast<int>(width), .if_absent = "-"}, report.points,
                 [&](const SweepPoint& point) {
                   const auto prices = prices_of(report, point);
                   const auto own = prices.find(name);
                   if (own == prices.end()) return Cell();
                   const bool is_fastest = std::ranges::all_of(
                       prices, [&](const auto& other) { return comparable(own->second) <= comparable(other.second); });
                   return Cell((is_fastest ? "* " : "") + format_seconds(own->second));
                 });
  }
  return table;
}

}  // namespace

std::map<std::string, Seconds> prices_of(const SweepReport& report, const SweepPoint& point) {
  if (report.named.empty()) return point.by_route;
  std::map<std::string, Seconds> prices;
  for (std::size_t i = 0; i < point.named.size(); ++i)
    if (point.named[i]) prices[report.named[i]] = *point.named[i];
  return prices;
}

Document document_of(const SweepReport& report) {
  const auto tied = std::ranges::count_if(report.points, [](const auto& p) { return !p.ties.strategies.empty(); });
  Document document(report.context);
  std::vector<std::string> keys;
  for (const auto& key : report.keys) keys.push_back(json_key(key));
  document.facts({{"keys", keys}, {"uncertainty", report_uncertainty(report)}});
  document.text("\n");
  document.add(points_of(report, tied > 0));
  if (tied > 0)
    document.paragraph(fmt::format(
        "\nTies: at {} of {} points this profile cannot tell several strategies from the fastest by prediction ({}); "
        "the simplest of these is taken.\n",
        tied, report.points.size(), format_share(report_uncertainty(report))));
  if (report.keys.size() == 1 && report.points.size() > 1)
    if (auto prices = prices_table(report); prices.columns.size() > 2) {
      document.text(fmt::format("\nPredicted time {}, the fastest marked:\n",
                                report.named.empty() ? "of the best of each route" : "by strategy"));
      document.add(std::move(prices));
    }
  auto list = Json::array();
  for (const auto& crossover : crossovers(report)) {
    if (list.empty()) document.text("\nCrossovers:\n");
    document.text("  " + describe_crossover(report, crossover) + "\n");
    list.push_back(json_of(report, crossover));
  }
  document.fact("crossovers", std::move(list));
  if (const auto* best = best_of(report); best && is_of_strategies(report))
    document.text(
        fmt::format("\nBest: {}, {}\n", to_string(as_run(*best->chosen)), format_seconds(best->chosen->cost.seconds)));
  for (const auto& note : notes_of(report)) document.paragraph("Note: " + note + ".\n");
  return document;
}

}  // namespace commpass
