// Where the data of an exchange lies, and what moves it there: host memory; on a simulated cluster, one that charges
// copies to the simulated clock.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "model/base/types.hpp"
#include "runtime/execute/local_copy.hpp"

namespace commpass {

/// What the executor asks of the place of its buffers. One that works on its own (a device) may begin what it is asked
/// for and return; then order() makes MPI and the copies wait for each other.
class Memory {
 public:
  using Buffer = std::unique_ptr<std::byte[], std::function<void(std::byte*)>>;

  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Not set to anything; for 0 bytes nothing. From the heap, unless a memory has its own. @throws std::bad_alloc
  virtual Buffer allocate(Bytes bytes) {
    auto* const memory = bytes > 0 ? new std::byte[static_cast<std::size_t>(bytes)] : nullptr;
    return {memory, std::default_delete<std::byte[]>()};
  }
  /// A batch of copies, of which none overlaps another one or its own source.
  virtual void copy(std::span<const LocalCopy> copies) = 0;
  /// What was copied may be sent, and is there for the user; what comes by MPI from now on may be copied.
  virtual void order() = 0;

 protected:
  Memory() = default;
  ~Memory() = default;
};

Memory& host_memory();

}  // namespace commpass
