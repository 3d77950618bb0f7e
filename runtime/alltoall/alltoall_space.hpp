// The memory in which an all-to-all takes place: what it forwards and packs lies there. Private to the runtime.
#pragma once

#include <exception>

#include "runtime/execute/memory.hpp"

namespace commpass {

/// Host memory, or that of a device. Kept from one exchange to the next, it takes no memory where no more is needed.
struct AlltoallSpace {
  Memory* memory = &host_memory();
  GrowingMemory slots, packing;
  GrowingMemory in_place;  ///< of blocks that are sent from a receive buffer

  bool is_on_device() const { return memory != &host_memory(); }
  /// Where there is no memory, false.
  bool try_reserve(GrowingMemory& which, Bytes bytes) noexcept {
    try {
      which.reserve(bytes, [&](Bytes wanted) { return memory->allocate(wanted); });
      return true;
    } catch (const std::exception&) {  // std::bad_alloc, or a device's
      return false;
    }
  }
};

}  // namespace commpass
