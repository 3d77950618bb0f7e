#include "selector/report/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "selector/report/sweep_report.hpp"

namespace commpass {

namespace {

/// '*' for the choice, '=' for a baseline; then '~' for a tie if any row ties.
std::string mark_of(const ReportRow& row, const Report& report) {
  const auto& strategy = row.candidate.strategy;
  const std::string mark = to_string(strategy) == report.chosen ? "*" : baseline_of(strategy) ? "=" : " ";
  return mark + (report.ties.contains(strategy) ? "~" : "");
}

/// The time by which candidates are ranked, measured or predicted: of one exchange, or of `calls` with their planning.
std::optional<Seconds> seconds_of(const ReportRow& row, bool measured, const Calls& calls) {
  if (measured && calls && row.measured_s && row.measured_plan_s)
    return *row.measured_plan_s + *calls * *row.measured_s;
  if (measured) return row.measured_s;
  return row.is_priced ? std::optional(ranked_seconds(row.candidate, calls)) : std::nullopt;
}

}  // namespace

const ReportRow* chosen_row(const Report& report) {
  const auto chosen =
      std::ranges::find(report.rows, report.chosen, [](const auto& row) { return to_string(row.candidate.strategy); });
  return chosen == report.rows.end() ? nullptr : &*chosen;
}

std::optional<Regret> regret_of(const Report& report) {
  const auto* const chosen = chosen_row(report);
  if (!chosen || !chosen->measured_s) return {};
  const auto own = *seconds_of(*chosen, true, report.calls);
  const auto* fastest = chosen;
  auto least = own;
  for (const auto* rows : {&report.rows, &report.baselines})
    for (const auto& row : *rows)
      if (const auto seconds = seconds_of(row, true, report.calls); seconds && *seconds < least) {
        fastest = &row;
        least = *seconds;
      }
  return Regret{least > 0 ? own / least : 1, fastest};
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

double relative_error(const Candidate& candidate, const Report& report) {
  return std::hypot(report.ties.uncertainty, candidate.cost.sampling_error);
}

namespace {

Json json_of(const LibraryAlgorithm& library) {
  return {{"call", name_of(library.function)},
          {"algorithm", library.name},
          {"messages_of", to_string(library.strategy)},
          {"exchanges_empty_messages", library.exchanges_nothing},
          {"rule", library.rule},
          {"source", library.source},
          {"stands_in", library.is_stand_in}};
}

Json json_of(const std::vector<StageCost>& stages) {
  auto list = Json::array();
  for (const auto& stage : stages) {
    list.push_back({{"messages_max", stage.messages_max}, {"bytes_max", stage.bytes_max}, {"seconds", stage.seconds}});
    if (stage.is_staging) list.back()["copies"] = stage.label;
  }
  return list;
}

std::vector<std::string> names_of(const std::vector<Strategy>& strategies) {
  std::vector<std::string> names;
  for (const auto& strategy : strategies) names.push_back(to_string(strategy));
  return names;
}

/// Which optional columns does text have?
struct ShownColumns {
  bool measured, planned, tied, sampled, demand, buffers;

  explicit ShownColumns(const std::vector<const ReportRow*>& rows, const Report& report) {
    const auto has = [&](auto is_so) { return std::ranges::any_of(rows, is_so); };
    std::size_t width = 0;
    for (const auto* row : rows) width = std::max(width, to_string(row->candidate.strategy).size());
    measured = has([](const auto* row) { return row->measured_s.has_value(); });
    planned = has([](const auto* row) { return row->candidate.plan_seconds.has_value(); });
    tied = has([&](const auto* row) { return report.ties.contains(row->candidate.strategy); });
    sampled = has([](const auto* row) { return row->candidate.cost.sampling_error > 0; });
    // Wide tables have no such columns; --json and --explain have them.
    constexpr std::size_t width_with_demand = 64, width_with_both = 76, line_width = 100;
    demand = !measured && !planned && width + width_with_demand <= line_width &&
             has([](const auto* row) { return row->candidate.demand.has_value(); });
    buffers = demand && width + width_with_both <= line_width &&
              has([](const auto* row) { return row->candidate.buffered_bytes_max.has_value(); });
  }
};

/// A table of one form, with the columns of all forms.
Table table_of(const std::vector<const ReportRow*>& rows, const Report& report, const ShownColumns& shown, Forms forms,
               const std::string& key = {}) {
  Table table{key};
  table.forms = forms;
  const auto add = [&](Column column, auto cell_of) {
    table.column(std::move(column), rows, [&](const ReportRow* row) -> Cell { return cell_of(*row, row->candidate); });
  };
  const auto in_all_if = [](bool is_shown) { return is_shown ? Forms::all : Forms::programs; };
  const auto name = [](const ReportRow&, const Candidate& c) { return to_string(c.strategy); };
  const auto predicted_s = [](const ReportRow& row, const Candidate& c) {
    return row.is_priced ? seconds_cell(c.cost.seconds) : Cell();
  };
  const auto mean_s = [](const ReportRow& row, auto&) { return row.measured_mean_s; };
  const auto percentile_99_s = [](const ReportRow& row, auto&) { return row.measured_percentile_99_s; };
  add(mark_column(shown.tied ? 2 : 1), [&](const ReportRow& row, auto&) { return mark_of(row, report); });
  add({.key = "strategy", .heading = "strategy", .gap = 1}, name);
  add(json_column("predicted_s"), predicted_s);
  add(csv_column("chosen"), [&](auto&, const Candidate& c) { return to_string(c.strategy) == report.chosen ? 1 : 0; });
  add(csv_column("baseline"), [](auto&, const Candidate& c) { return baseline_of(c.strategy) ? 1 : 0; });
  add({"plan_s", "plan", 10, "-", 2, in_all_if(shown.planned)},
      [](auto&, const Candidate& c) { return seconds_cell(c.plan_seconds); });
  add({"measured_plan_s", "measured plan", 13, "-", 2, in_all_if(shown.planned && shown.measured)},
      [](const ReportRow& row, auto&) { return seconds_cell(row.measured_plan_s); });
  add({"predicted_s", "predicted", 10, "-", 2, Forms::but_json}, predicted_s);
  add({"", "", 6, "", 1, in_all_if(shown.sampled)}, [](auto&, const Candidate& c) {
    return c.cost.sampling_error > 0 ? "± " + format_share(c.cost.sampling_error) : Cell();
  });
  add({"measured_s", "measured", 10, "-", 2, in_all_if(shown.measured)},
      [](const ReportRow& row, auto&) { return seconds_cell(row.measured_s); });
  add({"", "error", 10, "-", 2, in_all_if(shown.measured)}, [](const ReportRow& row, const Candidate& c) {
    return row.is_priced && row.measured_s ? format_rounded_error(c.cost.seconds / *row.measured_s - 1) : Cell();
  });
  add(json_column("measured_mean_s"), mean_s);
  add(json_column("measured_percentile_99_s"), percentile_99_s);
  add({"messages_per_stage", "messages per stage", 18, "-", 2, Forms::but_json},
      [](const ReportRow& row, const Candidate& c) { return row.is_priced ? messages_per_stage(c.cost) : Cell(); });
  add({"bytes_sent", "bytes sent", 12, "-", 2, Forms::but_json}, [](const ReportRow& row, const Candidate& c) {
    return row.is_priced ? bytes_cell(bytes_per_stage(c.cost)) : Cell();
  });
  add(csv_column("tie"), [&](auto&, const Candidate& c) { return report.ties.contains(c.strategy) ? 1 : 0; });
  add(csv_column("as_run"), [](auto&, const Candidate& c) { return to_string(as_run(c)); });
  add(json_column("as_run"),
      [](auto&, const Candidate& c) { return c.limited_window ? to_string(as_run(c)) : Cell(); });
  add({"messages_in_flight", "in flight", 9, "-", 2, in_all_if(shown.demand)},
      [](auto&, const Candidate& c) { return c.demand ? c.demand->messages : Cell(); });
  add({"messages_in_flight_off_node"},
      [](auto&, const Candidate& c) { return c.demand ? c.demand->messages_off_node : Cell(); });
  add({"partners"}, [](auto&, const Candidate& c) { return c.demand ? c.demand->partners : Cell(); });
  add({"buffer_bytes", "memory", 10, "-", 2, in_all_if(shown.buffers)},
      [](auto&, const Candidate& c) { return c.buffered_bytes_max ? bytes_cell(*c.buffered_bytes_max) : Cell(); });
  add(json_column("exceeded_limit"),
      [](auto&, const Candidate& c) { return c.exceeded_limit ? c.exceeded_limit : Cell(); });
  add(json_column("library"), [](auto&, const Candidate& c) { return c.library ? Cell(json_of(*c.library)) : Cell(); });
  add(csv_column("measured_mean_s"), mean_s);
  add(csv_column("measured_percentile_99_s"), percentile_99_s);
  add({"sampling_error"},
      [](auto&, const Candidate& c) { return c.cost.sampling_error > 0 ? Cell(c.cost.sampling_error) : Cell(); });
  if (key == "ranking")
    add(json_column("stages"), [](auto&, const Candidate& c) { return Cell(json_of(c.cost.stages)); });
  return table;
}

/// The lines below the table.
std::string describe_left_out(const Report& report, std::size_t shown, std::size_t top) {
  std::string text;
  if (const auto hidden = report.rows.size() + report.baselines.size() - shown; hidden > 0)
    append(text, "  {} more points are not shown ({})\n", hidden,
           report.shows_all_points ? "a larger --top shows them"
           : top > 0               ? "--all-points without --top shows them"
                                   : "--all-points shows them");
  if (!report.pruned.empty())
    append(text, "  {} more were not priced in full: their busiest ranks alone take too long (--all prices them)\n",
           report.pruned.size());
  return text;
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
  if (const auto regret = regret_of(report)) {
    append(text, ", regret {} (its time over that of the fastest", format_fixed(regret->value, 3));
    if (regret->fastest != chosen_row(report))
      append(text, ", {}: {}", to_string(regret->fastest->candidate.strategy),
             format_seconds(*seconds_of(*regret->fastest, true, report.calls)));
    text += ")";
  }
  return text;
}

Document document_of(const Report& report, std::size_t top) {
  const auto rows = shown_rows(report, top);
  const ShownColumns shown(rows, report);
  std::vector<const ReportRow*> ranking, baselines, lines;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const auto& row = report.rows[i];
    if (top == 0 || i < top) ranking.push_back(&row);
    if (top == 0 || i < top || baseline_of(row.candidate.strategy)) lines.push_back(&row);
  }
  for (const auto& row : report.baselines) {
    baselines.push_back(&row);
    lines.push_back(&row);
  }

  Document document(report.context);
  document.fact("chosen", report.chosen);
  if (report.ties.fastest) document.fact("fastest_by_prediction", to_string(*report.ties.fastest));
  document.facts({{"uncertainty", report.ties.uncertainty}, {"ties", names_of(report.ties.strategies)}});
  document.text("\n");
  auto people = table_of(rows, report, shown, Forms::people);
  people.marked = static_cast<std::size_t>(std::ranges::find(rows, chosen_row(report)) - rows.begin());
  document.add(std::move(people));
  document.add(table_of(ranking, report, shown, Forms::json, "ranking"));
  document.add(table_of(lines, report, shown, Forms::csv));
  if (shown.tied)
    document.text(
        fmt::format("  ~ ties with the fastest by prediction ({}: {})\n",
                    report.ties.uncertainty > 0 ? "uncertainty of this profile" : "error of its sample",
                    format_share(report.ties.uncertainty > 0 ? report.ties.uncertainty : report.ties.sampling_error)));
  document.text(describe_left_out(report, rows.size(), top));
  if (!report.pruned.empty())
    document.fact("not_priced_in_full", {{"reason", "their busiest ranks alone take too long (--all prices them)"},
                                         {"strategies", names_of(report.pruned)}});
  add_not_priced(document, report.not_priced);
  if (!baselines.empty()) document.add(table_of(baselines, report, shown, Forms::json, "baselines"));
  for (const auto& each : comparisons(report))
    document.fact("times_faster_than", {{to_string(each.baseline->strategy), each.baseline_s / each.own_s}});
  if (report.baseline_s) document.fact("baseline_s", *report.baseline_s);
  if (const auto regret = regret_of(report)) {
    document.fact("regret", regret->value);
    document.fact("fastest", to_string(regret->fastest->candidate.strategy));
  }
  document.paragraph("\n" + describe_choice(report) + "\n");
  // The median hides times that are late once in a hundred runs.
  if (const auto* const chosen = chosen_row(report); chosen && chosen->measured_s && chosen->measured_mean_s)
    document.paragraph(fmt::format("Its runs: median {}, mean {}, 99th percentile {}\n",
                                   format_seconds(*chosen->measured_s), format_seconds(*chosen->measured_mean_s),
                                   format_seconds(*chosen->measured_percentile_99_s)));
  document.note(report.note);
  if (report.baseline_s)
    document.paragraph(fmt::format("Plain loop over all neighbours, as MPI libraries do it: {}\n",
                                   format_seconds(*report.baseline_s)));
  return document;
}

void add_not_priced(Document& document, std::span<const NotPriced> strategies) {
  auto list = json_table("not_priced", "strategy reason");
  for (const auto& [strategy, reason] : strategies) {
    list.add({strategy, reason});
    document.text(fmt::format("  {} has no price: {}\n", strategy, reason));
  }
  if (!strategies.empty()) document.add(std::move(list));
}

}  // namespace commpass
