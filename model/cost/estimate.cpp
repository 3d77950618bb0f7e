// Closed form of random patterns with equal blocks, of which an all-to-all is the densest: without blocks, from the
// messages of one node, priced by the same functions as any schedule.
//
// Where the address is full and the layout even, every node does the same: what rank (n, l) gets from node m is what
// rank (0, l) gets from node m − n. So the largest node stands for all, and a message that leaves it for local rank l
// of another node is at the same time one that arrives at its own local rank l.
//
// Of a pattern that is no all-to-all, each message holds as many of the blocks that it could hold as a draw gives it,
// perhaps none. So some nodes are drawn, each as if all were like it, and the slowest counts.
//
// Where a stage has very many rounds, like messages and like batches are taken together (folding.hpp). With what routes
// tell in runs, the time that a price takes then hardly depends on the number of ranks.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>

#include "model/cost/cost.hpp"
#include "model/cost/folding.hpp"
#include "model/cost/models.hpp"
#include "model/power.hpp"

namespace commpass {

namespace {

/// The nodes with the most ranks: only on them has every message a receiver.
std::vector<int> largest_nodes(const Layout& layout) {
  std::vector<int> largest;
  for (int node = 0; node < layout.nodes(); ++node)
    if (layout.ppn(node) == layout.max_ppn()) largest.push_back(node);
  return largest;
}

Layout layout_of_node(const Layout& layout, int node) {
  std::vector<int> sockets;
  for (const Rank rank : layout.ranks_of(node)) sockets.push_back(layout.socket(rank));
  return Layout(std::vector<int>(sockets.size(), 0), sockets);
}

/// Draws how many of the blocks that could be there are there. In its own way, because the distributions of the
/// standard library differ between libraries.
class Presence {
 public:
  explicit Presence(double density)
      : rare_is_present_(density <= 0.5),
        rare_(rare_is_present_ ? density : 1 - density),
        rate_(std::log1p(-rare_)),
        common_left_(gap()) {}

  /// The blocks that are there, of so many new ones. Of very many the average: a draw would hardly differ from it.
  std::int64_t of(std::int64_t blocks) {
    constexpr double very_many = 256;
    if (const double expected = rare_ * static_cast<double>(blocks); expected >= very_many)
      return rare_is_present_ ? std::llround(expected) : blocks - std::llround(expected);
    std::int64_t rare = 0, left = blocks;
    for (; common_left_ < static_cast<double>(left); ++rare) {
      left -= static_cast<std::int64_t>(common_left_) + 1;
      common_left_ = gap();
    }
    common_left_ -= static_cast<double>(left);
    return rare_is_present_ ? rare : blocks - rare;
  }

  /// Passes over those of so many messages of so many blocks each that come before the next with a block.
  /// @return how many these are
  std::int64_t pass_empty(std::int64_t messages, std::int64_t blocks) {
    if (!rare_is_present_) return 0;
    const double size = static_cast<double>(blocks);
    const double passed = std::min(static_cast<double>(messages), std::floor(common_left_ / size));
    common_left_ -= passed * size;
    return static_cast<std::int64_t>(passed);
  }

 private:
  /// How many of the common kind come before the next of the rare kind.
  double gap() {
    constexpr int mantissa_bits = 53, unused_bits = 64 - mantissa_bits;
    const double uniform =
        std::ldexp(static_cast<double>((random_() >> unused_bits) + 1), -mantissa_bits);  // in (0, 1]
    return rate_ < 0 ? std::floor(std::log(uniform) / rate_) : std::numeric_limits<double>::infinity();
  }

  std::mt19937_64 random_{1};
  bool rare_is_present_;
  double rare_;  // the probability of the rare kind
  double rate_;  // log of the probability of the common kind
  double common_left_;
};

/// The blocks of a message that are there.
class BlockDraw {
 public:
  BlockDraw(const RandomPattern& pattern, const Layout& layout)
      : layout_(layout),
        is_complete_(pattern.density_on_node == 1 && pattern.density_off_node == 1),
        density_off_node_(pattern.density_off_node),
        on_node_(pattern.density_on_node),
        off_node_(pattern.density_off_node) {}

