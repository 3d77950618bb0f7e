// Memory of a size that only grows.
#pragma once

#include <cstddef>

#include "model/base/types.hpp"
#include "runtime/execute/memory.hpp"

namespace commpass {

/// Memory that keeps its size from one use to the next, and is not set to anything.
class GrowingMemory {
 public:
  /// Room for `bytes` bytes; the contents are lost if it has to grow.
  /// @param from  the same every time
  /// @return false, and it is as it was, where there is no memory
  bool try_reserve(Bytes bytes, Memory& from) noexcept;
  std::byte* data() const { return memory_.get(); }

 private:
  Memory::Buffer memory_;
  Bytes capacity_ = 0;
};

}  // namespace commpass
