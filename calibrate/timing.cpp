#include "calibrate/timing.hpp"

#include <algorithm>

#include "calibrate/fit.hpp"
#include "runtime/local_copy.hpp"
#include "runtime/mpi_error.hpp"

namespace commpass {

namespace {

constexpr int data_tag = 1, token_tag = 2, unused_tag = 3;

/// Persistent requests that are freed on their own.
class Requests {
 public:
  void add_send(const void* buffer, Bytes bytes, Rank peer, MPI_Comm comm) {
    COMMPASS_MPI_CALL(MPI_Send_init, buffer, static_cast<int>(bytes), MPI_BYTE, peer, data_tag, comm, &requests_.emplace_back());
  }
  void add_receive(void* buffer, Bytes bytes, Rank peer, MPI_Comm comm) {
    COMMPASS_MPI_CALL(MPI_Recv_init, buffer, static_cast<int>(bytes), MPI_BYTE, peer, data_tag, comm, &requests_.emplace_back());
  }
  void start() { COMMPASS_MPI_CALL(MPI_Startall, static_cast<int>(requests_.size()), requests_.data()); }
  void wait() { COMMPASS_MPI_CALL(MPI_Waitall, static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }

  Requests() = default;
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;
  ~Requests() {
    for (auto& request : requests_) MPI_Request_free(&request);
  }

 private:
  std::vector<MPI_Request> requests_;
};

void send_token(Rank peer, MPI_Comm comm) { COMMPASS_MPI_CALL(MPI_Send, nullptr, 0, MPI_BYTE, peer, token_tag, comm); }
void receive_token(Rank peer, MPI_Comm comm) { COMMPASS_MPI_CALL(MPI_Recv, nullptr, 0, MPI_BYTE, peer, token_tag, comm, MPI_STATUS_IGNORE); }

}  // namespace

Bench::Bench(MPI_Comm comm, Bytes largest_bytes)
    : comm_(comm), send_(static_cast<std::size_t>(largest_bytes), std::byte{1}), receive_(send_.size(), std::byte{2}) {
  COMMPASS_MPI_CALL(MPI_Comm_rank, comm, &rank_);
}

Seconds Bench::from_rank(Rank rank, Seconds seconds) const {
  COMMPASS_MPI_CALL(MPI_Bcast, &seconds, 1, MPI_DOUBLE, rank, comm_);
  return seconds;
}

Seconds Bench::ping_pong(Rank first, Rank second, Bytes bytes, int repetitions) {
  Seconds elapsed = 0;
  if (rank_ == first || rank_ == second) {
    const Rank peer = rank_ == first ? second : first;
    Requests send, receive;
    send.add_send(send_.data(), bytes, peer, comm_);
    receive.add_receive(receive_.data(), bytes, peer, comm_);
    if (rank_ == first) {
      receive_token(second, comm_);  // the other side is here
      const double begin = MPI_Wtime();
      for (int i = 0; i < repetitions; ++i) {
        receive.start();
        send.start();
        send.wait();
        receive.wait();
      }
      elapsed = MPI_Wtime() - begin;
    } else {
      send_token(first, comm_);
      for (int i = 0; i < repetitions; ++i) {
        receive.start();
        receive.wait();
        send.start();
        send.wait();
      }
    }
  }
  constexpr double ways = 2;
  return from_rank(first, elapsed / ways / repetitions);
}

Seconds Bench::burst(Rank sender, std::span<const Rank> receivers, Bytes bytes, int messages, int repetitions) {
  Seconds elapsed = 0;
  Requests requests;
  const bool receives = std::ranges::find(receivers, rank_) != receivers.end();
  // Places follow each other in the buffers, as in a real exchange, and begin anew where these end.
  const auto places = std::max<Bytes>(1, static_cast<Bytes>(send_.size()) / std::max<Bytes>(1, bytes));
  for (int i = 0; i < messages; ++i) {
    const auto place = static_cast<std::size_t>(i % places * bytes);
    const Rank receiver = receivers[static_cast<std::size_t>(i) % receivers.size()];
    if (rank_ == sender) requests.add_send(send_.data() + place, bytes, receiver, comm_);
    if (rank_ == receiver) requests.add_receive(receive_.data() + place, bytes, sender, comm_);
  }
  for (int i = 0; i < repetitions; ++i) {
    if (rank_ == sender) {
      for (const Rank receiver : receivers) receive_token(receiver, comm_);  // all receives are posted
      const double begin = MPI_Wtime();
      requests.start();
      requests.wait();
      for (const Rank receiver : receivers) receive_token(receiver, comm_);  // all messages have arrived
      elapsed += MPI_Wtime() - begin;
    } else if (receives) {
      requests.start();
      send_token(sender, comm_);
      requests.wait();
      send_token(sender, comm_);
    }
  }
  return from_rank(sender, elapsed / repetitions);
}

Seconds Bench::fan_in(std::span<const Rank> senders, Rank receiver, Bytes bytes, int messages, int repetitions) {
  Seconds elapsed = 0;
  Requests requests;
  const bool sends = std::ranges::find(senders, rank_) != senders.end();
  const auto places = std::max<Bytes>(1, static_cast<Bytes>(send_.size()) / std::max<Bytes>(1, bytes));
  for (int i = 0; i < messages; ++i) {
    const auto place = static_cast<std::size_t>(i % places * bytes);
    if (sends) requests.add_send(send_.data() + place, bytes, receiver, comm_);
    // All senders' messages land at the same places: what is received does not matter here.
    for (const Rank sender : senders)
      if (rank_ == receiver) requests.add_receive(receive_.data() + place, bytes, sender, comm_);
  }
  for (int i = 0; i < repetitions; ++i) {
    if (rank_ == receiver) {
      requests.start();
      const double begin = MPI_Wtime();
      for (const Rank sender : senders) send_token(sender, comm_);
      requests.wait();
      elapsed += MPI_Wtime() - begin;
    } else if (sends) {
      receive_token(receiver, comm_);
      requests.start();
      requests.wait();
    }
  }
  return from_rank(receiver, elapsed / repetitions);
}

Seconds Bench::early_send(Rank sender, Rank receiver, Bytes bytes, Seconds late_s) {
  Seconds elapsed = 0;
  Requests request;
  if (rank_ == sender) {
    request.add_send(send_.data(), bytes, receiver, comm_);
    send_token(receiver, comm_);
    const double begin = MPI_Wtime();
    request.start();
    request.wait();
    elapsed = MPI_Wtime() - begin;
    receive_token(receiver, comm_);
  } else if (rank_ == receiver) {
    request.add_receive(receive_.data(), bytes, sender, comm_);
    receive_token(sender, comm_);
    // Meanwhile the library gets time to move what it can move without a receive.
    const double begin = MPI_Wtime();
    int found = 0;
    while (MPI_Wtime() - begin < late_s) COMMPASS_MPI_CALL(MPI_Iprobe, sender, unused_tag, comm_, &found, MPI_STATUS_IGNORE);
    request.start();
    request.wait();
    send_token(sender, comm_);
  }
  return from_rank(sender, elapsed);
}

Seconds Bench::streams(std::span<const Rank> senders, std::span<const Rank> receivers, Bytes bytes, int repetitions) {
  Seconds elapsed = 0;
  Requests requests;
  Rank peer = -1;
  bool sends = false;
  for (std::size_t i = 0; i < senders.size(); ++i) {
    if (rank_ == senders[i]) {
      peer = receivers[i];
      sends = true;
      requests.add_send(send_.data(), bytes, peer, comm_);
    } else if (rank_ == receivers[i]) {
      peer = senders[i];
      requests.add_receive(receive_.data(), bytes, peer, comm_);
    }
  }
  COMMPASS_MPI_CALL(MPI_Barrier, comm_);
  if (peer >= 0) {
    const double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; ++i) {
      requests.start();
      requests.wait();
    }
    if (sends) receive_token(peer, comm_);
    else send_token(peer, comm_);
    elapsed = (MPI_Wtime() - begin) / repetitions;
  }
  Seconds slowest = 0;
  COMMPASS_MPI_CALL(MPI_Allreduce, &elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm_);
  return slowest;
}

Seconds Bench::local_copy(Bytes bytes, int repetitions) {
  int ranks = 0;
  COMMPASS_MPI_CALL(MPI_Comm_size, comm_, &ranks);
  const auto size = static_cast<std::size_t>(bytes);
  const std::size_t places = std::max<std::size_t>(1, std::min<std::size_t>(send_.size(), std::size_t{1} << 20) / size);
  COMMPASS_MPI_CALL(MPI_Barrier, comm_);
  const double begin = MPI_Wtime();
  for (int i = 0; i < repetitions; ++i) {
    const auto place = static_cast<std::size_t>(i) % places * size;
    const LocalCopy copy{send_.data() + place, receive_.data() + place, size};
    commpass::local_copy({&copy, 1});
  }
  const Seconds elapsed = (MPI_Wtime() - begin) / repetitions;
  std::vector<double> all(static_cast<std::size_t>(ranks));
  COMMPASS_MPI_CALL(MPI_Allgather, &elapsed, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, comm_);
  return median(all);
}

template <class Action>
Seconds Bench::slowest_mean(int repetitions, Action action) {
  COMMPASS_MPI_CALL(MPI_Barrier, comm_);
  const double begin = MPI_Wtime();
  for (int i = 0; i < repetitions; ++i) action();
  Seconds elapsed = (MPI_Wtime() - begin) / repetitions, slowest = 0;
  COMMPASS_MPI_CALL(MPI_Allreduce, &elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm_);
  return slowest;
}

Seconds Bench::barrier(int repetitions) {
  return slowest_mean(repetitions, [&] { COMMPASS_MPI_CALL(MPI_Barrier, comm_); });
}

Seconds Bench::allreduce(int repetitions) {
  double value = 1, sum = 0;
  return slowest_mean(repetitions, [&] { COMMPASS_MPI_CALL(MPI_Allreduce, &value, &sum, 1, MPI_DOUBLE, MPI_SUM, comm_); });
}

Seconds Bench::probe(int repetitions) {
  int found = 0;
  return slowest_mean(repetitions, [&] { COMMPASS_MPI_CALL(MPI_Iprobe, MPI_ANY_SOURCE, unused_tag, comm_, &found, MPI_STATUS_IGNORE); });
}

}  // namespace commpass