  /// Is every block there?
  bool is_complete() const { return is_complete_; }

  /// Of the blocks of a message within a node, those whose source and destination share the node are as rare as nodes
  /// are many, but there is one: it holds for single blocks and wherever a message has blocks for or from all nodes.
  std::int64_t of(std::int64_t blocks, Rank from, Rank to) {
    const bool is_on_node = layout_.node(from) == layout_.node(to);
    const auto local = is_on_node ? std::max<std::int64_t>(1, blocks / layout_.nodes()) : 0;
    return on_node_.of(local) + off_node_.of(blocks - local);
  }

  /// Passes over the empty ones among messages between nodes, of so many blocks each, up to the first that is not.
  std::int64_t pass_empty(std::int64_t messages, std::int64_t blocks) { return off_node_.pass_empty(messages, blocks); }

  /// The part of them that is not empty, on average.
  double share_present(std::int64_t blocks) const { return 1 - power(1 - density_off_node_, blocks); }
  double density_off_node() const { return density_off_node_; }

 private:
  const Layout& layout_;
  bool is_complete_;
  double density_off_node_;
  Presence on_node_, off_node_;
};

/// In how many pieces `present` of `blocks` blocks lie, if all of them lie in `pieces` pieces of the same length.
std::int64_t pieces_of(std::int64_t present, std::int64_t blocks, std::int64_t pieces) {
  if (present == blocks || pieces == 0) return pieces;
  const double fraction = static_cast<double>(present) / static_cast<double>(blocks);
  const double length = static_cast<double>(blocks) / static_cast<double>(pieces);
  const auto touched = std::llround(static_cast<double>(pieces) * (1 - std::pow(1 - fraction, length)));
  return std::clamp<std::int64_t>(touched, std::min<std::int64_t>(present, 1), present);
}

/// What is left of a message of an all-to-all with so many of its blocks.
UniformMessage with_blocks(const UniformMessage& full, std::int64_t blocks) {
  auto message = full;
  message.blocks = blocks;
  message.pieces = pieces_of(message.blocks, full.blocks, full.pieces);
  message.final_blocks = std::llround(static_cast<double>(full.final_blocks) * static_cast<double>(message.blocks) /
                                      static_cast<double>(full.blocks));
  message.final_pieces = pieces_of(message.final_blocks, full.final_blocks, full.final_pieces);
  return message;
}

/// What a rank of the node sends in a stage.
class Sender {
 public:
  Sender(Rank rank, int stage, int rounds_in_flight, double block_bytes, const Route& route, const Layout& layout,
         std::vector<Likes>& result)
      : rank_(rank),
        stage_(stage),
        rounds_in_flight_(rounds_in_flight),
        block_bytes_(block_bytes),
        route_(route),
        layout_(layout),
        result_(result),
        before_(result.size()) {}

  /// Messages with all their blocks, or `share` of them.
  void append(const UniformRun& run, double share = 1) {
    const auto& uniform = run.first;
    if (uniform.blocks == 0) return;
    Message message;
    message.from = rank_;
    message.to = uniform.to;
    message.round = route_.round(rank_, uniform.to, stage_);
    message.bytes = std::llround(static_cast<double>(uniform.blocks) * block_bytes_);
    message.packed_pieces = uniform.pieces > 1 ? static_cast<std::uint32_t>(uniform.pieces) : 0;
    message.unpacked_pieces = static_cast<std::uint32_t>(uniform.final_pieces);
    message.unpacked_bytes =
        uniform.final_pieces > 0 ? std::llround(static_cast<double>(uniform.final_blocks) * block_bytes_) : 0;
    append_run(run, message, layout_, result_);
    if (run.messages == 1) join_last();
    if (share < 1)
      for (auto& likes : std::span(result_).subspan(appended_)) likes.share = share;
    appended_ = result_.size();
  }

