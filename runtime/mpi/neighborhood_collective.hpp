// The MPI library's own neighbourhood collective, for messages that lie anywhere.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "runtime/mpi/message_type.hpp"
#include "runtime/mpi/own_communicator.hpp"

namespace commpass {

/// Bytes to or from a neighbour.
struct NeighborMessage {
  Rank peer = 0;
  std::byte* address = nullptr;
  Bytes bytes = 0;
};

/// A communicator with neighbours. Only one collective at a time uses it, for ranks may start several in any order.
struct NeighborGraph {
  std::optional<OwnCommunicator> comm{};
  bool has_failed = false;  ///< MPI, in a collective on it: what is under way there would meet others
};

/// A neighbourhood all-to-all on a communicator of its own, which can be run many times.
///
/// MPI 4 has it as a persistent request that takes counts of any size. Before, each start makes a request inside the
/// library, and large messages have datatypes.
class NeighborhoodCollective {
 public:
  /// Does this MPI library have neighbourhood collectives?
  static bool is_available();

  /// @param receives, sends  of equal sizes at both ends. Several of one peer must all have one size: libraries differ
  /// in which
  ///                         of them they match
  /// @param largest_count    for tests: before MPI 4, messages of more bytes use a derived datatype
  /// @throws Error if there is no such collective, std::bad_alloc, MpiError
  NeighborhoodCollective(std::span<const NeighborMessage> receives, std::span<const NeighborMessage> sends,
                         Bytes largest_count = largest_mpi_count);
  /// Nothing may be in flight.
  ~NeighborhoodCollective();
  NeighborhoodCollective(const NeighborhoodCollective&) = delete;
  NeighborhoodCollective& operator=(const NeighborhoodCollective&) = delete;

  /// Makes the communicator; once, before the first start. Collective over `comm`.
  /// @param graph  that of a collective with the same neighbours, which is gone on all ranks; null: a new one
  /// @throws MpiError
  void connect(MPI_Comm comm, std::shared_ptr<NeighborGraph> graph = nullptr);
  /// What it is connected by.
  const std::shared_ptr<NeighborGraph>& graph() const;
  /// @throws MpiError
  void start();
  /// Of the exchange that has started.
  MPI_Request* request();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace commpass
