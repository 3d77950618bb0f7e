#include "calibrate/timing.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "calibrate/fit/fit.hpp"
#include "calibrate/sampling.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/mpi/timed_start.hpp"

namespace commpass {

namespace {

constexpr int data_tag = 1, token_tag = 2, unused_tag = 3;

void send_token(Rank peer, MPI_Comm comm) { COMMPASS_MPI_CALL(MPI_Send, nullptr, 0, MPI_BYTE, peer, token_tag, comm); }
void receive_token(Rank peer, MPI_Comm comm) {
  COMMPASS_MPI_CALL(MPI_Recv, nullptr, 0, MPI_BYTE, peer, token_tag, comm, MPI_STATUS_IGNORE);
}

}  // namespace

/// Sends or receives, either all persistent or all with new requests.
class Bench::Requests {
 public:
  explicit Requests(const Bench& bench) : comm_(bench.comm_), new_send_bytes_(bench.new_send_bytes_) {}

  void add_send(const void* buffer, Bytes bytes, Rank peer) {
    const int count = static_cast<int>(bytes);
    auto& request = requests_.emplace_back(MPI_REQUEST_NULL);
    if (bytes <= new_send_bytes_) new_sends_.push_back({buffer, count, peer});
    else COMMPASS_MPI_CALL(MPI_Send_init, buffer, count, MPI_BYTE, peer, data_tag, comm_, &request);
  }
  void add_receive(void* buffer, Bytes bytes, Rank peer) {
    COMMPASS_MPI_CALL(MPI_Recv_init, buffer, static_cast<int>(bytes), MPI_BYTE, peer, data_tag, comm_,
                      &requests_.emplace_back(MPI_REQUEST_NULL));
  }
  void start() {
    for (std::size_t i = 0; i < new_sends_.size(); ++i) {
      const auto& [buffer, count, peer] = new_sends_[i];
      COMMPASS_MPI_CALL(MPI_Isend, buffer, count, MPI_BYTE, peer, data_tag, comm_, &requests_[i]);
    }
    if (!new_sends_.empty() || requests_.empty()) return;  // Open MPI refuses a null list, even of no requests
    COMMPASS_MPI_CALL(MPI_Startall, static_cast<int>(requests_.size()), requests_.data());
  }
  void wait() {
    if (requests_.empty()) return;
    COMMPASS_MPI_CALL(MPI_Waitall, static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  Requests(Requests&&) = default;
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;
  ~Requests() {
    for (auto& request : requests_)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }

 private:
  struct NewSend {
    const void* buffer;
    int count;
    Rank peer;
  };

  MPI_Comm comm_;
  Bytes new_send_bytes_;
  std::vector<MPI_Request> requests_;
  std::vector<NewSend> new_sends_;
};

Bench::Bench(MPI_Comm comm, Bytes largest_bytes, Memory& memory)
    : comm_(comm),
      rank_(rank_in(comm)),
      room_(largest_bytes),
      send_(memory.allocate(largest_bytes)),
      receive_(memory.allocate(largest_bytes)),
      is_on_host_(&memory == &host_memory()) {
  // The first write makes the pages.
  const std::vector<std::byte> bytes(at(largest_bytes), std::byte{1});
  const std::array copies{LocalCopy{bytes.data(), send_.get(), bytes.size()},
                          LocalCopy{bytes.data(), receive_.get(), bytes.size()}};
  memory.copy(copies);
  memory.order();
}

Seconds Bench::from_rank(Rank rank, Seconds seconds) const {
  COMMPASS_MPI_CALL(MPI_Bcast, &seconds, 1, MPI_DOUBLE, rank, comm_);
  return seconds;
}

Seconds Bench::quartile_from_rank(Rank rank, std::vector<double> seconds) const {
  return from_rank(rank, seconds.empty() ? 0 : lower_quartile(std::move(seconds)));
}

/// Messages follow each other in the buffers, as in an exchange, and wrap around at the end.
std::size_t Bench::place_of(int message, Bytes bytes) const {
  const auto places = std::max<Bytes>(1, room_ / std::max<Bytes>(1, bytes));
  return at(message % places * bytes);
}

/// Messages of one sample of a ping-pong: they fit the nearest cache, and are a tenth of all, which limits the effect
/// of a late one.
int Bench::messages_at_a_time(Bytes bytes, int repetitions) const {
  constexpr Bytes cache_bytes = Bytes{1} << 15;
  constexpr int samples = 10;
  const auto most = std::clamp<Bytes>(cache_bytes / std::max<Bytes>(1, bytes), 1, room_ / std::max<Bytes>(1, bytes));
  return static_cast<int>(std::min<Bytes>(most, (repetitions + samples - 1) / samples));
}

/// Writes the send buffers of messages.
void Bench::write_messages(Bytes bytes, int messages) {
  if (is_on_host_) touch_buffer(std::span(send_.get(), at(std::min(room_, messages * bytes))));
}

/// @return times on rank `first`; empty elsewhere
std::vector<double> Bench::ping_pong_times(Rank first, Rank second, Bytes bytes, int repetitions) {
  std::vector<double> times;
  if (rank_ == first || rank_ == second) {
    const Rank peer = rank_ == first ? second : first;
    const int most = messages_at_a_time(bytes, repetitions);
    std::vector<Requests> sends, receives;
    for (int i = 0; i < most; ++i) {
      const auto place = place_of(i, bytes);
      sends.emplace_back(*this).add_send(send_.get() + place, bytes, peer);
      receives.emplace_back(*this).add_receive(receive_.get() + place, bytes, peer);
    }
    for (int done = 0; done < repetitions; done += most) {
      const auto some = at(std::min(repetitions - done, most));
      write_messages(bytes, most);
      if (rank_ == second) {
        receives.front().start();
        send_token(first, comm_);
        for (std::size_t i = 0; i < some; ++i) {
          receives[i].wait();
          sends[i].start();
          sends[i].wait();
          if (i + 1 < some) receives[i + 1].start();
        }
        continue;
      }
      receive_token(second, comm_);  // the peer is ready
      const double begin = MPI_Wtime();
      for (std::size_t i = 0; i < some; ++i) {
        receives[i].start();
        sends[i].start();
        sends[i].wait();
        receives[i].wait();
      }
      times.push_back((MPI_Wtime() - begin) / 2 / static_cast<double>(some));
    }
  }
  return times;
}

Seconds Bench::ping_pong(Rank first, Rank second, Bytes bytes, int repetitions) {
  return quartile_from_rank(first, ping_pong_times(first, second, bytes, repetitions));
}

std::vector<Seconds> Bench::ping_pongs(std::span<const Pair> pairs, Bytes bytes, int repetitions) {
  std::vector<Seconds> times(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto mine = ping_pong_times(pairs[i].first, pairs[i].second, bytes, repetitions);
    if (!mine.empty()) times[i] = lower_quartile(mine);
  }
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, times.data(), static_cast<int>(times.size()), MPI_DOUBLE, MPI_SUM,
                    comm_);
  return times;
}

Seconds Bench::synchronous_ping_pong(Rank first, Rank second, Bytes bytes, Receiving receiving, int repetitions) {
  std::vector<double> times;
  if (rank_ == first || rank_ == second) {
    const Rank peer = rank_ == first ? second : first;
    const int size = static_cast<int>(bytes);
    MPI_Request send = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;
    const auto post = [&] {
      if (receiving == Receiving::posted)
        COMMPASS_MPI_CALL(MPI_Irecv, receive_.get(), size, MPI_BYTE, peer, data_tag, comm_, &receive);
    };
    const auto take = [&] {
      if (receiving == Receiving::posted) {
        COMMPASS_MPI_CALL(MPI_Wait, &receive, MPI_STATUS_IGNORE);
        return;
      }
      MPI_Status status;
      int found = 0;
      while (!found) COMMPASS_MPI_CALL(MPI_Iprobe, MPI_ANY_SOURCE, data_tag, comm_, &found, &status);
      COMMPASS_MPI_CALL(MPI_Recv, receive_.get(), size, MPI_BYTE, status.MPI_SOURCE, data_tag, comm_,
                        MPI_STATUS_IGNORE);
    };
    post();
    if (rank_ == first) receive_token(second, comm_);  // the peer is ready
    else send_token(first, comm_);
    for (int i = 0; i < repetitions; ++i) {
      const double begin = MPI_Wtime();
      if (rank_ == second) take();
      if (rank_ == first ? i > 0 : i + 1 < repetitions) post();
      COMMPASS_MPI_CALL(MPI_Issend, send_.get(), size, MPI_BYTE, peer, data_tag, comm_, &send);
      if (rank_ == first) take();
      COMMPASS_MPI_CALL(MPI_Wait, &send, MPI_STATUS_IGNORE);
      times.push_back((MPI_Wtime() - begin) / 2);
    }
  }
  return quartile_from_rank(first, std::move(times));
}

Seconds Bench::burst(Rank sender, std::span<const Rank> receivers, Bytes bytes, int messages, int repetitions) {
  return burst_times(sender, receivers, bytes, messages, repetitions).all;
}

Seconds Bench::posting(Rank sender, std::span<const Rank> receivers, Bytes bytes, int messages, int repetitions) {
  return burst_times(sender, receivers, bytes, messages, repetitions).posting;
}

Bench::BurstTimes Bench::burst_times(Rank sender, std::span<const Rank> receivers, Bytes bytes, int messages,
                                     int repetitions) {
  std::vector<double> all, posting;
  posting.reserve(at(repetitions));  // so that no time includes an allocation
  Requests requests(*this);
  const bool receives = std::ranges::find(receivers, rank_) != receivers.end();
  for (int i = 0; i < messages; ++i) {
    const auto place = place_of(i, bytes);
    const Rank receiver = receivers[at(i) % receivers.size()];
    if (rank_ == sender) requests.add_send(send_.get() + place, bytes, receiver);
    if (rank_ == receiver) requests.add_receive(receive_.get() + place, bytes, sender);
  }
  for (int i = 0; i < repetitions; ++i) {
    if (rank_ == sender) {
      write_messages(bytes, messages);
      for (const Rank receiver : receivers) receive_token(receiver, comm_);  // all receives are posted
      const double begin = MPI_Wtime();
      requests.start();
      posting.push_back(MPI_Wtime() - begin);
      requests.wait();
      for (const Rank receiver : receivers) receive_token(receiver, comm_);  // all messages have arrived
      all.push_back(MPI_Wtime() - begin);
    } else if (receives) {
      requests.start();
      send_token(sender, comm_);
      requests.wait();
      send_token(sender, comm_);
    }
  }
  return {quartile_from_rank(sender, std::move(posting)), quartile_from_rank(sender, std::move(all))};
}

Seconds Bench::fan_in(std::span<const Rank> senders, Rank receiver, Bytes bytes, int messages, int repetitions) {
  std::vector<double> times;
  Requests requests(*this);
  const bool sends = std::ranges::find(senders, rank_) != senders.end();
  for (int i = 0; i < messages; ++i) {
    const auto place = place_of(i, bytes);
    if (sends) requests.add_send(send_.get() + place, bytes, receiver);
    // The messages of all senders share places: their bytes do not matter.
    for (const Rank sender : senders)
      if (rank_ == receiver) requests.add_receive(receive_.get() + place, bytes, sender);
  }
  for (int i = 0; i < repetitions; ++i) {
    if (rank_ == receiver) {
      requests.start();
      const double begin = MPI_Wtime();
      for (const Rank sender : senders) send_token(sender, comm_);
      requests.wait();
      times.push_back(MPI_Wtime() - begin);
    } else if (sends) {
      write_messages(bytes, messages);
      receive_token(receiver, comm_);
      requests.start();
      requests.wait();
    }
  }
  return quartile_from_rank(receiver, std::move(times));
}

/// One way of a message without bytes. One of the two ranks begins, the other answers.
Seconds Bench::token_seconds(Rank peer, bool begins) const {
  constexpr int round_trips = 5;
  Seconds least = std::numeric_limits<Seconds>::infinity();
  for (int i = 0; i < round_trips; ++i) {
    const double begin = MPI_Wtime();
    if (begins) send_token(peer, comm_);
    receive_token(peer, comm_);
    least = std::min(least, (MPI_Wtime() - begin) / 2);
    if (!begins) send_token(peer, comm_);
  }
  return least;
}

Seconds Bench::both_ways(Rank first, Rank second, Bytes bytes, int messages, int repetitions) {
  std::vector<double> times;
  if (rank_ == first || rank_ == second) {
    const Rank peer = rank_ == first ? second : first;
    const Seconds way_s = token_seconds(peer, rank_ == first);
    Requests sends(*this), receives(*this);
    for (int i = 0; i < messages; ++i) {
      const auto place = place_of(i, bytes);
      sends.add_send(send_.get() + place, bytes, peer);
      receives.add_receive(receive_.get() + place, bytes, peer);
    }
    for (int i = 0; i < repetitions; ++i) {
      receives.start();
      write_messages(bytes, messages);
      if (rank_ == first) {
        receive_token(second, comm_);
        send_token(second, comm_);
        // Waits until the peer has the token. Otherwise the peer could receive the first messages before it sends, and
        // the two directions would not overlap.
        wait_without_mpi(way_s);
      } else {
        send_token(first, comm_);
        receive_token(first, comm_);
      }
      const double begin = MPI_Wtime();
      sends.start();
      sends.wait();
      receives.wait();
      times.push_back(MPI_Wtime() - begin);
    }
  }
  return quartile_from_rank(first, std::move(times));
}

Seconds Bench::early_send(Rank sender, Rank receiver, Bytes bytes, Seconds late_s) {
  Seconds elapsed = 0;
  Requests request(*this);
  if (rank_ == sender) {
    request.add_send(send_.get(), bytes, receiver);
    send_token(receiver, comm_);
    const double begin = MPI_Wtime();
    request.start();
    request.wait();
    elapsed = MPI_Wtime() - begin;
    receive_token(receiver, comm_);
  } else if (rank_ == receiver) {
    request.add_receive(receive_.get(), bytes, sender);
    receive_token(sender, comm_);
    // The library makes progress until then.
    const double begin = MPI_Wtime();
    int found = 0;
    while (MPI_Wtime() - begin < late_s)
      COMMPASS_MPI_CALL(MPI_Iprobe, sender, unused_tag, comm_, &found, MPI_STATUS_IGNORE);
    request.start();
    request.wait();
    send_token(sender, comm_);
  }
  return from_rank(sender, elapsed);
}

/// A rank's message in two halves: while one begins, the other moves. A quarter ahead of the second half separates
/// their ends.
class Bench::Halves {
 public:
  Halves(Bench& bench, Bytes bytes)
      : bench_(bench),
        parts_{Part{0, bytes / 2, Requests(bench)},
               {bytes / 2, bytes - bytes / 2, Requests(bench)},
               {bytes / 2, bytes / 4, Requests(bench)}} {}

