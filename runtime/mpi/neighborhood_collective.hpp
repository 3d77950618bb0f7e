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

/// A communicator with neighbours. Only one collective at a time uses it, because ranks may start several in any order.
struct NeighborGraph {
  std::optional<OwnCommunicator> comm{};
  bool has_failed = false;  ///< a collective on it: its messages in flight would match those of another one
};

/// A neighbourhood all-to-all on a communicator of its own, which can be run many times. With MPI 4 it is a persistent
/// request, with counts of any size. Before MPI 4, each start makes a request inside the library, and large messages
/// have datatypes.
class NeighborhoodCollective {
 public:
  /// Does this MPI library have neighbourhood collectives?
  static bool is_available();

  /// @param receives, sends  of equal sizes at both ends. Those of one peer must have one size, because libraries match
  ///                         them in different orders
  /// @throws Error if there is no such collective, std::bad_alloc, MpiError
  NeighborhoodCollective(std::span<const NeighborMessage> receives, std::span<const NeighborMessage> sends);
  /// Nothing may be in flight.
  ~NeighborhoodCollective();
  NeighborhoodCollective(const NeighborhoodCollective&) = delete;
  NeighborhoodCollective& operator=(const NeighborhoodCollective&) = delete;

  /// Makes the communicator; once, before the first start. Collective over `comm`.
  /// @param graph  of a collective with the same neighbours, which no longer exists on any rank; null: a new one
  /// @throws MpiError
  void connect(MPI_Comm comm, std::shared_ptr<NeighborGraph> graph = nullptr);
  /// Its communicator.
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
