// Which processes of a node copy the data of a rank on a device, each its part. Private to the runtime.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/base/types.hpp"
#include "model/machine/layout.hpp"

namespace commpass {

/// What of a rank's data lies on a device.
enum class OnDevice : std::uint8_t { nothing = 0, sends = 1, receives = 2, both = 3 };

/// A part of an edge: who sends it in the place of its source, and to whom in the place of its destination.
struct CopyShare {
  Rank sender = 0, receiver = 0;
  Bytes offset = 0, bytes = 0;  ///< in the edge
  bool operator==(const CopyShare&) const = default;
};

/// The same on all ranks, by what all know. A rank with data on a device is helped by ranks of its node that have none
/// there, as many as there are for each, and at most copies − 1. Nobody helps two.
class CopyGroups {
 public:
  /// @param data    by rank
  /// @param copies  processes that copy the data of one rank, itself among them
  CopyGroups(const Layout& layout, std::span<const OnDevice> data, int copies);

  /// Those who help it.
  std::span<const Rank> helpers(Rank owner) const { return helpers_[static_cast<std::size_t>(owner)]; }
  /// Whom it helps; itself if nobody.
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