  /// Messages with those blocks that a draw gives them.
  void append_drawn(const UniformRun& run, BlockDraw& draw) {
    Message first;
    first.from = rank_;
    first.to = run.first.to;
    parts_.clear();
    append_run(run, first, layout_, parts_);
    int i = 0;
    for (const auto& part : parts_) {
      const int end = i + part.messages;
      if (part.locality == Locality::network && append_average(run, i, part.messages, draw)) i = end;
      for (; i < end; ++i) {
        if (part.locality == Locality::network) i += static_cast<int>(draw.pass_empty(end - i, run.first.blocks));
        if (i == end) break;
        const auto full = run.message(i);
        append(with_blocks(full, draw.of(full.blocks, rank_, full.to)));
      }
    }
  }

  /// In order of their rounds.
  void sort() {
    const auto own = std::span(result_).subspan(before_);
    const auto round = [](const Likes& likes) { return likes.first.round; };
    if (!std::ranges::is_sorted(own, {}, round)) std::ranges::stable_sort(own, {}, round);
  }

 private:
  /// Routes that tell message by message tell of very many that differ in their receiver's node alone.
  void join_last() {
    if (result_.size() < before_ + 2) return;
    auto& before = result_[result_.size() - 2];
    const auto& last = result_.back();
    if (before.share < 1 || before.locality != Locality::network || last.locality != Locality::network ||
        before.last_round() + 1 != last.first.round || !alike(before.first, last.first) ||
        layout_.local(before.ring.after(before.first.to, before.messages - 1)) != layout_.local(last.first.to))
      return;
    if (before.messages == 1) before.ring = {before.first.to, 1, 0};
    if (before.ring.stride != 0) return;
    ++before.messages;
    result_.pop_back();
  }

  /// Of very many messages those are taken that the busiest of some ranks has in flight: the draw would hardly differ.
  /// @return false if they are too few for that
  bool append_average(const UniformRun& run, int first, int messages, const BlockDraw& draw) {
    constexpr double many = 512;
    constexpr double busiest = 2.5;  // standard deviations above the mean: about that of the busiest of 100 ranks
    const double share = draw.share_present(run.first.blocks), in_flight = std::min(messages, rounds_in_flight_);
    const double sent = std::min(1.0, share + busiest * std::sqrt(share * (1 - share) / in_flight));
    if (share * messages < many || sent * in_flight < 1) return false;
    const double blocks = static_cast<double>(run.first.blocks) * draw.density_off_node() / share;
    append({with_blocks(run.message(first), std::llround(blocks)), messages, run.ring}, sent);
    return true;
  }

