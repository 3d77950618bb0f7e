// How far this process is with pricing strategies by the edges of patterns: for those who wait.
#pragma once

#include <atomic>
#include <cstdint>

namespace commpass {

struct PricingProgress {
  std::atomic<std::int64_t> asked = 0, priced = 0;  ///< strategies, in full or by some ranks alone
};

/// That of the process.
inline PricingProgress& pricing_progress() {
  static PricingProgress progress;
  return progress;
}

}  // namespace commpass
