// The oracle: what buffers hold before an exchange, and must hold after it. Every byte is a function of whose buffer it
// is in, and where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/base/types.hpp"
#include "runtime/random/draw.hpp"

namespace commpass::random_test {

/// An error, in a sentence.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Bytes before and after the used part of a buffer: as many as keep any type aligned.
inline constexpr Bytes guard_bytes = 32;

/// The byte at a position of the buffer with a key.
inline std::byte byte_at(std::uint64_t key, Bytes position) {
  return static_cast<std::byte>(mix(key ^ static_cast<std::uint64_t>(position) * 0x2545F4914F6CDD1DU) >> 56U);
}

using Buffer = std::vector<std::byte>;

/// A buffer of `bytes` bytes, guards included, as its key says.
Buffer filled(std::uint64_t key, Bytes bytes);
void fill(Buffer& buffer, std::uint64_t key);

/// @throws Failure that says where they differ first, and by how many bytes
void require_equal(const std::string& what, std::span<const std::byte> found, std::span<const std::byte> expected);

}  // namespace commpass::random_test
