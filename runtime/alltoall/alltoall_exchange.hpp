// Runs one exchange between all pairs of ranks, by a structure that was made before.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/alltoall/alltoall_structure.hpp"
#include "runtime/mpi/element_type.hpp"

namespace commpass {

/// Blocks of one rank in a user's buffer: of each rank so many elements, from so far on.
template <class Buffer>
struct AlltoallBlocks {
  Buffer buffer = nullptr;
  std::span<const Bytes> counts;   ///< elements, by rank
  std::span<const Bytes> offsets;  ///< elements, by rank
  const ElementType* type = nullptr;
  bool is_there = true;  ///< false: of what is sent only the sizes are known, for there was no memory for the rest

  Bytes bytes(Rank rank) const { return counts[static_cast<std::size_t>(rank)] * type->size(); }
  /// Where nothing is, the offset says nothing.
  Buffer at(Rank rank) const {
    return bytes(rank) == 0 ? buffer : buffer + offsets[static_cast<std::size_t>(rank)] * type->extent();
  }
};

/// Memory that keeps its size from one use to the next, and is not set to anything.
class GrowingMemory {
 public:
  /// Room for so many bytes; what was there is lost if it has to grow. @throws std::bad_alloc, and is as it was
  std::byte* reserve(Bytes bytes);
  /// The same, and false where there is no memory.
  bool try_reserve(Bytes bytes) noexcept;
  std::byte* data() const { return memory_.get(); }
  Bytes capacity() const { return capacity_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  Bytes capacity_ = 0;
};

/// What went wrong in an exchange that has run to its end.
struct AlltoallDamage {
  std::string sentence;  ///< without place and remedy
  bool is_mpis = false;  ///< MPI has failed: the ranks may not agree on what has happened
};

/// Runs exchanges one after another, in two phases: the sizes of blocks that are forwarded go ahead, stage by stage,
/// and with them every rank knows all that it will hold; then the data go. (In the TuNA paper §III-B, sizes and data
/// take turns in each round; apart they cost no more, and those of all rounds of a stage go at once.) Blocks at their
/// destination have no sizes to be told: a route without forwarding sends none.
///
/// Memory besides the user's: a slot for every block that is forwarded at the same time, as large as the largest of the
/// blocks that it holds in turn, and the messages of one batch that hold several blocks. It is kept; when it is large
/// enough, nothing is allocated.
///
/// A message has first the blocks that its receiver forwards, whose sizes were told, and then those that end there,
/// which must be as large as the receiver's counts say. If its length is another one, these are not unpacked, but what
/// is forwarded goes on. A rank that has no memory for what it forwards takes it in, loses it and sends empty messages
/// in its place, so that nobody waits, and whose blocks they were finds out.
class AlltoallExchange {
 public:
  /// @param comm  ours, used by nobody else, and alive as long as this
  explicit AlltoallExchange(MPI_Comm comm);
  AlltoallExchange(const AlltoallExchange&) = delete;
  AlltoallExchange& operator=(const AlltoallExchange&) = delete;

  /// Takes what memory a structure needs whatever the sizes are. @throws std::bad_alloc
  void make_room(const AlltoallStructure& structure);

  /// Collective. Blocks to oneself are copied.
  /// @param receives  as many bytes as the others, and this rank, send; overlaps nothing that is sent
  /// @param tag       the first of two; strayed messages of an exchange whose counts disagree do not meet others if
  /// these have other tags
  /// @return what this rank did not get, if anything
  /// @throws MpiError; then messages may be under way, until abandon()
  std::optional<AlltoallDamage> run(const AlltoallStructure& structure, const AlltoallBlocks<const std::byte*>& sends,
                                    const AlltoallBlocks<std::byte*>& receives, int tag = 1);

  /// After an exchange that has failed: nothing more comes into the user's buffers. No other exchange may be run.
  void abandon() noexcept;

  /// Bytes of the slots of the last exchange.
  Bytes slot_bytes() const { return slot_offsets_.empty() ? 0 : slot_offsets_.back(); }

 private:
  using Message = AlltoallStructure::Message;
  /// Of a message that has come: how many bytes, or one of these.
  static constexpr Bytes under_way = -1, truncated = -2;
  struct Landed {
    Bytes expected = 0, got = 0;
    bool is_here = true;              ///< else there was no memory for it
    const std::byte* from = nullptr;  ///< where it is, unless it came to its place
  };
  /// The first of the messages that were not as they should be, and how many there are.
  struct Wrong {
    const Message* message = nullptr;
    Bytes expected = 0, got = 0;
    int count = 0;
  };

  void tell_sizes(const AlltoallStructure& structure, const AlltoallBlocks<const std::byte*>& sends, int tag);
  void place_slots(const AlltoallStructure& structure);
  void run_batch(const AlltoallStructure& structure, std::size_t batch, const AlltoallBlocks<const std::byte*>& sends,
                 const AlltoallBlocks<std::byte*>& receives, int tag);
  void take_in(const AlltoallStructure& structure, const Message& message, const Landed& landed,
               const AlltoallBlocks<std::byte*>& receives);
  static bool lands_in_place(const AlltoallStructure& structure, const Message& message,
                             const AlltoallBlocks<std::byte*>& receives);
  bool is_sendable(const AlltoallStructure& structure, const Message& message) const;
  Bytes sent_bytes(const AlltoallStructure& structure, const Message& message) const;
  Bytes forwarded_bytes(const Message& message) const;
  Bytes received_bytes(const AlltoallStructure& structure, const Message& message,
                       const AlltoallBlocks<std::byte*>& receives) const;
  std::byte* slot(const AlltoallStructure& structure, std::int32_t number) const;
  void copy_self(const AlltoallBlocks<const std::byte*>& sends, const AlltoallBlocks<std::byte*>& receives);
  void wait_all();
  std::optional<AlltoallDamage> damage(const AlltoallStructure& structure) const;

  MPI_Comm comm_;
  Rank rank_ = 0;
  int ranks_ = 0;
  std::vector<Bytes> sizes_;         ///< by number of the block
  std::vector<char> lost_;           ///< by number of the block: is it not here, though it should be?
  std::vector<Bytes> told_;          ///< those that are sent ahead in a stage
  std::vector<Bytes> slot_offsets_;  ///< and the end
  GrowingMemory slots_, packing_, landing_;
  bool has_slots_ = true, has_no_memory_ = false, has_mpi_failed_ = false;
  Wrong wrong_;
  std::vector<MPI_Request> requests_;  ///< that are under way
  std::vector<MPI_Status> statuses_;   ///< of these
  std::vector<Bytes> got_;             ///< by each of them
  static constexpr std::size_t no_send = static_cast<std::size_t>(-1);
  std::size_t first_send_ = no_send;  ///< among them; before it come those to receive
};

}  // namespace commpass
