// Sparse dynamic data exchanges on simulated clusters, for all benchmarks that run them.
#pragma once

#include <string>
#include <vector>

#include "bench/simulate.hpp"
#include "model/base/json.hpp"
#include "model/base/types.hpp"

namespace commpass::bench {

/// The messages of each rank.
struct SparsePattern {
  const char* name;
  int degree;  ///< messages of a rank to ranks drawn at random, or
  int nodes;   ///< to all ranks of the next nodes, if not 0
  const char* sizes;
  Bytes bytes;  ///< of each message
  bool quick;   ///< part of --quick
};

struct SparseCase {
  const ClusterShape& cluster;
  const std::string& profile;
  int ranks;
  const SparsePattern& pattern;
};

struct SparseResult {
  std::string cluster, pattern, chosen, best, best_baseline;
  int ranks = 0;
  double chosen_s = 0, best_s = 0;
  double baseline_s = 0;                        ///< of the faster one of those that applications write by hand
  double two_step = 1;                          ///< time of the best two-step exchange ÷ that of the best direct one
  std::vector<double> predicted_s, measured_s;  ///< of every strategy
  Json ranking;

  double regret() const { return chosen_s / best_s; }
  double speedup() const { return baseline_s / chosen_s; }
  /// |predicted / measured − 1| of every strategy.
  std::vector<double> errors() const;
};

/// The cases of some clusters: those of patterns that fit the ranks.
/// @param clusters, profiles  must live as long as the cases
/// @param quick               fewer and smaller ones
std::vector<SparseCase> sparse_cases(const std::vector<ClusterShape>& clusters,
                                     const std::vector<std::string>& profiles, bool quick);

/// Runs every strategy, the choice when it has settled, and what applications write by hand. Several threads may.
/// @throws Error if the simulation fails
SparseResult run_sparse_case(const Simulator& simulator, const SparseCase& which);

}  // namespace commpass::bench
