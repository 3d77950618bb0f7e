// A persistent exchange of elements of MPI datatypes, block after block.
#pragma once

#include <mpi.h>

#include <utility>

#include "runtime/neighbor/neighbor_exchange.hpp"

namespace commpass {

class PackedRequests;

/// Elements that a rank receives from another one, or sends to it.
struct TypedBlock {
  Rank peer = 0;
  Bytes offset = 0;  ///< of the first element, in bytes from the begin of the buffer; may be negative
  Bytes count = 0;   ///< of elements
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// Planned once, run many times with the same blocks. Move-only. Destroying it completes an exchange in flight, so
/// buffers and datatypes must outlive it. Types with gaps are packed into our buffers; others move from and to the
/// user's.
class TypedExchange : public Exchange {
 public:
  using Exchange::start;
  /// Begins an exchange with other buffers than the planned ones, with the same blocks at the same offsets.
  /// @throws InputError for other buffers, unless it was planned for any (ExchangeOptions::any_buffers); Error
  void start(const void* send_buffer, void* receive_buffer);

  /// Communicator::typed_neighbor_exchange makes one. @param packed  those of the exchange
  TypedExchange(Exchange exchange, PackedRequests* packed, bool any_buffers)
      : Exchange(std::move(exchange)), packed_(packed), any_buffers_(any_buffers) {}

 private:
  PackedRequests* packed_;
  bool any_buffers_;
};

}  // namespace commpass
