// Closed form of an all-to-all with equal blocks: without blocks, from the messages of one node, priced by the same
// functions as any schedule.
//
// Where the address is full and the layout even, every node does the same: what rank (n, l) gets from node m is what
// rank (0, l) gets from node m − n. So the largest node stands for all, and a message that leaves it for local rank l of
// another node is at the same time one that arrives at its own local rank l.
#include <algorithm>
#include <tuple>

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

struct FoldedMessage {
  Message message;
  Locality locality;
};

}  // namespace

Cost estimate_alltoall(Bytes bytes, const Route& route, Window window, const Layout& layout, const Machine& machine, CostModel model) {
  require_parameters(layout, machine);
  const int node = typical_node(layout);
  Schedule schedule;
  schedule.ranks = layout.ppn(node);
  schedule.self_bytes.resize(static_cast<std::size_t>(schedule.ranks));
  Localities localities;
  std::vector<FoldedMessage> folded;
  for (int s = 0; bytes > 0 && s < static_cast<int>(route.stages().size()); ++s) {
    folded.clear();
    for (const Rank rank : layout.ranks_of(node)) {
      const auto first = static_cast<std::ptrdiff_t>(folded.size());
      for (const auto& uniform : route.uniform_messages(rank, s)) {
        Message message;
        message.from = layout.local(rank);
        message.to = layout.local(uniform.to);
        message.round = route.round(rank, uniform.to, s);
        message.batch = window_of(route.stages()[static_cast<std::size_t>(s)], window).batch(message.round);
        message.bytes = uniform.blocks * bytes;
        message.packed_pieces = uniform.pieces > 1 ? static_cast<std::uint32_t>(uniform.pieces) : 0;
        message.unpacked_pieces = static_cast<std::uint32_t>(uniform.final_pieces);
        message.unpacked_bytes = uniform.final_pieces > 0 ? uniform.final_blocks * bytes : 0;
        folded.push_back({message, layout.locality(rank, uniform.to)});
      }
      std::ranges::stable_sort(folded.begin() + first, folded.end(), {}, [](const FoldedMessage& f) { return std::tuple(f.message.batch, f.message.round); });
    }
    auto& stage = schedule.stages.emplace_back();
    auto& stage_localities = localities.emplace_back();
    stage.info = route.stages()[static_cast<std::size_t>(s)];
    for (const auto& [message, locality] : folded) {
      stage.messages.push_back(message);
      stage_localities.push_back(locality);
    }
  }
  const auto node_layout = layout_of_node(layout, node);
  return model == CostModel::burst ? evaluate_burst(schedule, node_layout, machine, &localities)
                                   : evaluate_bulk(schedule, node_layout, machine, model == CostModel::max_rate, &localities);
}

}  // namespace commpass
