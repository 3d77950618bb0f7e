#include "runtime/plan/headers.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "model/mixed.hpp"

namespace commpass {

namespace {

std::uint64_t hash_of(const Block& block, bool is_carrier) {
  const auto unsigned_of = [](auto number) { return static_cast<std::uint64_t>(number); };
  return mixed({unsigned_of(block.source), unsigned_of(block.destination), unsigned_of(block.index),
                unsigned_of(block.bytes), unsigned_of(block.offset), is_carrier ? 1U : 0U});
}

}  // namespace

Headers ExpectedHeaders::operator()(int, const Departures& departures, std::span<const Block> held) {
  for (const auto& message : departures.messages)
    for (auto place = message.first_block; place < message.first_block + message.blocks; ++place)
      mismatch_ += hash_of(held[departures.order[place]], departures.carrier(place) == place);
  std::map<Rank, Incoming> by_source;
  for (const auto& edge : receives_) {
    if (edge.bytes == 0 || edge.source == rank_) continue;
    auto& message = by_source[edge.source];
    message.from = edge.source;
    const auto& block = message.blocks.emplace_back(Block{.source = edge.source,
                                                          .destination = rank_,
                                                          .index = static_cast<std::int32_t>(message.blocks.size()),
                                                          .bytes = edge.bytes});
    mismatch_ -= hash_of(block, true);
  }
  Headers result;
  for (auto& [source, message] : by_source) result.incoming.push_back(std::move(message));
  return result;
}

namespace {

/// Calls `hop(stage, block, from, to)` for each move of a block of any rank, by destination, then source: the order of
/// blocks in a message. Sizes do not matter, and are 1.
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
        if (to != at) hop(stage, Block{.source = source, .destination = destination, .bytes = 1}, at, to);
        at = to;
      }
    }
}

/// Of each stage the blocks of the largest message between any two ranks. Counts one stage after the other, because
/// that takes 4 bytes for each pair.
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

}  // namespace commpass
