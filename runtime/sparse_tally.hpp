// What the ranks tell each other about their sparse exchanges, so that the next one is chosen by it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "selector/sparse_choice.hpp"

namespace commpass {

/// What one rank contributes, and, combined over the ranks, what all have: sums of some numbers, the largest of others.
struct Tally {
  std::int64_t failures = 0;  ///< ranks with bad arguments
  SparseStatistics statistics;

  static constexpr std::size_t sums = 1 + SparseStatistics::sum_count;
  /// As numbers, first those that are added up.
  std::vector<std::int64_t> numbers() const;
  static Tally of(std::span<const std::int64_t> numbers);
};

}  // namespace commpass