  void add_send(Rank peer) {
    for (auto& part : parts_) part.requests.add_send(bench_.send_.get() + part.begin, part.bytes, peer);
  }
  void add_receive(Rank peer) {
    receives_ = true;
    for (auto& part : parts_) part.requests.add_receive(bench_.receive_.get() + part.begin, part.bytes, peer);
  }

  Seconds repeat(Seconds begin_s, int repetitions) {
    auto &first = parts_[0].requests, &second = parts_[1].requests, &quarter = parts_[2].requests;
    COMMPASS_MPI_CALL(MPI_Barrier, bench_.comm_);
    const double begin = MPI_Wtime();
    first.start();
    quarter.start();
    quarter.wait();
    second.start();
    for (int i = 1; i < repetitions; ++i)
      for (auto* half : {&first, &second}) {
        half->wait();
        half->start();
      }
    first.wait();
    second.wait();
    const Seconds moving = MPI_Wtime() - begin - begin_s;
    constexpr double ahead = 0.25;
    const Seconds mine = begin_s + moving / (repetitions + ahead);
    return median_over_ranks(bench_.comm_, receives_ ? std::optional(mine) : std::nullopt);
  }

 private:
  struct Part {
    Bytes begin, bytes;
    Requests requests;
  };

  Bench& bench_;
  std::array<Part, 3> parts_;
  bool receives_ = false;
};

Seconds Bench::streams(std::span<const Rank> senders, std::span<const Rank> receivers, Bytes bytes, Seconds begin_s,
                       int repetitions) {
  Halves halves(*this, bytes);
  for (std::size_t i = 0; i < senders.size(); ++i) {
    if (rank_ == senders[i]) halves.add_send(receivers[i]);
    if (rank_ == receivers[i]) halves.add_receive(senders[i]);
  }
  return halves.repeat(begin_s, repetitions);
}

Seconds Bench::rings(std::span<const std::vector<Rank>> rings, Bytes bytes, Seconds begin_s, int repetitions) {
  Halves halves(*this, bytes);
  for (const auto& ring : rings)
    for (std::size_t i = 0; i < ring.size(); ++i) {
      if (ring[i] != rank_) continue;
      halves.add_receive(ring[(i + ring.size() - 1) % ring.size()]);
      halves.add_send(ring[(i + 1) % ring.size()]);
    }
  return halves.repeat(begin_s, repetitions);
}

}  // namespace commpass
