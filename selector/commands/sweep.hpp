// predict --sweep: the same prediction over ranges of a pattern's, a layout's or a strategy's values.
#pragma once

#include <vector>

#include "selector/commands/prediction.hpp"
#include "selector/commands/sweep_range.hpp"
#include "selector/report/sweep_report.hpp"

namespace commpass {

/// Predicts every combination of values. All-to-alls are priced in closed form, as far as the named strategies have
/// one, so that all points are priced alike.
/// @throws InputError, also if a key does not fit the pattern or the strategies
SweepReport run_sweep(const PredictArguments& arguments, const std::vector<SweepRange>& ranges);

}  // namespace commpass
