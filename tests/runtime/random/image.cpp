#include "runtime/random/image.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace commpass::random_test {

void fill(Buffer& buffer, std::uint64_t key) {
  for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = byte_at(key, static_cast<Bytes>(i));
}

Buffer filled(std::uint64_t key, Bytes bytes) {
  Buffer buffer(static_cast<std::size_t>(bytes));
  fill(buffer, key);
  return buffer;
}

void require_equal(const std::string& what, std::span<const std::byte> found, std::span<const std::byte> expected) {
  if (found.size() != expected.size())
    throw Failure(fmt::format("{} has {} bytes and must have {}", what, found.size(), expected.size()));
  if (std::ranges::equal(found, expected)) return;
  std::size_t first = found.size(), differing = 0;
  for (std::size_t i = found.size(); i-- > 0;)
    if (found[i] != expected[i]) {
      first = i;
      ++differing;
    }
  throw Failure(fmt::format("{}: {} of {} bytes are wrong, the first at {}: {:#04x}, and must be {:#04x}", what,
                            differing, found.size(), first, static_cast<unsigned>(found[first]),
                            static_cast<unsigned>(expected[first])));
}

}  // namespace commpass::random_test
