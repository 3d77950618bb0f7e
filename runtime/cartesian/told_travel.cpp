#include "runtime/cartesian/told_travel.hpp"

#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "model/route/catalogue.hpp"
#include "runtime/choose/gather_pattern.hpp"
#include "runtime/plan/planner.hpp"
#include "runtime/plan/sent_headers.hpp"
#include "runtime/plan/stage_walk.hpp"

namespace commpass {

namespace {

/// Which neighbour of its source a block is for.
class NeighborNumbers {
 public:
  explicit NeighborNumbers(const Neighborhood& neighborhood) : grid_(neighborhood.grid) {
    for (int i = 0; i < neighborhood.size(); ++i) {
      const auto offset = neighborhood.offset(i);
      by_step_[around({offset.begin(), offset.end()})].push_back(i);
    }
  }

  int number(const Block& block) const {
    auto step = grid_.coordinates(block.destination);
    const auto source = grid_.coordinates(block.source);
    for (std::size_t k = 0; k < step.size(); ++k) step[k] -= source[k];
    return by_step_.at(around(std::move(step))).at(static_cast<std::size_t>(block.index));
  }

 private:
  std::vector<int> around(std::vector<int> step) const {
    for (std::size_t k = 0; k < step.size(); ++k)
      if (grid_.periodic[k]) step[k] = modulo(step[k], grid_.dims[k]);
    return step;
  }

  const Grid& grid_;
  std::map<std::vector<int>, std::vector<int>> by_step_;
};

/// A block of a byte for each neighbour.
struct UnitEdges {
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;

  UnitEdges(const Neighborhood& neighborhood, Rank rank) {
    for (int i = 0; i < neighborhood.size(); ++i) {
      if (const auto target = neighborhood.target(rank, i)) sends.push_back({*target, i, 1});
      if (const auto source = neighborhood.source(rank, i)) receives.push_back({*source, i, 1});
    }
  }
};

}  // namespace

ToldTravel::ToldTravel(const Context& context, const Neighborhood& neighborhood, const Strategy& strategy) {
  const MPI_Comm comm = context.comm.get();
  const Rank rank = context.comm.rank();
  const UnitEdges edges(neighborhood, rank);
  const auto tables = share_tables(comm, strategy, context.layout, edges.sends);
  std::optional<SentHeaders> told;
  std::optional<Planner> planner;
  std::optional<NeighborNumbers> numbers;
  const auto own = [&] { return RouteOfRank{*route_, {}, Coalescing::coalesced, rank, context.layout.ranks()}; };
  all_or_none(comm, [&] {
    route_ = make_route(strategy, context.layout, tables);
    stages_.resize(route_->stages().size());
    told.emplace(comm, Coalescing::coalesced);
    const std::vector<Payload> payloads(edges.sends.size(), no_payload);
    planner.emplace(own(), edges.sends, edges.receives, payloads);
    numbers.emplace(neighborhood);
  });
  const auto kept = [&](int stage, const Departures& departures, std::span<const Block> held) {
    auto headers = (*told)(stage, departures, held);
    for (const auto& message : headers.incoming) {
      auto& arrival = stages_[static_cast<std::size_t>(stage)].emplace_back(Arrival{message.from, {}});
      for (const auto& block : message.blocks)
        arrival.travellers.push_back({block.source, block.destination, numbers->number(block)});
    }
    return headers;
  };
  Failure failure;
  walk_stages(own(), planner->take_held(), std::cref(kept), *planner, failure);
  agree(comm, failure);
}

Headers ToldTravel::headers(int stage, const NeighborBytes& sizes, std::span<const std::int32_t> indices) const {
  Headers result;
  for (const auto& [from, travellers] : stages_[static_cast<std::size_t>(stage)]) {
    Incoming incoming;
    incoming.from = from;
    for (const auto& [source, destination, neighbor] : travellers) {
      const auto i = static_cast<std::size_t>(neighbor);
      if (sizes.bytes[i] == 0) continue;
      incoming.blocks.push_back({.source = source,
                                 .destination = destination,
                                 .index = indices[i],
                                 .bytes = sizes.bytes[i],
                                 .payload = sizes.is_same ? 0 : no_payload});
    }
    if (!incoming.blocks.empty()) result.incoming.push_back(std::move(incoming));
  }
  return result;
}

}  // namespace commpass
