#include "model/cost/sent_messages.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>

namespace commpass {

namespace {

/// What a rank of the node sends in a stage.
class Sender {
 public:
  Sender(Rank rank, int stage, int rounds_in_flight, double mean_block_bytes, const Route& route, const Layout& layout,
         std::vector<AlikeRun>& result)
      : rank_(rank),
        stage_(stage),
        rounds_in_flight_(rounds_in_flight),
        mean_block_bytes_(mean_block_bytes),
        route_(route),
        layout_(layout),
        result_(result),
        before_(result.size()) {}

  /// Messages with all their blocks, of the mean size, or `share` of them.
  void append(const UniformRun& run, double share = 1) { append(run, share, mean_block_bytes_); }

  void append(const UniformRun& run, double share, double block_bytes) {
    const auto& uniform = run.first;
    if (uniform.blocks == 0) return;
    Message message;
    message.from = rank_;
    message.to = uniform.to;
    message.round = route_.round(rank_, uniform.to, stage_);
    message.bytes = std::llround(static_cast<double>(uniform.blocks) * block_bytes);
    message.packed_pieces = uniform.pieces > 1 ? static_cast<std::uint32_t>(uniform.pieces) & most_pieces : 0;
    message.unpacked_pieces = static_cast<std::uint32_t>(uniform.final_pieces) & most_pieces;
    message.unpacked_bytes =
        uniform.final_pieces > 0 ? std::llround(static_cast<double>(uniform.final_blocks) * block_bytes) : 0;
    message.is_all_from_sender = stage_ == 0;  // later ones bring some of others, all but a few
    message.is_all_for_receiver = uniform.final_blocks == uniform.blocks;
    append_run(run, message, layout_, result_);
    if (share < 1)
      for (auto& alike_run : std::span(result_).subspan(appended_)) alike_run.share = share;
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
      if (part.level > layout_.node_level() && append_average(run, i, part.messages, draw)) i = end;
      for (; i < end; ++i) {
        if (part.level > layout_.node_level()) i += static_cast<int>(draw.pass_empty(end - i, run.first.blocks));
        if (i == end) break;
        const auto full = run.message(i);
        const auto blocks = draw.of(full.blocks, rank_, full.to);
        append({with_blocks(full, blocks)}, 1, draw.block_bytes(blocks));
      }
    }
  }

  /// In order of their rounds.
  void sort() {
    const auto own = std::span(result_).subspan(before_);
    const auto round = [](const AlikeRun& alike_run) { return alike_run.first.round; };
    if (!std::ranges::is_sorted(own, {}, round)) std::ranges::stable_sort(own, {}, round);
  }

 private:
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
  double mean_block_bytes_;
  const Route& route_;
  const Layout& layout_;
  std::vector<AlikeRun>& result_;
  std::vector<AlikeRun> parts_;  // of a run: within a node or between nodes
  std::size_t before_, appended_ = before_;
};

}  // namespace

namespace {

/// Do messages hold as much, but for a sixteenth, as where nodes are uneven?
bool nearly_alike(const UniformMessage& a, const UniformMessage& b) {
  const auto near = [](std::int64_t x, std::int64_t y) { return std::abs(x - y) * 16 <= std::max(x, y); };
  return near(a.blocks, b.blocks) && near(a.pieces, b.pieces) && near(a.final_blocks, b.final_blocks) &&
         near(a.final_pieces, b.final_pieces);
}

/// Routes that tell message by message tell of very many that differ in their receiver's node alone: these become runs.
std::vector<UniformRun> join_alike(std::vector<UniformRun> runs, Rank rank, int stage, const Route& route,
                                   const Layout& layout) {
  constexpr std::size_t few = 64;
  constexpr int none = -1;
  if (runs.size() <= few) return runs;
  std::vector<UniformRun> joined;
  int next_round = none;
  for (const auto& run : runs) {
    const Rank to = run.first.to;
    const int round = route.round(rank, to, stage);
    const bool is_to_network = layout.node(to) != layout.node(rank);
    if (run.messages == 1 && is_to_network && round == next_round && nearly_alike(joined.back().first, run.first) &&
        layout.local(joined.back().first.to) == layout.local(to)) {
      joined.back().ring = {joined.back().first.to, 1, 0};
      ++joined.back().messages;
      ++next_round;
    } else {
      joined.push_back(run);
      next_round = run.messages == 1 && is_to_network ? round + 1 : none;
    }
  }
  return joined;
}

}  // namespace

void append_messages_of(Rank rank, int stage, Window window, double block_bytes, BlockDraw& draw, const Route& route,
                        const Layout& layout, std::vector<AlikeRun>& result) {
  const int in_flight = rounds_in_flight(route.stages()[static_cast<std::size_t>(stage)], window);
  draw.begin_stage(stage);
  Sender sender(rank, stage, in_flight, block_bytes, route, layout, result);
  for (const auto& run : join_alike(route.uniform_runs(rank, stage), rank, stage, route, layout)) {
    if (draw.is_complete()) sender.append(run);
    else sender.append_drawn(run, draw);
  }
  sender.sort();
}

}  // namespace commpass
