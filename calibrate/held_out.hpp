// Exchanges that no parameter was fitted to: drawn, priced and timed.
#pragma once

#include <array>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "calibrate/calibration.hpp"
#include "model/pattern/pattern.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/rank_data.hpp"

namespace commpass {

/// One exchange by one strategy.
struct HeldOutTrial {
  HeldOut result;
  std::array<Seconds, locality_count> seconds_of{};  ///< what its messages cost their senders, by locality; on rank 0
  std::function<Seconds(const Machine&)> price;      ///< on rank 0
  std::function<void()> run;                         ///< collective
};

/// All of them. What they send lives as long as this.
class HeldOutTrials {
 public:
  /// Draws them, and prices them by what was found. Collective.
  explicit HeldOutTrials(Calibration& calibration);
  HeldOutTrials(const HeldOutTrials&) = delete;
  HeldOutTrials& operator=(const HeldOutTrials&) = delete;

  /// Times those in turn, until this share of the budget is spent. Collective.
  void time(double share);
  /// Prices them by what was found since. Collective.
  void price_again();

  std::vector<HeldOut> results() const;
  /// The locality whose messages take most of the time of what is predicted badly. On rank 0 alone.
  Locality where_most_is_missed() const;

 private:
  void add_neighbor_exchanges();
  void add_parts_of_network();
  void add_all_to_all();
  void add_sparse_exchange();

  /// @param price    on rank 0
  /// @param pattern  from which it is known where its messages go
  void add(HeldOut result, const Pattern& pattern, std::function<Seconds(const Machine&)> price,
           std::function<void()> run);
  void add_neighbor_exchange(const std::string& name, const Pattern& pattern, std::size_t least_stages, bool has_rivals,
                             const std::string& part_of = {});

  Calibration& calibration_;
  Communicator communicator_;
  std::list<RankData> data_;  ///< a list: exchanges know where their buffers are
  std::list<Exchange> exchanges_;
  std::vector<HeldOutTrial> trials_;
};

}  // namespace commpass
