// Bytes of a user's buffer on a device, in pinned host memory of ours, and their places there. Private to the runtime.
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

/// Copies some ranges of one buffer to host memory, or back. Kept from one exchange to the next, it takes no memory
/// where no more is needed.
class StagedBytes {
 public:
  /// Has room for these ranges from now on; the earlier contents are lost.
  /// @param queue  makes their copies; alive as long as these are under way
  /// @throws DeviceError, std::bad_alloc
  void assign(const StagedRanges& ranges, DeviceQueue& queue);
  const StagedRanges& ranges() const { return ranges_; }
  /// Each range at its place.
  std::byte* host() const { return host_.data(); }

  // Begin copies of the ranges of a user's buffer. @param ends  of copies between it and ours. @throws DeviceError
  void copy_out(const void* users, Ends ends);
  void copy_in(void* users, Ends ends);
  /// From the buffer, after what the user's stream has to do now; waits.
  void read(const void* users, Ends ends);
  /// To the buffer, between what the user's stream has to do now and what it gets to do from now on.
  void write(void* users, Ends ends);

 private:
  DeviceQueue* queue_ = nullptr;
  StagedRanges ranges_;
  GrowingMemory host_;
  std::vector<LocalCopy> copies_;
};

/// Likewise, with a queue of its own.
class StagedBuffer : public StagedBytes {
 public:
  /// @param users  the user's stream. @throws DeviceError
  StagedBuffer(const Device& device, DeviceBackend::Stream users) : queue_(device, users) {}
  DeviceQueue& queue() { return queue_; }
  void assign(const StagedRanges& ranges) { StagedBytes::assign(ranges, queue_); }

 private:
  DeviceQueue queue_;  ///< waits for its copies before their memory goes
};

}  // namespace commpass
