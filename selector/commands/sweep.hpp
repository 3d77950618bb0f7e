// predict --sweep: the same prediction over ranges of a pattern's, a layout's or a strategy's values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "selector/commands/prediction.hpp"
#include "selector/report/sweep_report.hpp"

namespace commpass {

/// One key and the values that it takes.
struct SweepRange {
  std::string key;
  std::vector<std::int64_t> values;
};

/// Reads "KEY=a..b[:xF|:+S][,KEY…]". Without a step values double; those of `dims` grow by one. b is the last value
/// where it is met, and is not passed.
/// @throws InputError, also for more points than are priced in minutes
std::vector<SweepRange> parse_sweep(const std::string& text);

/// Predicts every combination of values. All-to-alls are priced in closed form, as far as what is named has one, so
/// that all points are priced alike.
/// @throws InputError, also if a key does not fit the pattern or the strategies
SweepReport run_sweep(const PredictArguments& arguments, const std::vector<SweepRange>& ranges);

}  // namespace commpass
