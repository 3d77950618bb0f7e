#include "runtime/cartesian/cart_neighborhood.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <list>
#include <numeric>

#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "runtime/cartesian/cart_choice.hpp"
#include "runtime/cartesian/cart_planning.hpp"
#include "runtime/context.hpp"
#include "runtime/device/find_device.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/planned_exchanges.hpp"
#include "selector/choose/grid_mapping.hpp"

namespace commpass {

namespace {

/// A plan of a blocking call, and what it was made for.
struct KeptPlan {
  std::vector<std::byte*> at;  ///< the blocks of both sides
  std::vector<Bytes> bytes;
  bool is_same = false;
  std::optional<CartExchange> exchange;
};

}  // namespace

struct CartNeighborhood::State {
  std::shared_ptr<Context> context;
  Neighborhood neighborhood;
  CartChoice choice;
  std::vector<int> send_slots, receive_slots;  ///< by neighbour, the user's block; empty: the same
  std::size_t sends = 0, receives = 0;         ///< blocks of the user
  bool are_sizes_known = true;  ///< do the user's counts tell the blocks that pass through? Not of a graph with edges
  Context::Address blocking;    ///< of all blocking calls: they come in the same order on all ranks
  std::list<KeptPlan> kept{};   ///< the last used first

  /// @param count  of the user's blocks, including those beyond an edge
  /// @throws InputError, MpiError
  CartBlocks resolve(const CallSide& side, std::size_t count, const std::vector<int>& slots,
                     const std::string& name) const {
    const auto comm = context->comm.get();
    CartBlocks result{side.writable(), {}};
    result.blocks.assign(name.c_str(), side, static_cast<int>(count), comm, {}, "neighbour");
    require_host_memory(result.blocks.first_byte(side.buffer), name);
    if (slots.empty()) return result;
    TypedBlocks::Block none;  // as large as all others, if all are
    if (!side.has_counts()) none = {-1, 0, side.count, result.blocks.number_of(side.type, comm)};
    result.blocks.arrange(slots, none);
    return result;
  }

  CartBuffers resolve(const CallSide& send, const CallSide& receive, const char* place) const {
    return {resolve(send, sends, send_slots, fmt::format("{}, send", place)),
            resolve(receive, receives, receive_slots, fmt::format("{}, receive", place)),
            send.shape == CallSide::Shape::one};
  }

  CartExchange plan(const CartChoice::Classes& classes, const CartBuffers& buffers, const Context::Address& address,
                    const char* place, bool counts_differ, bool is_for_once = false) const {
    const auto& chosen = classes.choose(buffers.sends.bytes(), buffers.is_same);
    counts_differ = counts_differ || !chosen.is_local();
    return plan_cart_exchange(
        context, neighborhood, buffers,
        {chosen.strategy, chosen.told.get(), chosen.predicted_s, address, counts_differ, is_for_once}, place);
  }

  /// Do the ranks have to tell each other sizes?
  bool are_told(const CallSide& send, const CallSide& receive, const CartInitOptions& options) const {
    return options.counts_differ || (!are_sizes_known && (send.has_counts() || receive.has_counts()));
  }

