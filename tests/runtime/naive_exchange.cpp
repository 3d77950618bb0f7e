#include "runtime/naive_exchange.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "runtime/communicator.hpp"
#include "runtime/world.hpp"

namespace commpass::test {

namespace {

std::byte byte_of(Rank source, Rank destination, int index, Bytes position, unsigned turn) {
  std::uint64_t mixed = static_cast<std::uint64_t>(source) * 0x9E3779B97F4A7C15U ^
                        static_cast<std::uint64_t>(destination) * 0xC2B2AE3D27D4EB4FU ^
                        static_cast<std::uint64_t>(index) * 0x165667B19E3779F9U ^
                        static_cast<std::uint64_t>(position) * 0x27D4EB2F165667C5U ^ turn;
  mixed ^= mixed >> 29;
  mixed *= 0xBF58476D1CE4E5B9U;
  return static_cast<std::byte>(mixed >> 56);
}

constexpr std::byte rubbish{0xEE};

/// Places edges in a buffer, those of one payload where the first of them is. @return its size
template <class Edges>
std::size_t place(Edges& edges, const std::vector<Payload>& payloads, int gap, std::mt19937& random) {
  std::vector<std::size_t> order(edges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (gap > 0) std::shuffle(order.begin(), order.end(), random);
  Bytes end = 0;
  std::map<Payload, Bytes> place_of;
  for (const auto i : order) {
    if (payloads[i] != no_payload && place_of.contains(payloads[i])) {
      edges[i].offset = place_of.at(payloads[i]);
      continue;
    }
    if (gap > 0) end += static_cast<Bytes>(random() % 2) * gap;
    edges[i].offset = place_of[payloads[i]] = end;
    end += edges[i].bytes;
  }
  return static_cast<std::size_t>(end);
}

}  // namespace

LocalExchange local_part(const Pattern& pattern, Rank rank, int gap, unsigned seed) {
  LocalExchange result;
  auto edges = pattern.edges;
  if (gap == 0) std::ranges::stable_sort(edges, {}, [](const Edge& e) { return std::pair(e.source, e.destination); });
  std::vector<Payload> payloads;
  for (const auto& edge : edges) {
    if (edge.source == rank) {
      result.sends.push_back({edge.destination, 0, edge.bytes});
      payloads.push_back(edge.payload);
    }
    if (edge.destination == rank) result.receives.push_back({edge.source, 0, edge.bytes});
  }
  std::mt19937 random(seed + static_cast<unsigned>(rank));
  result.send_buffer.resize(place(result.sends, payloads, gap, random));
  result.receive_buffer.resize(place(result.receives, std::vector(result.receives.size(), no_payload), gap, random));
  return result;
}

void fill(LocalExchange& exchange, Rank rank, unsigned turn) {
  std::ranges::fill(exchange.receive_buffer, rubbish);
  std::map<Rank, int> count;
  for (const auto& edge : exchange.sends) {
    const int index = count[edge.destination]++;
    for (Bytes i = 0; i < edge.bytes; ++i)
      exchange.send_buffer[static_cast<std::size_t>(edge.offset + i)] = byte_of(rank, edge.destination, index, i, turn);
  }
}

std::vector<std::byte> naive_exchange(const LocalExchange& exchange, MPI_Comm comm) {
  std::vector<std::byte> result(exchange.receive_buffer.size(), rubbish);
  std::vector<MPI_Request> requests;
  constexpr int tag = 1;
  for (const auto& edge : exchange.receives)
    MPI_Irecv(result.data() + edge.offset, static_cast<int>(edge.bytes), MPI_BYTE, edge.source, tag, comm,
              &requests.emplace_back());
  for (const auto& edge : exchange.sends)
    MPI_Isend(exchange.send_buffer.data() + edge.offset, static_cast<int>(edge.bytes), MPI_BYTE, edge.destination, tag,
              comm, &requests.emplace_back());
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return result;
}

Exchange plan_local(Communicator& communicator, LocalExchange& local, const ExchangeOptions& options) {
  return communicator.neighbor_exchange(local.send_buffer.data(), local.sends, local.receive_buffer.data(),
                                        local.receives, options);
}

Pattern all_to_all(int ranks, Bytes bytes) {
  Pattern pattern{ranks, {}};
  for (Rank i = 0; i < ranks; ++i)
    for (Rank j = 0; j < ranks; ++j) pattern.edges.push_back({i, j, bytes});
  return pattern;
}

Pattern random_pattern(int ranks, unsigned seed) {
  std::mt19937 random(seed);
  Pattern pattern{ranks, {}};
  const auto density = random() % 4;  // of 3: from nothing to everything
  const std::array sizes{0, 1, 7, 64, 300, 5000};
  for (Rank source = 0; source < ranks; ++source) {
    if (random() % 6 == 0) continue;
    for (Rank destination = 0; destination < ranks; ++destination)
      for (int copy = 0; copy < 2; ++copy)
        if (random() % 3 < density && (copy == 0 || random() % 8 == 0))
          pattern.edges.push_back(
              {source, destination, sizes[random() % sizes.size()] + static_cast<Bytes>(random() % 3)});
  }
  std::ranges::shuffle(pattern.edges, random);
  return pattern;
}

Pattern with_shared_payloads(Pattern pattern, unsigned seed) {
  std::mt19937 random(seed);
  const std::array<Bytes, 2> sizes{40, 1000 + static_cast<Bytes>(random() % 3000)};
  for (auto& edge : pattern.edges)
    if (const auto payload = random() % 3; payload < sizes.size()) {
      edge.payload = static_cast<Payload>(payload);
      edge.bytes = sizes[payload];
    }
  return pattern;
}

Layout random_layout(int ranks, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int> node_of(static_cast<std::size_t>(ranks)), socket_of(node_of.size());
  const auto kind = random() % 5;
  const auto nodes = 1 + random() % static_cast<unsigned>(ranks);
  for (std::size_t rank = 0; rank < node_of.size(); ++rank) {
    socket_of[rank] = static_cast<int>(random() % 2);
    switch (kind) {
      case 0: node_of[rank] = 0; break;
      case 1: node_of[rank] = static_cast<int>(rank); break;
      case 2: node_of[rank] = static_cast<int>(rank / nodes); break;
      case 3: node_of[rank] = static_cast<int>(rank % nodes); break;
      default: node_of[rank] = static_cast<int>(random() % nodes);
    }
  }
  return Layout(node_of, socket_of);
}

}  // namespace commpass::test
