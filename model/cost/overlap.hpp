// Batches that overlap: some ranks are in their next batch while messages of others are still moved. Private to the
// burst model.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/cost/models.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"

namespace commpass {

/// When a message has been moved by what it shares.
struct Moved {
  Seconds link_until = 0;    ///< by the link of its sender; 0 if nothing else was there
  Seconds shared_until = 0;  ///< by all else; 0 if nothing is shared
};

/// One batch of a stage.
struct TimedBatch {
  FoldedOf messages;               ///< sorted by sender; stands for itself alone
  bool may_use_datatypes = false;  ///< for copies
  Seconds calls_s = 0;             ///< that every rank is busy or waits before it
};

/// Runs all batches in order of time, each rank on its own: messages in flight at the same time share rates, whatever
/// batches it is of.
/// @param clocks  when each rank begins
/// @return for each message of each batch, one after another
std::vector<Moved> move_overlapping(std::span<const TimedBatch> batches, std::span<const Seconds> clocks,
                                    const Layout& layout, const Machine& machine);

}  // namespace commpass