  std::vector<Rank> peers(std::size_t count, const std::vector<int>& slots, bool are_targets) const {
    std::vector<Rank> result(count, MPI_PROC_NULL);
    for (int i = 0; i < neighborhood.size(); ++i) {
      const auto n = static_cast<std::size_t>(i);
      const int slot = slots.empty() ? i : slots[n];
      const auto peer =
          are_targets ? neighborhood.target(context->comm.rank(), i) : neighborhood.source(context->comm.rank(), i);
      if (slot >= 0 && peer) result[static_cast<std::size_t>(slot)] = *peer;
    }
    return result;
  }
};

CartNeighborhood::CartNeighborhood(std::unique_ptr<State> state) : state_(std::move(state)) {}
const Neighborhood& CartNeighborhood::neighborhood() const { return state_->neighborhood; }
MPI_Comm CartNeighborhood::comm() const { return state_->context->comm.get(); }
Rank CartNeighborhood::rank() const { return state_->context->comm.rank(); }
const std::string& CartNeighborhood::explanation() const { return state_->choice.explanation; }

namespace {

void require_offset(const Grid& grid, std::span<const int> offset) {
  if (offset.size() != grid.dimensions())
    throw InputError("offset", fmt::format("it has {} numbers in {} dimensions", offset.size(), grid.dimensions()),
                     "give a number for each dimension");
}

}  // namespace

std::optional<Rank> CartNeighborhood::relative_rank(std::span<const int> offset) const {
  require_offset(state_->neighborhood.grid, offset);
  return state_->neighborhood.grid.relative(rank(), offset);
}

std::pair<std::optional<Rank>, std::optional<Rank>> CartNeighborhood::relative_shift(
    std::span<const int> offset) const {
  const auto target = relative_rank(offset);
  const Neighborhood alone{state_->neighborhood.grid, {offset.begin(), offset.end()}, {}};
  return {alone.source(rank(), 0), target};
}

std::vector<int> CartNeighborhood::coordinates(Rank rank) const {
  const int ranks = state_->neighborhood.grid.ranks();
  if (rank < 0 || rank >= ranks)
    throw InputError("coordinates", fmt::format("there is no rank {}", rank), fmt::format("use 0 to {}", ranks - 1));
  return state_->neighborhood.grid.coordinates(rank);
}

std::vector<int> CartNeighborhood::relative_coordinates(Rank other) const {
  coordinates(other);  // is there one?
  return state_->neighborhood.grid.offset_between(rank(), other);
}

std::vector<Rank> CartNeighborhood::sources() const {
  return state_->peers(state_->receives, state_->receive_slots, false);
}
std::vector<Rank> CartNeighborhood::targets() const { return state_->peers(state_->sends, state_->send_slots, true); }

CartExchange CartNeighborhood::init(const CallSide& sends, const CallSide& receives, const char* place,
                                    const CartInitOptions& options) {
  // The number first: the same on every rank, also on one whose arguments are wrong.
  auto address = state_->context->next_address();
  const auto& classes = state_->choice.planned;
  std::optional<CartBuffers> buffers;
  const auto resolve = [&] { buffers = state_->resolve(sends, receives, place); };
  if (classes.share_memory()) all_or_none(comm(), resolve);
  else resolve();
  return state_->plan(classes, *buffers, address, place, state_->are_told(sends, receives, options));
}

void CartNeighborhood::run(const CallSide& sends, const CallSide& receives, const char* place,
                           const CartInitOptions& options) {
  constexpr std::size_t most_kept = 8;
  const auto buffers = state_->resolve(sends, receives, place);
  const bool are_told = state_->are_told(sends, receives, options);
  // Datatypes may be freed and others get their names; and collective planning has to be one on all ranks.
  const auto& classes = state_->choice.blocking;
  if (are_told || !classes.are_all_local() || !buffers.sends.blocks.are_contiguous() ||
      !buffers.receives.blocks.are_contiguous()) {
    auto exchange = state_->plan(classes, buffers, state_->blocking, place, are_told, true);
    exchange.start();
    exchange.wait();
    return;
  }
  KeptPlan wanted{{}, {}, buffers.is_same, {}};
  for (const auto* side : {&buffers.sends, &buffers.receives})
    for (std::size_t i = 0; i < side->blocks.size(); ++i) {
      wanted.at.push_back(TypedBlocks::address(side->buffer, side->blocks[i].offset));
      wanted.bytes.push_back(side->blocks.bytes(i));
    }
  auto& kept = state_->kept;
  const auto found = std::ranges::find_if(kept, [&](const KeptPlan& plan) {
    return plan.at == wanted.at && plan.bytes == wanted.bytes && plan.is_same == wanted.is_same;
  });
  if (found != kept.end()) {
    kept.splice(kept.begin(), kept, found);
  } else {
    wanted.exchange = state_->plan(classes, buffers, state_->blocking, place, false);
    if (kept.size() == most_kept) kept.pop_back();
    kept.push_front(std::move(wanted));
  }
  kept.front().exchange->start();
  kept.front().exchange->wait();
}

namespace {

/// The arguments that must be the same on all ranks, as numbers.
std::vector<int> numbers_of(const Neighborhood& neighborhood, const CartOptions& options) {
  const auto& grid = neighborhood.grid;
  std::vector<int> numbers{static_cast<int>(grid.dims.size()), static_cast<int>(neighborhood.offsets.size()),
                           static_cast<int>(neighborhood.weights.size()), options.reorder ? 1 : 0,
                           static_cast<int>(options.model)};
  for (std::size_t k = 0; k < grid.dims.size(); ++k) {
    numbers.push_back(grid.dims[k]);
    numbers.push_back(grid.periodic[k] ? 1 : 0);
  }
  numbers.insert(numbers.end(), neighborhood.offsets.begin(), neighborhood.offsets.end());
  numbers.insert(numbers.end(), neighborhood.weights.begin(), neighborhood.weights.end());
  return numbers;
}

std::vector<int> broadcast_numbers(MPI_Comm comm, std::vector<int> numbers, Rank root = 0) {
  int count = static_cast<int>(numbers.size());
  COMMPASS_MPI_CALL(MPI_Bcast, &count, 1, MPI_INT, root, comm);
  numbers.resize(static_cast<std::size_t>(count));
  COMMPASS_MPI_CALL(MPI_Bcast, numbers.data(), count, MPI_INT, root, comm);
  return numbers;
}

/// @throws InputError, the same on every rank, if one has another neighbourhood than rank 0, or a bad one
void require_the_same(MPI_Comm comm, const Neighborhood& neighborhood, const CartOptions& options, int ranks) {
  const char* place = "cart_neighborhood";
  all_or_none(comm, [&] {
    neighborhood.validate(place);
    if (neighborhood.grid.ranks() != ranks)
      throw InputError(place,
                       fmt::format("the grid has {} ranks and the communicator {}", neighborhood.grid.ranks(), ranks),
                       "use a grid of all its ranks");
  });
  const auto own = numbers_of(neighborhood, options);
  const auto first = broadcast_numbers(comm, own);
  const auto strategy = broadcast(comm, options.strategy);
  all_or_none(comm, [&] {
    if (own != first || strategy != options.strategy)
      throw InputError(place, "the grid, the offsets, the weights or the options are not those of rank 0",
                       "give the same on every rank");
  });
}

/// A context of its own, whose ranks are at their places.
std::shared_ptr<Context> context_for(const Context& parent, const std::optional<GridMapping>& mapping) {
  const MPI_Comm comm = parent.comm.get();
  const Rank rank = parent.comm.rank();
  auto own = mapping ? OwnCommunicator::split(comm, 0, mapping->places[static_cast<std::size_t>(rank)])
                     : OwnCommunicator(comm);
  return context_like(parent, std::move(own), mapping ? moved(parent.layout, *mapping) : parent.layout);
}

}  // namespace

CartNeighborhood make_cart_neighborhood(const Context& parent, const Neighborhood& neighborhood,
                                        const CartOptions& options) {
  const MPI_Comm comm = parent.comm.get();
  assemble(comm);
  require_the_same(comm, neighborhood, options, parent.layout.ranks());
  std::optional<GridMapping> mapping;
  all_or_none(comm, [&] {
    if (options.reorder) mapping = map_blocks_to_nodes(neighborhood, parent.layout);
  });
  auto state = insist([] { return std::make_unique<CartNeighborhood::State>(); });
  state->context = context_for(parent, mapping);
  state->neighborhood = neighborhood;
  state->choice = choose_for_neighborhood(*state->context, neighborhood, options);
  if (mapping) state->choice.explanation.insert(0, "Ranks are reordered: " + describe(*mapping) + ".\n");
  state->sends = state->receives = static_cast<std::size_t>(neighborhood.size());
  state->blocking = state->context->next_address();
  return CartNeighborhood(std::move(state));
}

namespace {

/// The neighbours of this rank in a graph, as offsets, and the slots in order of these.
struct GraphSide {
  std::vector<std::vector<int>> offsets;
  std::vector<int> slots;
  std::size_t size = 0;

