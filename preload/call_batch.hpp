// Calls that the ranks of a communicator tell each other together.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "preload/record_table.hpp"
#include "selector/choose/rivalry.hpp"

namespace commpass {

/// The library that ran a call, and the known time that the other one would have taken.
struct CallRunner {
  Rivalry::Turn turn = Rivalry::Turn::library;
  std::int64_t calls = 1;                 ///< for which it stands: itself, and those after it that nothing watches
  MedianInterval ratio = {0, 0, 0};       ///< of ours: its time ÷ the library's, as measured before; 0: not known
  std::optional<Seconds> library_s = {};  ///< of both: what the library took
  const std::string* strategy = nullptr;  ///< of ours or both; as long as the communicator's engines
};

/// The ranks of a communicator, and this one among them.
struct CallGroup {
  int rank = 0, ranks = 0;
  std::uint64_t hash = 0;  ///< of their ranks in MPI_COMM_WORLD
};

/// A call of this rank.
struct PendingCall {
  InterposedCall kind;
  std::uint64_t communicator;  ///< the same on all ranks, among the duplicates of one
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

/// Calls that all ranks have made in the same order, so that they need no name. The mutex of record_table() is locked
/// around all that is not collective.
class CallBatch {
 public:
  /// Takes all memory that it will ever need: a rank that had none could not even take part, and others would wait.
  explicit CallBatch(std::size_t calls_max);

  std::size_t size() const { return pending_.size(); }
  bool is_full() const { return pending_.size() >= calls_max_; }
  /// Those that do not fit are counted, and no more.
  void add_or_count(PendingCall&& call, const CallGroup& group) noexcept;
  /// As other calls of the same row, if there is memory for it.
  std::shared_ptr<const BlockRow> keep_row(std::uint64_t hash, const BlockRow& blocks);

  /// Takes the calls of a communicator that is gone.
  void absorb(CallBatch& other, const CallGroup& group) noexcept;
  /// Sorts them by communicator, as ranks may free them in different orders. @return 0: there is none; else equal on
  /// ranks that have the same
  double sort_and_digest() noexcept;

  /// What this rank tells.
  /// @param digest  a number of this rank, not negative
  void collect(const CallGroup& group, double digest) noexcept;
  /// The ranks tell each other. Collective.
  void tell(MPI_Comm comm) noexcept;
  /// The same, in any order with other communicators between begin and end. Takes some ten times as long on one node.
  void begin_telling(MPI_Comm comm) noexcept;
  void end_telling() noexcept;
  /// Moves the told calls into the table. @return do all ranks have the same digest?
  bool take_told(const CallGroup& group) noexcept;
  /// Counts communicators anew, where no call of theirs is left.
  void forget_communicators() noexcept { counted_.clear(); }
  /// They are counted, and no more.
  void give_up(const CallGroup& group) noexcept;
  /// Keeps its memory alone.
  void clear() noexcept;

 private:
  static constexpr std::size_t clocks = 3, numbers = 5, common_clocks = 4;  ///< that are told of a call, and of all

  /// The entry of the call before.
  struct LastEntry {
    RecordKey key = {};
    std::uint64_t communicator = 0;
    RecordEntry* entry = nullptr;  ///< null: none
  };

  /// @param told  the sums of the call
  void take(const PendingCall& call, const std::uint64_t* told, Seconds exchange_s, bool is_by_clock,
            const CallGroup& group, LastEntry& last);
  void forget_first(std::size_t calls) noexcept;

  std::size_t calls_max_;
  std::vector<PendingCall> pending_ = {};
  std::size_t collected_ = 0;                                            ///< the first ones
  std::map<std::uint64_t, std::shared_ptr<const BlockRow>> rows_ = {};   ///< by their hash
  std::set<std::pair<std::uint64_t, const RecordEntry*>> counted_ = {};  ///< communicators that entries count
  std::vector<double> least_ = {};                                       ///< combined by minimum
  std::vector<std::uint64_t> sums_ = {};                                 ///< combined by sum
  std::array<MPI_Request, 2> requests_ = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace commpass
