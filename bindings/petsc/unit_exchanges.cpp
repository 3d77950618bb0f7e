#include "bindings/petsc/unit_exchanges.hpp"

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

}  // namespace

BufferedExchange& UnitExchanges::take(const ForestWiring& wiring, Communicator& communicator,
                                      const std::string& strategy) {
  if (next_ == planned_.size()) {
    const bool is_to_leaves = direction_ == Direction::to_leaves;
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
  const std::string what = (direction_ == Direction::to_leaves ? "roots to leaves" : "leaves to roots") +
                           std::string(", units of ") + std::to_string(unit_bytes_) + " bytes, begun " +
                           std::to_string(count_) + " times: ";
  if (!is_planned()) return what + "by basic\n";
  const auto& exchange = planned_.front()->exchange;
  return what + "by " + exchange.strategy() + "\n" + exchange.explanation();
}

}  // namespace commpass
