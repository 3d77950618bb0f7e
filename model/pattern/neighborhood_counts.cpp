#include "model/pattern/neighborhood_counts.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

namespace commpass {

CombiningCounts combining_counts(const Neighborhood& neighborhood) {
  const auto d = neighborhood.grid.dimensions();
  CombiningCounts counts;
  std::vector<std::set<int>> coordinates(d);
  for (int i = 0; i < neighborhood.size(); ++i) {
    const auto offset = neighborhood.offset(i);
    const auto hops = static_cast<std::int64_t>(d) - std::ranges::count(offset, 0);
    counts.neighbors += hops > 0;
    counts.alltoall_volume += hops;
    for (std::size_t k = 0; k < d; ++k)
      if (offset[k] != 0) coordinates[k].insert(offset[k]);
  }
  for (const auto& own : coordinates) {
    counts.rounds_of.push_back(static_cast<int>(own.size()));
    counts.rounds += counts.rounds_of.back();
  }
  return counts;
}

double combining_cut_off(const CombiningCounts& counts, double alpha_s, double beta_s_per_byte) {
  const int spared = counts.neighbors - counts.rounds;
  const auto added = counts.alltoall_volume - counts.neighbors;
  if (spared <= 0) return 0;
  if (added == 0) return std::numeric_limits<double>::infinity();
  return alpha_s / beta_s_per_byte * spared / static_cast<double>(added);
}

std::vector<std::size_t> increasing_dimensions(const Neighborhood& neighborhood) {
  const auto rounds_of = combining_counts(neighborhood).rounds_of;
  std::vector<std::size_t> order(rounds_of.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return rounds_of[k]; });
  return order;
}

std::int64_t tree_edges(const Neighborhood& neighborhood, const std::vector<std::size_t>& order) {
  std::set<std::vector<int>> nodes;  // the ways from the root, as far as they go
  for (int i = 0; i < neighborhood.size(); ++i) {
    const auto offset = neighborhood.offset(i);
    std::vector<int> reached(offset.size(), 0);
    for (const auto k : order) {
      if (offset[k] == 0) continue;
      reached[k] = offset[k];
      nodes.insert(reached);
    }
  }
  return std::ssize(nodes);
}

}  // namespace commpass
