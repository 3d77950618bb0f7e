// The one scheduler: a route and blocks become stages of messages.
//
// The same rules serve both sides. The blocks that leave in one stage are grouped into messages by the same code: the
// model has the blocks of all ranks, a plan (`depart`) those that one rank holds. The copies of a message
// follow from the places of its blocks. So the priced schedule is the one that runs.
//
// Blocks with the same bytes that share a message travel in it once, where the first of them is, and share their place
// where they land until each has left or has been copied to its receive buffer. Staggered, nothing shares a message.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/pattern/pattern.hpp"
#include "model/route/route.hpp"
#include "model/route/strategy.hpp"

namespace commpass {

/// Of a message, in which no block makes more than one.
inline constexpr std::uint32_t most_pieces = (std::uint32_t{1} << 30) - 1;

/// Blocks that travel together from one rank to another in one stage.
struct Message {
  Rank from = 0;
  Rank to = 0;
  int round = 0;
  int batch = 0;                  ///< of the window; both ends derive the same
  Bytes bytes = 0;                ///< of blocks with the same bytes, once
  std::uint32_t first_block = 0;  ///< into Departures::order
  std::uint32_t blocks = 0;
  // Copies. A message of one contiguous piece is sent from where it lies; one that holds nothing but blocks at their
  // destination, adjacent in the receive buffer, is received there. All else is packed, or landed and copied out;
  // or, where all of it lies or belongs in a user's buffer, by a derived datatype if that is cheaper.
  std::uint32_t packed_pieces : 30 = 0;
  bool is_sent_again : 1 = false;       ///< have some of its bytes left the sender in an earlier message?
  bool is_all_from_sender : 1 = false;  ///< do all pieces lie in its send buffer?
  std::uint32_t unpacked_pieces : 30 = 0;
  bool is_all_for_receiver : 1 = false;  ///< do all bytes belong in its receive buffer, in one place each?
  bool is_added : 1 = false;             ///< does the receiver add what it unpacks (transposed())?
  Bytes unpacked_bytes = 0;
};

/// The messages of one stage: ordered by sender, then, where all are in flight at once, by size_class if the route
/// sends large messages first, and by turn (Route::turn), then by round and receiver. So they are in the order of their
/// batches. In this order they are posted. Both ends rely on the order of those between the same two ranks.
struct Departures {
  std::vector<Message> messages;
  std::vector<std::uint32_t> order;  ///< block numbers, message after message; within one by destination and source
  /// By place in `order`, the place in the same message of the block that brings its bytes. Empty: every block brings
  /// its own.
  std::vector<std::uint32_t> carriers;

