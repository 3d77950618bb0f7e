#include "preload/report.hpp"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>

#include "model/base/text.hpp"
#include "preload/record_table.hpp"
#include "preload/settings.hpp"
#include "preload/ticks.hpp"

namespace commpass {

namespace {

constexpr std::size_t strategy_width = 18;  // so that a row has 120 columns

std::string row_of(int ranks, const char* name, const CallRecord& record) {
  const auto calls = record.calls();
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
    for (const auto& [call, record] : past.records) {
      if (record.calls() == 0) continue;
      is_used = true;
      rows += row_of(ranks, interposed_call_names[static_cast<std::size_t>(call)], record);
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
    for (const auto& [call, record] : past.records) {
      if (record.by_ours + record.by_both > 0) return {};
      if (can_be_taken_over(call) || can_be_planned(call)) by_library += record.by_library;
    }
  if (by_library > 0)
    return fmt::format("commpass: nothing was taken over: MPI ran all {} calls of rank 0 that can be.\n", by_library);
  return "commpass: nothing was taken over: rank 0 called none of MPI_Alltoall(v,w), MPI_Neighbor_allgather(v), "
         "MPI_Neighbor_alltoall(v,w), and these with _init.\n";
}

std::string page_fault_note(std::int64_t page_faults, Bytes resident_max, Seconds run_s) {
  constexpr Bytes page_bytes = 4096;
  constexpr double times_filled_min = 4;      // once is how memory is first used
  constexpr double faults_a_second = 10'000;  // some 1 % of the time, at 1 us each
  const auto times =
      static_cast<double>(page_faults * page_bytes) / static_cast<double>(std::max<Bytes>(resident_max, 1));
  if (times < times_filled_min || static_cast<double>(page_faults) < faults_a_second * run_s) return {};
  return fmt::format(
      "commpass: rank 0 took {} page faults, enough to fill its memory {:.0f} times: glibc may return freed memory to "
      "the system and fetch it again. Compare with MALLOC_TRIM_THRESHOLD_=1073741824 and "
      "MALLOC_MMAP_THRESHOLD_=33554432 in the environment of all ranks, without Commpass, too.\n",
      page_faults, times);
}

MemoryUse memory_use() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  constexpr Bytes kibibyte = 1024;
  return {use.ru_minflt, use.ru_maxrss * kibibyte};
}

void write_report(bool takes_over) noexcept {
  if (!settings().reports) return;
  try {
    auto text = report_of(past_calls());
    if (takes_over) text += nothing_taken_over(past_calls());
    const auto& table = record_table();
    if (table.are_sampled)
      text += "commpass: of calls of a kind after the first 64 on a communicator, bytes and time are by samples.\n";
    const auto use = memory_use();
    text += page_fault_note(use.page_faults - table.page_faults_at_begin, use.resident_max,
                            monotonic_seconds() - table.begin_s);
    std::fputs(text.c_str(), stderr);
  } catch (const std::exception&) {
    std::fputs("commpass: there is no memory for the report.\n", stderr);
  }
}

}  // namespace commpass
