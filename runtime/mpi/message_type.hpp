// A message of any size as an MPI call with an int count wants it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "model/base/types.hpp"

namespace commpass {

/// The most bytes that one MPI count may stand for; larger messages use a derived datatype.
inline constexpr Bytes largest_mpi_count = std::numeric_limits<int>::max();

struct MemoryPiece {
  std::byte* begin;
  int bytes;
};

/// So many bytes as a count of a datatype, which is freed with this. Move-only.
class MessageType {
 public:
  /// @throws MpiError
  explicit MessageType(Bytes bytes, Bytes largest_count = largest_mpi_count);
  /// Bytes that lie in pieces, sent from or received at MPI_BOTTOM. @throws MpiError
  explicit MessageType(std::span<const MemoryPiece> pieces);
  ~MessageType();
  MessageType(MessageType&& other) noexcept
      : count_(other.count_), own_(std::exchange(other.own_, MPI_DATATYPE_NULL)) {}
  MessageType& operator=(MessageType&&) = delete;

  int count() const { return count_; }
  MPI_Datatype type() const { return own_ == MPI_DATATYPE_NULL ? MPI_BYTE : own_; }

 private:
  int count_ = 0;
  MPI_Datatype own_ = MPI_DATATYPE_NULL;
};

}  // namespace commpass
