// bench node-memory: two ranks exchange through memory that they share, and by messages of the MPI library: planned
// exchanges, and all-to-alls that are called once. In turn.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "bench/in_turn.hpp"
#include "bench/statistics.hpp"
#include "bench/two_ranks.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/own_communicator.hpp"

namespace commpass::bench {
namespace {

constexpr int tag = 1;

/// Blocks from each of the two ranks to the other: apart in the send buffer, together in the receive buffer.
struct Case {
  std::string name;
  std::vector<Bytes> sizes;
  Bytes gap = 0;  ///< between blocks to send
};

std::vector<Case> cases() {
  constexpr Bytes kibibyte = 1024;
  constexpr int many = 64;
  constexpr Bytes shortest = 8, each_of_gather = 64;
  std::vector<Case> result;
  for (const Bytes bytes : {Bytes{8}, Bytes{64}, Bytes{512}, 4 * kibibyte, 32 * kibibyte, 256 * kibibyte})
    result.push_back({format_bytes(static_cast<double>(bytes)), {bytes}});
  Case mixed{"64 of 8 to 256 B", {}};
  for (int i = 0; i < many; ++i) mixed.sizes.push_back(shortest * (1 + i % 32));
  result.push_back(mixed);
  result.push_back({"gather 64 of 64 B", std::vector<Bytes>(many, each_of_gather), each_of_gather});
  return result;
}

/// The edges of a case, and the same exchange as a user would write it.
class ByHand {
 public:
  ByHand(MPI_Comm comm, Rank rank, const Case& of) : comm_(comm), peer_(1 - rank) {
    Bytes from = 0, to = 0;
    for (const auto bytes : of.sizes) {
      sends.push_back({peer_, from, bytes});
      receives.push_back({peer_, to, bytes});
      from += bytes + of.gap;
      to += bytes;
    }
    out.resize(static_cast<std::size_t>(from));
    in.resize(static_cast<std::size_t>(to));
    packed_.resize(in.size());
    requests_.resize(2 * sends.size());
    persistent_.resize(requests_.size());
    auto* request = persistent_.data();
    for (const auto& edge : receives)
      COMMPASS_MPI_CALL(MPI_Recv_init, at(in, edge), count(edge), MPI_BYTE, peer_, tag, comm_, request++);
    for (const auto& edge : sends)
      COMMPASS_MPI_CALL(MPI_Send_init, at(out, edge), count(edge), MPI_BYTE, peer_, tag, comm_, request++);
  }
  ~ByHand() {
    for (auto& request : persistent_) MPI_Request_free(&request);
  }
  ByHand(const ByHand&) = delete;
  ByHand& operator=(const ByHand&) = delete;

  void by_new_requests() {
    auto* request = requests_.data();
    for (const auto& edge : receives) MPI_Irecv(at(in, edge), count(edge), MPI_BYTE, peer_, tag, comm_, request++);
    for (const auto& edge : sends) MPI_Isend(at(out, edge), count(edge), MPI_BYTE, peer_, tag, comm_, request++);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }
  void by_sendrecv() {
    for (std::size_t i = 0; i < sends.size(); ++i)
      MPI_Sendrecv(at(out, sends[i]), count(sends[i]), MPI_BYTE, peer_, tag, at(in, receives[i]), count(receives[i]),
                   MPI_BYTE, peer_, tag, comm_, MPI_STATUS_IGNORE);
  }
  void by_persistent_requests() {
    MPI_Startall(static_cast<int>(persistent_.size()), persistent_.data());
    MPI_Waitall(static_cast<int>(persistent_.size()), persistent_.data(), MPI_STATUSES_IGNORE);
  }
  /// All blocks in one message.
  void packed() {
    auto* to = packed_.data();
    for (const auto& edge : sends) {
      std::memcpy(to, at(out, edge), static_cast<std::size_t>(edge.bytes));
      to += edge.bytes;
    }
    MPI_Sendrecv(packed_.data(), static_cast<int>(packed_.size()), MPI_BYTE, peer_, tag, in.data(),
                 static_cast<int>(in.size()), MPI_BYTE, peer_, tag, comm_, MPI_STATUS_IGNORE);
  }

