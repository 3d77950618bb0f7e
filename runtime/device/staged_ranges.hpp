// The staged bytes of a user's buffer, and their places in ours. Private to the runtime.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "runtime/device/device_queue.hpp"
#include "runtime/plan/plan.hpp"

namespace commpass {

/// The bytes that pass over PCIe in the time that a GPU's driver takes to begin a copy, some µs: reading such a gap in
/// vain costs less than another copy.
inline constexpr Bytes worth_a_copy = Bytes{32} << 10;

/// The bytes of some edges, each once, as ranges. Contiguous bytes of the user's buffer are contiguous in ours.
class StagedRanges {
 public:
  struct Range {
    Bytes offset = 0, bytes = 0;  ///< in the user's buffer
    Bytes place = 0;              ///< in ours
  };

  StagedRanges() = default;
  /// @param ranges   in any order, which may overlap; places are not read
  /// @param gap_max  ranges become one if the gap between them has at most this number of bytes
  StagedRanges(std::vector<Range> ranges, Bytes gap_max) : ranges_(std::move(ranges)) { settle(gap_max); }

  // The same in steps, in the memory of earlier ranges:
  void clear() { ranges_.clear(); }
  void add(Bytes offset, Bytes bytes) { ranges_.push_back({offset, bytes, 0}); }
  void settle(Bytes gap_max);
  /// In the place of settle(): with all gaps, so that all places are the offsets less that of the first byte.
  void mirror();

  Bytes bytes() const { return ranges_.empty() ? 0 : ranges_.back().place + ranges_.back().bytes; }
  /// By offset.
  std::span<const Range> ranges() const { return ranges_; }
  /// From the first byte to the last one, in the user's buffer.
  Range extent() const;
  /// Of copies between ours and the user's buffer, if this is on the device.
  Ends ends(const Device& device, const void* users) const;
  /// Of a byte that is in one of the ranges.
  Bytes place_of(Bytes offset) const;

 private:
  std::vector<Range> ranges_;
};

/// The ranges of edges.
template <class Edges>
std::vector<StagedRanges::Range> ranges_of(const Edges& edges) {
  std::vector<StagedRanges::Range> ranges;
  for (const auto& edge : edges) ranges.push_back({edge.offset, edge.bytes, 0});
  return ranges;
}

/// The ranges to copy to host memory for the wanted ones. Bridges gaps in one allocation (Ends::reached), unless a
/// kernel makes the copies, which takes no longer for more pieces.
StagedRanges ranges_to_read(std::vector<StagedRanges::Range> wanted, Ends ends, DeviceQueue& queue);

/// The plan with places in our buffers for staged bytes; without copies of the rank to itself.
/// @param sends, receives  null: that side is not staged
Plan staged_plan(Plan plan, const StagedRanges* sends, const StagedRanges* receives);

}  // namespace commpass
