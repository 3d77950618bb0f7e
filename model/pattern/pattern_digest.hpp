// A number that tells patterns apart, to which each rank adds its own edges in any order.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "model/base/types.hpp"

namespace commpass {

/// Two sums modulo 2^64 over all edges. Those of ranks are added up to that of the pattern. Places in memory do not
/// count.
struct PatternDigest {
  std::array<std::uint64_t, 2> sums{};

  /// @param sharers  how many edges of the source have the same bytes, itself among them
  void add(Rank source, Rank destination, Bytes bytes, int sharers);
  /// 32 hexadecimal digits.
  std::string text() const;
};

}  // namespace commpass
