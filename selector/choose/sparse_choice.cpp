#include "selector/choose/sparse_choice.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "model/cost/cost.hpp"
#include "model/route/catalogue.hpp"
#include "selector/choose/offer.hpp"

namespace commpass {

namespace {

/// What travels with a block where its message holds several: source, destination, size. As much tells a peer a size.
constexpr double header_bytes = 16;
/// A number in a reduction.
constexpr double number_bytes = 8;
constexpr auto far = static_cast<std::size_t>(Locality::network);

/// (1 − 1/k)^n without a library's pow, which need not be the same on all ranks.
double power(double base, std::int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base)
    if (exponent % 2 == 1) result *= base;
  return result;
}

}  // namespace

SparseStatistics statistics_of(Rank rank, std::span<const Rank> destinations, std::span<const Bytes> bytes,
                               const Layout& layout) {
  SparseStatistics own;
  std::vector<int> nodes;
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    if (destinations[i] == rank) continue;
    ++own.messages;
    own.bytes += bytes[i];
    if (const int node = layout.node(destinations[i]); node != layout.node(rank)) nodes.push_back(node);
  }
  own.network_messages = std::ssize(nodes);
  std::ranges::sort(nodes);
  own.nodes_reached = std::unique(nodes.begin(), nodes.end()) - nodes.begin();
  own.messages_max = own.messages;
  own.bytes_max = own.bytes;
  own.network_messages_max = own.network_messages;
  own.nodes_reached_max = own.nodes_reached;
  return own;
}

SparseStatistics statistics_of(const Pattern& pattern, const Layout& layout) {
  const auto ranks = static_cast<std::size_t>(pattern.ranks);
  std::vector<std::vector<Rank>> destinations(ranks);
  std::vector<std::vector<Bytes>> sizes(ranks);
  std::vector<std::int64_t> received(ranks), received_bytes(ranks);
  for (const auto& edge : pattern.edges) {
    destinations[static_cast<std::size_t>(edge.source)].push_back(edge.destination);
    sizes[static_cast<std::size_t>(edge.source)].push_back(edge.bytes);
    if (edge.source == edge.destination) continue;
    ++received[static_cast<std::size_t>(edge.destination)];
    received_bytes[static_cast<std::size_t>(edge.destination)] += edge.bytes;
  }
  SparseStatistics all;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto own = statistics_of(static_cast<Rank>(rank), destinations[rank], sizes[rank], layout);
    all.messages += own.messages;
    all.bytes += own.bytes;
    all.network_messages += own.network_messages;
    all.nodes_reached += own.nodes_reached;
    all.messages_max = std::max(all.messages_max, own.messages_max);
    all.bytes_max = std::max(all.bytes_max, own.bytes_max);
    all.network_messages_max = std::max(all.network_messages_max, own.network_messages_max);
    all.nodes_reached_max = std::max(all.nodes_reached_max, own.nodes_reached_max);
    all.received_messages_max = std::max(all.received_messages_max, received[rank]);
    all.received_bytes_max = std::max(all.received_bytes_max, received_bytes[rank]);
  }
  return all;
}

SparseStatistics expected_statistics(double messages, double bytes, const Layout& layout) {
  const double ranks = layout.ranks(), others = std::max(1.0, ranks - 1);
  const double sent = std::clamp(messages, 0.0, others);
  const double to_network = sent * (ranks - layout.max_ppn()) / others;
  const double nodes = layout.nodes() - 1,
               missed = nodes > 0 ? power(1 - 1 / nodes, static_cast<std::int64_t>(to_network)) : 0;
  const auto whole = [](double value) { return static_cast<std::int64_t>(value + 0.5); };
  SparseStatistics all;
  all.messages_max = all.received_messages_max = whole(sent);
  all.bytes_max = all.received_bytes_max = whole(sent * bytes);
  all.network_messages_max = whole(to_network);
  all.nodes_reached_max = whole(nodes * (1 - missed));
  all.messages = all.messages_max * layout.ranks();
  all.bytes = all.bytes_max * layout.ranks();
  all.network_messages = all.network_messages_max * layout.ranks();
  all.nodes_reached = all.nodes_reached_max * layout.ranks();
  return all;
}

/// What the busiest rank of a stage sends and gets.
struct SparseChoice::Load {
  ByLocality sent{}, received{};  ///< messages
  double bytes = 0;               ///< of each
  double node_bytes = 0;          ///< that a node injects into the network
  Seconds copying = 0;            ///< of blocks into messages, and out of them
};

double SparseChoice::StageShape::all_peers() const { return std::accumulate(peers.begin(), peers.end(), 0.0); }

