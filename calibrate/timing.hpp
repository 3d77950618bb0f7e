// Experiments with messages.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "calibrate/fit/pairs.hpp"
#include "model/base/types.hpp"
#include "runtime/execute/memory.hpp"

namespace commpass {

/// The receive is posted before the message is sent, or follows a probe.
enum class Receiving { posted, probed };

/// Runs experiments on the ranks of a communicator. Every function is collective, and returns the same on all ranks.
/// Late messages and delayed ranks must not count: repetitions give the lower quartile, ranks that are busy at once the
/// median. The sender writes its send buffer just before each run (runtime/mpi/timed_start.hpp), but for streams and
/// rings, which send the same bytes again.
class Bench {
 public:
  /// @param largest_bytes  of any message
  /// @param memory         of the buffers; outlives this
  Bench(MPI_Comm comm, Bytes largest_bytes, Memory& memory = host_memory());

  /// From now on, sends of up to `bytes` have a new request each time, as exchanges do. Others are persistent, and so
  /// are all before the first call. Synchronous sends are never persistent.
  void send_anew_up_to(Bytes bytes) { new_send_bytes_ = bytes; }

  /// One way of a ping-pong, begun by rank `first`: the lower quartile over tenths of the `repetitions`.
  Seconds ping_pong(Rank first, Rank second, Bytes bytes, int repetitions);

  /// One way of ping-pongs of all pairs at once, as ping_pong. @param pairs  disjoint
  std::vector<Seconds> ping_pongs(std::span<const Pair> pairs, Bytes bytes, int repetitions);

  /// As ping_pong, but with the synchronous sends of sparse dynamic exchanges. Probes are for any sender. (MPI_Iprobe
  /// and MPI_Recv: the simulator has no MPI_Improbe.)
  Seconds synchronous_ping_pong(Rank first, Rank second, Bytes bytes, Receiving receiving, int repetitions);

  /// `messages` messages at once from one rank to the receivers in turn, until all are acknowledged. Receives are
  /// posted.
  Seconds burst(Rank sender, std::span<const Rank> receivers, Bytes bytes, int messages, int repetitions);

  /// The same until the sender's library returns from posting.
  Seconds posting(Rank sender, std::span<const Rank> receivers, Bytes bytes, int messages, int repetitions);

  /// `messages` messages at once from each sender to one receiver, until it has all. Receives are posted.
  Seconds fan_in(std::span<const Rank> senders, Rank receiver, Bytes bytes, int messages, int repetitions);

  /// `messages` messages at once between two ranks each way, until the first has sent and has all. Receives are posted.
  Seconds both_ways(Rank first, Rank second, Bytes bytes, int messages, int repetitions);

  /// The time of a send whose receive is posted `late_s` after it began.
  Seconds early_send(Rank sender, Rank receiver, Bytes bytes, Seconds late_s);

  /// All senders send `bytes` to their receivers at once, in two messages each, `repetitions` times. One message
  /// follows its predecessor while the other is half way, so that a shared rate is never idle.
  /// @param begin_s  latency of the first message
  /// @return time of the median pair: begin_s, and the mean of the rest
  Seconds streams(std::span<const Rank> senders, std::span<const Rank> receivers, Bytes bytes, Seconds begin_s,
                  int repetitions);

  /// The same in rings: every rank sends to the next one, and receives from the one before.
  /// @param rings  of at least two ranks; disjoint
  Seconds rings(std::span<const std::vector<Rank>> rings, Bytes bytes, Seconds begin_s, int repetitions);

 private:
  struct BurstTimes {
    Seconds posting = 0, all = 0;
  };
  BurstTimes burst_times(Rank sender, std::span<const Rank> receivers, Bytes bytes, int messages, int repetitions);
  std::vector<double> ping_pong_times(Rank first, Rank second, Bytes bytes, int repetitions);
  Seconds token_seconds(Rank peer, bool begins) const;
  int messages_at_a_time(Bytes bytes, int repetitions) const;
  void write_messages(Bytes bytes, int messages);
  /// The place in the buffers of one of several messages at once.
  std::size_t place_of(int message, Bytes bytes) const;
  Seconds from_rank(Rank rank, Seconds seconds) const;
  /// The lower quartile of the times of one rank.
  Seconds quartile_from_rank(Rank rank, std::vector<double> seconds) const;

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
