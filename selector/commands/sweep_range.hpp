// The text of --sweep: which keys, over which values.
#pragma once

#include <string>
#include <vector>

namespace commpass {

/// What a key changes, and which strategies are meant where none is named.
struct SweepKey {
  const char* name;
  bool is_size;         // may be written as 4KiB
  bool is_of_strategy;  // otherwise of the pattern or the layout
  const char* parameter;
  std::vector<std::string> routes;
};

/// The key for ranks that share one problem: bytes shrink as ranks grow.
inline constexpr const char* strong_ranks = "strong-ranks";

/// One key and the values that it takes, ascending.
struct SweepRange {
  std::string key;                ///< of a parameter of the profile "KEY=" for values, "KEY*" for factors
  std::vector<double> values;     ///< integers, unless it is a parameter of the profile
  const SweepKey* row = nullptr;  ///< null: a parameter of the profile, which --set takes as key and value in a row
};

/// Reads "KEY=a..b[:xF|:+S|:N][,KEY=…]", or a list "KEY=a,b,c" of values and ranges. Without a step values double;
/// those of `dims` grow by one; `:N` is N values at equal ratios. b is the last value where it is met, and is not
/// passed. Any other KEY than those of the table is a parameter of the profile; its values may be factors,
/// "KEY=*0.5..*2".
/// @throws InputError, also for more points than are priced in minutes
std::vector<SweepRange> parse_sweep(const std::string& text);

/// The assignment of --set for a value of a parameter: "network.alpha_s*0.5".
std::string assignment_of(const SweepRange& range, double value);

}  // namespace commpass