/// Ranks beyond a power of two give their numbers to a neighbour first and get the result from him at last.
std::vector<SparseChoice::Round> SparseChoice::rounds_of(const std::vector<Rank>& members, const Layout& layout) {
  std::size_t count = 1;
  while (2 * count <= members.size()) count *= 2;
  const std::size_t pairs = members.size() - count;
  const auto farthest = [&](std::size_t steps, auto ends) {
    auto result = Locality::socket;
    for (std::size_t i = 0; i < steps; ++i)
      result = std::max(result, layout.locality(members[ends(i).first], members[ends(i).second]));
    return static_cast<std::size_t>(result);
  };
  std::vector<Round> rounds;
  if (pairs > 0) {
    const auto locality = farthest(pairs, [](std::size_t i) { return std::pair(2 * i, 2 * i + 1); });
    rounds = {{locality, 1}, {locality, 1 / static_cast<double>(members.size())}};
  }
  const auto member = [&](std::size_t number) { return number < pairs ? 2 * number + 1 : number + pairs; };
  for (std::size_t distance = 1; distance < count; distance *= 2)
    rounds.push_back({farthest(count, [&](std::size_t i) { return std::pair(member(i), member(i ^ distance)); }),
                      static_cast<double>(distance) / static_cast<double>(count)});
  return rounds;
}

std::vector<SparseChoice::StageShape> SparseChoice::stages_of(const SparseStrategy& strategy,
                                                              const Layout& layout) const {
  std::vector<Rank> everybody(static_cast<std::size_t>(layout.ranks()));
  std::iota(everybody.begin(), everybody.end(), 0);
  if (layout.ranks() == 1) return {};
  const auto count = [&](Rank rank, std::span<const Rank> peers) {
    ByLocality counts{};
    for (const Rank peer : peers) counts[static_cast<std::size_t>(layout.locality(rank, peer))] += peer != rank;
    return counts;
  };
  const auto far_first = [](const ByLocality& counts) { return std::tuple(counts[2], counts[1], counts[0]); };
  const auto how_far = [](const std::vector<Round>& rounds) {
    ByLocality counts{};
    for (const auto& round : rounds) ++counts[round.locality];
    return counts;
  };
  if (strategy.is_direct()) return {{ranks_, rounds_of(everybody, layout), count(0, everybody)}};
  const auto route = make_route(strategy.route, layout);
  std::vector<StageShape> stages;
  for (int s = 0; s < static_cast<int>(route->stages().size()); ++s) {
    const auto lowest = route->groups(s);
    std::vector<std::vector<Rank>> groups(lowest.size());
    for (const Rank rank : everybody)
      groups[static_cast<std::size_t>(lowest[static_cast<std::size_t>(rank)])].push_back(rank);
    const std::vector<Rank>* dearest = nullptr;
    StageShape stage;
    for (const auto& members : groups) {
      if (members.empty()) continue;
      auto rounds = rounds_of(members, layout);
      if (dearest && far_first(how_far(rounds)) <= far_first(how_far(stage.rounds))) continue;
      dearest = &members;
      stage.rounds = std::move(rounds);
    }
    stage.ranks = static_cast<double>(dearest->size());
    for (const Rank rank : *dearest)
      if (const auto counts = count(rank, route->peers(rank, s)); far_first(counts) > far_first(stage.peers))
        stage.peers = counts;
    stages.push_back(stage);
  }
  return stages;
}

SparseChoice::SparseChoice(const Layout& layout, const Machine& machine, bool constant_size)
    : ranks_(layout.ranks()), ppn_(layout.max_ppn()), machine_(machine) {
  require_parameters(layout, machine);
  for (const auto& strategy : suggest_sparse_strategies(layout, constant_size)) {
    if (!lacking(strategy, machine).empty()) continue;
    const bool has_last_route = !shapes_.empty() && shapes_.back().strategy.route == strategy.route;
    Shape shape{strategy, has_last_route ? shapes_.back().stages : stages_of(strategy, layout)};
    shape.nodes_first = shape.stages.size() == 2 && shape.stages[0].peers[far] == shape.stages[0].all_peers() &&
                        shape.stages[1].peers[far] == 0;
    shapes_.push_back(std::move(shape));
  }
}

const Protocol& SparseChoice::protocol(std::size_t locality, double bytes) const {
  return host_channel(machine_, static_cast<Locality>(locality)).protocol(static_cast<Bytes>(bytes));
}

