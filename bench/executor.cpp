// bench executor: what does the executor cost over persistent requests written by hand, and what with a new request for
// each send? On two ranks.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "bench/in_turn.hpp"
#include "bench/statistics.hpp"
#include "bench/two_ranks.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/machine.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/own_communicator.hpp"

namespace commpass::bench {
namespace {

constexpr Bytes kibibyte = 1024;
constexpr Bytes sizes[] = {8, 64, 512, 4 * kibibyte, 32 * kibibyte, 256 * kibibyte, 1024 * kibibyte};
constexpr int message_counts[] = {1, 8};

/// As many messages of a size from each of the two ranks to the other.
struct Edges {
  Edges(Rank rank, int messages, Bytes bytes)
      : peer(1 - rank), out(static_cast<std::size_t>(messages * bytes)), in(out.size()) {
    for (int i = 0; i < messages; ++i) {
      sends.push_back({peer, i * bytes, bytes});
      receives.push_back({peer, i * bytes, bytes});
    }
  }
  Rank peer;
  std::vector<std::byte> out, in;
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
};

/// What a user would write for these edges.
class ByHand {
 public:
  ByHand(MPI_Comm comm, Edges& edges) {
    constexpr int tag = 1;
    for (const auto& edge : edges.receives)
      COMMPASS_MPI_CALL(MPI_Recv_init, edges.in.data() + edge.offset, static_cast<int>(edge.bytes), MPI_BYTE,
                        edge.source, tag, comm, &requests_.emplace_back());
    for (const auto& edge : edges.sends)
      COMMPASS_MPI_CALL(MPI_Send_init, edges.out.data() + edge.offset, static_cast<int>(edge.bytes), MPI_BYTE,
                        edge.destination, tag, comm, &requests_.emplace_back());
  }
  ~ByHand() {
    for (auto& request : requests_) MPI_Request_free(&request);
  }
  ByHand(const ByHand&) = delete;
  ByHand& operator=(const ByHand&) = delete;

  void exchange() {
    MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  std::vector<MPI_Request> requests_;
};

/// The seconds of `exchanges` exchanges one after another; those of the two ranks keep in step by themselves.
template <class Exchange>
Seconds seconds_of(int exchanges, Exchange exchange) {
  const double begin = MPI_Wtime();
  for (int i = 0; i < exchanges; ++i) exchange();
  return MPI_Wtime() - begin;
}

struct Measured {
  Seconds executor = 0, new_sends = 0, by_hand = 0;  ///< medians of one exchange
};

/// @param exchange, new_sends  the same with persistent requests, and with a new one for each send
Measured compare(const Communicator& communicator, Exchange& exchange, Exchange& new_sends, ByHand& by_hand,
                 int repetitions) {
  const auto run = [](Exchange& any) {
    any.start();
    any.wait();
  };
  const auto run_executor = [&] { run(exchange); };
  const auto run_new_sends = [&] { run(new_sends); };
  const auto run_by_hand = [&] { by_hand.exchange(); };
  // Long enough for the clock, short enough to lie within a time slice.
  constexpr Seconds sample_s = 50e-6;
  constexpr int warm_up = 100;
  seconds_of(warm_up, run_executor);
  int exchanges = std::max(1, static_cast<int>(sample_s / (seconds_of(warm_up, run_by_hand) / warm_up)));
  COMMPASS_MPI_CALL(MPI_Bcast, &exchanges, 1, MPI_INT, 0, communicator.mpi());

  std::vector<Seconds> executor, anew, hand;
  run_in_turn(
      repetitions, [&] { executor.push_back(seconds_of(exchanges, run_executor)); },
      [&] { anew.push_back(seconds_of(exchanges, run_new_sends)); },
      [&] { hand.push_back(seconds_of(exchanges, run_by_hand)); });
  return {median(std::move(executor)) / exchanges, median(std::move(anew)) / exchanges,
          median(std::move(hand)) / exchanges};
}

Json executor(const OutputOptions& options, Rank rank, bool shown) {
  const OwnCommunicator own(MPI_COMM_WORLD);
  Communicator communicator(MPI_COMM_WORLD, Machine{});
  Machine all_new;
  all_new.operations.new_send_bytes = std::numeric_limits<Bytes>::max();
  Communicator communicator_of_new(MPI_COMM_WORLD, all_new);
  const int repetitions = options.quick ? 2001 : 10001;
  if (shown)
    fmt::print("{:>9} {:>10} {:>14} {:>14} {:>8} {:>14} {:>8}\n", "messages", "bytes", "executor", "by hand", "ratio",
               "new sends", "ratio");
  Json json;
  double ratio_max = 0;
  for (const int messages : message_counts)
    for (const auto bytes : sizes) {
      Edges edges(rank, messages, bytes);
      // Staggered, so that messages between the same ranks stay as many.
      const auto plan = [&](Communicator& by) {
        return by.neighbor_exchange(edges.out.data(), edges.sends, edges.in.data(), edges.receives,
                                    {"standard,staggered"});
      };
      auto exchange = plan(communicator), new_sends = plan(communicator_of_new);
      ByHand by_hand(own.get(), edges);
      const auto measured = compare(communicator, exchange, new_sends, by_hand, repetitions);
      const double ratio = measured.executor / measured.by_hand, new_ratio = measured.new_sends / measured.by_hand;
      ratio_max = std::max(ratio_max, ratio);
      if (shown)
        fmt::print("{:>9} {:>10} {:>14} {:>14} {:>8.3f} {:>14} {:>8.3f}\n", messages,
                   format_bytes(static_cast<double>(bytes)), format_seconds(measured.executor),
                   format_seconds(measured.by_hand), ratio, format_seconds(measured.new_sends), new_ratio);
      json["cases"].push_back({{"messages", messages},
                               {"bytes", bytes},
                               {"executor_s", measured.executor},
                               {"by_hand_s", measured.by_hand},
                               {"ratio", ratio},
                               {"new_sends_s", measured.new_sends},
                               {"new_sends_ratio", new_ratio}});
    }
  json["summary"] = {{"ratio_max", ratio_max}};
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  using namespace commpass::bench;
  return run_on_two_ranks(
      argc, argv, "executor",
      "What a standard exchange costs over persistent requests written by hand, and with a "
      "new request for each send, on two ranks.",
      [](const OutputOptions& options, commpass::Rank rank, bool shown) { return executor(options, rank, shown); });
}
