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

Document document_of(const SparseReport& report, std::size_t top) {
  const auto& chosen = report.rows.front();
  Document document(report.context);
  document.fact("chosen", to_string(chosen.strategy));
  Table ranking{"ranking",
                {mark_column(),
                 {.key = "strategy", .heading = "strategy", .gap = 1},
                 csv_column("chosen"),
                 {"predicted_s", "predicted", 10},
                 {.key = "messages_per_stage", .heading = "messages per stage", .width = 1, .forms = Forms::but_json},
                 json_column("stages")}};
  for (const auto& row : first_of(report, top)) {
    const bool is_chosen = &row == &chosen;
    auto stages = Json::array();
    for (const auto& stage : row.stages)
      stages.push_back({{"ranks", std::llround(stage.ranks)},
                        {"messages_max", stage.messages},
                        {"message_bytes", stage.bytes},
                        {"seconds", stage.seconds},
                        {"copying_s", stage.copying_s}});
    ranking.add({is_chosen ? "*" : "", to_string(row.strategy), is_chosen ? 1 : 0, seconds_cell(row.seconds),
                 messages_of(row), Cell(stages)});
  }
  const auto left_out = report.rows.size() - ranking.rows.size();
  document.text("\n");
  document.add(std::move(ranking));
  if (left_out > 0) document.text(fmt::format("  … and {} more\n", left_out));
  add_not_priced(document, report.not_priced);
  std::string choice = "\nChosen: " + to_string(chosen.strategy);
  if (report.plain && chosen.seconds > 0) {
    const auto plain = to_string(report.plain->strategy);
    if (report.plain->seconds > 0)
      append(choice, ", {} {}", compare_speed(chosen.seconds, report.plain->seconds), plain);
    document.fact("times_faster_than", {{plain, report.plain->seconds / chosen.seconds}});
  }
  document.text(choice + "\n" + describe_tie(report));
  document.note(report.note);
  return document;
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
