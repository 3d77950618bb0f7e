#include "selector/choose/sparse_choice.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "model/base/error.hpp"
#include "model/cost/cost.hpp"
#include "model/power.hpp"
#include "model/route/catalogue.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/sparse_stages.hpp"
#include "selector/choose/ties.hpp"

namespace commpass {

namespace {

double real(std::int64_t number) { return static_cast<double>(number); }

/// Of `peers` ranks those that get something, if `blocks` blocks are for any of `places` ranks.
double reached_of(double peers, double places, double blocks) {
  return places > 0 ? peers * (1 - power(1 - 1 / places, static_cast<std::int64_t>(blocks + 0.5))) : 0;
}

/// What ranks send in a stage: messages, and the blocks in them.
struct Carried {
  double messages = 0, blocks = 0;

  Carried of(double ranks) const { return {ranks * messages, ranks * blocks}; }
};

/// The expected number of ranks with at least `blocks` blocks, if each has one and the others are spread at random: a
/// Poisson distribution.
class FullMessages {
 public:
  explicit FullMessages(const Carried& carried)
      : messages_(carried.messages),
        others_(messages_ > 0 ? std::max(0.0, carried.blocks / messages_ - 1) : 0),
        probability_(std::exp(-others_)) {}

  /// To be asked for 1, 2, 3 … blocks.
  double with(double blocks) {
    const double number = messages_ * std::max(0.0, at_least_);
    at_least_ -= probability_;
    probability_ *= others_ / blocks;
    return number;
  }

 private:
  double messages_, others_;  ///< blocks in a message besides the first, on average
  double probability_;        ///< that a message has as many blocks as will be asked for next
  double at_least_ = 1;       ///< or more
};

/// Messages within the node, by how many peers are how near.
void spread_near(ByLevel& messages, const ByLevel& peers, Level far, double count) {
  double near = 0;
  for (Level l = 0; l < far; ++l) near += peers[l];
  for (Level l = 0; l < far && near > 0; ++l) messages[l] = count * peers[l] / near;
}

/// Adds the message that is likely to arrive last: one of the farthest, with more blocks than most have. Of many that
/// have as many or more, one is among the last that its sender sends.
/// @param all,busiest  what all ranks together, and the busiest one, send to the farthest level of the load
/// @param most_blocks  of a message, if that is known
void set_last_message(BatchLoad& load, const Carried& all, const Carried& busiest, std::optional<double> most_blocks,
                      double block_bytes, const Machine& machine) {
  constexpr double likely = 0.7, looked_at = 64;
  Level l = machine.outermost();
  while (l > 0 && load.sent[l] == 0) --l;
  const double usual = load.bytes / block_bytes;
  if (load.sent[l] == 0 || usual > looked_at) return;
  const auto& channel = host_channel(machine, l);
  Seconds latest = 0;
  const auto consider = [&](double count, double messages) {
    const double bytes = count * block_bytes, after = 1 / (messages + 1);
    const auto& protocol = channel.protocol(static_cast<Bytes>(bytes));
    const Seconds time = protocol.alone_seconds(bytes) - after * load.sent[l] * protocol.next_seconds(bytes);
    if (count <= usual || time <= latest) return;
    latest = time;
    load.last_bytes = bytes;
    load.after_last = after;
  };
  FullMessages of_all(all), of_busiest(busiest);
  const double most = most_blocks.value_or(busiest.blocks);
  for (double count = 1; count <= most; ++count) {
    const double messages = of_all.with(count) + of_busiest.with(count);
    if (messages < likely) break;
    consider(count, messages);
  }
  if (most_blocks) consider(*most_blocks, 1);
}

bool goes_to_nodes_first(const std::vector<DiscoveryGroup>& stages, Level far) {
  return stages.size() == 2 && stages[0].peers[far] == stages[0].all_peers() && stages[1].peers[far] == 0;
}

}  // namespace

namespace {

std::vector<SparseStrategy> offered(const Layout& layout, const Machine& machine, bool constant_size) {
  auto strategies = suggest_sparse_strategies(layout, constant_size);
  std::erase_if(strategies, [&](const SparseStrategy& strategy) { return !lacking(strategy, machine).empty(); });
  return strategies;
}

}  // namespace

SparseChoice::SparseChoice(const Layout& layout, const Machine& machine, bool constant_size)
    : SparseChoice(layout, machine, offered(layout, machine, constant_size)) {}

SparseChoice::SparseChoice(const Layout& layout, const Machine& machine, const std::vector<SparseStrategy>& strategies)
    : ranks_(layout.ranks()),
      ppn_(layout.max_ppn()),
      machine_(with_outer_levels_as_node_share(machine, layout)),
      node_memory_(with_node_memory(machine_, Usage::once)) {
  require_parameters(layout, machine);
  const SparseStages stages(layout, machine);
  for (const auto& strategy : strategies) {
    const auto has_like_stages = [&](const Shape& shape) {
      auto route = strategy.route;
      route.path = shape.strategy.route.path;
      return shape.strategy.route == route &&
             (shape.strategy.discovery == Discovery::dense) == (strategy.discovery == Discovery::dense);
    };
    const auto like = std::ranges::find_if(shapes_, has_like_stages);
    Shape shape{strategy, like == shapes_.end() ? stages.of(strategy) : like->stages};
    shape.nodes_first = goes_to_nodes_first(shape.stages, machine.outermost());
    shape.far_stages =
        std::ranges::count_if(shape.stages, [](const DiscoveryGroup& s) { return s.node_far_share > 0; });
    shapes_.push_back(std::move(shape));
  }
}

/// What the busiest rank of a stage does.
struct SparseChoice::Load {
  BatchLoad moved;
  Seconds copying = 0;  ///< of blocks into messages, and out of them
};

/// What ranks send on average, and the most that one gets.
struct SparseChoice::Blocks {
  double messages = 0, bytes = 0;  ///< of a rank, and of each of them
  double network_share = 0;        ///< the part of the messages that goes to other nodes
  double received_max = 0;

