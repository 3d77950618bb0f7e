// Where the blocks of one exchange between all pairs of ranks lie on a rank, and how they become messages.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "model/pattern/block_sizes.hpp"
#include "runtime/alltoall/alltoall_structure.hpp"
#include "runtime/execute/memory.hpp"
#include "runtime/execute/node_streams.hpp"
#include "runtime/mpi/typed_blocks.hpp"

namespace commpass {

/// The memory in which an all-to-all takes place: host memory, or that of a device. Kept from one exchange to the next,
/// it takes no memory where no more is needed.
struct AlltoallSpace {
  Memory* memory = &host_memory();
  GrowingMemory slots, packing;
  GrowingMemory in_place;  ///< of blocks that are sent from a receive buffer

  /// @return false: there is no memory
  bool try_reserve(GrowingMemory& which, Bytes bytes) noexcept {
    try {
      which.reserve(bytes, [&](Bytes wanted) { return memory->allocate(wanted); });
      return true;
    } catch (const std::exception&) {  // std::bad_alloc, or a device's
      return false;
    }
  }
};

/// One side of an exchange: the block for or from each rank, by rank.
struct AlltoallSide {
  const TypedBlocks* blocks = nullptr;
  const void* buffer = nullptr;
  bool is_there = true;  ///< false: only the sizes of the sent blocks are known, for there was no memory for the rest

  Bytes bytes(Rank rank) const { return blocks->bytes(static_cast<std::size_t>(rank)); }
  std::byte* at(Rank rank) const {
    return TypedBlocks::address(buffer, bytes(rank) == 0 ? 0 : (*blocks)[static_cast<std::size_t>(rank)].offset);
  }
  bool is_plain(Rank rank) const { return blocks->is_contiguous(static_cast<std::size_t>(rank)); }
  /// Copy a block to bytes in a row, or such bytes to it. @throws MpiError
  void pack(Rank rank, std::byte* to) const { type(rank).pack(at(rank), count(rank), to); }
  void unpack(const std::byte* from, Rank rank) const { type(rank).unpack(from, count(rank), at(rank)); }
  /// Begins to send a block from where it lies. @throws MpiError
  void send(Rank rank, Rank to, int tag, MPI_Comm comm, MPI_Request* request, bool is_synchronous) const {
    type(rank).send(at(rank), count(rank), to, tag, comm, request, is_synchronous);
  }

 private:
  Bytes count(Rank rank) const { return (*blocks)[static_cast<std::size_t>(rank)].count; }
  const ElementType& type(Rank rank) const { return blocks->type(static_cast<std::size_t>(rank)); }
};

/// Laid out anew for the sizes of each exchange, in the same memory.
///
/// Copies are those that the schedule prices (model/schedule/schedule.hpp): adjacent blocks are sent from there, a
/// message whose blocks belong together in the user's buffer lands there, and a forwarded block stays where it has
/// landed until it is packed for the next hop. Of types with gaps every block is packed.
///
/// Memory besides the user's: the slots of the structure, each as large as the largest of the messages that land in it
/// in turn, and the packed messages of one batch. It is kept; when it is large enough, nothing is allocated.
class AlltoallPlaces {
 public:
  using Message = AlltoallStructure::Message;
  /// The numbers of a message that are known when all sizes are.
  struct Incoming {
    Bytes bytes = 0, forwarded = 0;  ///< the expected size, and the part that this rank forwards
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

  AlltoallPlaces(Rank rank, int ranks) : rank_(rank), ranks_(ranks) {}

  /// Takes what memory a structure needs whatever the sizes are.
  /// @param most  messages at once
  /// @throws std::bad_alloc
  void make_room(const AlltoallStructure& structure, std::size_t most);

