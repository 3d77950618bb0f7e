// A persistent exchange of elements of MPI datatypes, block after block.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
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
class TypedExchange {
 public:
  /// Begins an exchange; see Exchange::start. @throws Error
  void start() { exchange_.start(); }
  /// Begins an exchange with other buffers than the planned ones, with the same blocks at the same offsets.
  /// @throws InputError for other buffers, unless it was planned for any (ExchangeOptions::any_buffers); Error
  void start(const void* send_buffer, void* receive_buffer);
  /// @return true when it is complete. @throws Error
  bool test() { return exchange_.test(); }
  /// Completes it. @throws Error
  void wait() { exchange_.wait(); }

  /// As those of Exchange.
  const std::string& strategy() const { return exchange_.strategy(); }
  std::optional<Seconds> predicted_seconds() const { return exchange_.predicted_seconds(); }
  const std::string& explanation() const { return exchange_.explanation(); }
  /// Bytes of the buffers that this rank holds besides the user's, those for datatypes with gaps among them.
  Bytes buffer_bytes() const { return exchange_.buffer_bytes(); }

  /// Communicator::typed_neighbor_exchange makes one. @param packed  those of the exchange
  TypedExchange(Exchange exchange, PackedRequests* packed, bool any_buffers)
      : exchange_(std::move(exchange)), packed_(packed), any_buffers_(any_buffers) {}

 private:
  Exchange exchange_;
  PackedRequests* packed_;
  bool any_buffers_;
};

}  // namespace commpass
