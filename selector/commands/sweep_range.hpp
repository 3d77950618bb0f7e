// The text of --sweep: which keys, over which values.
#pragma once

#include <cstdint>
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

/// @param where  the switch, for errors
/// @throws InputError that lists the keys
const SweepKey& sweep_key(const std::string& name, const std::string& where);

/// One key and the values that it takes.
struct SweepRange {
  std::string key;
  std::vector<std::int64_t> values;
};

/// Reads "KEY=a..b[:xF|:+S][,KEY=…]". Without a step values double; those of `dims` grow by one. b is the last value
/// where it is met, and is not passed.
/// @throws InputError, also for more points than are priced in minutes
std::vector<SweepRange> parse_sweep(const std::string& text);

}  // namespace commpass
