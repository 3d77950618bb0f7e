// Messages within a node whose sizes are new each time, through memory that its ranks share.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/base/types.hpp"
#include "runtime/context.hpp"
#include "runtime/execute/landing_slot.hpp"
#include "runtime/execute/node_rings.hpp"
#include "runtime/mpi/in_flight.hpp"

namespace commpass {

/// A stream of messages from each rank of a node to each other one: a ring of chunks with the receiver, to which the
/// sender copies one message after another, as far as there is room. Memory does not grow with messages: a long one
/// goes chunk by chunk, while its receiver takes them out.
///
/// A message begins with the number of its exchange and its size. So a receiver finds one of another size than it
/// expects, drops those of earlier exchanges that it did not expect at all, and learns from one of a later exchange
/// that another is missing.
///
/// Why no byte is read too early or overwritten too late: as NodeRings says.
class NodeStreams {
 public:
  /// Collective, blocks.
  /// @return null on all ranks if those of a node share no memory, or none is left: rank 0 says so once
  /// @throws Error, the same on every rank
  static std::unique_ptr<NodeStreams> share(const Context& context);

  /// Is the rank another one of this node?
  bool reach(Rank peer) const { return rings_->reach(peer); }
  /// All ranks but this one?
  bool reach_all() const { return rings_->reach_all(); }
  /// Takes memory. @param messages  that are under way at once, at the most. @throws std::bad_alloc
  void make_room(std::size_t messages);
  /// Begins another exchange, which all ranks of the node count alike, when the messages of the one before are
  /// complete.
  void begin_exchange() { ++exchange_; }

  // A message of the exchange, to or from a rank that is reached. Between two ranks they come in the order in which
  // they are sent. Take no memory where there is room.
  void send(Rank to, const std::byte* from, Bytes bytes);
  /// @param to   null: it is dropped
  /// @param got  is given its bytes when it has come; 0 if it never comes, ImmediateRequests::truncated if it is longer
  void receive(Rank from, std::byte* to, Bytes bytes, Bytes& got);
  /// Copies as much as is possible without waiting. @return are all messages complete?
  bool move_on();
  /// Moves on all that is in flight until they are complete.
  /// @param comm  on which the MPI library is called. @throws MpiError, and has abandoned them
  void wait(MPI_Comm comm);

  /// Forgets all messages, after a failure. Never gives the memory back, to which other ranks may still write.
  void abandon() noexcept;

 private:
  /// What one end knows of a stream.
  struct End {
    NodeRings::End* ring = nullptr;
    std::uint64_t begun = 0, ended = 0;  ///< messages that were asked for, and those that are complete
    // Of the receiver, while a message is under way:
    Bytes rest = 0, before = 0;  ///< and what precedes each part in its chunk
    std::byte* to = nullptr;     ///< null: it is dropped
    bool is_expected = false;
  };
  struct Sending {
    End* end;
    std::uint64_t turn;  ///< its number in the stream
    const std::byte* from;
    Bytes bytes, rest;
  };
  struct Receiving {
    End* end;
    std::uint64_t turn;
    std::byte* to;
    Bytes bytes;
    Bytes* got;
  };
  /// At the begin of a chunk.
  struct Header {
    std::uint64_t number, exchange;  ///< the number is the flag
    Bytes bytes;                     ///< of the message

    static Bytes bytes_before(Bytes message) { return NodeRings::bytes_before(message, sizeof(Header)); }
  };
  explicit NodeStreams(std::unique_ptr<NodeRings> rings);
  bool push(Sending& message) const;
  bool take(Receiving& message) const;

  std::unique_ptr<NodeRings> rings_;
  std::vector<End> outgoing_, incoming_;  ///< by number on the node
  std::vector<Sending> sends_;            ///< that are not complete
  std::vector<Receiving> receives_;
  std::uint64_t exchange_ = 0;
  RareProbe probe_;
};

}  // namespace commpass