  GraphSide(const std::vector<int>& neighbors, const Grid& grid, Rank rank, bool are_targets) : size(neighbors.size()) {
    for (std::size_t slot = 0; slot < neighbors.size(); ++slot) {
      if (neighbors[slot] == MPI_PROC_NULL) continue;
      slots.push_back(static_cast<int>(slot));
      offsets.push_back(are_targets ? grid.offset_between(rank, neighbors[slot])
                                    : grid.offset_between(neighbors[slot], rank));
    }
    std::vector<std::size_t> order(slots.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return offsets[i]; });
    const auto unsorted = *this;
    for (std::size_t i = 0; i < order.size(); ++i) {
      offsets[i] = unsorted.offsets[order[i]];
      slots[i] = unsorted.slots[order[i]];
    }
  }

  /// The slot of each neighbour of a neighbourhood, −1 beyond an edge; nothing if these are others.
  /// @param is_there  is there a rank at a neighbour's offset?
  template <class IsThere>
  std::optional<std::vector<int>> match(const Neighborhood& neighborhood, IsThere is_there) const {
    std::vector<int> result;
    std::size_t next = 0;
    for (int i = 0; i < neighborhood.size(); ++i) {
      if (!is_there(i)) {
        result.push_back(-1);
        continue;
      }
      if (next == offsets.size() || !std::ranges::equal(offsets[next], neighborhood.offset(i))) return std::nullopt;
      result.push_back(slots[next++]);
    }
    if (next != offsets.size()) return std::nullopt;
    return result;
  }
};

struct GraphNeighbors {
  std::vector<int> sources, targets;

