#include "model/schedule/passing.hpp"

#include <algorithm>
#include <cstdint>

namespace commpass {

namespace {

std::size_t as_index(Rank rank) { return static_cast<std::size_t>(rank); }

using Flags = std::vector<std::uint8_t>;  // read for every block, so bytes

Flags bytes_of(const std::vector<bool>& flags) { return {flags.begin(), flags.end()}; }

/// By block: does it begin or end on one of the ranks?
Flags at_ends(const PreparedPattern& pattern, const Flags& is_given) {
  Flags result;
  result.reserve(pattern.ends.size());
  for (const auto& [source, destination] : pattern.ends)
    result.push_back(is_given[as_index(source)] | is_given[as_index(destination)]);
  return result;
}

PreparedPattern only(const PreparedPattern& whole, const Flags& is_in) {
  std::vector<Block> blocks;
  std::vector<MemoryAddress> addresses;
  std::vector<Bytes> places;
  for (std::size_t b = 0; b < is_in.size(); ++b) {
    if (!is_in[b]) continue;
    blocks.push_back(whole.blocks[b]);
    addresses.push_back(whole.send_address[b]);
    if (!whole.receive_place.empty()) places.push_back(whole.receive_place[b]);
  }
  auto result = index_blocks(whole.ranks, std::move(blocks), whole.self_bytes);
  result.send_address = std::move(addresses);
  result.receive_place = std::move(places);
  result.send_bytes = whole.send_bytes;
  result.receive_bytes = whole.receive_bytes;
  return result;
}

}  // namespace

PreparedPattern passing(const PreparedPattern& pattern, const Route& route, const std::vector<bool>& is_given) {
  const auto given = bytes_of(is_given);
  auto is_in = at_ends(pattern, given);
  std::vector<Rank> at(pattern.ends.size()), to(at.size());
  std::ranges::transform(pattern.ends, at.begin(), &BlockEnds::source);
  for (int stage = 0; stage + 1 < static_cast<int>(route.stages().size()); ++stage) {
    if (!route.next_of_ends(pattern.ends, at, stage, to)) route.next_of_each(pattern.blocks, at, stage, to);
    for (std::size_t b = 0; b < to.size(); ++b) is_in[b] |= given[as_index(to[b])];
    at.swap(to);
  }
  return only(pattern, is_in);
}

PreparedPattern beginning_or_ending(const PreparedPattern& pattern, const std::vector<bool>& is_given) {
  return only(pattern, at_ends(pattern, bytes_of(is_given)));
}

}  // namespace commpass
