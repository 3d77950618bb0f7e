// Allocates places of blocks in transit in a buffer, at plan time.
#pragma once

#include <algorithm>
#include <map>

#include "model/base/types.hpp"

namespace commpass {

/// First-fit allocation in a buffer that grows as needed, and does not exist yet.
class Arena {
 public:
  /// Is there a free range of this size?
  bool has_room(Bytes bytes) const {
    return std::ranges::any_of(free_, [=](const auto& range) { return range.second >= bytes; });
  }
  /// @return the offset of a free range
  Bytes allocate(Bytes bytes);

  /// Frees a range, which may be a part of an allocated one.
  void release(Bytes offset, Bytes bytes);

  /// Bytes of the buffer.
  Bytes capacity() const { return capacity_; }

 private:
  std::map<Bytes, Bytes> free_;  ///< offset → bytes, never adjacent
  Bytes capacity_ = 0;
};

}  // namespace commpass