  explicit GraphNeighbors(MPI_Comm graph) {
    int topology = MPI_UNDEFINED;
    COMMPASS_MPI_CALL(MPI_Topo_test, graph, &topology);
    if (topology != MPI_DIST_GRAPH)
      throw InputError("communicator", "it has no distributed graph", "make one with MPI_Dist_graph_create_adjacent");
    int in = 0, out = 0, is_weighted = 0;
    COMMPASS_MPI_CALL(MPI_Dist_graph_neighbors_count, graph, &in, &out, &is_weighted);
    sources.resize(static_cast<std::size_t>(in));
    targets.resize(static_cast<std::size_t>(out));
    std::vector<int> in_weights(sources.size() + 1), out_weights(targets.size() + 1);
    COMMPASS_MPI_CALL(MPI_Dist_graph_neighbors, graph, in, sources.data(), in_weights.data(), out, targets.data(),
                      out_weights.data());
  }
};

bool is_everywhere(MPI_Comm comm, bool here) {
  int all = here ? 1 : 0;
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm);
  return all == 1;
}

}  // namespace

std::optional<CartNeighborhood> find_cart_neighborhood(const Context& parent, MPI_Comm graph, const Grid& grid,
                                                       const CartOptions& options) {
  const MPI_Comm comm = parent.comm.get();
  assemble(comm);
  const Rank rank = parent.comm.rank();
  std::optional<GraphSide> sources, targets;
  Neighborhood neighborhood{grid, {}, {}};
  require_the_same(comm, neighborhood, options, parent.layout.ranks());
  all_or_none(comm, [&] {
    const GraphNeighbors neighbors(graph);
    targets.emplace(neighbors.targets, grid, rank, true);
    sources.emplace(neighbors.sources, grid, rank, false);
  });
  // The central rank has all neighbours, if any rank has.
  std::vector<int> middle, numbers;
  for (const int size : grid.dims) middle.push_back(size / 2);
  for (const auto& offset : targets->offsets) numbers.insert(numbers.end(), offset.begin(), offset.end());
  neighborhood.offsets = broadcast_numbers(comm, std::move(numbers), *grid.rank_at(middle));
  const auto send_slots = targets->match(neighborhood, [&](int i) { return neighborhood.target(rank, i).has_value(); });
  const auto receive_slots =
      sources->match(neighborhood, [&](int i) { return neighborhood.source(rank, i).has_value(); });
  if (!is_everywhere(comm, send_slots && receive_slots)) return std::nullopt;
  auto own = options;
  own.reorder = false;  // the graph's ranks are where they are
  auto result = make_cart_neighborhood(parent, neighborhood, own);
  auto& state = *result.state_;
  state.sends = targets->size;
  state.receives = sources->size;
  state.send_slots = *send_slots;
  state.receive_slots = *receive_slots;
  state.are_sizes_known = std::ranges::count(grid.periodic, true) == std::ssize(grid.periodic);
  return result;
}

