// Statistics of measured numbers.
#pragma once

#include <vector>

namespace commpass {

/// The median of a non-empty sample: of an even number of values the mean of the middle two.
double median(std::vector<double> sample);
/// Of an even number of values the lower of the middle two.
double lower_median(std::vector<double> sample);

}  // namespace commpass
