// The experiments of the calibration with messages: what is timed, on which ranks.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "calibrate/fit/pairs.hpp"
#include "model/base/types.hpp"
#include "runtime/execute/memory.hpp"

namespace commpass {

/// How a receiver gets a message.
enum class Receiving { posted, probed };

/// Runs experiments on the ranks of a communicator. Every function is collective; the result is the same on all ranks.
/// A message that is late, or a rank that is held up, must not count: of repetitions the lower quartile is given, and
/// of ranks that are busy at once the median. What is sent was written by its sender just before
/// (runtime/mpi/write_anew.hpp), but for streams and rings, which send the same again.
class Bench {
 public:
  /// @param largest_bytes  of any message
  /// @param memory         from which messages are sent and in which they come; alive as long as this
  Bench(MPI_Comm comm, Bytes largest_bytes, Memory& memory = host_memory());

  /// From now on sends of up to `bytes` have a new request each time, as real exchanges do; all others, and at
  /// first all, are persistent, but synchronous ones.
  void send_anew_up_to(Bytes bytes) { new_send_bytes_ = bytes; }

  /// One way of a ping-pong: the lower quartile over tenths of the `repetitions`. Rank `first`
  /// begins.
  Seconds ping_pong(Rank first, Rank second, Bytes bytes, int repetitions);

  /// One way of ping-pongs of all pairs at once, as ping_pong. @param pairs  of ranks that are all different
  std::vector<Seconds> ping_pongs(std::span<const Pair> pairs, Bytes bytes, int repetitions);

  /// As ping_pong, but with synchronous sends, as sparse dynamic exchanges send; the receive of a message is posted
  /// before it is sent, or it is found by a probe for any sender. (MPI_Iprobe and MPI_Recv: the simulator has no
  /// MPI_Improbe.)
  Seconds synchronous_ping_pong(Rank first, Rank second, Bytes bytes, Receiving receiving, int repetitions);

  /// `messages` messages at once from one rank to the receivers in turn, whose receives are posted, until all are
  /// acknowledged.
  Seconds burst(Rank sender, std::span<const Rank> receivers, Bytes bytes, int messages, int repetitions);

  /// The same, only until the sender's library has taken all and returns.
  Seconds posting(Rank sender, std::span<const Rank> receivers, Bytes bytes, int messages, int repetitions);

  /// `messages` messages from each of the senders at once to one receiver, whose receives are posted: until it has all.
  Seconds fan_in(std::span<const Rank> senders, Rank receiver, Bytes bytes, int messages, int repetitions);

  /// `messages` messages from each of two ranks to the other at once, whose receives are posted: until the first has
  /// sent and has all.
  Seconds both_ways(Rank first, Rank second, Bytes bytes, int messages, int repetitions);

  /// How long a send takes whose receive is posted `late_s` after it began.
  Seconds early_send(Rank sender, Rank receiver, Bytes bytes, Seconds late_s);

  /// All senders send `bytes` to their receivers at once, in two messages each, `repetitions` times: when one message
  /// has arrived, the next follows, while the other one is half way. So what they share is never idle because some are
  /// about to begin.
  /// @param begin_s  in which the first message moves no bytes yet
  /// @return what once takes, of the median pair: begin_s, and the mean of the rest
  Seconds streams(std::span<const Rank> senders, std::span<const Rank> receivers, Bytes bytes, Seconds begin_s,
                  int repetitions);

  /// The same where every rank sends to the next of its ring, and gets from the one before.
  /// @param rings  of two ranks and more; no rank is in two
  Seconds rings(std::span<const std::vector<Rank>> rings, Bytes bytes, Seconds begin_s, int repetitions);

 private:
  struct BurstTimes {
    Seconds posting = 0, all = 0;
  };
  BurstTimes burst_times(Rank sender, std::span<const Rank> receivers, Bytes bytes, int messages, int repetitions);
  std::vector<double> ping_pong_ways(Rank first, Rank second, Bytes bytes, int repetitions);
  Seconds token_seconds(Rank peer, bool begins) const;
  int messages_at_a_time(Bytes bytes, int repetitions) const;
  void write_messages(Bytes bytes, int messages);
  /// Of one of several messages at once, in the buffers.
  std::size_t place_of(int message, Bytes bytes) const;
  Seconds from_rank(Rank rank, Seconds seconds) const;
  /// The lower quartile of what one rank has timed.
  Seconds quartile_from_rank(Rank rank, std::vector<double> seconds) const;
  /// The median over the ranks that took part.
  Seconds middle_of_busy(bool is_busy, Seconds elapsed) const;

  MPI_Comm comm_;
  Rank rank_ = 0;
  Bytes room_ = 0;
  Bytes new_send_bytes_ = -1;
  class Halves;
  class Requests;

  Memory::Buffer send_, receive_;
  bool is_on_host_;
};

}  // namespace commpass