  std::uint32_t carrier(std::uint32_t place) const { return carriers.empty() ? place : carriers[place]; }
};

/// The binary digits of a message's size in units of 8 KiB: messages of one class are alike to a factor of two. All
/// smaller ones are 0; they take hardly longer than an empty one.
int size_class(Bytes bytes);

/// Groups the blocks that leave their rank in `stage` into messages.
/// @param blocks  sorted, see sort_blocks
/// @param at      the rank that holds each block
/// @param ranks   P
Departures depart(const Route& route, int stage, Window window, std::span<const Block> blocks, std::span<const Rank> at,
                  int ranks);

/// The same for the blocks of one rank, which takes no memory for the others.
Departures depart_from(Rank rank, const Route& route, int stage, Window window, std::span<const Block> blocks);

/// The window of a stage of a strategy with the given window.
Window window_of(const StageInfo& stage, Window window);

/// Are there several messages from one rank to another in a stage of a strategy?
inline bool is_staggered(const StageInfo& stage, Coalescing coalescing) {
  return coalescing == Coalescing::staggered && !stage.one_by_one;
}

/// Does every rank know from its own edges the messages to it, without headers? With one stage every block comes from
/// its source; staggered, its round depends on the messages of others.
inline bool edges_tell_all(std::size_t stages, Coalescing coalescing) {
  return stages <= 1 && coalescing == Coalescing::coalesced;
}

/// How many blocks the largest of the messages holds.
std::uint32_t most_blocks(std::span<const Message> messages);

/// The round of one block of a coalesced message, sent alone: the blocks of round 1 come first, one after another. So
/// the last stage of an all-to-all over N nodes of Q ranks has (N−1)·Q rounds (TuNA paper §IV-B, algorithm 2).
/// @param round        of the coalesced message; 0 (the stage has no rounds) stays 0
/// @param position     of the block in that message
/// @param most_blocks  in a message of the stage, over all ranks
int staggered_round(int round, std::uint32_t position, std::uint32_t most_blocks);

/// Makes one message of each block, which brings its own bytes. Their order is that of Departures.
/// @param blocks       those that departed
/// @param most_blocks  in a message of the stage, over all ranks
void stagger(const Route& route, Departures& departures, Window window, std::span<const Block> blocks,
             std::uint32_t most_blocks);

/// Sorts by (destination, source, index, offset): the order of blocks in a message.
void sort_blocks(std::vector<Block>& blocks);

/// How many contiguous pieces blocks make in memory.
/// @param numbers  the blocks that bring their bytes, in the order of their message
/// @param where    the address of each block; a block ends where the next one begins if they are contiguous
std::uint32_t count_pieces(std::span<const std::uint32_t> numbers, std::span<const Block> blocks,
                           std::span<const std::int64_t> where);

/// One stage for all ranks.
struct Stage {
  StageInfo info;
  std::vector<Message> messages;
};

/// A strategy applied to a pattern: what every rank sends in every stage.
struct Schedule {
  int ranks = 0;
  std::vector<Stage> stages;
  std::vector<Bytes> self_bytes;                 ///< by rank: copied from its send to its receive buffer
  std::vector<Bytes> send_bytes, receive_bytes;  ///< by rank: of its buffers, those to itself among them
  std::int64_t buffered_blocks_max = 0;          ///< the most blocks that a rank holds between stages for others
  Bytes buffered_bytes_max = 0;                  ///< and their bytes, those that lie in one place once
};

/// The blocks of a pattern, sorted, without empty edges and self edges.
std::vector<Block> blocks_of(const Pattern& pattern);

/// A byte in a memory that all ranks have together. Unsigned, since it wraps around harmlessly where sizes are huge.
using MemoryAddress = std::uint64_t;

/// What schedules of one pattern have in common, made once for all of them.
struct PreparedPattern {
  int ranks = 0;
  std::vector<Block> blocks;               ///< see blocks_of
  std::vector<BlockEnds> ends;             ///< of each of these
  std::vector<std::uint32_t> first_block;  ///< by destination, its first block; and their number at the end
  std::vector<std::uint32_t> first_alike;  ///< see duplicates.hpp
  std::vector<MemoryAddress>
      send_address;  ///< by block: in its send buffer, as if these lay one after another with gaps
  std::vector<Bytes> self_bytes, send_bytes, receive_bytes;  ///< see Schedule
  std::vector<Bytes> receive_place{};  ///< by block: in its receive buffer; empty: behind the block before it
};

/// @param places  of edges that are sorted by source; none: buffers hold their blocks in the order of ranks, without
/// gaps
PreparedPattern prepare(const Pattern& pattern, const std::optional<BufferPlaces>& places = {});

/// Blocks, sorted, as a prepared pattern without addresses, and without the bytes of buffers.
PreparedPattern index_blocks(int ranks, std::vector<Block> blocks, std::vector<Bytes> self_bytes);

/// Applies a route to a pattern. Send buffers whose places are not given hold a payload once, for the first rank that
/// gets it.
/// @throws Error if the route was made for another pattern
Schedule make_schedule(const Route& route, Window window, const PreparedPattern& pattern,
                       Coalescing coalescing = Coalescing::coalesced);
Schedule make_schedule(const Route& route, Window window, const Pattern& pattern,
                       Coalescing coalescing = Coalescing::coalesced);

/// The schedule run backwards: stages and batches in reverse order, and receivers send. Bytes that a rank sent on or
/// delivered several times come back to it as several contributions to the same values, which it adds and sends on as
/// one. So contributions to a value travel as seldom as its bytes did.
Schedule transposed(const Schedule& schedule);

/// Makes of a schedule the one that its route has with another window.
void set_window(const Route& route, Schedule& schedule, Window window);

}  // namespace commpass
