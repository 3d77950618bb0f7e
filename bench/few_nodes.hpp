// How good predictions of exchanges on many nodes are after those on few nodes were imported.
#pragma once

#include <string>
#include <vector>

#include "bench/world_sets.hpp"
#include "calibrate/fit/exchange_fit.hpp"

namespace commpass::bench {

/// How far off predictions of times are: the median of max(q, 1 ÷ q), where q = predicted ÷ fastest run, that below
/// which 90 % lie, and the geometric mean of q.
struct FactorError {
  double median = 1, p90 = 1, bias = 1;
};

/// Times on some numbers of nodes, by the profile as it is, and with exchanges on few nodes.
struct NodesError {
  std::string nodes;  ///< "8", "8 to 64"
  int times = 0;
  FactorError blind, corrected;
};

struct FewNodes {
  std::string set, profile;
  ExchangeFit fit;
  std::vector<NodesError> errors;  ///< of all nodes that were not fitted to, then by their number
};

/// Fits the profile of a data set to its exchanges on 2 and 4 nodes, as `commpass profile import --exchanges` does, and
/// predicts those on more nodes: of the data sets that have both.
std::vector<FewNodes> judge_few_nodes(const World& world);

/// Numbers of which none may grow.
Json bounded_figures(const std::vector<FewNodes>& sets);

/// That of docs/validation.md.
DocumentTable few_nodes_table(const std::vector<FewNodes>& sets);

}  // namespace commpass::bench
