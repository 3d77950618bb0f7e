#include "selector/report/csv.hpp"

#include <fmt/core.h>

#include "selector/choose/baseline.hpp"

namespace commpass {

namespace {

std::string csv_row(const ReportRow& row, const Report& report) {
  const auto& candidate = row.candidate;
  const auto name = to_string(candidate.strategy);
  const auto& demand = candidate.demand;
  const auto is_priced = [&](auto value) { return row.is_priced ? std::optional<double>(value) : std::nullopt; };
  return csv_line({name, name == report.chosen ? "1" : "0", baseline_of(candidate.strategy) ? "1" : "0",
                   csv_number(candidate.plan_seconds), csv_number(row.measured_plan_s),
                   csv_number(is_priced(candidate.cost.seconds)), csv_number(row.measured_s),
                   row.is_priced ? messages_per_stage(candidate.cost) : "",
                   csv_number(is_priced(bytes_per_stage(candidate.cost))),
                   report.ties.contains(candidate.strategy) ? "1" : "0", to_string(as_run(candidate)),
                   csv_number(demand ? std::optional<double>(demand->messages) : std::nullopt),
                   csv_number(demand ? std::optional<double>(demand->messages_off_node) : std::nullopt),
                   csv_number(demand ? std::optional<double>(demand->partners) : std::nullopt),
                   csv_number(candidate.buffered_bytes_max), csv_number(row.measured_mean_s),
                   csv_number(row.measured_percentile_99_s)});
}

}  // namespace

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (const auto& field : fields) {
    if (&field != fields.data()) line += ',';
    if (field.find_first_of(",\"\r\n") == std::string::npos) {
      line += field;
      continue;
    }
    line += '"';
    for (const char c : field) line += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += '"';
  }
  return line + "\n";
}

std::string csv_number(const std::optional<double>& number) { return number ? fmt::format("{}", *number) : ""; }

std::string report_csv(const Report& report, std::size_t top) {
  std::string text = csv_line({"strategy", "chosen", "baseline", "plan_s", "measured_plan_s", "predicted_s",
                               "measured_s", "messages_per_stage", "bytes_sent", "tie", "as_run", "messages_in_flight",
                               "messages_in_flight_off_node", "partners", "buffer_bytes", "measured_mean_s",
                               "measured_percentile_99_s"});
  std::size_t index = 0;
  for (const auto& row : report.rows)
    if (top == 0 || index++ < top || baseline_of(row.candidate.strategy)) text += csv_row(row, report);
  for (const auto& row : report.baselines) text += csv_row(row, report);
  return text;
}

std::string call_report_csv(const CallReport& report) {
  std::string text = csv_line({"name", "kind", "predicted_s", "measured_s"});
  for (const auto& row : report.rows)
    text += csv_line({row.name, "strategy", csv_number(row.predicted_s), csv_number(row.measured_s)});
  for (const auto& row : report.baselines)
    text += csv_line({row.name, "baseline", csv_number(row.predicted_s), csv_number(row.measured_s)});
  return text + csv_line({report.chosen, "choice", "", csv_number(report.chosen_s)});
}

}  // namespace commpass