  Blocks(const SparseTraffic& traffic, double ranks) : messages(real(traffic.messages) / ranks) {
    if (traffic.messages > 0) {
      bytes = real(traffic.bytes) / real(traffic.messages);
      network_share = real(traffic.network_messages) / real(traffic.messages);
    }
    // The largest receiver was not counted where only sends are known.
    received_max = std::max(real(traffic.received_messages_max), messages);
  }
};

Seconds SparseChoice::copy_seconds(double blocks, double bytes) const {
  return blocks * (machine_.copy_block_s.value_or(0) + bytes / machine_.copy_rate_bytes_per_s);
}

SparseChoice::Load SparseChoice::direct_load(const Shape& shape, const SparseTraffic& traffic,
                                             const Blocks& blocks) const {
  const auto& peers = shape.stages[0].peers;
  const auto far = machine_.outermost();
  const double near = std::accumulate(peers.begin(), peers.begin() + far, 0.0);
  Load load;
  auto& moved = load.moved;
  for (Level l = 0; l < far && near > 0; ++l) {
    moved.sent[l] = real(traffic.messages_max - traffic.network_messages_max) * peers[l] / near;
    moved.received[l] = blocks.received_max * (1 - blocks.network_share) * peers[l] / near;
  }
  moved.sent[far] = real(traffic.network_messages_max);
  moved.received[far] = blocks.received_max * blocks.network_share;
  moved.bytes = traffic.messages_max > 0 ? real(traffic.bytes_max) / real(traffic.messages_max) : 0;
  moved.node_bytes = ppn_ * blocks.messages * blocks.network_share * blocks.bytes;
  // A dense stage has one message for a peer, whatever is in it.
  if (shape.strategy.discovery == Discovery::dense) {
    moved.bytes += header_bytes;
    load.copying = copy_seconds(real(traffic.messages_max) + blocks.received_max, blocks.bytes);
  }
  return load;
}

SparseChoice::Load SparseChoice::stage_load(const Shape& shape, std::size_t number, const SparseTraffic& traffic,
                                            const Blocks& blocks) const {
  const auto& stage = shape.stages[number];
  const double all_peers = stage.all_peers(), places = all_peers + 1;
  // The most blocks that a rank holds: its own at first, those for it at last, between them as much nearer to the one
  // or the other as there are stages. One in `places` need not move.
  const auto held_after = [&](std::size_t done) {
    return real(traffic.messages_max) + (blocks.received_max - real(traffic.messages_max)) * static_cast<double>(done) /
                                            static_cast<double>(shape.stages.size());
  };
  const double held = held_after(number), coming = held_after(number + 1);
  Load load;
  auto& moved = load.moved;
  const auto far = machine_.outermost();
  double moving = 0,
         node_far_share = 0;  // blocks of the busiest rank; of all blocks, those that leave the busiest node
  const double far_peers = stage.peers[far], near_peers = all_peers - far_peers;
  Carried all, busiest;  // to the farthest peers
  std::optional<double> most_blocks;
  if (shape.nodes_first && number == 0) {
    // Messages for other nodes are known; those for one's own wait.
    moved.sent[far] = real(traffic.nodes_reached_max);
    moved.received[far] = real(traffic.nodes_reached) / ranks_;
    moving = real(traffic.network_messages_max);
    node_far_share = ppn_ * blocks.network_share;
    all = {real(traffic.nodes_reached), real(traffic.network_messages)};
    busiest = {real(traffic.nodes_reached_max), real(traffic.network_messages_max)};
    if (traffic.node_bytes_max > 0 && blocks.bytes > 0) most_blocks = real(traffic.node_bytes_max) / blocks.bytes;
  } else if (shape.far_stages == 1 && far_peers > 0) {
    // Whatever goes to other nodes does so in this stage.
    const double far_share = number == 0 && traffic.messages_max > 0
                                 ? real(traffic.network_messages_max) / real(traffic.messages_max)
                                 : blocks.network_share;
    const double far_held = held * far_share, near_held = held - far_held;
    moved.sent[far] = reached_of(far_peers, far_peers, far_held);
    moved.received[far] = reached_of(far_peers, far_peers, coming * blocks.network_share);
    spread_near(moved.sent, stage.peers, far, reached_of(near_peers, near_peers + 1, near_held));
    spread_near(moved.received, stage.peers, far,
                reached_of(near_peers, near_peers + 1, coming - coming * blocks.network_share));
    moving = far_held + near_held * near_peers / (near_peers + 1);
    node_far_share = ppn_ * blocks.network_share;
    const auto carried = [&](double count) { return Carried{reached_of(far_peers, far_peers, count), count}; };
    all = carried(blocks.messages * blocks.network_share).of(ranks_);
    busiest = carried(std::max(held, coming) * blocks.network_share);
  } else if (all_peers > 0) {
    for (std::size_t l = 0; l < most_levels; ++l) {
      moved.sent[l] = reached_of(all_peers, places, held) * stage.peers[l] / all_peers;
      moved.received[l] = reached_of(all_peers, places, coming) * stage.peers[l] / all_peers;
    }
    moving = held * (1 - 1 / places);
    node_far_share = stage.node_far_share;
    const auto last = std::ranges::find_if(stage.peers.rbegin(), stage.peers.rend(), [](double p) { return p > 0; });
    const double farthest = *last;
    const auto carried = [&](double count) {
      return Carried{reached_of(farthest, places, count), count * farthest / places};
    };
    all = carried(blocks.messages).of(ranks_);
    busiest = carried(std::max(held, coming));
  }
  const double framed_bytes = blocks.bytes + header_bytes;
  const double sent = std::accumulate(moved.sent.begin(), moved.sent.end(), 0.0);
  moved.bytes = sent > 0 ? moving / sent * framed_bytes : 0;
  moved.node_bytes = blocks.messages * node_far_share * framed_bytes;
  set_last_message(moved, all, busiest, most_blocks, framed_bytes, machine_);
  load.copying = copy_seconds(moving, blocks.bytes);
  if (number + 1 == shape.stages.size()) load.copying += copy_seconds(blocks.received_max, blocks.bytes);
  return load;
}

std::vector<SparseStageCost> SparseChoice::stages(const Shape& shape, const SparseTraffic& traffic) const {
  const Blocks blocks(traffic, ranks_);
  std::vector<SparseStageCost> costs;
  for (std::size_t s = 0; s < shape.stages.size(); ++s) {
    const auto load =
        shape.strategy.is_direct() ? direct_load(shape, traffic, blocks) : stage_load(shape, s, traffic, blocks);
    const auto sum = [](const ByLevel& messages) { return std::accumulate(messages.begin(), messages.end(), 0.0); };
    const bool is_shared = shape.strategy.route.path.is_shared;
    auto by_mpi = load.moved.received;
    if (is_shared) std::fill_n(by_mpi.begin(), machine_.node_level() + 1, 0.0);
    const Seconds seconds =
        is_shared ? discovery_seconds(shape.strategy.discovery, shape.stages[s], load.moved, machine_, node_memory_)
                  : discovery_seconds(shape.strategy.discovery, shape.stages[s], load.moved, machine_);
    costs.push_back({shape.stages[s].ranks, sum(load.moved.sent), sum(by_mpi), load.moved.bytes,
                     seconds + load.copying + machine_.operations.discovery_s.value_or(0), load.copying});
  }
  return costs;
}

std::vector<SparseStageCost> SparseChoice::stages(const SparseStrategy& strategy, const SparseTraffic& traffic) const {
  return stages(*std::ranges::find(shapes_, strategy, &Shape::strategy), traffic);
}

std::vector<SparseCandidate> SparseChoice::rank(const SparseTraffic& traffic) const {
  const int limit = machine_.limits.unexpected_messages.value_or(default_unexpected_messages);
  std::vector<SparseCandidate> ranking;
  for (const auto& shape : shapes_) {
    auto& candidate = ranking.emplace_back(SparseCandidate{shape.strategy});
    // A dense stage knows from whom messages come, and posts their receives when it knows their sizes.
    const bool is_unexpected = shape.strategy.discovery != Discovery::dense;
    for (const auto& stage : stages(shape, traffic)) {
      candidate.seconds += stage.seconds;
      candidate.exceeds_limit |= is_unexpected && stage.received > limit;
    }
  }
  decide(
      ranking, uncertainty_of(machine_),
      [](const SparseCandidate& candidate) {
        return Evidence{.excess = candidate.exceeds_limit, .seconds = candidate.seconds};
      },
      [](const SparseCandidate& candidate) {
        const auto& strategy = candidate.strategy;
        return std::tuple(!strategy.is_direct(), strategy.discovery != Discovery::nbx, strategy.route.path.is_shared);
      });
  return ranking;
}

SparseCandidate SparseChoice::best(const SparseTraffic& traffic, bool has_slots) const {
  const auto ranking = rank(traffic);
  return *std::ranges::find_if(
      ranking, [&](const auto& candidate) { return has_slots || candidate.strategy.discovery != Discovery::rma; });
}

std::string why_no_price(const SparseStrategy& strategy, const Layout& layout, const Machine& machine,
                         bool constant_size) {
  const auto& row = discovery_row(strategy.discovery);
  if (row.constant_size_only && !constant_size) return std::string(row.name) + " needs messages of one size";
  if (auto reason = lacking(strategy, machine); !reason.empty()) return reason;
  try {
    if (!strategy.is_direct()) make_route(strategy.route, layout);
  } catch (const NotApplicable& error) {
    return error.reason();
  }
  return {};
}

}  // namespace commpass
