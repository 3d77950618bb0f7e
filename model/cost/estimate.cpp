// Closed form of random patterns with equal blocks, of which an all-to-all is the densest: without blocks, from the
// messages of one node, priced by the same functions as any schedule.
//
// Where the address is full and the layout even, every node does the same: what rank (n, l) gets from node m is what
// rank (0, l) gets from node m − n. So the largest node stands for all, and a message that leaves it for local rank l
// of another node is at the same time one that arrives at its own local rank l. Where nodes are uneven, what the ranks
// of the smallest one send is priced as well, as if these were on a node of the largest kind.
//
// Of a pattern that is no all-to-all, each message holds as many of the blocks that it could hold as a draw gives it,
// perhaps none. So some nodes are drawn, each as if all were like it, and the slowest counts. Where sizes vary, they
// are drawn, too, and the slowest of each stage counts: wherever the largest message of a stage is, others wait for it.
//
// Where a stage has very many rounds, like messages and like batches are taken together (folding.hpp). With what routes
// tell in runs, the time that a price takes then hardly depends on the number of ranks.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "model/cost/cost.hpp"
#include "model/cost/models.hpp"
#include "model/cost/sent_messages.hpp"

namespace commpass {

namespace {

/// The nodes with the most ranks: only on them has every message a receiver.
std::vector<int> largest_nodes(const Layout& layout) {
  std::vector<int> largest;
  for (int node = 0; node < layout.nodes(); ++node)
    if (layout.ppn(node) == layout.max_ppn()) largest.push_back(node);
  return largest;
}

/// The nodes that stand for all. Those of an all-to-all count as alike, and the central one is taken, since the
/// copies of the first and last ranks differ by a piece. Of other patterns the slowest of many ranks counts, so nodes
/// all over the layout are drawn, but not for ever.
std::vector<int> typical_nodes(const RandomPattern& pattern, const Layout& layout) {
  const auto largest = largest_nodes(layout);
  if (pattern.density_on_node >= 1 && pattern.density_off_node >= 1 && pattern.size_variance == 0)
    return {largest[largest.size() / 2]};
  constexpr auto most_messages = std::int64_t{1} << 22;
  const auto ranks = std::min<std::int64_t>(pattern.ranks_drawn, most_messages / layout.ranks());
  const auto count = std::clamp<std::size_t>(static_cast<std::size_t>(ranks / layout.max_ppn()), 1, largest.size());
  std::vector<int> nodes;
  for (std::size_t i = 0; i < count; ++i) nodes.push_back(largest[(2 * i + 1) * largest.size() / (2 * count)]);
  return nodes;
}

/// A node with the fewest ranks, where nodes are uneven and blocks are forwarded. Its ranks stand in for those that it
/// has not, so that each may send several times as much as others.
std::optional<int> smallest_node(const Layout& layout, const Route& route) {
  if (layout.even() || route.stages().size() < 2) return std::nullopt;
  int smallest = 0;
  for (int node = 1; node < layout.nodes(); ++node)
    if (layout.ppn(node) < layout.ppn(smallest)) smallest = node;
  return smallest;
}

/// Makes stages at least as long as the ranks of a small node need to take in their messages: from every other node as
/// much as from a typical one.
void take_in_at(int smallest, int typical, const RandomPattern& pattern, const Route& route, const Layout& layout,
                const Machine& machine, Cost& cost) {
  struct Taken {
    Seconds seconds = 0, latency = 0;  // of all messages; of the last
  };
  const auto& channel = host_channel(machine, machine.outermost());
  const auto mates = layout.ranks_of(smallest);
  cost.seconds = 0;
  for (std::size_t s = 0; s < cost.stages.size(); ++s) {
    std::vector<Taken> taken(mates.size());
    for (const Rank rank : layout.ranks_of(typical))
      for (const auto& run : route.uniform_runs(rank, static_cast<int>(s))) {
        const auto blocks = static_cast<double>(run.first.blocks) * pattern.density_off_node;
        const auto bytes = std::llround(blocks * pattern.block_bytes);
        const auto& protocol = channel.protocol(bytes);
        for (std::size_t m = 0; m < mates.size(); ++m) {
          const int place = run.ring.steps(run.first.to, mates[m]);
          if (place < 0 || place >= run.messages) continue;
          taken[m].seconds += protocol.receive_seconds(bytes);
          taken[m].latency = protocol.alone_seconds(static_cast<double>(bytes)) - protocol.receive_seconds(bytes);
        }
      }
    auto& stage = cost.stages[s];
    for (const auto& own : taken) {
      const auto seconds = std::max(0.0, own.latency) + own.seconds * (layout.nodes() - 1);
      if (seconds <= stage.seconds) continue;
      stage.parts[static_cast<std::size_t>(CostPart::receiving)] += seconds - stage.seconds;
      stage.seconds = seconds;
    }
    cost.seconds += stage.seconds;
  }
}

/// What taking in the messages that go farthest is to those who also send.
enum class Receiving {
  cheap,      ///< takes less than half as long as sending
  meanwhile,  ///< goes on while they send
  afterwards  ///< begins when their own have left
};

Receiving receiving(const RandomPattern& pattern, const Layout& layout, const Machine& machine) {
  const Level farthest = layout.nodes() > 1 ? machine.outermost() : 0;
  const auto& channel = host_channel(machine, farthest);
  const auto bytes = static_cast<Bytes>(pattern.block_bytes);
  const auto& protocol = channel.protocol(bytes);
  if (protocol.receive_seconds(bytes) <= channel.leaving_seconds(pattern.block_bytes) / 2) return Receiving::cheap;
  return protocol.takes_after_sends() ? Receiving::afterwards : Receiving::meanwhile;
}

/// What a rank of a node owes all others, and they owe it, on average.
Bytes buffer_bytes(const RandomPattern& pattern, const Layout& layout, int node) {
  constexpr double most = 1e18;  // an integer holds the sum of a few
  const double on_node = layout.ppn(node) - 1, off_node = layout.ranks() - layout.ppn(node);
  const double bytes = pattern.block_bytes * (pattern.density_on_node * on_node + pattern.density_off_node * off_node);
  return static_cast<Bytes>(std::min(bytes, most));
}

/// What some ranks of one node send, in order.
/// @param ranks  of the largest node, some of which may only receive
Schedule draw_node(double block_bytes, BlockDraw& draw, const Route& route, Window window, const Layout& layout,
                   int ranks, std::span<const Rank> senders, Foldings& foldings) {
  Schedule schedule;
  schedule.ranks = ranks;
  schedule.self_bytes.resize(static_cast<std::size_t>(schedule.ranks));
  std::vector<AlikeRun> sent;
  for (int s = 0; block_bytes > 0 && s < static_cast<int>(route.stages().size()); ++s) {
    auto& stage = schedule.stages.emplace_back();
    stage.info = route.stages()[static_cast<std::size_t>(s)];
    sent.clear();
    const auto own_window = window_of(stage.info, window);
    for (const Rank rank : senders) append_messages_of(rank, s, own_window, block_bytes, draw, route, layout, sent);
    foldings.push_back(fold(sent, layout, own_window, stage));
  }
  return schedule;
}

/// A pattern that is drawn node by node, and priced.
class Drawn {
 public:
  Drawn(const RandomPattern& pattern, const Route& route, Window window, const Layout& layout, const Machine& machine,
        CostModel model, Usage usage, const DataPath& path)
      : pattern_(pattern),
        draw_(pattern_, layout),
        route_(route),
        window_(window),
        layout_(layout.on(machine)),
        machine_(machine),
        model_(model),
        usage_(usage),
        path_(path) {
    require_parameters(layout, machine, path);
  }

