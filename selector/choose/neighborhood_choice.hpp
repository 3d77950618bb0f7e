// Which strategy runs an exchange with a Cartesian neighbourhood, by the size of its blocks.
#pragma once

#include <array>
#include <list>
#include <span>
#include <string>
#include <vector>

#include "model/cost/neighborhood_sample.hpp"
#include "selector/choose/select.hpp"

namespace commpass {

/// Prices ways on a grid by the sample of one node: standard and cartesian, coalesced. All that is given must live as
/// long as this.
class NeighborhoodPricer {
 public:
  /// @param unit  the bytes for each neighbour; the priced blocks are multiples of it
  NeighborhoodPricer(const Neighborhood& neighborhood, NeighborBytes unit, const Layout& layout, const Machine& machine,
                     CostModel model);

  /// @throws NotApplicable for other strategies, InputError
  Candidate price(const Strategy& strategy, Bytes times) const;
  /// Prices any strategies by all edges, as exchanges of any pattern are. @throws NotApplicable, InputError
  std::vector<Candidate> by_edges(std::span<const Strategy> strategies, Bytes times) const;
  /// Those given, or all that the grid suggests and standard, from the cheapest on; ties stay in this order.
  /// @param paths  on which suggested strategies are priced
  std::vector<Candidate> rank(std::span<const Strategy> strategies, Bytes times,
                              std::span<const DataPath> paths = host_paths) const;

 private:
  /// A strategy for blocks of the unit.
  struct Sampled {
    Candidate candidate;  ///< without its cost
    Sample sample;
  };
  const Sampled& sampled(const Strategy& strategy) const;

  const Neighborhood& neighborhood_;
  NeighborBytes unit_;
  Layout layout_;
  const Machine& machine_;
  CostModel model_;
  mutable std::list<Sampled> sampled_;
};

/// The strategy for blocks of `from_bytes` on, up to the next class.
struct NeighborhoodClass {
  Bytes from_bytes = 0;
  Strategy strategy;
  Seconds predicted_s = 0;  ///< of blocks of about the smallest size of the class
};

/// Neighbourhoods of more edges are not priced by them, and get ways on their grid alone.
inline constexpr std::int64_t most_neighborhood_edges = std::int64_t{1} << 17;
bool has_few_edges(const Neighborhood& neighborhood);

/// The sizes at which strategies that are no ways on the grid are looked for, in times of the unit.
inline constexpr std::array<Bytes, 3> probed_times{16, 1024, 65536};

/// Can each rank plan it alone, once it was told the blocks that pass through it? Not where messages are staggered or
/// cut, or the MPI library runs them.
bool can_be_told(const Strategy& strategy, const Layout& layout);

/// Of all strategies that are priced for a size, few that the grid does not suggest and that are cheaper than all that
/// it does.
/// @param ranking  of all, by their edges, the cheapest first
std::vector<Strategy> promising_others(std::span<const Candidate> ranking, const Neighborhood& neighborhood,
                                       const Layout& layout);

/// Classes of sizes, from the smallest up. Where the cheapest strategy changes between two of the sizes that are looked
/// at, the size at which it does is found to 2 %; a strategy that is best only in between is not found.
/// @param others  to be considered besides what the grid suggests (promising_others). One is taken where its edges are
/// cheaper by 2 %: ranks have to be told what they forward.
/// @param paths   of suggested strategies; others are priced on their own
std::vector<NeighborhoodClass> choose_by_size(const NeighborhoodPricer& pricer, std::span<const Strategy> others = {},
                                              std::span<const DataPath> paths = host_paths);

/// The class of a size. @param classes  at least one
template <class Class>
const Class& class_of(const std::vector<Class>& classes, double bytes) {
  auto found = classes.begin();
  while (std::next(found) != classes.end() && static_cast<double>(std::next(found)->from_bytes) <= bytes) ++found;
  return *found;
}

}  // namespace commpass
