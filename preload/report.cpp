#include "preload/report.hpp"

#include <fmt/core.h>

#include <cstdio>

#include "model/base/text.hpp"
#include "preload/settings.hpp"
#include "selector/report/fitted.hpp"

namespace commpass {

namespace {

constexpr std::size_t strategy_width = 18;  // so that a row has 120 columns

std::string row_of(int ranks, const char* name, const CallRecord& record) {
  const auto calls = record.by_library + record.by_ours + record.by_both;
  const auto ratio = record.rivalry.ratio().median;
  return fmt::format("{:<20} {:>6} {:>9} {:>9} {:>9} {:>7} {:>12} {:>10} {:>10}  {}\n", name, ranks, calls,
                     record.by_library, record.by_ours, record.by_both, calls == 0 ? 0 : record.bytes / calls,
                     format_seconds(record.seconds), ratio > 0 ? fmt::format("{:.2f}", ratio) : "-",
                     fitted(record.strategy, strategy_width));
}

}  // namespace

std::string report_of(const std::map<int, PastCalls>& calls) {
  std::string rows, reasons;
  for (const auto& [ranks, past] : calls) {
    bool is_used = false;
    for (std::size_t i = 0; i < interposed_calls; ++i) {
      const auto& record = past.records[i];
      if (record.by_library + record.by_ours + record.by_both == 0) continue;
      is_used = true;
      rows += row_of(ranks, interposed_call_names[i], record);
    }
    if (!is_used) continue;
    for (const auto& reason : past.refusals) reasons += fmt::format("  left to MPI on {} ranks: {}\n", ranks, reason);
  }
  if (rows.empty()) return {};
  return fmt::format("commpass: calls of rank 0\n{:<20} {:>6} {:>9} {:>9} {:>9} {:>7} {:>12} {:>10} {:>10}  {}\n",
                     "MPI_...", "ranks", "calls", "by MPI", "by ours", "by both", "bytes a call", "time", "ours/MPI",
                     "last strategy") +
         rows + reasons;
}

std::string nothing_taken_over(const std::map<int, PastCalls>& calls) {
  std::int64_t by_library = 0;
  for (const auto& [ranks, past] : calls)
    for (std::size_t i = 0; i < interposed_calls; ++i) {
      const auto& record = past.records[i];
      if (record.by_ours + record.by_both > 0) return {};
      if (can_be_taken_over(static_cast<InterposedCall>(i))) by_library += record.by_library;
    }
  if (by_library > 0)
    return fmt::format("commpass: nothing was taken over: MPI ran all {} calls of rank 0 that can be.\n", by_library);
  return "commpass: nothing was taken over: rank 0 called none of MPI_Alltoall(v,w), MPI_Neighbor_allgather(v) and "
         "MPI_Neighbor_alltoall(v,w).\n";
}

void write_report(bool takes_over) noexcept {
  if (!settings().reports) return;
  try {
    auto text = report_of(past_calls());
    if (takes_over) text += nothing_taken_over(past_calls());
    std::fputs(text.c_str(), stderr);
  } catch (const std::exception&) {
    std::fputs("commpass: there is no memory for the report.\n", stderr);
  }
}

}  // namespace commpass
