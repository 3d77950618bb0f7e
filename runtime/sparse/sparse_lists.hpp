// Lists of numbers for ranks that do not expect them, by a sparse exchange.
#pragma once

#include <cstring>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/communicator.hpp"
#include "runtime/mpi/agreement.hpp"

namespace commpass {

/// A list for, or from, each of some ranks.
template <class Number>
using RankLists = std::map<Rank, std::vector<Number>>;

/// Sends each list to its rank and gives those that have come, by their senders. Collective.
/// @throws Error, the same on every rank
template <class Number>
RankLists<Number> exchange_lists(Communicator& communicator, const RankLists<Number>& lists,
                                 const SparseOptions& options) {
  static_assert(std::is_trivially_copyable_v<Number>);
  std::vector<Number> buffer;
  std::vector<SendEdge> sends;
  const auto bytes_of = [](std::size_t numbers) { return static_cast<Bytes>(numbers * sizeof(Number)); };
  together(communicator.mpi(), [&] {
    for (const auto& [rank, list] : lists) {
      sends.push_back({rank, bytes_of(buffer.size()), bytes_of(list.size())});
      buffer.insert(buffer.end(), list.begin(), list.end());
    }
  });
  const auto received = communicator.sparse_alltoallv(buffer.data(), sends, options);
  RankLists<Number> result;
  together(communicator.mpi(), [&] {
    for (const auto& message : received) {
      auto& list = result[message.source];
      list.resize(message.bytes.size() / sizeof(Number));
      if (!list.empty()) std::memcpy(list.data(), message.bytes.data(), message.bytes.size());
    }
  });
  return result;
}

}  // namespace commpass
