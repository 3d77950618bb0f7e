// The memory that has the data of an exchange, and its copies. Simulated clusters replace host memory by one that
// charges copies to the simulated clock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

struct LocalCopy {
  const std::byte* from;
  std::byte* to;
  std::size_t bytes;
};

/// Memory that works asynchronously (a device) may return while copies are under way; order() then makes MPI and the
/// copies wait for each other.
class Memory {
 public:
  using Buffer = std::unique_ptr<std::byte[], std::function<void(std::byte*)>>;

  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Uninitialised; null for 0 bytes. From the heap, unless overridden. @throws std::bad_alloc
  virtual Buffer allocate(Bytes bytes) {
    auto* const memory = bytes > 0 ? new std::byte[static_cast<std::size_t>(bytes)] : nullptr;
    return {memory, std::default_delete<std::byte[]>()};
  }
  /// A batch of copies, of which none overlaps another one or its own source.
  virtual void copy(std::span<const LocalCopy> copies) = 0;
  /// After it, MPI and the user may read copied bytes, and copies may read bytes that MPI receives.
  virtual void order() = 0;
  /// Copies a message to or from memory that ranks share; it is there when this returns.
  virtual void push(std::span<const LocalCopy> copies) {
    copy(copies);
    order();
  }

 protected:
  Memory() = default;
  ~Memory() = default;
};

Memory& host_memory();

/// Memory that keeps its size from one use to the next, and is not set to anything.
class GrowingMemory {
 public:
  /// Room for `bytes` bytes; the contents are lost if it has to grow.
  /// @param allocate  gives memory; after an exception of it this is as it was
  template <class Allocate>
  void reserve(Bytes bytes, Allocate allocate) {
    if (bytes <= capacity_) return;
    const Bytes wanted = std::max(bytes, 2 * capacity_);
    memory_ = allocate(wanted);
    capacity_ = wanted;
  }
  std::byte* data() const { return memory_.get(); }

 private:
  Memory::Buffer memory_;
  Bytes capacity_ = 0;
};

/// Copies that are made together. Takes no memory where there is room.
class CopyList {
 public:
  void reserve(std::size_t copies) { copies_.reserve(copies); }
  /// One more, which is a part of the last one if both ends follow it.
  void add(const std::byte* from, std::byte* to, Bytes bytes) {
    if (bytes == 0) return;
    const auto size = static_cast<std::size_t>(bytes);
    if (!copies_.empty() && copies_.back().from + copies_.back().bytes == from &&
        copies_.back().to + copies_.back().bytes == to)
      copies_.back().bytes += size;
    else copies_.push_back({from, to, size});
  }
  /// Makes and forgets them; then they are where they belong.
  void run(Memory& memory) {
    if (copies_.empty()) return;
    memory.copy(copies_);
    memory.order();
    copies_.clear();
  }

 private:
  std::vector<LocalCopy> copies_;
};

/// Copies in host memory, one after another. Source and target of a copy do not overlap.
inline void local_copy(std::span<const LocalCopy> copies) { host_memory().copy(copies); }

/// Likewise, one copy; pointers may be null for 0 bytes.
inline void copy_bytes(const std::byte* from, std::byte* to, Bytes bytes) {
  if (bytes == 0) return;
  const LocalCopy copy{from, to, static_cast<std::size_t>(bytes)};
  local_copy({&copy, 1});
}

/// Likewise, to or from memory that ranks share (Memory::push).
inline void push_bytes(const std::byte* from, std::byte* to, Bytes bytes) {
  if (bytes == 0) return;
  const LocalCopy copy{from, to, static_cast<std::size_t>(bytes)};
  host_memory().push({&copy, 1});
}

}  // namespace commpass
