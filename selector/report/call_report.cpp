#include "selector/report/call_report.hpp"

#include <cmath>
#include <limits>

#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "selector/choose/baseline.hpp"

namespace commpass {

double CallReport::regret() const {
  Seconds fastest_s = std::numeric_limits<Seconds>::infinity();
  for (const auto* list : {&rows, &baselines})
    for (const auto& row : *list) fastest_s = std::min(fastest_s, row.measured_s);
  return std::isfinite(fastest_s) && fastest_s > 0 ? chosen_s / fastest_s : 1;
}

std::string call_report_table(const CallReport& report) {
  auto text = context_lines(report.context);
  const auto width = column_width("strategy", report.rows, &CallReportRow::name);
  append(text, "\n  {:<{}}  {:>10}  {:>10}  {:>10}\n", "strategy", width, "predicted", "measured", "error");
  for (const auto& row : report.rows) {
    append(text, "{} {:<{}}", row.name == report.chosen ? "*" : " ", row.name, width);
    if (row.predicted_s)
      append(text, "  {:>10}  {:>10}  {:>10}\n", format_seconds(*row.predicted_s), format_seconds(row.measured_s),
             format_rounded_error(*row.predicted_s / row.measured_s - 1));
    else append(text, "  {:>10}  {:>10}\n", "", format_seconds(row.measured_s));
  }
  append(text, "\nChosen: {}, {} with the overhead of choosing, regret {} (its time over that of the fastest)\n",
         report.chosen, format_seconds(report.chosen_s), format_fixed(report.regret(), 3));
  for (const auto& row : report.baselines)
    append(text, "{}, {}: {}; the choice is {} that\n", report.baseline_kind, row.name, format_seconds(row.measured_s),
           row.measured_s > 0 && report.chosen_s > 0 ? compare_speed(report.chosen_s, row.measured_s)
                                                     : "not comparable with");
  if (report.barrier_s && report.tally_s)
    append(text, "A non-blocking barrier alone: {}; the reduction that ends nbx in its place: {}\n",
           format_seconds(*report.barrier_s), format_seconds(*report.tally_s));
  return text;
}

std::string call_report_json(const CallReport& report) {
  auto json = json_head(report.context);
  json["chosen"] = report.chosen;
  json["chosen_s"] = report.chosen_s;
  json["ranking"] = Json::array();
  for (const auto& row : report.rows) {
    Json entry{{"strategy", row.name}};
    if (row.predicted_s) entry["predicted_s"] = *row.predicted_s;
    entry["measured_s"] = row.measured_s;
    json["ranking"].push_back(std::move(entry));
  }
  json["baselines"] = Json::array();
  for (const auto& row : report.baselines)
    json["baselines"].push_back({{"name", row.name}, {"measured_s", row.measured_s}});
  if (report.barrier_s) json["barrier_s"] = *report.barrier_s;
  if (report.tally_s) json["tally_s"] = *report.tally_s;
  json["regret"] = report.regret();
  return json_text(json);
}

std::string call_report_csv(const CallReport& report) {
  auto text = csv_line({"name", "kind", "predicted_s", "measured_s"});
  for (const auto& [rows, kind] : {std::pair(&report.rows, "strategy"), std::pair(&report.baselines, "baseline")})
    for (const auto& row : *rows)
      text += csv_line({row.name, kind, csv_number(row.predicted_s), csv_number(row.measured_s)});
  return text + csv_line({report.chosen, "choice", "", csv_number(report.chosen_s)});
}

}  // namespace commpass
