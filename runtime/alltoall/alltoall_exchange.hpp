// Runs one exchange between all pairs of ranks, by a structure that was made before.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/pattern/block_sizes.hpp"
#include "runtime/alltoall/alltoall_structure.hpp"
#include "runtime/alltoall/growing_memory.hpp"
#include "runtime/execute/local_copy.hpp"
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
    return bytes(rank) == 0 || !is_there ? buffer : buffer + offsets[static_cast<std::size_t>(rank)] * type->extent();
  }
};

/// What went wrong in an exchange that has run to its end.
struct AlltoallDamage {
  std::string sentence;  ///< without place and remedy
  bool is_mpis = false;  ///< MPI has failed: the ranks may not agree on what has happened
};

/// Runs exchanges one after another, in two phases: the sizes of blocks that are forwarded go ahead, stage by stage,
/// and with them every rank knows all that it will hold; then the data go. (In the TuNA paper §III-B, sizes and data
/// take turns in each round; apart they cost no more, and those of all rounds of a stage go at once.) Blocks at their
/// destination have no sizes to be told: a route without forwarding sends none, nor does it where all are equal.
///
/// Copies are those that the schedule prices (model/schedule/schedule.hpp): what lies together is sent from there, a
/// message whose blocks belong together in the user's buffer lands there, and a forwarded block stays where it has
/// landed until it is packed for the next hop. Of types with gaps every block is packed.
///
/// Memory besides the user's: the slots of the structure, each as large as the largest of the messages that land in it
/// in turn, and what is packed for one batch. It is kept; when it is large enough, nothing is allocated.
///
/// Of the blocks in a message, those that end there must be as large as the receiver's counts say. If the message has
/// another length, these are not unpacked, but what is forwarded, at its beginning and its end, goes on. A rank that
/// has no memory for what it forwards takes it in, loses it and sends empty messages in its place, so that nobody
/// waits, and whose blocks they were finds out.
class AlltoallExchange {
 public:
  /// @param comm  ours, used by nobody else, and alive as long as this
  explicit AlltoallExchange(MPI_Comm comm);
  AlltoallExchange(const AlltoallExchange&) = delete;
  AlltoallExchange& operator=(const AlltoallExchange&) = delete;

  /// Takes what memory a structure needs whatever the sizes are. @throws std::bad_alloc
  void make_room(const AlltoallStructure& structure);

  /// Collective. Blocks to oneself are copied.
  /// @param sizes     the same on every rank
  /// @param receives  as many bytes as the others, and this rank, send; overlaps nothing that is sent
  /// @param tag       the first of two; strayed messages of an exchange whose counts disagree do not meet others if
  /// these have other tags
  /// @return what this rank did not get, if anything
  /// @throws MpiError; then messages may be under way, until abandon()
  std::optional<AlltoallDamage> run(const AlltoallStructure& structure, const AlltoallBlocks<const std::byte*>& sends,
                                    const AlltoallBlocks<std::byte*>& receives, BlockSizes sizes = BlockSizes::told,
                                    int tag = 1);

  /// After an exchange that has failed: nothing more comes into the user's buffers. No other exchange may be run.
  void abandon() noexcept;

  /// Bytes of the slots of the last exchange.
  Bytes slot_bytes() const { return slot_offsets_.empty() ? 0 : slot_offsets_.back(); }

 private:
  using Message = AlltoallStructure::Message;
  /// What is known of a message when all sizes are.
  struct Incoming {
    Bytes bytes = 0, forwarded = 0;  ///< what should come, and how much of it this rank forwards
    std::byte* place = nullptr;      ///< where it goes, if there is memory
    bool is_in_place = false;        ///< where its blocks belong
  };
  struct Outgoing {
    Bytes bytes = 0;
    const std::byte* place = nullptr;  ///< where it lies, or is packed
    enum class Form {
      none,      ///< there is none
      lost,      ///< empty, because what it should bring is not here
      elements,  ///< one block of the user's, from where it lies
      in_place,  ///< bytes that lie together
      packed
    } form = Form::none;
    Rank to = 0;  ///< whose block the elements are
  };
  /// Of a message that has come: how many bytes, or one of these.
  static constexpr Bytes under_way = -1, truncated = -2;
  /// The first of the messages that were not as they should be, and how many there are.
  struct Wrong {
    const Message* message = nullptr;
    Bytes expected = 0, got = 0;
    int count = 0;
  };

  std::span<const std::int32_t> blocks_of(const Message& message) const;
  bool is_own(std::int32_t number) const { return number < ranks_; }
  bool is_omitted(const Message& message, Bytes bytes) const;
  void tell_sizes(int tag);
  void lay_out();
  Incoming expect(const Message& message) const;
  void start_batch(std::size_t batch, int tag);
  void finish_batch(std::size_t batch);
  Outgoing gather(const Message& message) const;
  void pack(const Message& message, std::byte* to);
  void take_in(const Message& message, const Incoming& incoming, Bytes got);
  void unpack(const Message& message, const Incoming& incoming);
  void add_copy(const std::byte* from, std::byte* to, Bytes bytes);
  void copy_all();
  void copy_self();
  void wait_all();
  std::optional<AlltoallDamage> damage() const;

  MPI_Comm comm_;
  Rank rank_ = 0;
  int ranks_ = 0;
  // Of the exchange that is run:
  const AlltoallStructure* structure_ = nullptr;
  AlltoallBlocks<const std::byte*> sends_;
  AlltoallBlocks<std::byte*> receives_;
  BlockSizes known_ = BlockSizes::told;
  std::vector<Bytes> sizes_;             ///< by number of the block
  std::vector<const std::byte*> where_;  ///< by number of the block; of the user's only where they are plain bytes
  std::vector<char> lost_;               ///< by number of the block: is it not here, though it should be?
  std::vector<Bytes> told_;              ///< those that are sent ahead in a stage
  std::vector<Incoming> incoming_;       ///< by number of the message
  std::vector<Outgoing> outgoing_;       ///< of a batch
  std::vector<LocalCopy> copies_;        ///< to be made
  std::vector<Bytes> slot_offsets_;      ///< and the end
  GrowingMemory slots_, packing_;
  bool has_slots_ = true, has_no_memory_ = false, has_mpi_failed_ = false;
  Wrong wrong_;
  std::vector<MPI_Request> requests_;  ///< that are under way
  std::vector<MPI_Status> statuses_;   ///< of these
  std::vector<Bytes> got_;             ///< by each of them
  static constexpr std::size_t no_send = static_cast<std::size_t>(-1);
  std::size_t first_send_ = no_send;  ///< among them; before it come those to receive
};

}  // namespace commpass