  std::vector<std::byte> out, in;
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;

 private:
  template <class Edge>
  static std::byte* at(std::vector<std::byte>& buffer, const Edge& edge) {
    return buffer.data() + edge.offset;
  }
  template <class Edge>
  static int count(const Edge& edge) {
    return static_cast<int>(edge.bytes);
  }

  MPI_Comm comm_;
  Rank peer_;
  std::vector<std::byte> packed_;
  std::vector<MPI_Request> requests_, persistent_;
};

struct Method {
  const char* key;
  std::vector<Seconds> times{};
  Seconds median_s = 0;
};
enum : std::size_t { shared, new_requests, sendrecv, persistent, packed, methods };

// Long enough for the clock, short enough to lie within a time slice.
constexpr Seconds sample_s = 50e-6;
constexpr int warm_up = 100;

template <class Run>
Seconds time_each(int exchanges, Run run) {
  const double begin = MPI_Wtime();
  for (int i = 0; i < exchanges; ++i) run();
  return (MPI_Wtime() - begin) / exchanges;
}

/// How many exchanges a sample has, the same on both ranks.
template <class Run>
int exchanges_of_sample(MPI_Comm comm, Run run) {
  time_each(warm_up, run);
  int exchanges = std::max(1, static_cast<int>(sample_s / time_each(warm_up, run)));
  COMMPASS_MPI_CALL(MPI_Bcast, &exchanges, 1, MPI_INT, 0, comm);
  return exchanges;
}

/// The medians of all methods.
std::array<Method, methods> measure(MPI_Comm comm, Exchange& exchange, ByHand& by_hand, int repetitions) {
  std::array<Method, methods> all{{{"shared_s"}, {"isend_s"}, {"sendrecv_s"}, {"persistent_s"}, {"packed_s"}}};
  const int exchanges = exchanges_of_sample(comm, [&] { by_hand.by_new_requests(); });
  const auto sample = [&](std::size_t method, auto run) {
    return [&all, exchanges, method, run] { all.at(method).times.push_back(time_each(exchanges, run)); };
  };
  run_in_turn(repetitions,
              sample(shared,
                     [&] {
                       exchange.start();
                       exchange.wait();
                     }),
              sample(new_requests, [&] { by_hand.by_new_requests(); }),
              sample(sendrecv, [&] { by_hand.by_sendrecv(); }),
              sample(persistent, [&] { by_hand.by_persistent_requests(); }), sample(packed, [&] { by_hand.packed(); }));
  for (auto& method : all) method.median_s = median(std::move(method.times));
  return all;
}

/// All-to-alls of one block size that are called once: ours through memory and by messages, and the MPI library's.
void add_calls(MPI_Comm comm, Communicator& communicator, Bytes bytes, int repetitions, bool shown, Json& json) {
  constexpr std::size_t ranks = 2;
  std::vector<std::byte> out(ranks * static_cast<std::size_t>(bytes)), in(out.size());
  const auto count = static_cast<int>(bytes);
  const std::vector<int> counts(ranks, count), places{0, count};
  enum : std::size_t { shared_equal, messages_equal, mpi_equal, shared_v, messages_v, mpi_v, calls };
  std::array<Method, calls> all{{{"alltoall_shared_s"},
                                 {"alltoall_messages_s"},
                                 {"alltoall_mpi_s"},
                                 {"alltoallv_shared_s"},
                                 {"alltoallv_messages_s"},
                                 {"alltoallv_mpi_s"}}};
  const AlltoallvOptions shared{"standard,shared"}, messages{"standard"};
  const auto equal = [&](const AlltoallvOptions& by) {
    communicator.alltoall(out.data(), count, MPI_BYTE, in.data(), count, MPI_BYTE, by);
  };
  const auto differing = [&](const AlltoallvOptions& by) {
    communicator.alltoallv(out.data(), counts, places, MPI_BYTE, in.data(), counts, places, MPI_BYTE, by);
  };
  const auto mpi = [&] { MPI_Alltoall(out.data(), count, MPI_BYTE, in.data(), count, MPI_BYTE, comm); };
  const int exchanges = exchanges_of_sample(comm, mpi);
  const auto sample = [&](std::size_t method, auto run) {
    return [&all, exchanges, method, run] { all.at(method).times.push_back(time_each(exchanges, run)); };
  };
  run_in_turn(repetitions, sample(shared_equal, [&] { equal(shared); }),
              sample(messages_equal, [&] { equal(messages); }), sample(mpi_equal, mpi),
              sample(shared_v, [&] { differing(shared); }), sample(messages_v, [&] { differing(messages); }),
              sample(mpi_v, [&] {
                MPI_Alltoallv(out.data(), counts.data(), places.data(), MPI_BYTE, in.data(), counts.data(),
                              places.data(), MPI_BYTE, comm);
              }));
  for (auto& method : all) method.median_s = median(std::move(method.times));
  const double ratio = all[shared_equal].median_s / all[mpi_equal].median_s,
               ratio_v = all[shared_v].median_s / all[mpi_v].median_s;
  const auto name = format_bytes(static_cast<double>(bytes));
  Json row{{"block", name}, {"alltoall_ratio", ratio}, {"alltoallv_ratio", ratio_v}};
  for (const auto& method : all) row[method.key] = method.median_s;
  json["calls"].push_back(row);
  json["summary"]["alltoall " + name] = ratio;
  json["summary"]["alltoallv " + name] = ratio_v;
  if (!shown) return;
  fmt::print("{:>18}", name);
  for (const auto& method : all) fmt::print(" {:>10}", format_seconds(method.median_s));
  fmt::print(" {:>11.2f} {:>11.2f}\n", ratio, ratio_v);
}

Json node_memory(const OutputOptions& options, Rank rank, bool shown) {
  const OwnCommunicator own(MPI_COMM_WORLD);
  Communicator communicator(MPI_COMM_WORLD, Machine{}, {Layout::with_ppn(2, 2)});
  const int repetitions = options.quick ? 1001 : 5001;
  if (shown)
    fmt::print("{:>18} {:>10} {:>10} {:>10} {:>10} {:>10} {:>12} {:>12}\n", "each to the other", "shared", "Isend",
               "Sendrecv", "persistent", "packed", "÷ best", "÷ packed");
  Json json;
  for (const auto& each : cases()) {
    ByHand by_hand(own.get(), rank, each);
    auto exchange = communicator.neighbor_exchange(by_hand.out.data(), by_hand.sends, by_hand.in.data(),
                                                   by_hand.receives, {"standard,shared"});
    const auto all = measure(own.get(), exchange, by_hand, repetitions);
    const auto best = std::min({all[new_requests].median_s, all[sendrecv].median_s, all[persistent].median_s});
    const double ratio = all[shared].median_s / best, of_packed = all[shared].median_s / all[packed].median_s;
    if (shown) {
      fmt::print("{:>18}", each.name);
      for (const auto& method : all) fmt::print(" {:>10}", format_seconds(method.median_s));
      fmt::print(" {:>11.2f} {:>11.2f}\n", ratio, of_packed);
    }
    Json row{{"case", each.name}, {"ratio", ratio}, {"ratio_of_packed", of_packed}};
    for (const auto& method : all) row[method.key] = method.median_s;
    json["cases"].push_back(row);
    json["summary"][each.name] = ratio;
  }
  if (shown)
    fmt::print("\n{:>18} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>12} {:>12}\n", "called once", "alltoall",
               "messages", "MPI's", "alltoallv", "messages", "MPI's", "alltoall ÷", "alltoallv ÷");
  constexpr Bytes shortest = 8, longest = Bytes{1} << 20;
  constexpr int growth = 8;
  for (Bytes bytes = shortest; bytes <= longest; bytes *= growth)
    add_calls(own.get(), communicator, bytes, repetitions, shown, json);
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  using namespace commpass::bench;
  return run_on_two_ranks(
      argc, argv, "node-memory",
      "What exchanges through memory of a node take, and by messages of the MPI library, on "
      "two ranks.",
      [](const OutputOptions& options, commpass::Rank rank, bool shown) { return node_memory(options, rank, shown); });
}
