// Which bytes of a user's buffer are staged, and where they lie in ours. Private to the runtime.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "runtime/device/device_queue.hpp"
#include "runtime/plan/plan.hpp"

namespace commpass {

/// A copy that is begun takes a GPU's driver some µs, in which about as much passes over PCIe; so as much is rather
/// read in vain than left out.
inline constexpr Bytes worth_a_copy = Bytes{32} << 10;

/// The bytes of some edges, one range after another, each byte once. Bytes that lie together at the user's lie together
/// in ours.
class StagedRanges {
 public:
  struct Range {
    Bytes offset = 0, bytes = 0;  ///< at the user's
    Bytes place = 0;              ///< in ours
  };

  StagedRanges() = default;
  /// @param ranges    of any order, which may overlap; places are not read
  /// @param most_gap  ranges that lie no farther from each other become one
  StagedRanges(std::vector<Range> ranges, Bytes most_gap);

  Bytes bytes() const { return ranges_.empty() ? 0 : ranges_.back().place + ranges_.back().bytes; }
  /// By offset.
  std::span<const Range> ranges() const { return ranges_; }
  /// From the first byte to the last one, at the user's.
  Range extent() const;
  /// Of a byte that is in one of the ranges.
  Bytes place_of(Bytes offset) const;

 private:
  std::vector<Range> ranges_;
};

/// What is copied to host memory so that it has these ranges. What lies between them may be read, too, where all is one
/// allocation (Ends::reached); but a kernel leaves it out as fast.
StagedRanges ranges_to_read(std::vector<StagedRanges::Range> wanted, Ends ends, DeviceQueue& queue);

/// The plan in which what is staged lies in our buffers in place of the user's; without copies to oneself.
/// @param sends, receives  null: that side is not staged
Plan staged_plan(Plan plan, const StagedRanges* sends, const StagedRanges* receives);

}  // namespace commpass
