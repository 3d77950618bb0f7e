// Blocks with gaps where they lie: what a plan takes for one buffer of blocks in a row becomes the pieces of the user's
// memory. Private to the runtime.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "model/machine/machine.hpp"
#include "runtime/mpi/typed_blocks.hpp"
#include "runtime/plan/plan.hpp"

namespace commpass {

/// The pieces of the blocks of one side, in the order of a buffer in which these would be one after another.
class UserPieces {
 public:
  /// @param blocks  packed once: their places are those in that buffer
  /// @return nothing if the pieces are too many, or types reach too far, for this to be faster than packing by MPI
  static std::optional<UserPieces> of(const TypedBlocks& blocks, const void* users);

  /// The lowest address of any piece; the offsets of a plan that was laid out count from there.
  std::byte* base() const { return base_; }

  /// Calls action(offset from base, bytes) with each piece of a range of that buffer.
  template <class Action>
  void for_each(Bytes offset, Bytes bytes, Action action) const {
    auto part = find(offset);
    while (bytes > 0) {
      const Bytes skipped = offset - part->at, taken = std::min(bytes, part->bytes - skipped);
      action(part->memory + skipped, taken);
      offset += taken;
      bytes -= taken;
      ++part;
    }
  }

 private:
  struct Part {
    Bytes at = 0;      ///< in the buffer
    Bytes memory = 0;  ///< from base
    Bytes bytes = 0;
  };
  std::vector<Part>::const_iterator find(Bytes offset) const;

  std::byte* base_ = nullptr;
  std::vector<Part> parts_;
};

/// Puts these pieces in the place of the buffers of a plan. Messages that stay in pieces (stays_in_pieces) then take no
/// room in buffers of ours. Null: that side is a buffer of the user's.
void lay_out(Plan& plan, const UserPieces* sends, const UserPieces* receives, const Machine& machine);

}  // namespace commpass
