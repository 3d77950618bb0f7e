#include "runtime/alltoall/growing_memory.hpp"

#include <algorithm>
#include <new>

namespace commpass {

std::byte* GrowingMemory::reserve(Bytes bytes) {
  if (bytes > capacity_) {
    auto larger = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(std::max(bytes, 2 * capacity_)));
    capacity_ = std::max(bytes, 2 * capacity_);
    memory_ = std::move(larger);
  }
  return memory_.get();
}

bool GrowingMemory::try_reserve(Bytes bytes) noexcept {
  try {
    reserve(bytes);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace commpass
