// What a process keeps of the calls that ranks have told each other.
#pragma once

#include <array>
#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "preload/sent_blocks.hpp"
#include "selector/environment/interposed_call.hpp"
#include "selector/report/place_report.hpp"
#include "selector/report/record.hpp"

namespace commpass {

/// Calls are alike with the same key. All ranks of a communicator have the same keys.
struct RecordKey {
  std::uint64_t group;    ///< of the ranks of the communicator
  std::uint64_t kind;     ///< InterposedCall
  std::uint64_t site;     ///< as its rank 0 numbers them; 0: one of too many
  std::uint64_t pattern;  ///< of all that all ranks send; 0: those after most_patterns others
  auto operator<=>(const RecordKey&) const = default;
};

using BlockRow = std::vector<SentBlock>;

struct RecordEntry {
  RecordedExchange numbers = {};  ///< without site, communicator and edges
  WhoRan ran = {};
  std::int64_t edges = 0;                    ///< of all ranks; 0: they are not kept
  std::shared_ptr<const BlockRow> row = {};  ///< those of this rank
};

/// What this process knows, of all its communicators.
struct RecordTable {
  // Each bounds what a process keeps. Calls beyond are only counted.
  static constexpr std::size_t most_entries = 1024;
  static constexpr std::size_t most_patterns = 16;  ///< of one kind of call, at one place, on one communicator
  static constexpr std::size_t most_sites = 1024;
  static constexpr std::size_t most_groups = 256;  ///< of communicators in which this is rank 0
  static constexpr Bytes most_row_bytes = Bytes{16} << 20;
  static constexpr std::uint64_t most_edges = std::uint64_t{1} << 18;  ///< of a pattern, on all ranks

  std::mutex mutex = {};
  std::map<RecordKey, RecordEntry> entries = {};
  std::map<std::uint64_t, std::vector<Rank>> groups =
      {};                                           ///< those in which this is rank 0, as ranks of MPI_COMM_WORLD
  std::map<const void*, std::uint64_t> sites = {};  ///< numbered from 1
  std::vector<std::string> site_names = {"many places"};
  std::set<std::string> strategies = {};  ///< of communicators that were freed before their calls were told
  std::array<OtherCalls, interposed_calls> others = {};
  Bytes row_bytes = 0;
  Seconds begin_s = 0;  ///< of the run, by monotonic_seconds
  std::int64_t page_faults_at_begin = 0;
  std::atomic<bool> calls_overlap = false;  ///< were two threads in calls at once?
  std::atomic<bool> are_sampled = false;    ///< did a call stand for others (CallRunner::calls)?

  std::uint64_t number_of(const void* site);
};

RecordTable& record_table();

}  // namespace commpass
