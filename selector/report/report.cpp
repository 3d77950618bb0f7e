#include "selector/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "model/json.hpp"
#include "model/text.hpp"
#include "selector/choose/baseline.hpp"
#include "selector/report/json_text.hpp"
#include "selector/report/not_priced.hpp"

namespace commpass {

namespace {

std::span<const ReportRow> first_rows(const Report& report, std::size_t top) {
  const std::span rows(report.rows);
  return top == 0 ? rows : rows.first(std::min(top, rows.size()));
}

/// Which columns a table has, and how wide the first one is.
struct Columns {
  std::size_t width;
  bool measured, planned;
};

/// '*' the chosen one, '=' what programs do today.
void print_row(std::string& text, const ReportRow& row, const std::string& chosen, const Columns& columns) {
  const auto out = std::back_inserter(text);
  const auto name = to_string(row.candidate.strategy);
  const auto& cost = row.candidate.cost;
  const auto* mark = name == chosen ? "*" : baseline_of(row.candidate.strategy) ? "=" : " ";
  fmt::format_to(out, "{} {:<{}}", mark, name, columns.width);
  if (columns.planned)
    fmt::format_to(out, "  {:>10}", row.is_priced ? format_seconds(row.candidate.plan_seconds.value_or(0)) : "-");
  if (columns.planned && columns.measured)
    fmt::format_to(out, "  {:>13}", format_seconds(row.measured_plan_s.value_or(0)));
  fmt::format_to(out, "  {:>10}", row.is_priced ? format_seconds(cost.seconds) : "-");
  if (columns.measured && row.measured_s)
    fmt::format_to(out, "  {:>10}  {:>10}", format_seconds(*row.measured_s),
                   row.is_priced ? format_fixed(100 * (cost.seconds / *row.measured_s - 1), 0, true) + "%" : "-");
  if (!row.is_priced) {
    fmt::format_to(out, "  {:>18}  {:>12}\n", "-", "-");
    return;
  }
  fmt::format_to(out, "  {:>18}  {:>12}\n", messages_per_stage(cost),
                 format_bytes(static_cast<double>(bytes_per_stage(cost))));
}

/// Baselines that the first rows do not show.
std::vector<const ReportRow*> baselines_below(const Report& report, std::size_t shown) {
  std::vector<const ReportRow*> result;
  for (const auto& row : std::span(report.rows).subspan(shown))
    if (baseline_of(row.candidate.strategy)) result.push_back(&row);
  for (const auto& row : report.baselines) result.push_back(&row);
  return result;
}

/// Of one exchange as it was measured, or as candidates are ranked; nothing where neither is known.
std::optional<Seconds> seconds_of(const ReportRow& row, bool measured, const Calls& calls) {
  if (measured) return row.measured_s;
  return row.is_priced ? std::optional(ranked_seconds(row.candidate, calls)) : std::nullopt;
}

/// A baseline and how many times as long it takes as what was chosen.
struct Comparison {
  const Baseline* baseline;
  Seconds own_s, baseline_s;
};

std::vector<Comparison> comparisons(const Report& report) {
  const auto chosen =
      std::ranges::find(report.rows, report.chosen, [](const auto& row) { return to_string(row.candidate.strategy); });
  std::vector<Comparison> result;
  if (chosen == report.rows.end()) return result;
  const bool measured = chosen->measured_s.has_value();
  const auto own = seconds_of(*chosen, measured, report.calls);
  for (const auto* row : baselines_below(report, 0)) {
    const auto others = seconds_of(*row, measured, report.calls);
    if (row != &*chosen && own > 0.0 && others > 0.0)
      result.push_back({baseline_of(row->candidate.strategy), *own, *others});
  }
  return result;
}

/// What is known of a strategy: no price where nothing has one.
Json entry_of(const ReportRow& row) {
  Json entry;
  entry["strategy"] = to_string(row.candidate.strategy);
  if (row.is_priced) entry["predicted_s"] = row.candidate.cost.seconds;
  if (row.candidate.plan_seconds) entry["plan_s"] = *row.candidate.plan_seconds;
  if (row.measured_plan_s) entry["measured_plan_s"] = *row.measured_plan_s;
  if (row.measured_s) entry["measured_s"] = *row.measured_s;
  return entry;
}

}  // namespace

std::string messages_per_stage(const Cost& cost) {
  std::string text;
  for (const auto& stage : cost.stages)
    if (!stage.is_staging) text += fmt::format("{}{}", text.empty() ? "" : "+", stage.messages_max);
  return text.empty() ? "0" : text;
}

Bytes bytes_per_stage(const Cost& cost) {
  Bytes bytes = 0;
  for (const auto& stage : cost.stages) bytes += stage.is_staging ? 0 : stage.bytes_max;
  return bytes;
}

std::string report_table(const Report& report, std::size_t top) {
  const auto rows = first_rows(report, top);
  std::string text;
  const auto out = std::back_inserter(text);
  for (const auto& [key, value] : report.context) fmt::format_to(out, "{}: {}\n", key, value);
  std::size_t width = std::string("strategy").size();
  for (const auto& row : rows) width = std::max(width, to_string(row.candidate.strategy).size());
  const auto below = baselines_below(report, rows.size());
  for (const auto* row : below) width = std::max(width, to_string(row->candidate.strategy).size());
  const bool measured = std::ranges::any_of(rows, [](const auto& row) { return row.measured_s.has_value(); });
  const bool planned =
      std::ranges::any_of(rows, [](const auto& row) { return row.candidate.plan_seconds.has_value(); });

  fmt::format_to(out, "\n  {:<{}}", "strategy", width);
  if (planned) fmt::format_to(out, "  {:>10}", "plan");
  if (planned && measured) fmt::format_to(out, "  {:>13}", "measured plan");
  fmt::format_to(out, "  {:>10}", "predicted");
  if (measured) fmt::format_to(out, "  {:>10}  {:>10}", "measured", "error");
  fmt::format_to(out, "  {:>18}  {:>12}\n", "messages per stage", "bytes sent");
  const Columns columns{width, measured, planned};
  for (const auto& row : rows) print_row(text, row, report.chosen, columns);
  const auto hidden = report.rows.size() - rows.size() - (below.size() - report.baselines.size());
  if (hidden > 0) fmt::format_to(out, "  … and {} more\n", hidden);
  for (const auto* row : below) print_row(text, *row, report.chosen, columns);
  if (!report.too_dear.empty())
    fmt::format_to(out,
                   "  {} more were not priced in full: their busiest ranks alone take too long (--all prices them)\n",
                   report.too_dear.size());
  text += describe_not_priced(report.not_priced);
  fmt::format_to(out, "\nChosen: {}", report.chosen);
  for (const auto& [baseline, own_s, baseline_s] : comparisons(report))
    fmt::format_to(out, ", {} {} ({})", compare_speed(own_s, baseline_s), baseline->what,
                   to_string(baseline->strategy));
  if (report.regret)
    fmt::format_to(out, ", regret {} (its time over that of the fastest)", format_fixed(*report.regret, 3));
  text += "\n";
  if (!report.note.empty()) fmt::format_to(out, "Note: {}.\n", report.note);
  if (report.baseline_s)
    fmt::format_to(out, "Plain loop over all neighbours, as MPI libraries do it: {}\n",
                   format_seconds(*report.baseline_s));
  return text;
}

std::string report_json(const Report& report, std::size_t top) {
  auto json = json_head(report.context);
  if (!report.note.empty()) json["context"]["note"] = report.note;
  json["chosen"] = report.chosen;
  json["ranking"] = Json::array();
  for (const auto& row : first_rows(report, top)) {
    auto entry = entry_of(row);
    entry["stages"] = Json::array();
    for (const auto& stage : row.candidate.cost.stages) {
      entry["stages"].push_back(
          {{"messages_max", stage.messages_max}, {"bytes_max", stage.bytes_max}, {"seconds", stage.seconds}});
      if (stage.is_staging) entry["stages"].back()["copies"] = stage.label;
    }
    json["ranking"].push_back(std::move(entry));
  }
  if (!report.too_dear.empty()) {
    auto& not_priced = json["not_priced_in_full"];
    not_priced["reason"] = "their busiest ranks alone take too long (--all prices them)";
    for (const auto& strategy : report.too_dear) not_priced["strategies"].push_back(to_string(strategy));
  }
  for (const auto& [strategy, reason] : report.not_priced)
    json["not_priced"].push_back({{"strategy", strategy}, {"reason", reason}});
  for (const auto& row : report.baselines) json["baselines"].push_back(entry_of(row));
  for (const auto& [baseline, own_s, baseline_s] : comparisons(report))
    json["times_faster_than"][to_string(baseline->strategy)] = baseline_s / own_s;
  if (report.baseline_s) json["baseline_s"] = *report.baseline_s;
  if (report.regret) json["regret"] = *report.regret;
  return json_text(json);
}

}  // namespace commpass
