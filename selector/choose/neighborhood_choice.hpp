// Which strategy runs an exchange with a Cartesian neighbourhood, by the size of its blocks.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/cost/neighborhood_cost.hpp"
#include "selector/choose/select.hpp"

namespace commpass {

/// Prices ways on a grid in closed form (NeighborhoodSchedule): standard and cartesian, coalesced. All that is given
/// must live as long as this.
class NeighborhoodPricer {
 public:
  /// @param unit  what each neighbour gets; blocks are priced that are so many times as large
  NeighborhoodPricer(const Neighborhood& neighborhood, NeighborBytes unit, const Layout& layout, const Machine& machine,
                     CostModel model);

  /// @throws NotApplicable for other strategies, InputError
  Candidate price(const Strategy& strategy, Bytes times) const;
  /// Those given, or all that the grid suggests and standard, from the cheapest on; ties stay in this order.
  std::vector<Candidate> rank(std::span<const Strategy> strategies, Bytes times) const;

 private:
  const NeighborhoodSchedule& schedule_of(const Strategy& strategy) const;

  const Neighborhood& neighborhood_;
  NeighborBytes unit_;
  const Layout& layout_;
  const Machine& machine_;
  CostModel model_;
  mutable std::vector<std::pair<GridWay, NeighborhoodSchedule>> schedules_;
};

/// What runs for blocks of `from_bytes` on, up to the next class.
struct NeighborhoodClass {
  Bytes from_bytes = 0;
  Strategy strategy;
  Seconds predicted_s = 0;  ///< of blocks of about the smallest size of the class
};

/// Classes of sizes, from the smallest up. Where the cheapest strategy changes between two of the sizes that are looked
/// at, the size at which it does is found to 2 %; what is best only in between is not seen.
std::vector<NeighborhoodClass> choose_by_size(const NeighborhoodPricer& pricer);

/// The class of a size. @param classes  at least one
const NeighborhoodClass& class_of(std::span<const NeighborhoodClass> classes, double bytes);

}  // namespace commpass
