// Which indices ranks own and need: what tests of indexed exchanges share.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "runtime/indexed/indexed_exchange.hpp"
#include "runtime/world.hpp"

namespace commpass::test {

enum class Ownership { ranges, lists, mixed };

/// Who owns and needs what: known to all ranks here.
struct Scenario {
  Ownership ownership = Ownership::ranges;
  std::vector<IndexRange> ranges;          ///< by rank, unless lists
  std::vector<std::vector<Index>> owned;   ///< by rank, in the order of the owned values
  std::vector<std::vector<Index>> needed;  ///< by rank

  OwnedBy owned_by(Rank rank) const {
    const auto r = static_cast<std::size_t>(rank);
    const bool is_range = ownership == Ownership::ranges || (ownership == Ownership::mixed && rank % 2 == 0);
    return is_range ? OwnedBy(ranges[r]) : OwnedBy(owned[r]);
  }
  const std::vector<Index>& owned_here() const { return owned[static_cast<std::size_t>(rank_of())]; }
  const std::vector<Index>& needed_here() const { return needed[static_cast<std::size_t>(rank_of())]; }
};

/// Uneven parts, some empty, with gaps between ranges; needs from none to several times what there is.
inline Scenario random_scenario(int ranks, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
  Scenario scenario;
  scenario.ownership = static_cast<Ownership>(seed % 3);
  scenario.ranges.resize(static_cast<std::size_t>(ranks));
  scenario.owned.resize(scenario.ranges.size());
  scenario.needed.resize(scenario.ranges.size());
  std::vector<std::size_t> order(scenario.ranges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  Index next = below(2) == 0 ? 0 : Index{1} << 40;
  std::vector<Index> all;
  for (const auto rank : order) {
    const auto count = static_cast<Index>(below(4) == 0 ? 0 : below(60));
    scenario.ranges[rank] = {next, next + count};
    for (Index index = next; index < next + count; ++index) all.push_back(index);
    next += count + static_cast<Index>(below(3));
  }
  if (scenario.ownership == Ownership::lists) {
    constexpr Index stride = 1000003;  // far apart
    for (auto& index : all) index = (index & 0xFFFFF) * stride;
    for (const auto index : all) scenario.owned[below(order.size())].push_back(index);
    for (auto& list : scenario.owned) std::shuffle(list.begin(), list.end(), random);
  } else {
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      auto& list = scenario.owned[rank];
      for (Index index = scenario.ranges[rank].begin; index < scenario.ranges[rank].end; ++index) list.push_back(index);
    }
  }
  for (auto& list : scenario.needed) {
    if (all.empty()) break;
    const std::array<std::size_t, 4> most{1, 10, 100, 300};
    for (auto count = below(most[below(most.size())]); count > 0; --count) list.push_back(all[below(all.size())]);
    if (below(2) == 0) std::ranges::sort(list);
  }
  return scenario;
}

inline std::byte byte_of(Index index, Bytes position, unsigned turn) {
  return static_cast<std::byte>((static_cast<std::uint64_t>(index) * 0x9E3779B97F4A7C15U +
                                 static_cast<std::uint64_t>(position) * 29 + turn * 7) >>
                                13);
}

inline std::vector<std::byte> values_of(const std::vector<Index>& indices, Bytes value_bytes, unsigned turn) {
  std::vector<std::byte> result;
  for (const Index index : indices)
    for (Bytes position = 0; position < value_bytes; ++position) result.push_back(byte_of(index, position, turn));
  return result;
}

}  // namespace commpass::test
