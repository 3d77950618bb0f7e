// split: the bytes between two nodes are cut into chunks, which all ranks of a node send and receive in equal parts.
#include <algorithm>

#include "model/route/catalogue.hpp"
#include "model/route/relay_route.hpp"

namespace commpass {

namespace {
namespace split {

std::string malformed(const Strategy& strategy) {
  if (strategy.values("cap").empty()) return "it needs a cap";
  return refuse_window(strategy);
}

// Algorithm 1, lines 12 to 16: the cap grows where a node would get more chunks than it has ranks, as long as it gets
// from fewer nodes than that. Lines 12 and 13 follow, since no node's volume is then cut anyway.
Bytes raised_cap(Bytes cap, const NodeReceives& receives) {
  if (receives.nodes >= receives.ppn) return cap;
  return std::max(cap, (receives.bytes + receives.ppn - 1) / receives.ppn);
}

std::unique_ptr<Route> make(const Strategy& strategy, const Layout& layout, const PatternTables& tables) {
  const Bytes cap = strategy.values("cap")[0];
  return std::make_unique<RelayRoute>(
      layout, tables.traffic, [cap](const NodeReceives& receives) { return raised_cap(cap, receives); },
      RelayRoute::OnNode::first);
}

std::vector<Strategy> suggest(const Layout& layout) {
  if (layout.nodes() == 1 || layout.max_ppn() == 1) return {};  // the same as standard
  // The paper takes the size at which the network's rendezvous protocol begins, 16 KiB on its machine.
  constexpr std::int64_t paper = 16384, small = 2048;
  return {{"split", {{"cap", {paper}}}, {}}, {"split", {{"cap", {small}}}, {}}};
}

// By twice as much alone the search does not come far: what two chunks cost it may only gain back with one.
std::vector<Strategy> vary(const Strategy& strategy, const Layout&) {
  const auto cap = strategy.values("cap")[0];
  std::vector<Strategy> result;
  for (const auto varied : {cap / 4, cap / 2, 3 * cap / 4, 3 * cap / 2, 2 * cap, 4 * cap})
    if (varied > 0) result.push_back({"split", {{"cap", {varied}}}, {}, strategy.coalescing});
  return result;
}

}  // namespace split
}  // namespace

CatalogueRow split_row() {
  using namespace split;
  return {.name = "split",
          .usage = "split,cap=BYTES[,staggered]",
          .summary =
              "as three-step, but in chunks of at most BYTES that all ranks of a node share; on-node blocks go first",
          .source = "node-aware paper (Lockhart, Bienz, Gropp, Olson) §2.3.3, algorithms 1 and 2",
          .parameters = {{"cap", Parameter::Kind::bytes, 1,
                          "the most bytes of a chunk, 1 or more (512, 16KiB), raised where a node gets more chunks "
                          "than it has ranks"}},
          .default_window = {},
          .malformed = malformed,
          .make = make,
          .suggest = suggest,
          .vary = vary,
          .need = [](const Strategy&) { return PatternNeed::node_traffic; },
          .tables =
              [](const Strategy&, const Layout& layout, const Pattern& pattern) {
                return PatternTables{node_traffic(pattern, layout), {}};
              }};
}

}  // namespace commpass
