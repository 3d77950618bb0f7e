#include "runtime/alltoall/growing_memory.hpp"

#include <algorithm>
#include <exception>

namespace commpass {

bool GrowingMemory::try_reserve(Bytes bytes, Memory& from) noexcept {
  if (bytes <= capacity_) return true;
  const Bytes wanted = std::max(bytes, 2 * capacity_);
  try {
    memory_ = from.allocate(wanted);
  } catch (const std::exception&) {  // std::bad_alloc, or a device's
    return false;
  }
  capacity_ = wanted;
  return true;
}

}  // namespace commpass
