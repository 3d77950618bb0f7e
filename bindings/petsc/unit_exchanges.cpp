#include "bindings/petsc/unit_exchanges.hpp"

#include "model/base/error.hpp"
#include "runtime/mpi/agreement.hpp"

namespace commpass {

namespace {

template <class Edge>
std::vector<Edge> in_bytes(const std::vector<UnitEdge>& edges, Bytes unit_bytes) {
  std::vector<Edge> result;
  result.reserve(edges.size());
  for (const auto& edge : edges) result.push_back({edge.peer, edge.offset * unit_bytes, edge.count * unit_bytes});
  return result;
}

std::unique_ptr<std::byte[]> buffer_for(const WiredSide& side, Bytes unit_bytes) {
  return std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(side.units * unit_bytes));
}

std::unique_ptr<BufferedExchange> plan(const WiredSide& from, const WiredSide& to, Bytes unit_bytes,
                                       Communicator& communicator, const std::string& strategy) {
  std::unique_ptr<std::byte[]> sent, received;
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
  all_or_none(communicator.mpi(), [&] {
    sent = buffer_for(from, unit_bytes);
    received = buffer_for(to, unit_bytes);
    sends = in_bytes<SendEdge>(from.edges, unit_bytes);
    receives = in_bytes<ReceiveEdge>(to.edges, unit_bytes);
  });
  ExchangeOptions options;
  options.strategy = strategy;
  auto exchange = communicator.neighbor_exchange(sent.get(), sends, received.get(), receives, options);
  return std::make_unique<BufferedExchange>(
      BufferedExchange{std::move(sent), std::move(received), std::move(exchange)});
}

/// The index of a root of a rank: PetscInt has at most 63 bits, and few roots are far from 0.
Index index_of(Rank rank, std::int64_t root) {
  constexpr int root_bits = 40;
  if (root >> root_bits != 0)
    throw InputError("star forest of type commpass", "a rank has 2^40 roots or more",
                     "leave -sf_commpass_sums_on_the_way out");
  return (Index{rank} << root_bits) + root;
}

std::unique_ptr<BufferedExchange> plan_sums(const ForestWiring& wiring, Bytes unit_bytes, Communicator& communicator,
                                            const std::string& strategy) {
  std::unique_ptr<std::byte[]> sent;
  std::vector<Index> needed;
  IndexRange owned;
  all_or_none(communicator.mpi(), [&] {
    int rank = 0;
    MPI_Comm_rank(communicator.mpi(), &rank);
    sent = buffer_for(wiring.leaves, unit_bytes);
    for (const auto& edge : wiring.leaves.edges)
      for (PetscInt i = 0; i < edge.count; ++i)
        needed.push_back(index_of(edge.peer, wiring.roots_of_leaves[static_cast<std::size_t>(edge.offset + i)]));
    owned = {index_of(rank, 0), index_of(rank, wiring.root_places)};
  });
  const IndexedOptions options{.strategy = strategy, .forward = false, .reverse = true};
  auto exchange = communicator.indexed_exchange(owned, needed, unit_bytes, options);
  return std::make_unique<BufferedExchange>(BufferedExchange{std::move(sent), nullptr, std::move(exchange)});
}

}  // namespace

BufferedExchange& UnitExchanges::take(const ForestWiring& wiring, Communicator& communicator,
                                      const std::string& strategy) {
  if (next_ == planned_.size()) {
    const bool is_to_leaves = direction_ == Direction::to_leaves;
    if (direction_ == Direction::sums_to_roots)
      planned_.push_back(plan_sums(wiring, unit_bytes_, communicator, strategy));
    else
      planned_.push_back(plan(is_to_leaves ? wiring.roots : wiring.leaves, is_to_leaves ? wiring.leaves : wiring.roots,
                              unit_bytes_, communicator, strategy));
  }
  ++in_flight_;
  return *planned_[next_++];
}

void UnitExchanges::give_back() {
  if (--in_flight_ == 0) next_ = 0;
}

std::string UnitExchanges::description() const {
  const std::string what = (direction_ == Direction::to_leaves  ? "roots to leaves"
                            : direction_ == Direction::to_roots ? "leaves to roots"
                                                                : "sums of leaves to roots") +
                           std::string(", units of ") + std::to_string(unit_bytes_) + " bytes, begun " +
                           std::to_string(count_) + " times: ";
  if (!is_planned()) return what + "by basic\n";
  return std::visit(
      [&](const auto& exchange) { return what + "by " + exchange.strategy() + "\n" + exchange.explanation(); },
      planned_.front()->exchange);
}

}  // namespace commpass
