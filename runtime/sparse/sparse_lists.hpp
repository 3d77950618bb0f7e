// Lists of numbers for ranks that do not expect them, by a sparse exchange.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/mpi/agreement.hpp"
#include "runtime/sparse/sparse_engine.hpp"

namespace commpass {

/// A list for, or from, each of some ranks.
template <class Number>
using RankLists = std::map<Rank, std::vector<Number>>;

/// Sends each list to its rank and gives those that have come, by their senders. Collective.
/// @throws Error, the same on every rank
template <class Number>
RankLists<Number> exchange_lists(SparseEngine& engine, const RankLists<Number>& lists, const SparseOptions& options) {
  static_assert(std::is_trivially_copyable_v<Number>);
  const MPI_Comm comm = engine.context()->comm.get();
  std::vector<Number> buffer;
  std::vector<SendEdge> sends;
  const auto bytes_of = [](std::size_t numbers) { return static_cast<Bytes>(numbers * sizeof(Number)); };
  all_or_none(comm, [&] {
    for (const auto& [rank, list] : lists) {
      sends.push_back({rank, bytes_of(buffer.size()), bytes_of(list.size())});
      buffer.insert(buffer.end(), list.begin(), list.end());
    }
  });
  const auto given = [&] { return SparseSends{reinterpret_cast<const std::byte*>(buffer.data()), sends, {}, {}}; };
  const auto received = engine.run(std::cref(given), false, options);
  RankLists<Number> result;
  all_or_none(comm, [&] {
    for (const auto& message : received) {
      auto& list = result[message.source];
      list.resize(message.bytes.size() / sizeof(Number));
      if (!list.empty()) std::memcpy(list.data(), message.bytes.data(), message.bytes.size());
    }
  });
  return result;
}

}  // namespace commpass
