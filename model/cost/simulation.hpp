// The simulation of the burst model (burst.cpp): batches in order of time, each rank on its own. Private to the model.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "model/cost/flight.hpp"
#include "model/cost/models.hpp"
#include "model/cost/trace.hpp"

namespace commpass {

/// The time of a rank since it entered a stage, by kind.
using Parts = std::array<Seconds, cost_part_count>;

/// One batch of a stage.
struct TimedBatch {
  FoldedOf messages;                ///< sorted by sender; stands for itself alone
  int stage = 0;                    ///< a number
  bool ends_stage = false;          ///< is it the last one of its stage?
  bool may_use_datatypes = false;   ///< for copies
  Seconds wait_s = 0, calls_s = 0;  ///< that every rank waits before it, and is busy then
};

/// The rank that is last to leave a stage.
struct StageEnd {
  Rank rank = -1;
  Seconds when = 0;
  Parts parts{};  ///< on the critical path: its own, and of those that it waited for
};

/// A clock for every rank.
class Simulation {
 public:
  /// @param layout  on() the machine
  /// @param stages  of the schedule
  /// @param trace   records all actions of ranks; null: none are recorded
  Simulation(int ranks, std::size_t stages, const Layout& layout, const Machine& machine, TraceRecorder* trace);

  Seconds latest() const { return std::ranges::max(clock_); }
  const std::vector<Seconds>& now() const { return clock_; }

  /// A rank does nothing else for so long. @param stage  as in TraceSpan
  void spend(Rank rank, Seconds seconds, CostPart which, Activity activity, int stage);
  void copy_to_itself(Rank rank, Bytes bytes);

  /// All ranks run these, one after another; messages in flight at the same time share rates, whatever their batch.
  void run(std::span<const TimedBatch> batches);
  /// Runs a batch that stands for several: when the first one has gone by, all take as long.
  void run_repeated(TimedBatch batch, std::uint32_t times);

  /// All ranks are through with what they have spent so far.
  StageEnd end_of_all();
  /// All ranks are through with a stage whose last batch did not say so.
  void end_stage(std::size_t stage) { ends_[stage] = end_of_all(); }
  /// When the last rank left a stage.
  const StageEnd& end_of(std::size_t stage) const { return ends_[stage]; }

 private:
  class Run;

  bool do_all_the_same(std::span<const TimedBatch> batches) const;
  void run_one_for_all(std::span<const TimedBatch> batches);

  TraceRecorder* trace_;
  const Layout& layout_;
  const Machine& machine_;
  bool copies_cost_;
  std::array<int, most_levels> ranks_together_{};  // by level, in an instance of a node; 0: not the same in all
  LevelChannels channels_;
  std::vector<Seconds> clock_;
  std::vector<Parts> parts_;
  std::vector<StageEnd> ends_;  // by stage
};

}  // namespace commpass
