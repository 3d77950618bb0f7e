// A pattern in numbers, for people. Self edges and edges of 0 bytes do not count as messages.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/pattern/pattern.hpp"

namespace commpass {

/// A number that every rank has, over all ranks.
struct Spread {
  std::int64_t min = 0, max = 0;
  double mean = 0;
  /// max ÷ mean: 1 if all ranks have the same.
  double imbalance() const { return mean > 0 ? static_cast<double>(max) / mean : 1; }
};

struct Traffic {
  std::int64_t messages = 0;
  Bytes bytes = 0;
  bool operator==(const Traffic&) const = default;
};

/// The messages of `least` to `most` bytes, `most` being 2·least − 1.
struct SizeClass {
  Bytes least = 0, most = 0;
  Traffic traffic;
};

/// What the edges of two ranks have in common with those of the way back.
enum class Symmetry {
  sizes,  ///< as many bytes back
  pairs,  ///< something comes back, for some pairs another number of bytes
  none
};
/// "sizes", "pairs", "none".
const char* name_of(Symmetry symmetry);

/// Messages between ranks whose innermost common level this is.
struct LevelTraffic {
  std::string name;
  Traffic traffic;
  bool operator==(const LevelTraffic&) const = default;
};

struct PatternStatistics {
  int ranks = 0;
  int idle_ranks = 0;  ///< ranks that neither send nor receive
  Traffic total;
  Bytes repeated_bytes = 0;      ///< of the total, what a rank also sends to a rank before: the same payload
  Bytes self_bytes = 0;          ///< what ranks owe themselves
  std::int64_t empty_edges = 0;  ///< edges of 0 bytes between two ranks
  Spread sends, receives;        ///< messages of a rank
  Spread send_bytes, receive_bytes;
  Bytes message_bytes_min = 0, message_bytes_median = 0, message_bytes_max = 0;
  std::vector<SizeClass> sizes;  ///< from small to large, without empty classes
  Symmetry symmetry = Symmetry::sizes;
  std::vector<LevelTraffic> by_level;  ///< with a layout, innermost first
};

/// @param layout  of as many ranks as the pattern; null: not known
PatternStatistics statistics(const Pattern& pattern, const Layout* layout = nullptr);

}  // namespace commpass
