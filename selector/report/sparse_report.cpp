#include "selector/report/sparse_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "selector/choose/baseline.hpp"
#include "selector/report/csv.hpp"
#include "selector/report/json_text.hpp"

namespace commpass {

namespace {

std::span<const SparseRow> first_of(const SparseReport& report, std::size_t top) {
  const std::span rows(report.rows);
  return top == 0 ? rows : rows.first(std::min(top, rows.size()));
}

/// "7+3"; "0" where nothing is sent.
std::string messages_of(const SparseRow& row) {
  std::string text;
  for (const auto& stage : row.stages) text += fmt::format("{}{:.0f}", text.empty() ? "" : "+", stage.messages);
  return text.empty() ? "0" : text;
}

/// That a row was not the fastest, and was chosen nevertheless. Empty: it is the fastest.
std::string describe_tie(const SparseReport& report) {
  const auto fastest = std::ranges::min_element(report.rows, {}, &SparseRow::seconds);
  if (fastest->seconds >= report.rows.front().seconds) return {};
  const auto ties = std::ranges::count_if(
      report.rows, [&](const SparseRow& row) { return row.seconds <= fastest->seconds * (1 + report.uncertainty); });
  constexpr double percent = 100;
  return fmt::format(
      "Fastest by prediction: {}, {}, but this profile cannot tell {} of them apart ({:.0f} %): the simplest is "
      "taken\n",
      to_string(fastest->strategy), format_seconds(fastest->seconds), ties, percent * report.uncertainty);
}

}  // namespace

std::string sparse_report_table(const SparseReport& report, std::size_t top) {
  const auto rows = first_of(report, top);
  std::string text;
  for (const auto& [key, value] : report.context) append(text, "{}: {}\n", key, value);
  std::size_t width = std::string("strategy").size();
  for (const auto& row : rows) width = std::max(width, to_string(row.strategy).size());
  const std::string messages = "messages per stage";
  std::size_t messages_width = messages.size();
  for (const auto& row : rows) messages_width = std::max(messages_width, messages_of(row).size());
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
    text +=
        fmt::format("  stage {}: among {:.0f} ranks, up to {:.0f} messages of {} sent by a rank, {}{}\n", ++number,
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
