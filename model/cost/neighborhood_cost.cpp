// Rank by rank of the node, stage by stage: the blocks that are there (GridTravel), the messages that they make, and
// their copies, with the blocks of the user's buffers in the order of neighbours.
#include "model/cost/neighborhood_cost.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <tuple>

#include "model/base/error.hpp"
#include "model/cost/models.hpp"
#include "model/route/grid_route.hpp"
#include "model/schedule/duplicates.hpp"

namespace commpass {

namespace {

/// Of the nodes with the most ranks that which is nearest to the middle of the grid.
int typical_node(const Grid& grid, const Layout& layout) {
  std::vector<int> middle;
  for (const int size : grid.dims) middle.push_back(size / 2);
  const Rank rank = *grid.rank_at(middle);
  const auto distance = [&](int node) { return std::abs(layout.ranks_of(node).front() - rank); };
  int best = layout.node(rank);
  if (layout.ppn(best) == layout.max_ppn()) return best;
  best = -1;
  for (int node = 0; node < layout.nodes(); ++node)
    if (layout.ppn(node) == layout.max_ppn() && (best < 0 || distance(node) < distance(best))) best = node;
  return best;
}

/// What one rank sends, with the places of its blocks. Addresses are those of one memory in which the send buffer comes
/// first.
class RankWalk {
 public:
  RankWalk(Rank rank, const GridRoute& route, const GridTravel& travel, std::span<const Bytes> places)
      : rank_(rank), route_(route), travel_(travel), places_(places), landing_(places.back() + 1) {
    for (const auto& [block, neighbor] : travel.at(rank, 0))
      held_.push_back({block, neighbor, block.payload == no_payload ? place(neighbor) : 0});
  }

  /// The messages of the next stage, with the copies for them.
  std::vector<Message> next_stage() {
    std::ranges::sort(held_, {},
                      [](const Held& h) { return std::tuple(h.block.destination, h.block.source, h.block.index); });
    std::vector<Block> blocks;
    std::vector<std::int64_t> where;
    for (const auto& held : held_) {
      blocks.push_back(held.block);
      where.push_back(held.where);
    }
    auto departures = depart_from(rank_, route_, stage_, {}, blocks);
    for (auto& message : departures.messages) count_copies(message, departures, blocks, where);
    std::vector<bool> leaves(held_.size(), false);
    for (const auto number : departures.order) leaves[number] = true;
    std::vector<Held> left;
    for (std::size_t i = 0; i < held_.size(); ++i)
      if (!leaves[i]) left.push_back(held_[i]);
    held_ = std::move(left);
    take_in();
    ++stage_;
    return std::move(departures.messages);
  }

 private:
  struct Held {
    Block block;
    int neighbor;
    std::int64_t where;
  };

  std::int64_t place(int neighbor) const { return places_[static_cast<std::size_t>(neighbor)]; }

  void count_copies(Message& message, const Departures& departures, std::span<const Block> blocks,
                    std::span<const std::int64_t> where) {
    brought_.clear();
    bool in_place = true, is_from_sender = true, is_for_receiver = true;
    std::uint32_t final_pieces = 0;
    std::int64_t final_end = -1;
    for (auto at = message.first_block; at < message.first_block + message.blocks; ++at) {
      const auto number = departures.order[at];
      const bool is_brought = departures.carrier(at) == at, is_final = blocks[number].destination == message.to;
      if (is_brought) brought_.push_back(number);
      is_from_sender = is_from_sender && blocks[number].source == rank_;
      is_for_receiver = is_for_receiver && is_final && is_brought;
      const auto target = place(held_[number].neighbor);
      in_place = in_place && is_for_receiver && (at == message.first_block || target == final_end);
      const bool is_next = is_final && is_brought && target == final_end;
      final_end = is_final && is_brought ? target + blocks[number].bytes : -1;
      if (!is_final) continue;
      final_pieces += !is_next;
      message.unpacked_bytes += blocks[number].bytes;
    }
    const auto pieces = count_pieces(brought_, blocks, where);
    message.packed_pieces = pieces > 1 ? pieces & most_pieces : 0;
    message.unpacked_pieces = in_place ? 0 : final_pieces & most_pieces;
    if (in_place) message.unpacked_bytes = 0;
    message.is_all_from_sender = is_from_sender;
    message.is_all_for_receiver = is_for_receiver;
  }