  /// What some ranks of a node send.
  /// @param node  theirs, or one with as many ranks as any: it stands for all that they send to
  Cost price(int node, std::span<const Rank> senders) {
    const auto ranks = layout_.ranks_of(node);
    Sample sample{{}, layout_of_part(layout_, ranks), part_of_ranks(layout_, ranks, ranks.size())};
    auto& schedule = sample.schedule;
    schedule =
        draw_node(pattern_.block_bytes, draw_, route_, window_, layout_, layout_.ppn(node), senders, sample.foldings);
    if (!path_.is_host())
      schedule.send_bytes = schedule.receive_bytes =
          std::vector(schedule.self_bytes.size(), buffer_bytes(pattern_, layout_, node));
    return evaluate(sample, machine_, model_, usage_, path_);
  }

 private:
  RandomPattern pattern_;
  BlockDraw draw_;
  const Route& route_;
  Window window_;
  Layout layout_;
  const Machine& machine_;
  CostModel model_;
  Usage usage_;
  DataPath path_;
};

/// Makes every stage as long as the other's, if that is longer.
void wait_for(const Cost& other, Cost& cost) {
  cost.seconds = 0;
  for (std::size_t s = 0; s < cost.stages.size(); ++s) {
    auto& stage = cost.stages[s];
    if (other.stages[s].seconds > stage.seconds) stage = other.stages[s];
    cost.seconds += stage.seconds;
  }
}

/// The middle of two costs of one strategy. The most sent bytes are those of the first.
Cost middle_of(Cost cost, const Cost& other) {
  const auto add = [](Seconds& seconds, Seconds more) { seconds = (seconds + more) / 2; };
  add(cost.seconds, other.seconds);
  for (std::size_t s = 0; s < cost.stages.size(); ++s) {
    auto& stage = cost.stages[s];
    add(stage.seconds, other.stages[s].seconds);
    for (std::size_t part = 0; part < stage.parts.size(); ++part) add(stage.parts[part], other.stages[s].parts[part]);
  }
  return cost;
}

/// The slowest of the nodes that stand for all.
Cost slowest_drawn(const RandomPattern& pattern, const Route& route, Window window, const Layout& layout,
                   const Machine& machine, CostModel model, Usage usage, const DataPath& path) {
  Drawn drawn(pattern, route, window, layout, machine, model, usage, path);
  Cost slowest;
  const auto typical = typical_nodes(pattern, layout);
  if (pattern.ranks_drawn == RandomPattern::lone_sender)
    return drawn.price(typical.front(), layout.ranks_of(typical.front()).first(1));
  for (const int node : typical) {
    auto cost = drawn.price(node, layout.ranks_of(node));
    if (slowest.stages.empty()) slowest = std::move(cost);
    else if (pattern.size_variance > 0) wait_for(cost, slowest);
    else if (cost.seconds > slowest.seconds) slowest = std::move(cost);
  }
  if (const auto smallest = smallest_node(layout, route)) {
    auto cost = drawn.price(typical.front(), layout.ranks_of(*smallest));
    constexpr double dense = 0.5;  // else most possible messages are absent
    if (path.is_host() && pattern.density_off_node >= dense)
      take_in_at(*smallest, typical.front(), pattern, route, layout, machine, cost);
    if (cost.seconds > slowest.seconds) slowest = std::move(cost);
  }
  return slowest;
}

}  // namespace

/// Where ranks send to as many others each, they do not get from as many. But a node that is drawn gets what it sends,
/// so it gets too evenly if it sends evenly, and else sends too unevenly. Where taking messages in takes long, the
/// unevenness of received messages counts: alone if ranks send meanwhile; otherwise the middle of both, as what ranks
/// send and what they get add up.
Cost estimate(const RandomPattern& pattern, const Route& route, Window window, const Layout& layout,
              const Machine& machine, CostModel model, Usage usage, const DataPath& path) {
  const auto drawn = [&](bool is_even) {
    auto as_drawn = pattern;
    as_drawn.is_even = is_even;
    return slowest_drawn(as_drawn, route, window, layout, machine, model, usage, path);
  };
  const auto how = receiving(pattern, layout, machine);
  if (!pattern.is_even || how == Receiving::cheap) return drawn(pattern.is_even);
  return how == Receiving::meanwhile ? drawn(false) : middle_of(drawn(true), drawn(false));
}

}  // namespace commpass
