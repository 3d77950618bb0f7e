#include "runtime/alltoall/growing_memory.hpp"

#include <algorithm>
#include <new>

namespace commpass {

bool GrowingMemory::try_reserve(Bytes bytes) noexcept {
  if (bytes <= capacity_) return true;
  const Bytes wanted = std::max(bytes, 2 * capacity_);
  try {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(wanted));
  } catch (const std::bad_alloc&) {
    return false;
  }
  capacity_ = wanted;
  return true;
}

}  // namespace commpass
