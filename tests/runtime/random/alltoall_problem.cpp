#include "runtime/random/alltoall_problem.hpp"

#include <algorithm>

namespace commpass::random_test {

namespace {

/// Units that ranks send to each other, by source and destination.
using Units = std::vector<std::vector<int>>;

// NOLINTBEGIN: any numbers will do
Units draw_units(Draw& draw, int ranks, bool equal, bool in_place) {
  const int most = draw.of({0, 2, 20, 20, 300, 3000}), one_in_empty = draw.of({1, 2, 100}), same = draw.small(most + 1);
  Units units(static_cast<std::size_t>(ranks), std::vector<int>(static_cast<std::size_t>(ranks)));
  for (auto& of_source : units)
    for (auto& count : of_source) count = equal ? same : draw.one_in(one_in_empty) ? 0 : draw.small(most + 1);
  if (in_place)
    for (std::size_t i = 0; i < units.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) units[i][j] = units[j][i];
  return units;
}

/// Blocks in any order with gaps between, from a displacement on that may be negative; what a displacement is where
/// nothing goes does not matter.
AlltoallSide draw_side(Draw& draw, Element element, const std::vector<int>& units, bool equal) {
  AlltoallSide side;
  side.element = std::move(element);
  const auto ranks = units.size();
  for (const int count : units) side.counts.push_back(count * side.element.in_unit);
  side.displacements.resize(ranks);
  int end = 0;
  auto order = draw.order(static_cast<int>(ranks));
  if (equal) std::ranges::sort(order);
  for (const int block : order) {
    const auto b = static_cast<std::size_t>(block);
    if (!equal) end += draw.of({0, 0, 1, 4});
    side.displacements[b] = end;
    end += side.counts[b];
  }
  const Bytes before = std::max<Bytes>(0, -side.element.least_offset());
  side.origin = guard_bytes + (before + guard_bytes - 1) / guard_bytes * guard_bytes;
  side.buffer_bytes =
      side.origin + end * side.element.extent + std::max<Bytes>(0, side.element.end_offset()) + guard_bytes;
  if (equal) return side;
  const int shift = draw.one_in(2) ? 0 : draw.small(end + 1);
  side.origin += shift * side.element.extent;
  for (std::size_t b = 0; b < ranks; ++b) {
    side.displacements[b] -= shift;
    if (side.counts[b] == 0 && draw.one_in(3)) side.displacements[b] = draw.of({-1000000, 1000000});
  }
  return side;
}
// NOLINTEND

}  // namespace

AlltoallProblem::AlltoallProblem(Draw& draw, const Place& place, bool equal_blocks, bool may_be_in_place)
    : equal(equal_blocks), in_place(may_be_in_place && place.switches->with("in-place") && draw.one_in(4)) {
  const auto units = draw_units(draw, place.ranks, equal, in_place);
  const auto family = draw.of({Family::bytes, Family::doubles, Family::three_ints, Family::three_ints, Family::mixed});
  const auto freedom = draw_freedom(draw, *place.switches);
  for (const bool receiving : {false, true}) {
    if (in_place && !receiving) continue;
    for (std::size_t rank = 0; rank < units.size(); ++rank) {
      std::vector<int> of_rank;
      for (std::size_t other = 0; other < units.size(); ++other)
        of_rank.push_back(receiving ? units[other][rank] : units[rank][other]);
      (receiving ? receives : sends).push_back(draw_side(draw, draw_element(draw, family, freedom), of_rank, equal));
    }
  }
  if (in_place) sends = receives;
}

}  // namespace commpass::random_test
