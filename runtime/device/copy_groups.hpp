// The helpers of ranks with data on a device: processes of their node that copy a part of it. Private to the runtime.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/base/types.hpp"
#include "model/machine/layout.hpp"

namespace commpass {

/// The sides of a rank's data that lie on a device.
enum class OnDevice : std::uint8_t { nothing = 0, sends = 1, receives = 2, both = 3 };

/// A part of an edge: its sender for the source, and its receiver for the destination.
struct CopyShare {
  Rank sender = 0, receiver = 0;
  Bytes offset = 0, bytes = 0;  ///< in the edge
  bool operator==(const CopyShare&) const = default;
};

/// The same on all ranks. Ranks of a node without data on a device are divided evenly among those with data; each gets
/// at most copies − 1 helpers, and no rank helps two.
class CopyGroups {
 public:
  /// @param data    by rank
  /// @param copies  processes that copy the data of one rank, itself among them
  CopyGroups(const Layout& layout, std::span<const OnDevice> data, int copies);

  /// Of a rank with data on a device.
  std::span<const Rank> helpers(Rank owner) const { return helpers_[static_cast<std::size_t>(owner)]; }
  /// The rank that it helps; itself if none.
  Rank helped(Rank rank) const { return helped_[static_cast<std::size_t>(rank)]; }

  /// The parts of an edge between two ranks, in order. @param index  among the edges of these two
  std::vector<CopyShare> shares(Rank source, Rank destination, std::int64_t index, Bytes bytes) const;

 private:
  bool has(Rank rank, OnDevice side) const;
  std::vector<Rank> group(Rank rank, OnDevice side) const;

  std::vector<OnDevice> data_;
  std::vector<std::vector<Rank>> helpers_;
  std::vector<Rank> helped_;
};

}  // namespace commpass
