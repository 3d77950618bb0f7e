// A contiguous message of any size as MPI wants it.
#pragma once

#include <mpi.h>

#include <limits>

#include "model/types.hpp"

namespace commpass {

/// The most bytes that one MPI count may stand for; larger messages use a derived datatype.
inline constexpr Bytes largest_mpi_count = std::numeric_limits<int>::max();

/// A buffer as a count of a datatype.
class MessageType {
 public:
  /// @throws MpiError
  explicit MessageType(Bytes bytes, Bytes largest_count = largest_mpi_count);
  ~MessageType();
  MessageType(const MessageType&) = delete;
  MessageType& operator=(const MessageType&) = delete;

  int count() const { return count_; }
  /// Requests that use it keep it alive.
  MPI_Datatype type() const { return own_ == MPI_DATATYPE_NULL ? MPI_BYTE : own_; }

 private:
  int count_ = 0;
  MPI_Datatype own_ = MPI_DATATYPE_NULL;
};

}  // namespace commpass