  /// Received blocks land message after message.
  void take_in() {
    for (const auto& arrival : travel_.arrivals(rank_, stage_)) {
      std::vector<Block> blocks;
      for (const auto& traveller : arrival.travellers) blocks.push_back(traveller.block);
      const auto alike = first_alike(blocks);
      std::vector<std::int64_t> where(blocks.size());
      ++landing_;  // a gap, so that two messages are never one piece
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        const bool is_brought = alike.empty() || alike[i] == i;
        where[i] = is_brought ? landing_ : where[alike[i]];
        if (is_brought) landing_ += blocks[i].bytes;
        if (blocks[i].destination != rank_) held_.push_back({blocks[i], arrival.travellers[i].neighbor, where[i]});
      }
    }
  }

  Rank rank_;
  const GridRoute& route_;
  const GridTravel& travel_;
  std::span<const Bytes> places_;
  std::int64_t landing_;
  std::vector<Held> held_;
  std::vector<std::uint32_t> brought_;
  int stage_ = 0;
};

}  // namespace

struct NeighborhoodSchedule::Node {
  Layout layout;
  NodeParts parts;
  Schedule schedule;
  Foldings foldings;
};

NeighborhoodSchedule::NeighborhoodSchedule(const Neighborhood& neighborhood, const GridWay& way,
                                           const NeighborBytes& sizes, const Layout& layout) {
  const auto& grid = neighborhood.grid;
  if (grid.ranks() != layout.ranks())
    throw InputError("layout", fmt::format("it has {} ranks but the grid has {}", layout.ranks(), grid.ranks()),
                     "use a layout for the ranks of the grid");
  const int node = typical_node(grid, layout);
  node_ = std::make_unique<Node>(Node{layout_of_node(layout, node), parts_of_node(layout, node), {}, {}});
  GridRoute route(way);
  route.seat(layout);
  const GridTravel travel(neighborhood, way, sizes);
  std::vector<Bytes> places{0};  // of the blocks in a buffer, and its end
  for (const auto bytes : sizes.bytes) places.push_back(places.back() + bytes);

  auto& schedule = node_->schedule;
  const auto ranks = layout.ranks_of(node);
  schedule.ranks = static_cast<int>(ranks.size());
  node_->foldings.resize(route.stages().size());
  for (const auto& info : route.stages()) schedule.stages.push_back({info, {}});
  for (const Rank rank : ranks) {
    Bytes self = 0;
    for (int i = 0; i < neighborhood.size(); ++i)
      if (neighborhood.target(rank, i) == rank) self += sizes.bytes[static_cast<std::size_t>(i)];
    schedule.self_bytes.push_back(self);
    RankWalk walk(rank, route, travel, places);
    for (std::size_t stage = 0; stage < schedule.stages.size(); ++stage)
      for (auto& message : walk.next_stage()) {
        node_->foldings[stage].push_back({layout.level(message.from, message.to)});
        message.from = layout.local(message.from);
        message.to = layout.local(message.to);
        schedule.stages[stage].messages.push_back(message);
      }
  }
}

NeighborhoodSchedule::~NeighborhoodSchedule() = default;
NeighborhoodSchedule::NeighborhoodSchedule(NeighborhoodSchedule&&) noexcept = default;
NeighborhoodSchedule& NeighborhoodSchedule::operator=(NeighborhoodSchedule&&) noexcept = default;

const Schedule& NeighborhoodSchedule::of_node() const { return node_->schedule; }

Cost NeighborhoodSchedule::evaluate(Bytes times, Window window, const Machine& machine, CostModel model) const {
  const auto of_node = of_a_node(machine, node_->parts);
  const auto layout = node_->layout.on(machine);
  auto schedule = node_->schedule;
  auto foldings = node_->foldings;
  for (auto& bytes : schedule.self_bytes) bytes *= times;
  for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
    auto& [info, messages] = schedule.stages[s];
    const auto own = window_of(info, window);
    for (auto& message : messages) {
      message.bytes *= times;
      message.unpacked_bytes *= times;
      message.batch = own.batch(message.round);
    }
    if (own.unlimited()) continue;
    // In the order of rounds, those of a sender.
    std::vector<std::size_t> order(messages.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto& unordered = node_->schedule.stages[s].messages;
    std::ranges::stable_sort(order, {},
                             [&](std::size_t i) { return std::tuple(unordered[i].from, unordered[i].round); });
    const auto given = messages;
    for (std::size_t i = 0; i < order.size(); ++i) {
      messages[i] = given[order[i]];
      foldings[s][i] = node_->foldings[s][order[i]];
    }
  }
  return model == CostModel::burst ? evaluate_burst(schedule, layout, of_node, Usage::planned, &foldings)
                                   : evaluate_bulk(schedule, layout, of_node, model == CostModel::max_rate, &foldings);
}

}  // namespace commpass
