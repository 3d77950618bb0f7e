// The oracle: every edge is one blocking-free message, and every byte says whose it is.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/pattern/pattern.hpp"
#include "runtime/edges.hpp"
#include "runtime/mpi/message_type.hpp"
#include "runtime/neighbor/neighbor_exchange.hpp"
#include "runtime/world.hpp"

namespace commpass {
class Communicator;
}

namespace commpass::test {

/// The edges of one rank in an exchange, and its buffers.
struct LocalExchange {
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
  std::vector<std::byte> send_buffer, receive_buffer;
};

/// The part of rank `rank`. Buffers hold the edges in a shuffled order with gaps between some of them, so that nothing
/// is contiguous by luck; `gap` 0: in rank order without gaps. Edges of one payload have one place in the send buffer.
LocalExchange local_part(const Pattern& pattern, Rank rank, int gap, unsigned seed);

/// Fills the send buffer with bytes that depend on source, destination (of a payload, its last one), index, position
/// and `turn`, and the receive buffer with rubbish.
void fill(LocalExchange& exchange, Rank rank, unsigned turn);

/// Receives everything with plain messages, one for each edge, into a buffer like the receive buffer (rubbish between).
std::vector<std::byte> naive_exchange(const LocalExchange& exchange, MPI_Comm comm);

/// Plans an exchange of these edges and buffers.
Exchange plan_local(Communicator& communicator, LocalExchange& local, const ExchangeOptions& options = {});

/// Fills the buffers and runs a planned exchange. Does it deliver the bytes of the naive one, on every rank of
/// MPI_COMM_WORLD?
/// @param exchange  an Exchange or an Executor
/// @param turn      see fill()
template <class Planned>
bool delivers(Planned& exchange, LocalExchange& local, unsigned turn = 1) {
  fill(local, rank_of(), turn);
  const auto expected = naive_exchange(local, MPI_COMM_WORLD);
  exchange.start();
  exchange.wait();
  return everywhere(local.receive_buffer == expected);
}

/// Messages of more bytes use a derived datatype while it lives.
class LargestCount {
 public:
  explicit LargestCount(Bytes bytes) { largest_mpi_count = bytes; }
  ~LargestCount() { largest_mpi_count = before_; }
  LargestCount(const LargestCount&) = delete;
  LargestCount& operator=(const LargestCount&) = delete;

 private:
  Bytes before_ = largest_mpi_count;
};

/// Every rank sends a block to every rank, itself too.
Pattern all_to_all(int ranks, Bytes bytes);

/// A random sparse pattern: some ranks silent, some empty edges, some to themselves, some twice.
Pattern random_pattern(int ranks, unsigned seed);

/// The pattern, in which many edges of a rank have one of two payloads.
Pattern with_shared_payloads(Pattern pattern, unsigned seed);

/// A random layout: regular, uneven, one node, or one rank a node; ranks in order or scattered over the nodes.
Layout random_layout(int ranks, unsigned seed);

}  // namespace commpass::test