// The operations.
void CartNeighborhood::alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                MPI_Datatype recvtype) {
  run(CallSide::equal(sendbuf, sendcount, sendtype), CallSide::equal(recvbuf, recvcount, recvtype), "alltoall", {});
}
CartExchange CartNeighborhood::alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                             int recvcount, MPI_Datatype recvtype) {
  return init(CallSide::equal(sendbuf, sendcount, sendtype), CallSide::equal(recvbuf, recvcount, recvtype),
              "alltoall_init", {});
}
void CartNeighborhood::alltoallv(const void* sendbuf, std::span<const int> sendcounts, std::span<const int> sdispls,
                                 MPI_Datatype sendtype, void* recvbuf, std::span<const int> recvcounts,
                                 std::span<const int> rdispls, MPI_Datatype recvtype, const CartInitOptions& options) {
  run(CallSide::v(sendbuf, sendcounts, sdispls, sendtype), CallSide::v(recvbuf, recvcounts, rdispls, recvtype),
      "alltoallv", options);
}
CartExchange CartNeighborhood::alltoallv_init(const void* sendbuf, std::span<const int> sendcounts,
                                              std::span<const int> sdispls, MPI_Datatype sendtype, void* recvbuf,
                                              std::span<const int> recvcounts, std::span<const int> rdispls,
                                              MPI_Datatype recvtype, const CartInitOptions& options) {
  return init(CallSide::v(sendbuf, sendcounts, sdispls, sendtype), CallSide::v(recvbuf, recvcounts, rdispls, recvtype),
              "alltoallv_init", options);
}
void CartNeighborhood::alltoallw(const void* sendbuf, std::span<const int> sendcounts,
                                 std::span<const MPI_Aint> sdispls, std::span<const MPI_Datatype> sendtypes,
                                 void* recvbuf, std::span<const int> recvcounts, std::span<const MPI_Aint> rdispls,
                                 std::span<const MPI_Datatype> recvtypes, const CartInitOptions& options) {
  run(CallSide::w(sendbuf, sendcounts, sdispls, sendtypes), CallSide::w(recvbuf, recvcounts, rdispls, recvtypes),
      "alltoallw", options);
}
CartExchange CartNeighborhood::alltoallw_init(const void* sendbuf, std::span<const int> sendcounts,
                                              std::span<const MPI_Aint> sdispls,
                                              std::span<const MPI_Datatype> sendtypes, void* recvbuf,
                                              std::span<const int> recvcounts, std::span<const MPI_Aint> rdispls,
                                              std::span<const MPI_Datatype> recvtypes, const CartInitOptions& options) {
  return init(CallSide::w(sendbuf, sendcounts, sdispls, sendtypes),
              CallSide::w(recvbuf, recvcounts, rdispls, recvtypes), "alltoallw_init", options);
}
void CartNeighborhood::allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 int recvcount, MPI_Datatype recvtype) {
  run(CallSide::one(sendbuf, sendcount, sendtype), CallSide::equal(recvbuf, recvcount, recvtype), "allgather", {});
}
CartExchange CartNeighborhood::allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                              int recvcount, MPI_Datatype recvtype) {
  return init(CallSide::one(sendbuf, sendcount, sendtype), CallSide::equal(recvbuf, recvcount, recvtype),
              "allgather_init", {});
}
void CartNeighborhood::allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  std::span<const int> recvcounts, std::span<const int> rdispls, MPI_Datatype recvtype,
                                  const CartInitOptions& options) {
  run(CallSide::one(sendbuf, sendcount, sendtype), CallSide::v(recvbuf, recvcounts, rdispls, recvtype), "allgatherv",
      options);
}
CartExchange CartNeighborhood::allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                               std::span<const int> recvcounts, std::span<const int> rdispls,
                                               MPI_Datatype recvtype, const CartInitOptions& options) {
  return init(CallSide::one(sendbuf, sendcount, sendtype), CallSide::v(recvbuf, recvcounts, rdispls, recvtype),
              "allgatherv_init", options);
}
void CartNeighborhood::allgatherw(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  std::span<const int> recvcounts, std::span<const MPI_Aint> rdispls,
                                  std::span<const MPI_Datatype> recvtypes, const CartInitOptions& options) {
  run(CallSide::one(sendbuf, sendcount, sendtype), CallSide::w(recvbuf, recvcounts, rdispls, recvtypes), "allgatherw",
      options);
}
CartExchange CartNeighborhood::allgatherw_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                               std::span<const int> recvcounts, std::span<const MPI_Aint> rdispls,
                                               std::span<const MPI_Datatype> recvtypes,
                                               const CartInitOptions& options) {
  return init(CallSide::one(sendbuf, sendcount, sendtype), CallSide::w(recvbuf, recvcounts, rdispls, recvtypes),
              "allgatherw_init", options);
}

}  // namespace commpass
