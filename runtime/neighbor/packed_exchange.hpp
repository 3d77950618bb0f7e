// An exchange of typed blocks: those with gaps are packed before it and unpacked after it. Private to the runtime.
#pragma once

#include <optional>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/typed_blocks.hpp"
#include "runtime/neighbor/neighbor_exchange.hpp"

namespace commpass {

struct PackedExchange {
  TypedBlocks sends, receives;
  const void* send_buffer = nullptr;  ///< the user's, as the next one
  void* receive_buffer = nullptr;
  std::optional<Exchange> exchange;  ///< of the bytes of these blocks
  bool in_flight = false;

  PackedExchange() = default;
  PackedExchange(const PackedExchange&) = delete;
  PackedExchange& operator=(const PackedExchange&) = delete;
  ~PackedExchange() {
    if (!in_flight || !mpi_is_usable()) return;
    try {
      wait();
    } catch (...) {  // NOLINT: a destructor cannot report it
    }
  }

  void start() {
    if (!in_flight) sends.pack(send_buffer);
    exchange->start();
    in_flight = true;
  }
  bool test() {
    const bool is_complete = exchange->test();
    if (is_complete) unpack();
    return is_complete;
  }
  void wait() {
    exchange->wait();
    unpack();
  }
  Bytes buffer_bytes() const { return exchange->buffer_bytes() + sends.packed_bytes() + receives.packed_bytes(); }

 private:
  /// Once for each exchange.
  void unpack() {
    if (in_flight) receives.unpack(receive_buffer);
    in_flight = false;
  }
};

}  // namespace commpass
