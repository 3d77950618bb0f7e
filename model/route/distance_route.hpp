// The route of Bruck's family: the digits of the distance between source and destination, lowest first.
#pragma once

#include <vector>

#include "model/route/route.hpp"

namespace commpass {

/// Corrects the base-r digits of (destination − source) mod P, one stage a digit, for any P.
/// In stage x, round z, a rank sends the blocks whose digit x is z to the rank z·rˣ further on.
/// Source: TuNA paper (Fan, Domke, Ba, Kumar) §III-A and algorithm 1. Its line 9 is taken to compare digit x with z,
/// not with 1.
class DistanceRoute final : public Route {
 public:
  /// @param radix  2 … P
  DistanceRoute(int ranks, int radix);

  const std::vector<StageInfo>& stages() const override { return stages_; }
  Rank next(const Block& block, Rank at, int stage) const override;
  bool next_of_ends(std::span<const BlockEnds> ends, std::span<const Rank> at, int stage,
                    std::span<Rank> to) const override;
  int round(Rank from, Rank to, int stage) const override;
  std::vector<UniformRun> uniform_runs(Rank rank, int stage) const override;

 private:
  int distance(Rank from, Rank to) const { return to >= from ? to - from : to - from + ranks_; }

  int ranks_, radix_;
  std::vector<StageInfo> stages_;
  std::vector<int> weights_;  ///< rˣ by stage
};

/// K, the rounds of tuna: the pairs (x, z) with 1 ≤ z < r and z·rˣ < P (TuNA paper §III-A).
int tuna_rounds(int ranks, int radix);

/// B = P − (K+1), the blocks for which tuna needs a temporary buffer (TuNA paper §III-C).
int tuna_buffer_blocks(int ranks, int radix);

}  // namespace commpass
