#include "runtime/execute/node_rings.hpp"

#include <algorithm>

#include "runtime/choose/warn_once.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/oversubscription.hpp"

namespace commpass {

namespace {

constexpr Bytes part_bytes_max = Bytes{8} << 10;  // beyond, longer ones are hardly faster
constexpr Bytes bytes_of_rank =
    Bytes{1} << 20;  // for the parts in the rings of a rank, unless these would be less than:
constexpr Bytes part_bytes_min = Bytes{512};

/// The bytes of a message that a chunk takes.
Bytes part_bytes_for(int ranks_of_node, std::uint64_t chunks_of_ring) {
  const Bytes share = bytes_of_rank / ranks_of_node / static_cast<Bytes>(chunks_of_ring);
  return std::clamp(share / LandingSlot::line * LandingSlot::line, part_bytes_min, part_bytes_max);
}

}  // namespace

NodeRings::NodeRings(const Context& context) {
  const auto& layout = context.layout;
  const auto& memory = *context.node_memory;
  const Rank rank = context.comm.rank();
  for (Rank peer = 0; peer < layout.ranks(); ++peer) {
    const bool is_near = peer != rank && layout.node(peer) == layout.node(rank);
    numbers_.push_back(is_near ? memory.rank_on_node(peer) : -1);
    if (numbers_.back() >= 0) reached_.push_back(peer);
  }
  const int ranks = memory.node().size();
  part_bytes_ = part_bytes_for(ranks, chunks_of_ring);
  chunk_bytes_ = LandingSlot::line + part_bytes_;
  ring_bytes_ = LandingSlot::line + static_cast<Bytes>(chunks_of_ring) * chunk_bytes_;
  outgoing_.resize(static_cast<std::size_t>(ranks));
  incoming_.resize(outgoing_.size());
}

std::unique_ptr<NodeRings> NodeRings::share(const Context& context) {
  if (context.layout.max_ppn() == 1) return nullptr;
  const MPI_Comm comm = context.comm.get();
  auto& memory = *context.node_memory;
  std::unique_ptr<NodeRings> result;
  std::vector<NodeMemory::Place> places;
  std::optional<NodeMemory::Range> range;
  if (may_share_memory()) {
    memory.open(comm);
    const auto ranks = static_cast<std::size_t>(memory.node().size());
    all_or_none(comm, [&] {
      result.reset(new NodeRings(context));  // NOLINT: the constructor is private
      places.resize(ranks);
    });
    range = memory.take(comm, static_cast<Bytes>(ranks) * result->ring_bytes_);
  }
  if (!range) {
    warn_once("ranks of a node share no memory, or too little is left; their messages go by MPI.", context.comm.rank());
    return nullptr;
  }
  const auto mine = range->place();
  result->range_.emplace(std::move(*range));
  COMMPASS_MPI_CALL(MPI_Allgather, &mine, sizeof mine, MPI_BYTE, places.data(), sizeof mine, MPI_BYTE,
                    memory.node().get());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto ring_of = [&](NodeMemory::Place place, std::size_t sender) {
      place.offset += static_cast<Bytes>(sender) * result->ring_bytes_;
      return memory.address(place);
    };
    result->outgoing_[i].ring = ring_of(places[i], static_cast<std::size_t>(memory.node().rank()));
    result->incoming_[i].ring = ring_of(mine, i);
  }
  return result;
}

}  // namespace commpass