  /// Another exchange: sizes of forwarded blocks are not known yet, unless all are equal.
  /// @param space    alive as long as the exchange. If it is a device's, no type has gaps
  /// @param streams  by which messages leave as bytes; null: by none
  void assign(const AlltoallStructure& structure, const AlltoallSide& sends, const AlltoallSide& receives,
              BlockSizes sizes, AlltoallSpace& space, const NodeStreams* streams);
  /// Where the sizes of those blocks of a message belong that are forwarded.
  Bytes* sizes_told_by(const Message& incoming) { return &sizes_[incoming.first_announced]; }
  /// Those of a message that is sent.
  const Bytes* sizes_to_tell(const Message& outgoing);
  /// When all sizes are known: decides where everything lands.
  void lay_out();

  /// How some messages leave, until the next call; copies blocks that have to be packed.
  std::span<const Outgoing> gather(std::span<const Message> messages);
  /// Begins to send elements from where they lie. @throws MpiError
  void send_elements(Rank of, Rank to, int tag, MPI_Comm comm, MPI_Request* request, bool is_synchronous) const {
    sends_.send(of, to, tag, comm, request, is_synchronous);
  }
  /// Of a message of the structure that comes.
  const Incoming& incoming(const Message& message) const {
    return incoming_[static_cast<std::size_t>(&message - structure_->receives.data())];
  }
  /// Is there no message of this size, because both ends know that it has no bytes?
  bool is_omitted(Bytes bytes) const;
  bool has_room_for(const Incoming& incoming) const { return incoming.is_in_place || has_slots_; }
  /// Brings the blocks of a message to their places, as far as it is what it should be; copies with copy_all().
  /// @param got  its bytes, or a negative number
  void take_in(const Message& message, Bytes got);
  void copy_all() { copies_.run(*space_->memory); }
  /// Does nothing where a rank does not receive from itself what it sends.
  void copy_self();
  Bytes sent_to_self() const { return sends_.bytes(rank_); }
  Bytes expected_from_self() const { return receives_.bytes(rank_); }
  /// All that was copied is where it belongs.
  void order() { space_->memory->order(); }

  /// Was there not enough for sent, forwarded or packed blocks?
  bool has_no_memory() const { return has_no_memory_; }
  /// Bytes of the slots.
  Bytes slot_bytes() const { return slot_offsets_.empty() ? 0 : slot_offsets_.back(); }
  /// Whose blocks a message that comes has, for people.
  std::string describe(const Message& incoming) const;

 private:
  std::span<const std::int32_t> blocks_of(const Message& message) const;
  /// Is it one of the user's, with gaps?
  bool must_be_packed(std::int32_t number) const { return number < ranks_ && !sends_.is_plain(number); }
  bool is_self_plain() const { return sends_.is_plain(rank_) && receives_.is_plain(rank_); }
  Incoming expect(const Message& message) const;
  void size_slots();
  void place_forwarded();
  Outgoing outgoing_of(const Message& message) const;
  bool is_streamed(const Message& message) const { return streams_ && streams_->reach(message.peer); }
  void pack(const Message& message, std::byte* to);
  void unpack(const Message& message, const Incoming& incoming);
  bool move_behind(const Message& message, const Incoming& incoming, Bytes got);

  Rank rank_;
  int ranks_;
  // Of the exchange that is run:
  const AlltoallStructure* structure_ = nullptr;
  AlltoallSide sends_, receives_;
  BlockSizes known_ = BlockSizes::told;
  std::vector<Bytes> sizes_;             ///< by number of the block
  std::vector<const std::byte*> where_;  ///< by number of the block; of the user's only where they are plain bytes
  std::vector<char> lost_;               ///< by number of the block: is it not here, though it should be?
  std::vector<Bytes> told_;              ///< those that are sent ahead
  std::vector<Incoming> incoming_;       ///< by number of the message
  std::vector<Outgoing> outgoing_;       ///< of a batch
  CopyList copies_;                      ///< to be made
  std::vector<Bytes> slot_offsets_;      ///< and the end
  AlltoallSpace* space_ = nullptr;
  const NodeStreams* streams_ = nullptr;
  bool has_slots_ = true, has_no_memory_ = false;
};

}  // namespace commpass
