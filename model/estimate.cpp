// Closed form of an all-to-all with equal blocks: without blocks, from the messages of one node, priced by the same
// functions as any schedule.
//
// Where the address is full and the layout even, every node does the same: what rank (n, l) gets from node m is what
// rank (0, l) gets from node m − n. So the largest node stands for all, and a message that leaves it for local rank l of
// another node is at the same time one that arrives at its own local rank l.
//
// Where very many rounds are in flight at once, like messages of consecutive rounds are taken together.
#include <algorithm>
#include <span>

#include "model/cost.hpp"
#include "model/cost_models.hpp"

namespace commpass {

namespace {

/// The largest node; of several the one in the middle, since the copies of the first and last ranks differ by a piece.
int typical_node(const Layout& layout) {
  std::vector<int> largest;
  for (int node = 0; node < layout.nodes(); ++node)
    if (layout.ppn(node) == layout.max_ppn()) largest.push_back(node);
  return largest[largest.size() / 2];
}

Layout layout_of_node(const Layout& layout, int node) {
  std::vector<int> sockets;
  for (const Rank rank : layout.ranks_of(node)) sockets.push_back(layout.socket(rank));
  return Layout(std::vector<int>(sockets.size(), 0), sockets);
}

/// The messages that a rank of the node sends in a stage, in order.
std::vector<Message> messages_of(Rank rank, int stage, Bytes bytes, const Route& route, Window window) {
  std::vector<Message> messages;
  const auto uniform_messages = route.uniform_messages(rank, stage);
  messages.reserve(uniform_messages.size());
  for (const auto& uniform : uniform_messages) {
    auto& message = messages.emplace_back();
    message.from = rank;
    message.to = uniform.to;
    message.round = route.round(rank, uniform.to, stage);
    message.batch = window_of(route.stages()[static_cast<std::size_t>(stage)], window).batch(message.round);
    message.bytes = uniform.blocks * bytes;
    message.packed_pieces = uniform.pieces > 1 ? static_cast<std::uint32_t>(uniform.pieces) : 0;
    message.unpacked_pieces = static_cast<std::uint32_t>(uniform.final_pieces);
    message.unpacked_bytes = uniform.final_pieces > 0 ? uniform.final_blocks * bytes : 0;
  }
  if (!std::ranges::is_sorted(messages, {}, &Message::round)) std::ranges::stable_sort(messages, {}, &Message::round);
  return messages;
}

bool alike(const Message& a, const Message& b) {
  return a.batch == b.batch && a.bytes == b.bytes && a.packed_pieces == b.packed_pieces && a.unpacked_pieces == b.unpacked_pieces &&
         a.unpacked_bytes == b.unpacked_bytes;
}

/// How many rounds of a batch are taken together, so that few are left: each for 1/64 of its time at most.
int rounds_together(int rounds, Window window) {
  constexpr int most = 64;
  const int in_flight = window.unlimited() ? rounds : std::min(rounds, window.rounds);
  return (in_flight + most - 1) / most;
}

/// Adds the messages of a rank to those of its node. Like ones of rounds that are taken together become one, to the receiver
/// in the middle of these rounds: as they are the same for all ranks, each receives about as much as before.
void fold(std::span<const Message> messages, int together, const Layout& layout, Stage& stage, std::vector<Folded>& foldings) {
  for (std::size_t m = 0; m < messages.size(); ++m) {
    const auto& message = messages[m];
    const auto locality = layout.locality(message.from, message.to);
    const bool joins = m > 0 && alike(messages[m - 1], message) && foldings.back().locality == locality &&
                       (messages[m - 1].round - 1) / together == (message.round - 1) / together;
    if (joins) {
      ++foldings.back().messages;
      if ((message.round - 1) % together == together / 2) stage.messages.back().to = layout.local(message.to);
      continue;
    }
    auto& folded = stage.messages.emplace_back(message);
    folded.from = layout.local(message.from);
    folded.to = layout.local(message.to);
    foldings.push_back({locality, 1});
  }
}

}  // namespace

Cost estimate_alltoall(Bytes bytes, const Route& route, Window window, const Layout& layout, const Machine& machine, CostModel model) {
  require_parameters(layout, machine);
  const int node = typical_node(layout);
  Schedule schedule;
  schedule.ranks = layout.ppn(node);
  schedule.self_bytes.resize(static_cast<std::size_t>(schedule.ranks));
  Foldings foldings;
  for (int s = 0; bytes > 0 && s < static_cast<int>(route.stages().size()); ++s) {
    auto& stage = schedule.stages.emplace_back();
    stage.info = route.stages()[static_cast<std::size_t>(s)];
    foldings.emplace_back();
    const int together = rounds_together(stage.info.rounds, window_of(stage.info, window));
    for (const Rank rank : layout.ranks_of(node)) fold(messages_of(rank, s, bytes, route, window), together, layout, stage, foldings.back());
  }
  const auto node_layout = layout_of_node(layout, node);
  return model == CostModel::burst ? evaluate_burst(schedule, node_layout, machine, &foldings)
                                   : evaluate_bulk(schedule, node_layout, machine, model == CostModel::max_rate, &foldings);
}

}  // namespace commpass
