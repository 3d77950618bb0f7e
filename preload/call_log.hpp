// Which calls were made with which blocks, as the ranks of a communicator tell each other from time to time.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "preload/sent_blocks.hpp"
#include "selector/choose/rivalry.hpp"
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

/// The library that ran a call, and the known time that the other one would have taken.
struct CallRunner {
  Rivalry::Turn turn = Rivalry::Turn::library;
  MedianInterval ratio = {0, 0, 0};       ///< of ours: its time ÷ the library's, as measured before; 0: not known
  std::optional<Seconds> library_s = {};  ///< of both: what the library took
  const std::string* strategy = nullptr;  ///< of ours or both; as long as the communicator's engines
};

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
  std::array<OtherCalls, interposed_calls> others = {};
  Bytes row_bytes = 0;
  Seconds begin_s = 0;  ///< of the run, by monotonic_seconds
  std::int64_t page_faults_at_begin = 0;
  std::atomic<bool> calls_overlap = false;  ///< were two threads in calls at once?

  std::uint64_t number_of(const void* site);
};

RecordTable& record_table();

/// A clock that all processes of a node share.
Seconds monotonic_seconds();

/// Calls on one communicator of the program that its ranks have not told each other yet. All ranks make them in the
/// same order, so they need no name.
class CallLog {
 public:
  /// @param comm   an intracommunicator; MPI may still free it at any time (forget)
  /// @param group  its ranks in MPI_COMM_WORLD
  CallLog(MPI_Comm comm, std::vector<Rank> group);

  /// Local; of a call that blocks, after it. When the log is full, it is counted, and no more.
  /// @param begin_s,end_s  by monotonic_seconds
  void add(InterposedCall kind, const void* site, const SentBlocks& blocks, const CallRunner& by, Seconds begin_s,
           Seconds end_s) noexcept;
  bool is_full() const { return pending_.size() >= most_pending; }
  /// Should ranks tell each other? After each of the first calls, then ever more seldom, since numbers that were not
  /// told are lost when the communicator is freed. The same on all ranks.
  bool is_due() const { return pending_.size() >= std::clamp(told_ / told_to_pending, std::size_t{1}, most_pending); }

  /// The ranks tell each other, and all know the same then. Collective.
  void tell() noexcept;
  /// The same, in any order with other communicators between begin and end. Takes some ten times as long on one node.
  void begin_telling() noexcept;
  void end_telling() noexcept;

  /// The communicator is gone. Calls that were not told by then are only counted.
  void forget() noexcept { comm_ = MPI_COMM_NULL; }

 private:
  static constexpr std::size_t most_pending = 64, told_to_pending = 8;
  static constexpr std::size_t clocks = 3, numbers = 8;  ///< that are told of a call

  struct Pending {
    InterposedCall kind;
    std::uint64_t site;
    std::uint64_t hash;
    bool is_equal;
    bool takes_part;
    Bytes each, bytes;
    std::uint64_t blocks;
    std::shared_ptr<const BlockRow> row;
    CallRunner by;
    Seconds begin_s, end_s;
  };
  /// Of a call, by all ranks.
  struct Told {
    Seconds exchange_s;
    bool is_by_clock;
    std::uint64_t hash, site, bytes, blocks, edges, without_entry, without_row, in_call_ns;
  };

  bool collect() noexcept;
  void take_all(bool is_told) noexcept;
  void take(const Pending& call, const Told& told);
  RecordEntry* find_or_make(const Pending& call, const Told& told);
  void keep_row(Pending& call, const BlockRow& blocks);
  void count_as_other(const Pending& call) noexcept;

  MPI_Comm comm_;
  int rank_ = 0, ranks_ = 0;
  std::uint64_t group_ = 0;
  std::size_t told_ = 0;
  // As long as they will ever be: a rank that had no memory for them could not even take part, and others would wait.
  std::vector<Pending> pending_ = {};
  std::map<std::uint64_t, std::shared_ptr<const BlockRow>> rows_ = {};  ///< by their hash
  std::set<const RecordEntry*> counted_in_ = {};                        ///< entries that count this communicator
  std::vector<double> least_ = {};                                      ///< combined by minimum
  std::vector<std::uint64_t> sums_ = {};                                ///< combined by sum
  std::array<MPI_Request, 2> requests_ = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace commpass
