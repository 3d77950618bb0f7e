// Which byte goes where when MPI moves bytes by a datatype.
#pragma once

#include <cstddef>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// Numbers the bytes of a memory, has them moved, and reads the numbers again, a digit of 8 bits at a time.
/// @param from_bytes, to_bytes  of the memories; every byte of the latter is written by each move
/// @param move                  called with both memories, once for each digit
/// @return for each byte of the second memory the number of the byte in the first one that it comes from
/// @throws what `move` throws, std::bad_alloc
template <class Move>
std::vector<Bytes> traced_bytes(std::size_t from_bytes, std::size_t to_bytes, Move move) {
  constexpr int digit_bits = 8;
  std::vector<std::byte> from(from_bytes), to(to_bytes);
  std::vector<Bytes> numbers(to_bytes, 0);
  for (int shift = 0; shift == 0 || from_bytes >> shift > 0; shift += digit_bits) {
    for (std::size_t i = 0; i < from_bytes; ++i) from[i] = static_cast<std::byte>(i >> shift);
    move(from, to);
    for (std::size_t i = 0; i < to_bytes; ++i) numbers[i] |= std::to_integer<Bytes>(to[i]) << shift;
  }
  return numbers;
}

}  // namespace commpass
