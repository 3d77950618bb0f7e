#include "selector/report/sparse_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "selector/choose/baseline.hpp"
#include "selector/report/report.hpp"

namespace commpass {

namespace {

std::span<const SparseRow> first_of(const SparseReport& report, std::size_t top) {
  const std::span rows(report.rows);
  return top == 0 ? rows : rows.first(std::min(top, rows.size()));
}

/// "7+3"; "0" without stages.
std::string messages_of(const SparseRow& row) {
  std::vector<std::string> messages;
  for (const auto& stage : row.stages) messages.push_back(fmt::format("{:.0f}", stage.messages));
  return messages.empty() ? "0" : join(messages, "+");
}

/// The reason why the choice is not the fastest; empty if it is.
std::string describe_tie(const SparseReport& report) {
  const auto fastest = std::ranges::min_element(report.rows, {}, &SparseRow::seconds);
  if (fastest->seconds >= report.rows.front().seconds) return {};
  const auto ties = std::ranges::count_if(
      report.rows, [&](const SparseRow& row) { return row.seconds <= fastest->seconds * (1 + report.uncertainty); });
  return fmt::format(
      "Fastest by prediction: {}, {}, but this profile cannot tell {} of them apart ({:.0f} %): the simplest is "
      "taken\n",
      to_string(fastest->strategy), format_seconds(fastest->seconds), ties, 100 * report.uncertainty);
}

}  // namespace

std::string sparse_report_table(const SparseReport& report, std::size_t top) {
  const auto rows = first_of(report, top);
  auto text = context_lines(report.context);
  const auto width = column_width("strategy", rows, [](const SparseRow& row) { return to_string(row.strategy); });
  constexpr auto* messages = "messages per stage";
  const auto messages_width = column_width(messages, rows, messages_of);
  append(text, "\n  {:<{}}  {:>10}  {:>{}}\n", "strategy", width, "predicted", messages, messages_width);
  for (const auto& row : rows)
    append(text, "{} {:<{}}  {:>10}  {:>{}}\n", &row == rows.data() ? "*" : " ", to_string(row.strategy), width,
           format_seconds(row.seconds), messages_of(row), messages_width);
  if (rows.size() < report.rows.size()) append(text, "  … and {} more\n", report.rows.size() - rows.size());
  text += describe_not_priced(report.not_priced);
  const auto& chosen = report.rows.front();
  append(text, "\nChosen: {}", to_string(chosen.strategy));
  if (report.plain && chosen.seconds > 0 && report.plain->seconds > 0)
    append(text, ", {} {}", compare_speed(chosen.seconds, report.plain->seconds), to_string(report.plain->strategy));
  text += "\n" + describe_tie(report);
  if (!report.note.empty()) text += "Note: " + report.note + ".\n";
  return text;
}

std::string sparse_report_json(const SparseReport& report, std::size_t top) {
  auto json = json_head(report.context);
  if (!report.note.empty()) json["context"]["note"] = report.note;
  const auto& chosen = report.rows.front();
  json["chosen"] = to_string(chosen.strategy);
  json["ranking"] = Json::array();
  for (const auto& row : first_of(report, top)) {
    Json entry{{"strategy", to_string(row.strategy)}, {"predicted_s", row.seconds}, {"stages", Json::array()}};
    for (const auto& stage : row.stages)
      entry["stages"].push_back({{"ranks", std::llround(stage.ranks)},
                                 {"messages_max", stage.messages},
                                 {"message_bytes", stage.bytes},
                                 {"seconds", stage.seconds},
                                 {"copying_s", stage.copying_s}});
    json["ranking"].push_back(std::move(entry));
  }
  for (const auto& [strategy, reason] : report.not_priced)
    json["not_priced"].push_back({{"strategy", strategy}, {"reason", reason}});
  if (report.plain && chosen.seconds > 0)
    json["times_faster_than"][to_string(report.plain->strategy)] = report.plain->seconds / chosen.seconds;
  return json_text(json);
}

std::string sparse_report_csv(const SparseReport& report, std::size_t top) {
  auto text = csv_line({"strategy", "chosen", "predicted_s", "messages_per_stage"});
  for (const auto& row : first_of(report, top))
    text += csv_line(
        {to_string(row.strategy), &row == report.rows.data() ? "1" : "0", csv_number(row.seconds), messages_of(row)});
  return text;
}

std::string explain_sparse(const SparseReport& report, const SparseRow& row) {
  const auto name = to_string(row.strategy);
  std::string text = fmt::format("{}: {} predicted\n", name, format_seconds(row.seconds));
  int number = 0;
  for (const auto& stage : row.stages)
    append(text, "  stage {}: among {:.0f} ranks, up to {:.0f} messages of {} sent by a rank, {}{}\n", ++number,
           stage.ranks, stage.messages, format_bytes(std::round(stage.bytes)), format_seconds(stage.seconds),
           stage.copying_s > 0 ? fmt::format(", {} of it copies", format_seconds(stage.copying_s)) : "");
  const auto& chosen = report.rows.front();
  if (row.strategy == chosen.strategy) return text + "Chosen: " + name + "\n" + describe_tie(report);
  const bool is_compared = row.seconds > 0 && chosen.seconds > 0;
  return text + fmt::format("Not chosen: {} is {} {}\n", name,
                            is_compared ? compare_speed(row.seconds, chosen.seconds) : "as fast as",
                            to_string(chosen.strategy));
}

}  // namespace commpass
