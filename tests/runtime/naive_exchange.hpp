// The oracle: every edge is one blocking-free message, and every byte says whose it is.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/pattern/pattern.hpp"
#include "runtime/neighbor/neighbor_exchange.hpp"
#include "runtime/plan/plan.hpp"

namespace commpass::test {

/// What one rank gives and gets in an exchange, and its buffers.
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

/// Fills the buffers and runs a planned exchange. Does it deliver what the naive one does, on every rank of
/// MPI_COMM_WORLD? @param turn  see fill()
bool delivers(Exchange& exchange, LocalExchange& local, unsigned turn = 1);

/// A random sparse pattern: some ranks silent, some empty edges, some to themselves, some twice.
Pattern random_pattern(int ranks, unsigned seed);

/// The pattern, in which many edges of a rank have one of two payloads.
Pattern with_shared_payloads(Pattern pattern, unsigned seed);

/// A random layout: regular, uneven, one node, or one rank a node; ranks in order or scattered over the nodes.
Layout random_layout(int ranks, unsigned seed);

}  // namespace commpass::test
