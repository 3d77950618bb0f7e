// Messages of any size by MPI calls with int counts.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "model/base/types.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

/// Bytes of the largest message without a derived datatype. Tests lower it.
inline Bytes largest_mpi_count = std::numeric_limits<int>::max();

struct MemoryPiece {
  std::byte* begin;
  int bytes;
};

/// A number of bytes as a count of a datatype, which is freed with this. Move-only.
class MessageType {
 public:
  /// @throws MpiError
  explicit MessageType(Bytes bytes);
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

/// Begins to send or receive bytes of any number. @param is_synchronous  complete when it has arrived
/// @throws MpiError
inline void send_bytes(const void* at, Bytes bytes, Rank peer, int tag, MPI_Comm comm, MPI_Request* request,
                       bool is_synchronous = false) {
  const MessageType type(bytes);
  const auto begin_send = is_synchronous ? MPI_Issend : MPI_Isend;
  check_mpi("MPI_Isend", begin_send(at, type.count(), type.type(), peer, tag, comm, request));
}
inline void receive_bytes(void* at, Bytes bytes, Rank peer, int tag, MPI_Comm comm, MPI_Request* request) {
  const MessageType type(bytes);
  COMMPASS_MPI_CALL(MPI_Irecv, at, type.count(), type.type(), peer, tag, comm, request);
}

/// Begins to receive a message for which there is no memory, so that its sender goes on: its bytes overwrite each other
/// in a small buffer. @throws MpiError
void receive_and_discard(Bytes bytes, Rank peer, int tag, MPI_Comm comm, MPI_Request* request);

}  // namespace commpass