Seconds SparseChoice::reduction_seconds(const StageShape& stage, double bytes, bool scattered) const {
  Seconds seconds = 0;
  for (const auto& round : stage.rounds) {
    const double moved = scattered ? bytes * round.scattered : bytes;
    const auto& used = protocol(round.locality, moved);
    // What comes is seen at the next look.
    seconds += used.alpha_s + used.beta_s_per_byte * moved + probe_seconds(machine_);
  }
  return seconds;
}

Seconds SparseChoice::stage_seconds(Discovery discovery, const StageShape& stage, const Load& load) const {
  Seconds launching = 0, flying = 0, first_arrival = 0, taking = 0, answer = 0, launching_sizes = 0, taking_sizes = 0;
  bool receivers_measured = false, is_waiting = false;  // is a message under way only when its receive is posted?
  for (std::size_t l = 0; l < locality_count; ++l) {
    if (stage.peers[l] == 0) continue;
    const auto& sizes = protocol(l, header_bytes);
    const auto& used = protocol(l, load.bytes);
    const auto next = [](const Protocol& p, double bytes) {
      return p.alpha_next_s + p.beta_next_s_per_byte.value_or(p.beta_s_per_byte) * bytes;
    };
    launching += load.sent[l] * next(used, load.bytes);
    launching_sizes += stage.peers[l] * next(sizes, header_bytes);
    taking += load.received[l] * used.receive_seconds(static_cast<Bytes>(load.bytes));
    taking_sizes += stage.peers[l] * sizes.receive_seconds(static_cast<Bytes>(header_bytes));
    receivers_measured = receivers_measured || used.alpha_receive_s;
    const auto rendezvous = host_channel(machine_, static_cast<Locality>(l)).rendezvous_from_bytes;
    is_waiting = is_waiting || (rendezvous && load.received[l] > 0 && load.bytes >= static_cast<double>(*rendezvous));
    // The farther, the later; so the last locality decides.
    const Seconds alone = used.alpha_s + used.beta_s_per_byte * load.bytes;
    if (load.sent[l] > 0) flying = std::max(0.0, alone - next(used, load.bytes));
    if (load.received[l] > 0)
      first_arrival = std::max(0.0, alone - used.receive_seconds(static_cast<Bytes>(load.bytes)));
    if (load.sent[l] > 0) answer = protocol(l, 0).alpha_s;
  }
  const Seconds injecting = load.node_bytes / machine_.injection_rate_bytes_per_s;
  // When the last message has left, and when all have come: a rank takes them in when its own have left it, unless its
  // receiving was not measured, and then the larger of the two counts (docs/model.md, burst, 6).
  const auto taken_in = [&](Seconds launch, Seconds take) {
    return std::max(receivers_measured ? launch : 0.0, first_arrival) + take;
  };
  const auto moving = [&](Seconds launch, Seconds take) {
    return std::max({launch + flying, taken_in(launch, take), injecting + flying});
  };
  const Seconds delaying = receivers_measured ? taking : 0;  // a rank that takes messages in keeps a reduction waiting
  const double received = std::accumulate(load.received.begin(), load.received.end(), 0.0);
  const Seconds probing = received * probe_seconds(machine_);
  constexpr double tally_bytes =
      number_bytes * static_cast<double>(SparseStatistics::told_besides + SparseStatistics::sum_count +
                                         SparseStatistics::maximum_count);
  const double counts_bytes = 2 * number_bytes * stage.ranks;  // messages for each rank, and failures
  switch (discovery) {
    // A synchronous send ends when its receiver has answered.
    case Discovery::nbx: return moving(launching, taking + probing) + answer + reduction_seconds(stage, tally_bytes);
    // Messages move while their numbers are reduced.
    case Discovery::reduce:
      return std::max(moving(launching, taking + probing),
                      launching + reduction_seconds(stage, counts_bytes, true) + delaying);
    case Discovery::allreduce:
      return std::max(moving(launching, taking + probing),
                      launching + reduction_seconds(stage, counts_bytes) + delaying);
    case Discovery::rma: {
      const double sent = std::accumulate(load.sent.begin(), load.sent.end(), 0.0);
      const Seconds putting = std::max(launching, sent * machine_.operations.put_s.value_or(0));
      const Seconds looking = stage.ranks * (number_bytes + load.bytes) / machine_.copy_rate_bytes_per_s;
      return std::max(putting, injecting) + flying + answer + reduction_seconds(stage, tally_bytes) + looking;
    }
    // Receives are posted when all sizes are known.
    case Discovery::dense:
      if (is_waiting)
        return std::max({launching_sizes + flying, taken_in(launching_sizes + launching, taking_sizes), injecting}) +
               first_arrival + taking;
      return moving(launching_sizes + launching, taking_sizes + taking);
  }
  return 0;
}

