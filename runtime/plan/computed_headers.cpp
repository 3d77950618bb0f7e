#include "runtime/plan/computed_headers.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace commpass {

namespace {

constexpr Bytes nonempty_bytes = 1;  // any number but 0: only who sends what counts

/// Calls `hop(stage, block, from, to)` wherever a block of any rank moves, by destination, then source: the order of
/// blocks in a message.
template <class Hop>
void follow_all(const RouteOfRank& own, Hop hop) {
  std::vector<Rank> after(own.route.stages().size());
  for (Rank destination = 0; destination < own.ranks; ++destination)
    for (Rank source = 0; source < own.ranks; ++source) {
      if (source == destination) continue;
      own.route.way(source, destination, after);
      Rank at = source;
      for (std::size_t stage = 0; stage < after.size(); ++stage) {
        const Rank to = after[stage];
        if (to != at) hop(stage, Block{.source = source, .destination = destination, .bytes = nonempty_bytes}, at, to);
        at = to;
      }
    }
}

/// Of each stage the blocks of the largest message, from any rank to any other. One stage after the other, as it takes
/// 4 bytes for each pair.
std::vector<std::uint32_t> most_blocks_of_stages(const RouteOfRank& own) {
  const auto ranks = static_cast<std::size_t>(own.ranks);
  std::vector<std::uint32_t> blocks(ranks * ranks), most;
  for (std::size_t counted = 0; counted < own.route.stages().size(); ++counted) {
    std::ranges::fill(blocks, 0U);
    follow_all(own, [&](std::size_t stage, const Block&, Rank from, Rank to) {
      if (stage == counted) ++blocks[static_cast<std::size_t>(from) * ranks + static_cast<std::size_t>(to)];
    });
    most.push_back(std::ranges::max(blocks));
  }
  return most;
}

}  // namespace

ComputedHeaders::ComputedHeaders(const RouteOfRank& own) : of_stage_(own.route.stages().size()) {
  std::vector<std::map<Rank, Incoming>> messages(of_stage_.size());
  follow_all(own, [&](std::size_t stage, const Block& block, Rank from, Rank to) {
    if (to != own.rank) return;
    auto& message = messages[stage][from];
    message.from = from;
    message.blocks.push_back(block);
  });
  for (std::size_t stage = 0; stage < of_stage_.size(); ++stage)
    for (auto& [from, message] : messages[stage]) of_stage_[stage].incoming.push_back(std::move(message));
  if (own.coalescing == Coalescing::coalesced) return;
  const auto most = most_blocks_of_stages(own);
  for (std::size_t stage = 0; stage < of_stage_.size(); ++stage) of_stage_[stage].most_blocks = most[stage];
}

Headers ComputedHeaders::operator()(int stage, const Departures&, std::span<const Block>) {
  return of_stage_[static_cast<std::size_t>(stage)];
}

}  // namespace commpass
