// Memory that ranks share.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <utility>

namespace commpass {

/// Memory that all ranks of a communicator share, at an address of its own on each. Move-only. Each rank frees it
/// alone, and no file of it is left, even of ranks that are killed.
class SharedMapping {
 public:
  SharedMapping() = default;
  ~SharedMapping();
  SharedMapping(SharedMapping&& other) noexcept : all_(std::exchange(other.all_, {})) {}
  SharedMapping& operator=(SharedMapping&& other) noexcept {
    std::swap(all_, other.all_);
    return *this;
  }

  /// Has as many bytes for each rank, in rank order, all zero, where all ranks can share them; elsewhere none. Takes at
  /// most half of the bytes that the system has left for that, so that the MPI library has memory, too. Each rank's
  /// bytes are near its core. Collective, blocks. @throws MpiError
  void open(MPI_Comm comm, std::size_t bytes_of_each);

  std::span<std::byte> all() const { return all_; }  ///< from the begin of a page

 private:
  std::span<std::byte> all_;
};

}  // namespace commpass
