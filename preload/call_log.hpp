// Which calls were made with which blocks, as the ranks of a communicator tell each other from time to time.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/mixed.hpp"
#include "preload/call_batch.hpp"

namespace commpass {

/// What the logs of a communicator and of its duplicates share. Threads have duplicates of their own, and free these in
/// one order on all ranks: so there is one for each communicator that is duplicated.
class CallLogFamily {
 public:
  /// @param ranks  of the communicator, in MPI_COMM_WORLD
  CallLogFamily(MPI_Comm comm, std::vector<Rank> ranks);
  explicit CallLogFamily(const CallGroup& group) : group_(group) {}
  ~CallLogFamily();
  CallLogFamily(const CallLogFamily&) = delete;
  CallLogFamily& operator=(const CallLogFamily&) = delete;

  const CallGroup& group() const { return group_; }
  /// A duplicate is made, on all ranks. From then on there may be leftovers.
  void begin_duplicates();
  bool has_duplicates() const { return leftovers_ != nullptr; }

  // With the mutex of record_table() locked:

  /// Of a communicator that is gone: its ranks may still tell its calls on a duplicate.
  void take_leftovers(CallBatch& calls) noexcept;
  /// The memory of a duplicate that is gone, or new memory.
  CallBatch take_memory();
  void keep_memory(CallBatch&& memory) noexcept;
  /// Collects the leftovers. @return a number that is the same on ranks that have the same; 0: there are none, or
  /// another thread tells of them
  double offer() noexcept;
  /// Nothing is offered any more. @param is_told  it was told
  void end_offer(bool is_told) noexcept;

  /// The offered calls.
  CallBatch& offered() { return *leftovers_; }

 private:
  CallGroup group_ = {};
  bool is_offered_ = false;
  std::unique_ptr<CallBatch> leftovers_ = {};
  std::optional<CallBatch> spare_ = {};
};

/// Of a communicator among the duplicates of another; the same on all ranks.
struct Kinship {
  std::uint64_t id = 0;                     ///< among them, and among their duplicates
  std::optional<std::int64_t> number = {};  ///< among the duplicates of another; nothing: it is none
  std::int64_t duplicates = 0;              ///< that were made of it
  // Where calls are recorded: of the communicator and its duplicates, once there are any; of the one that it
  // duplicates.
  std::shared_ptr<CallLogFamily> own = {}, parent = {};

  static constexpr std::int64_t early_duplicates = 16;
  /// Programs that make ever new duplicates use each for few calls.
  bool is_late() const { return number && *number >= early_duplicates; }
  bool is_logged() const { return own || parent; }
  bool has_duplicates() const { return own && own->has_duplicates(); }
  const CallGroup& group() const { return (own ? own : parent)->group(); }
  /// That of the next duplicate. Identities of duplicates of one that is none ascend.
  Kinship make_duplicate();
};

/// Calls on one communicator of the program that its ranks have not told each other yet.
class CallLog {
 public:
  /// @param kin  lives as long as the log
  CallLog(MPI_Comm comm, const Kinship& kin);

  /// Local; of a call that blocks, after it. When the log is full, it is counted, and no more.
  /// @param begin_s,end_s  by monotonic_seconds
  void add(InterposedCall kind, const void* site, const SentBlocks& blocks, const CallRunner& by, Seconds begin_s,
           Seconds end_s) noexcept;
  bool is_full() const { return pending_.is_full(); }
  /// Should ranks tell each other? After each of the first calls, then ever more seldom, since calls that were not told
  /// may be lost when the communicator is freed. Of late duplicates only when the log is full; every 16th of them tells
  /// of the others. The same on all ranks.
  bool is_due() const;

  /// The ranks tell each other, and all know the same then. Collective.
  void tell() noexcept;
  /// The same for all that has been left over, in any order with other communicators between begin and end, and then
  /// once more.
  void begin_telling() noexcept;
  void end_telling() noexcept;
  void begin_telling_leftovers() noexcept;
  void end_telling_leftovers() noexcept;

  /// The communicator is freed. Calls that were not told by then are left to its kin.
  void leave() noexcept;
  /// The communicator is gone.
  void forget() noexcept { comm_ = MPI_COMM_NULL; }
  bool is_forgotten() const { return comm_ == MPI_COMM_NULL; }

 private:
  void collect(CallLogFamily* offering) noexcept;
  void take_told() noexcept;

  MPI_Comm comm_;
  const Kinship& kin_;
  CallLogFamily* offering_ = nullptr;  ///< one of the kin
  std::size_t told_ = 0;
  double offered_ = 0;            ///< of its leftovers, by this log
  bool is_telling_ = false;       ///< between begin_telling and end_telling
  bool tells_leftovers_ = false;  ///< all ranks offer the same
  CallBatch pending_;
};

}  // namespace commpass