  Rank rank_;
  int stage_, rounds_in_flight_;
  double block_bytes_;
  const Route& route_;
  const Layout& layout_;
  std::vector<Likes>& result_;
  std::vector<Likes> parts_;  // of a run: within a node or between nodes
  std::size_t before_, appended_ = before_;
};

/// Appends the messages that a rank of the node sends in a stage, in order of their rounds.
void messages_of(Rank rank, int stage, Window window, double block_bytes, BlockDraw& draw, const Route& route,
                 const Layout& layout, std::vector<Likes>& result) {
  const int in_flight = rounds_in_flight(route.stages()[static_cast<std::size_t>(stage)], window);
  Sender sender(rank, stage, in_flight, block_bytes, route, layout, result);
  for (const auto& run : route.uniform_runs(rank, stage)) {
    if (draw.is_complete()) sender.append(run);
    else sender.append_drawn(run, draw);
  }
  sender.sort();
}

/// The nodes that stand for all. Those of an all-to-all count as alike, and the one in the middle is taken, since the
/// copies of the first and last ranks differ by a piece. Of other patterns the slowest of many ranks counts, so nodes
/// all over the layout are drawn, but not for ever.
std::vector<int> typical_nodes(const RandomPattern& pattern, const Layout& layout) {
  const auto largest = largest_nodes(layout);
  if (pattern.density_on_node >= 1 && pattern.density_off_node >= 1) return {largest[largest.size() / 2]};
  constexpr auto most_messages = std::int64_t{1} << 22;
  const auto ranks = std::min<std::int64_t>(pattern.ranks_drawn, most_messages / layout.ranks());
  const auto count = std::clamp<std::size_t>(static_cast<std::size_t>(ranks / layout.max_ppn()), 1, largest.size());
  std::vector<int> nodes;
  for (std::size_t i = 0; i < count; ++i) nodes.push_back(largest[(2 * i + 1) * largest.size() / (2 * count)]);
  return nodes;
}

/// What the ranks of one node send.
Schedule draw_node(double block_bytes, BlockDraw& draw, const Route& route, Window window, const Layout& layout,
                   int node, Foldings& foldings) {
  Schedule schedule;
  schedule.ranks = layout.ppn(node);
  schedule.self_bytes.resize(static_cast<std::size_t>(schedule.ranks));
  std::vector<Likes> sent;
  for (int s = 0; block_bytes > 0 && s < static_cast<int>(route.stages().size()); ++s) {
    auto& stage = schedule.stages.emplace_back();
    stage.info = route.stages()[static_cast<std::size_t>(s)];
    sent.clear();
    const auto own_window = window_of(stage.info, window);
    for (const Rank rank : layout.ranks_of(node))
      messages_of(rank, s, own_window, block_bytes, draw, route, layout, sent);
    foldings.push_back(fold(sent, layout, own_window, stage));
  }
  return schedule;
}

}  // namespace

void MessageTotals::add(Rank source, Rank destination, Bytes size, const Layout& layout) {
  if (source == destination || size <= 0) return;
  ++(layout.node(source) == layout.node(destination) ? on_node : off_node);
  bytes += static_cast<double>(size);
}

MessageTotals totals_of(const Pattern& pattern, const Layout& layout) {
  MessageTotals totals;
  for (const auto& edge : pattern.edges) totals.add(edge.source, edge.destination, edge.bytes, layout);
  return totals;
}

RandomPattern random_pattern(const MessageTotals& totals, const Layout& layout) {
  double pairs_on_node = 0;
  for (int node = 0; node < layout.nodes(); ++node)
    pairs_on_node += static_cast<double>(layout.ppn(node)) * (layout.ppn(node) - 1);
  const double pairs_off_node = static_cast<double>(layout.ranks()) * (layout.ranks() - 1) - pairs_on_node;
  const double on_node = std::min(pairs_on_node, static_cast<double>(totals.on_node)),
               off_node = std::min(pairs_off_node, static_cast<double>(totals.off_node));
  // Of no pairs all have a message.
  const auto density = [](double messages, double pairs) { return pairs > 0 ? messages / pairs : 1; };
  const double messages = on_node + off_node;
  return {density(on_node, pairs_on_node), density(off_node, pairs_off_node),
          messages > 0 ? totals.bytes / messages : 0};
}

Cost estimate(const RandomPattern& pattern, const Route& route, Window window, const Layout& layout,
              const Machine& machine, CostModel model) {
  require_parameters(layout, machine);
  BlockDraw draw(pattern, layout);
  Cost slowest;
  for (const int node : typical_nodes(pattern, layout)) {
    const auto node_layout = layout_of_node(layout, node);
    Foldings foldings;
    const auto schedule = draw_node(pattern.block_bytes, draw, route, window, layout, node, foldings);
    auto cost = model == CostModel::burst
                    ? evaluate_burst(schedule, node_layout, machine, &foldings)
                    : evaluate_bulk(schedule, node_layout, machine, model == CostModel::max_rate, &foldings);
    if (slowest.stages.empty() || cost.seconds > slowest.seconds) slowest = std::move(cost);
  }
  return slowest;
}

Cost estimate_alltoall(Bytes bytes, const Route& route, Window window, const Layout& layout, const Machine& machine,
                       CostModel model) {
  return estimate({1, 1, static_cast<double>(bytes)}, route, window, layout, machine, model);
}

}  // namespace commpass
