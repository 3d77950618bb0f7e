#include "doctor/mpi_bugs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "model/base/format.hpp"
#include "model/base/text.hpp"

namespace commpass {

namespace {

constexpr std::string_view library_key = "commpass-mpi-library: ", result_key = "commpass-mpi-bug: ";
constexpr std::array words{
    std::pair{BugResult::right, std::string_view("right")}, std::pair{BugResult::wrong, std::string_view("wrong")},
    std::pair{BugResult::ended, std::string_view("crashes")}, std::pair{BugResult::late, std::string_view("hangs")},
    std::pair{BugResult::not_tried, std::string_view("not tried")}};

bool is_wrong(const BugTrial& trial) {
  return trial.result != BugResult::right && trial.result != BugResult::not_tried;
}

bool is_corrected(const TriedBug& one) {
  return is_wrong(one.alone) && one.preloaded && one.preloaded->result == BugResult::right;
}

}  // namespace

std::optional<MpiBugCase> find_mpi_bug_case(std::string_view name) {
  if (name == no_mpi_bug.name) return no_mpi_bug;
  const auto* const found = std::ranges::find(mpi_bug_cases, name, &MpiBugCase::name);
  if (found == mpi_bug_cases.end()) return {};
  return *found;
}

std::string_view word_of(BugResult result) {
  return std::ranges::find(words, result, &std::pair<BugResult, std::string_view>::first)->second;
}

std::string to_text(const BugTrial& trial) {
  auto text = fmt::format("{}{}\n{}{}", library_key, trial.library, result_key, word_of(trial.result));
  for (const auto& call : trial.wrong_calls) text += "," + call;
  return text + "\n";
}

BugTrial parse_bug_trial(std::string_view text) {
  BugTrial trial{BugResult::ended};
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with(library_key)) trial.library = line.substr(library_key.size());
    if (!line.starts_with(result_key)) continue;
    auto parts = split(line.substr(result_key.size()), ',');
    const auto* const word = std::ranges::find(words, parts.front(), &std::pair<BugResult, std::string_view>::second);
    if (word == words.end()) continue;
    trial.result = word->first;
    trial.wrong_calls.assign(parts.begin() + 1, parts.end());
  }
  return trial;
}

bool is_all_right(const std::vector<TriedBug>& tried) {
  return std::ranges::none_of(tried, [](const TriedBug& one) { return is_wrong(one.alone); });
}

Document document_of(const std::vector<TriedBug>& tried, const std::string& library, const std::string& launcher) {
  Document document;
  document.facts({{"library", library}, {"launcher", launcher}});
  document.text(fmt::format("{}, started by {}\n\n", library, launcher));
  Table table{"cases",
              {{"name"},
               {.key = "calls", .heading = "calls", .width = -1, .gap = 0},
               {.key = "neighborhood", .heading = "neighbourhood", .width = -1},
               {.key = "ranks", .heading = "ranks", .width = 1},
               {.key = "result", .heading = "MPI alone", .width = -1},
               json_column("wrong_calls"),
               {.key = "preloaded", .heading = "with libcommpass-mpi", .width = -1, .if_absent = "-"},
               {.key = "issues", .heading = "issues", .width = -1},
               json_column("known_wrong_in")}};
  for (const auto& one : tried) {
    auto& row = table.add({std::string(one.bug.name), std::string(one.bug.calls), std::string(one.bug.neighborhood),
                           one.bug.ranks, std::string(word_of(one.alone.result)), Json(one.alone.wrong_calls),
                           one.preloaded ? Cell(std::string(word_of(one.preloaded->result))) : Cell(),
                           std::string(one.bug.issues), std::string(one.bug.wrong_in)});
    if (!one.alone.wrong_calls.empty())
      row.below = fmt::format("  other bytes: {}\n", join(one.alone.wrong_calls, ", "));
  }
  document.add(std::move(table));
  const auto wrong = std::ranges::count_if(tried, [](const TriedBug& one) { return is_wrong(one.alone); });
  const auto corrected = std::ranges::count_if(tried, is_corrected);
  document.text(wrong == 0 ? "\nThis MPI library gets no case wrong.\n"
                           : fmt::format("\nThis MPI library gets {} of {} cases wrong. libcommpass-mpi corrects {} of "
                                         "these: commpass run -- mpirun … ./program\n",
                                         wrong, tried.size(), corrected));
  return document;
}

}  // namespace commpass
