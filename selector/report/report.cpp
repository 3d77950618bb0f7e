#include "selector/report/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "selector/choose/baseline.hpp"
#include "selector/report/sweep_report.hpp"

namespace commpass {

namespace {

std::span<const ReportRow> first_rows(const Report& report, std::size_t top) {
  const std::span rows(report.rows);
  return top == 0 ? rows : rows.first(std::min(top, rows.size()));
}

/// The optional columns of a table, and the width of the first one.
struct Columns {
  std::size_t width;
  bool measured, planned, tied, demand, buffers;
};

/// '*' for the choice, '=' for a baseline; then '~' for a tie if any row ties.
std::string mark_of(const ReportRow& row, const Report& report, bool tied) {
  const auto& strategy = row.candidate.strategy;
  std::string mark = to_string(strategy) == report.chosen ? "*" : baseline_of(strategy) ? "=" : " ";
  if (tied) mark += report.ties.contains(strategy) ? '~' : ' ';
  return mark;
}

void print_row(std::string& text, const ReportRow& row, const Report& report, const Columns& columns) {
  const auto& cost = row.candidate.cost;
  append(text, "{} {:<{}}", mark_of(row, report, columns.tied), to_string(row.candidate.strategy), columns.width);
  if (columns.planned)
    append(text, "  {:>10}", row.is_priced ? format_seconds(row.candidate.plan_seconds.value_or(0)) : "-");
  if (columns.planned && columns.measured) append(text, "  {:>13}", format_seconds(row.measured_plan_s.value_or(0)));
  append(text, "  {:>10}", row.is_priced ? format_seconds(cost.seconds) : "-");
  if (columns.measured && row.measured_s)
    append(text, "  {:>10}  {:>10}", format_seconds(*row.measured_s),
           row.is_priced ? format_rounded_error(cost.seconds / *row.measured_s - 1) : "-");
  append(text, "  {:>18}  {:>12}", row.is_priced ? messages_per_stage(cost) : "-",
         row.is_priced ? format_bytes(static_cast<double>(bytes_per_stage(cost))) : "-");
  const auto& demand = row.candidate.demand;
  const auto& buffers = row.candidate.buffered_bytes_max;
  if (columns.demand) append(text, "  {:>9}", demand ? std::to_string(demand->messages) : "-");
  if (columns.buffers) append(text, "  {:>10}", buffers ? format_bytes(static_cast<double>(*buffers)) : "-");
  text += "\n";
}

/// The time of one exchange: measured, or by which candidates are ranked.
std::optional<Seconds> seconds_of(const ReportRow& row, bool measured, const Calls& calls) {
  if (measured) return row.measured_s;
  return row.is_priced ? std::optional(ranked_seconds(row.candidate, calls)) : std::nullopt;
}

/// A baseline beside the choice.
struct Comparison {
  const Baseline* baseline;
  const Candidate* candidate;
  Seconds own_s, baseline_s;
};

/// Null if no row has it.
const ReportRow* chosen_row(const Report& report) {
  const auto chosen =
      std::ranges::find(report.rows, report.chosen, [](const auto& row) { return to_string(row.candidate.strategy); });
  return chosen == report.rows.end() ? nullptr : &*chosen;
}

std::vector<Comparison> comparisons(const Report& report) {
  const auto* const chosen = chosen_row(report);
  std::vector<Comparison> result;
  if (!chosen) return result;
  const bool measured = chosen->measured_s.has_value();
  const auto own = seconds_of(*chosen, measured, report.calls);
  for (const auto* rows : {&report.rows, &report.baselines})
    for (const auto& row : *rows) {
      const auto* const baseline = baseline_of(row.candidate.strategy);
      const auto other = seconds_of(row, measured, report.calls);
      if (baseline && &row != chosen && own > 0.0 && other > 0.0)
        result.push_back({baseline, &row.candidate, *own, *other});
    }
  return result;
}

Json entry_of(const ReportRow& row) {
  Json entry;
  entry["strategy"] = to_string(row.candidate.strategy);
  if (row.is_priced) entry["predicted_s"] = row.candidate.cost.seconds;
  if (row.candidate.plan_seconds) entry["plan_s"] = *row.candidate.plan_seconds;
  if (row.measured_plan_s) entry["measured_plan_s"] = *row.measured_plan_s;
  if (row.measured_s) entry["measured_s"] = *row.measured_s;
  if (row.measured_mean_s) entry["measured_mean_s"] = *row.measured_mean_s;
  if (row.measured_percentile_99_s) entry["measured_percentile_99_s"] = *row.measured_percentile_99_s;
  if (row.candidate.limited_window) entry["as_run"] = to_string(as_run(row.candidate));
  if (const auto& demand = row.candidate.demand) {
    entry["messages_in_flight"] = demand->messages;
    entry["messages_in_flight_off_node"] = demand->messages_off_node;
    entry["partners"] = demand->partners;
  }
  if (row.candidate.buffered_bytes_max) entry["buffer_bytes"] = *row.candidate.buffered_bytes_max;
  if (row.candidate.exceeded_limit) entry["exceeded_limit"] = row.candidate.exceeded_limit;
  if (const auto& library = row.candidate.library)
    entry["library"] = {{"call", name_of(library->function)},
                        {"algorithm", library->name},
                        {"messages_of", to_string(library->strategy)},
                        {"exchanges_empty_messages", library->exchanges_nothing},
                        {"rule", library->rule},
                        {"source", library->source},
                        {"stands_in", library->is_stand_in}};
  return entry;
}

}  // namespace

std::string messages_per_stage(const Cost& cost) {
  std::vector<std::int64_t> messages;
  for (const auto& stage : cost.stages)
    if (!stage.is_staging) messages.push_back(stage.messages_max);
  return messages.empty() ? "0" : join(messages, "+");
}

Bytes bytes_per_stage(const Cost& cost) {
  Bytes bytes = 0;
  for (const auto& stage : cost.stages) bytes += stage.is_staging ? 0 : stage.bytes_max;
  return bytes;
}

std::vector<const ReportRow*> shown_rows(const Report& report, std::size_t top) {
  std::set<std::string> routes;
  const auto is_needed = [&](const ReportRow& row) {
    const auto& strategy = row.candidate.strategy;
    return to_string(strategy) == report.chosen || strategy == report.ties.fastest || baseline_of(strategy);
  };
  const bool is_unlimited = report.shows_all_points && top == 0;
  auto room = top > 0 ? top : table_rows_max - std::min(table_rows_max, report.baselines.size());
  if (top == 0) room -= std::min<std::size_t>(room, std::ranges::count_if(report.rows, is_needed));
  std::vector<const ReportRow*> result, below;
  for (const auto& row : report.rows) {
    const bool is_first = routes.insert(route_and_path(row.candidate.strategy)).second;
    if (is_unlimited || (top == 0 && is_needed(row))) {
      result.push_back(&row);
    } else if (room > 0 && (report.shows_all_points || is_first || is_needed(row))) {
      result.push_back(&row);
      --room;
    } else if (baseline_of(row.candidate.strategy)) {
      below.push_back(&row);
    }
  }
  for (const auto& row : report.baselines) below.push_back(&row);
  result.insert(result.end(), below.begin(), below.end());
  return result;
}

std::string describe_ties(const Report& report) {
  const auto* const chosen = chosen_row(report);
  return !chosen ? std::string() : describe_ties(report.ties, chosen->candidate.strategy);
}

std::string describe_choice(const Report& report) {
  auto text = "Chosen: " + report.chosen;
  if (const auto* const chosen = chosen_row(report); chosen && chosen->candidate.limited_window)
    append(text, ", in windows of {} rounds to keep the limit of messages in flight",
           chosen->candidate.limited_window->rounds);
  const auto tied = describe_ties(report);
  if (!tied.empty()) text += ". " + tied;
  const auto compared = comparisons(report);
  for (const auto& each : compared) {
    const bool is_tie = report.ties.contains(each.baseline->strategy);
    text += tied.empty() || &each != compared.data() ? ", " : ". It is ";
    append(text, "{} {} ({}{})", compare_speed(each.own_s, each.baseline_s), describe(*each.baseline, *each.candidate),
           to_string(each.baseline->strategy), is_tie ? ", a tie" : "");
  }
  if (report.regret) append(text, ", regret {} (its time over that of the fastest)", format_fixed(*report.regret, 3));
  return text;
}

std::string report_table(const Report& report, std::size_t top) {
  const auto rows = shown_rows(report, top);
  std::string text;
  const auto width = column_width("strategy", rows, [](const auto* row) { return to_string(row->candidate.strategy); });
  const auto has = [&](auto is_so) { return std::ranges::any_of(rows, is_so); };
  Columns columns{width,
                  has([](const auto* row) { return row->measured_s.has_value(); }),
                  has([](const auto* row) { return row->candidate.plan_seconds.has_value(); }),
                  has([&](const auto* row) { return report.ties.contains(row->candidate.strategy); }),
                  false,
                  false};
  // These columns are left out of wide tables; --json and --explain have them.
  constexpr std::size_t width_with_demand = 64, width_with_both = 76, line_width = 100;
  const bool has_room = !columns.measured && !columns.planned && width + width_with_demand <= line_width;
  columns.demand = has_room && has([](const auto* row) { return row->candidate.demand.has_value(); });
  columns.buffers = columns.demand && width + width_with_both <= line_width &&
                    has([](const auto* row) { return row->candidate.buffered_bytes_max.has_value(); });

  append(text, "\n  {}{:<{}}", columns.tied ? " " : "", "strategy", width);
  if (columns.planned) append(text, "  {:>10}", "plan");
  if (columns.planned && columns.measured) append(text, "  {:>13}", "measured plan");
  append(text, "  {:>10}", "predicted");
  if (columns.measured) append(text, "  {:>10}  {:>10}", "measured", "error");
  append(text, "  {:>18}  {:>12}", "messages per stage", "bytes sent");
  if (columns.demand) append(text, "  {:>9}", "in flight");
  if (columns.buffers) append(text, "  {:>10}", "memory");
  text += "\n";
  for (const auto* row : rows) print_row(text, *row, report, columns);
  if (columns.tied)
    append(text, "  ~ ties with the fastest by prediction (uncertainty of this profile: {})\n",
           format_share(report.ties.uncertainty));
  if (const auto hidden = report.rows.size() + report.baselines.size() - rows.size(); hidden > 0)
    append(text, "  {} more points are not shown ({})\n", hidden,
           report.shows_all_points ? "a larger --top shows them"
           : top > 0               ? "--all-points without --top shows them"
                                   : "--all-points shows them");
  if (!report.pruned.empty())
    append(text, "  {} more were not priced in full: their busiest ranks alone take too long (--all prices them)\n",
           report.pruned.size());
  text += describe_not_priced(report.not_priced);
  auto closing = "\n" + describe_choice(report) + "\n";
  // The median hides times that are late once in a hundred runs.
  if (const auto* const chosen = chosen_row(report); chosen && chosen->measured_s && chosen->measured_mean_s)
    append(closing, "Its runs: median {}, mean {}, 99th percentile {}\n", format_seconds(*chosen->measured_s),
           format_seconds(*chosen->measured_mean_s), format_seconds(*chosen->measured_percentile_99_s));
  if (!report.note.empty()) append(closing, "Note: {}.\n", report.note);
  if (report.baseline_s)
    append(closing, "Plain loop over all neighbours, as MPI libraries do it: {}\n", format_seconds(*report.baseline_s));
  return wrap_lines(context_lines(report.context)) + text + wrap_lines(closing);
}

std::string report_json(const Report& report, std::size_t top) {
  auto json = json_head(report.context);
  if (!report.note.empty()) json["context"]["note"] = report.note;
  json["chosen"] = report.chosen;
  if (report.ties.fastest) json["fastest_by_prediction"] = to_string(*report.ties.fastest);
  json["uncertainty"] = report.ties.uncertainty;
  json["ties"] = Json::array();
  for (const auto& strategy : report.ties.strategies) json["ties"].push_back(to_string(strategy));
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
  if (!report.pruned.empty()) {
    auto& not_priced = json["not_priced_in_full"];
    not_priced["reason"] = "their busiest ranks alone take too long (--all prices them)";
    for (const auto& strategy : report.pruned) not_priced["strategies"].push_back(to_string(strategy));
  }
  for (const auto& [strategy, reason] : report.not_priced)
    json["not_priced"].push_back({{"strategy", strategy}, {"reason", reason}});
  for (const auto& row : report.baselines) json["baselines"].push_back(entry_of(row));
  for (const auto& each : comparisons(report))
    json["times_faster_than"][to_string(each.baseline->strategy)] = each.baseline_s / each.own_s;
  if (report.baseline_s) json["baseline_s"] = *report.baseline_s;
  if (report.regret) json["regret"] = *report.regret;
  return json_text(json);
}

std::string report_csv(const Report& report, std::size_t top) {
  auto text = csv_line({"strategy", "chosen", "baseline", "plan_s", "measured_plan_s", "predicted_s", "measured_s",
                        "messages_per_stage", "bytes_sent", "tie", "as_run", "messages_in_flight",
                        "messages_in_flight_off_node", "partners", "buffer_bytes", "measured_mean_s",
                        "measured_percentile_99_s"});
  const auto add = [&](const ReportRow& row) {
    const auto& candidate = row.candidate;
    const auto& demand = candidate.demand;
    const auto name = to_string(candidate.strategy);
    const auto flag = [](bool is_set) { return is_set ? "1" : "0"; };
    const auto number_if = [](bool is_known, auto value) { return is_known ? csv_number(value) : std::string(); };
    text += csv_line(
        {name, flag(name == report.chosen), flag(baseline_of(candidate.strategy)), csv_number(candidate.plan_seconds),
         csv_number(row.measured_plan_s), number_if(row.is_priced, candidate.cost.seconds), csv_number(row.measured_s),
         row.is_priced ? messages_per_stage(candidate.cost) : "",
         number_if(row.is_priced, bytes_per_stage(candidate.cost)), flag(report.ties.contains(candidate.strategy)),
         to_string(as_run(candidate)), csv_number(demand ? std::optional<double>(demand->messages) : std::nullopt),
         csv_number(demand ? std::optional<double>(demand->messages_off_node) : std::nullopt),
         csv_number(demand ? std::optional<double>(demand->partners) : std::nullopt),
         csv_number(candidate.buffered_bytes_max), csv_number(row.measured_mean_s),
         csv_number(row.measured_percentile_99_s)});
  };
  std::size_t index = 0;
  for (const auto& row : report.rows)
    if (top == 0 || index++ < top || baseline_of(row.candidate.strategy)) add(row);
  for (const auto& row : report.baselines) add(row);
  return text;
}

std::string describe_not_priced(std::span<const NotPriced> strategies) {
  std::string text;
  for (const auto& [strategy, reason] : strategies) append(text, "  {} has no price: {}\n", strategy, reason);
  return text;
}

}  // namespace commpass
