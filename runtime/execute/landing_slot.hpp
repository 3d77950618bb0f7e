// A place in shared memory where a message lands, and how sender and receiver keep it in order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "model/base/types.hpp"

namespace commpass {

/// A number in shared memory that one rank writes and others read.
///
/// Why no byte is read too early or overwritten too late: a sender copies a payload, then raises the flag of its slot
/// to the number of the exchange (release). The receiver that reads this number (acquire) sees the payload. It copies
/// the payload out before it raises any number itself: its own count of exchanges that it has taken in, or the flag of
/// a message of the next exchange. A sender uses a slot again two exchanges later, and ends the exchange between only
/// when it has read (acquire) one of these numbers of the receiver, so its copies come after the receiver's. C++ orders
/// atomics between threads; those that are free of locks work by address, so they order processes that share memory,
/// too. Nothing else synchronises them: no window, no fence, no call of MPI.
class SharedNumber {
 public:
  /// @param from  its value, from which numbers count
  explicit SharedNumber(std::byte* at, std::uint64_t from = 0)
      : at_(reinterpret_cast<std::uint64_t*>(at)), from_(from) {}  // NOLINT: aligned
  void raise(std::uint64_t number) const { atomic().store(from_ + number, std::memory_order_release); }
  std::uint64_t value() const { return atomic().load(std::memory_order_acquire); }
  bool has_reached(std::uint64_t number) const { return value() >= from_ + number; }
  static constexpr std::size_t bytes = sizeof(std::uint64_t);

 private:
  std::atomic_ref<std::uint64_t> atomic() const { return std::atomic_ref(*at_); }
  static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);
  std::uint64_t* at_;
  std::uint64_t from_;
};

/// Whole cache lines: a payload from the begin on, and the flag at the end, so that in short messages one line has
/// both.
struct LandingSlot {
  std::byte* begin = nullptr;
  Bytes bytes = 0;

  static constexpr Bytes line = 64;
  static Bytes bytes_for(Bytes payload) {
    return (payload + static_cast<Bytes>(SharedNumber::bytes) + line - 1) / line * line;
  }
  SharedNumber flag() const { return SharedNumber(begin + bytes - SharedNumber::bytes); }
};

}  // namespace commpass
