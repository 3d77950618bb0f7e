#include "model/pattern/pattern_digest.hpp"

#include <fmt/core.h>

#include "model/mixed.hpp"

namespace commpass {

void PatternDigest::add(Rank source, Rank destination, Bytes bytes, int sharers) {
  const auto number = [](auto value) { return static_cast<std::uint64_t>(value); };
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i] += mixed({i, number(source), number(destination), number(bytes), number(sharers)});
}

std::string PatternDigest::text() const { return fmt::format("{:016x}{:016x}", sums[0], sums[1]); }

}  // namespace commpass
