// What programs write by hand between MPI_Isend and MPI_Waitall, as calls of Commpass. Header-only.
//
//   commpass::MessageList messages;
//   for (…) messages.receive(ghosts, count, MPI_DOUBLE, neighbour);   // in the place of MPI_Irecv
//   for (…) messages.send(border, count, MPI_DOUBLE, neighbour);      // in the place of MPI_Isend
//   auto exchange = messages.plan(communicator);
//   for (…) { exchange.start(); …; exchange.wait(); }                 // in the place of MPI_Waitall
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <type_traits>
#include <vector>

#include "commpass/commpass.hpp"

namespace commpass {

/// The messages of a loop over MPI_Isend and MPI_Irecv, or over MPI_Send_init and MPI_Recv_init, planned as one
/// exchange.
///
/// Of the messages from one rank to another, those with the same tag match in their order. The tags of both ends must
/// be the same, and so must the sizes: a receive has no room to spare. There is no MPI_ANY_SOURCE and no MPI_ANY_TAG;
/// where receivers do not know their sources, some_to_some() is the call.
class MessageList {
 public:
  /// As MPI_Isend and MPI_Send_init: notes a message. Sends nothing.
  /// @param destination  in the communicator of plan(); MPI_PROC_NULL: the message is left out
  void send(const void* buffer, int count, MPI_Datatype type, Rank destination, int tag = 0) {
    add(sends_, buffer, count, type, destination, tag);
  }
  /// As MPI_Irecv and MPI_Recv_init: notes a message. Receives nothing.
  void receive(void* buffer, int count, MPI_Datatype type, Rank source, int tag = 0) {
    add(receives_, buffer, count, type, source, tag);
  }

  /// Plans the exchange of all noted messages, which then runs any number of times, each time with what the buffers
  /// hold. Collective: ranks without messages call it, too. Buffers and datatypes must outlive the exchange.
  /// @throws Error, the same on every rank, as Communicator::typed_neighbor_exchange
  TypedExchange plan(Communicator& communicator, const ExchangeOptions& options = {}) const {
    return communicator.typed_neighbor_exchange(MPI_BOTTOM, in_order(sends_), MPI_BOTTOM, in_order(receives_), options);
  }

 private:
  struct Message {
    TypedBlock block;
    int tag = 0;
  };

  static void add(std::vector<Message>& messages, const void* buffer, int count, MPI_Datatype type, Rank peer,
                  int tag) {
    if (peer == MPI_PROC_NULL) return;
    MPI_Aint address = 0;
    MPI_Get_address(buffer, &address);
    messages.push_back({{peer, address, count, type}, tag});
  }
  /// By tag, so that both ends have the messages between two ranks in the same order.
  static std::vector<TypedBlock> in_order(std::vector<Message> messages) {
    std::ranges::stable_sort(messages, {}, &Message::tag);
    std::vector<TypedBlock> blocks;
    blocks.reserve(messages.size());
    for (const auto& message : messages) blocks.push_back(message.block);
    return blocks;
  }

  std::vector<Message> sends_, receives_;
};

/// Sends each rank its values, and returns, by source, the values for this one: the exchange by which programs find out
/// their communication pattern, or ask other ranks. Ranks with an empty list get one. Collective.
/// @param messages  by destination; must not change meanwhile
/// @throws Error, the same on every rank, as Communicator::sparse_alltoallv
template <typename T>
requires std::is_trivially_copyable_v<T> std::map<Rank, std::vector<T>> some_to_some(
    Communicator& communicator, const std::map<Rank, std::vector<T>>& messages, const SparseOptions& options = {}) {
  std::vector<T> buffer;
  std::vector<SendEdge> sends;
  sends.reserve(messages.size());
  for (const auto& [destination, values] : messages) {
    sends.push_back(
        {destination, static_cast<Bytes>(buffer.size() * sizeof(T)), static_cast<Bytes>(values.size() * sizeof(T))});
    buffer.insert(buffer.end(), values.begin(), values.end());
  }
  std::map<Rank, std::vector<T>> result;
  for (const auto& [source, bytes, memory] : communicator.sparse_alltoallv(buffer.data(), sends, options)) {
    auto& values = result[source];
    values.resize(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  }
  return result;
}

/// The ranks that name this one among their destinations, sorted. Collective.
/// @param destinations  each at most once
/// @throws Error, the same on every rank, as Communicator::sparse_alltoall
inline std::vector<Rank> sources_of(Communicator& communicator, std::span<const Rank> destinations,
                                    const SparseOptions& options = {}) {
  std::vector<Rank> sources;
  for (const auto& message : communicator.sparse_alltoall(nullptr, destinations, 0, options))
    sources.push_back(message.source);
  return sources;
}

}  // namespace commpass