std::vector<SparseChoice::Load> SparseChoice::loads(const Shape& shape, const SparseStatistics& s) const {
  const auto real = [](std::int64_t number) { return static_cast<double>(number); };
  const double messages = real(s.messages) / ranks_, size = s.messages > 0 ? real(s.bytes) / real(s.messages) : 0;
  const double network_share = s.messages > 0 ? real(s.network_messages) / real(s.messages) : 0;
  // The largest receiver was not counted where only sends are known.
  const double received_max = std::max(real(s.received_messages_max), messages);
  const auto copies = [&](double blocks) {
    return blocks * (machine_.copy_block_s.value_or(0) + size / machine_.copy_rate_bytes_per_s);
  };
  std::vector<Load> result;
  if (shape.strategy.is_direct() && !shape.stages.empty()) {
    const auto& peers = shape.stages[0].peers;
    const double near = peers[0] + peers[1];
    Load load;
    for (std::size_t l = 0; l < far; ++l) {
      if (near == 0) continue;
      load.sent[l] = real(s.messages_max - s.network_messages_max) * peers[l] / near;
      load.received[l] = received_max * (1 - network_share) * peers[l] / near;
    }
    load.sent[far] = real(s.network_messages_max);
    load.received[far] = received_max * network_share;
    load.bytes = s.messages_max > 0 ? real(s.bytes_max) / real(s.messages_max) : 0;
    load.node_bytes = ppn_ * messages * network_share * size;
    // A dense stage has one message for a peer, whatever is in it.
    if (shape.strategy.discovery == Discovery::dense) {
      load.bytes += header_bytes;
      load.copying = copies(real(s.messages_max) + received_max);
    }
    return {load};
  }
  for (std::size_t i = 0; i < shape.stages.size(); ++i) {
    const auto& stage = shape.stages[i];
    const double all_peers = stage.all_peers(), places = all_peers + 1;
    // The most blocks that a rank holds: its own at first, those for it at last, between them as much nearer to the one
    // or the other as there are stages. One in `places` need not move.
    const auto held_after = [&](std::size_t done) {
      return real(s.messages_max) + (received_max - real(s.messages_max)) * static_cast<double>(done) /
                                        static_cast<double>(shape.stages.size());
    };
    const double held = held_after(i), coming = held_after(i + 1);
    const auto peers_of = [&](double blocks) {
      return all_peers * (1 - power(1 - 1 / places, static_cast<std::int64_t>(blocks + 0.5)));
    };
    double sent = peers_of(held), received = peers_of(coming), blocks = held * (1 - 1 / places),
           moving_share = 1 - 1 / places;
    if (shape.nodes_first && i == 0) {
      // What goes to other nodes is known; what is for one's own waits.
      sent = real(s.nodes_reached_max);
      received = real(s.nodes_reached) / ranks_;
      blocks = real(s.network_messages_max);
      moving_share = network_share;
    }
    Load load;
    for (std::size_t l = 0; l < locality_count && all_peers > 0; ++l) {
      load.sent[l] = sent * stage.peers[l] / all_peers;
      load.received[l] = received * stage.peers[l] / all_peers;
    }
    load.bytes = sent > 0 ? blocks / sent * (size + header_bytes) : 0;
    if (all_peers > 0)
      load.node_bytes = ppn_ * messages * moving_share * (size + header_bytes) * stage.peers[far] / all_peers;
    load.copying = copies(blocks) + (i + 1 == shape.stages.size() ? copies(received_max) : 0);
    result.push_back(load);
  }
  return result;
}

Seconds SparseChoice::price(const Shape& shape, const SparseStatistics& statistics) const {
  Seconds seconds = 0;
  auto stage = shape.stages.begin();
  for (const auto& load : loads(shape, statistics))
    seconds += stage_seconds(shape.strategy.discovery, *stage++, load) + load.copying;
  return seconds;
}

std::vector<SparseCandidate> SparseChoice::rank(const SparseStatistics& statistics) const {
  std::vector<SparseCandidate> ranking;
  for (const auto& shape : shapes_) ranking.push_back({shape.strategy, price(shape, statistics)});
  std::ranges::stable_sort(ranking, {}, &SparseCandidate::seconds);
  return ranking;
}

SparseCandidate SparseChoice::best(const SparseStatistics& statistics, bool has_slots) const {
  const auto ranking = rank(statistics);
  return *std::ranges::find_if(
      ranking, [&](const auto& candidate) { return has_slots || candidate.strategy.discovery != Discovery::rma; });
}

}  // namespace commpass
