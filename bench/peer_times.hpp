// Choices for exchanges on simulated clusters, beside fixed schedules of other libraries.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/options.hpp"
#include "bench/simulate.hpp"
#include "model/base/json.hpp"

namespace commpass::bench {

/// One exchange on one cluster.
struct PeerCase {
  const ClusterShape& cluster;
  const std::string& profile;
  int ranks = 0;
  std::size_t number = 0;  ///< of the exchange
  std::string files;       ///< the name of its files, without the distinguishing parts
};

struct PeerTimes {
  std::string chosen;
  double chosen_s = 0, predicted_s = 0;
  std::vector<double> peers_s;
};

struct PeerComparison {
  std::string kind;                           ///< of the exchanges, for people and as a key
  std::vector<std::string> exchanges, peers;  ///< names
  std::function<PeerTimes(const PeerCase&)> run;
};

/// Runs all exchanges on all clusters, several at once, and prints them unless the options ask for JSON.
/// @return all cases, and their summary
Json compare_with_peers(const Options& options, const std::vector<ClusterShape>& clusters,
                        const PeerComparison& comparison);

/// @param schedules  as texts for `commpass-reference`
/// @param options    of the program
/// @return seconds of each
std::vector<double> time_schedules(const Simulator& simulator, const PeerCase& which,
                                   const std::vector<std::string>& schedules, const std::string& options = {});

}  // namespace commpass::bench
