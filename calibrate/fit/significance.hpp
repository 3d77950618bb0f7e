// When is a number that was fitted to noisy samples not 0? No MPI.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>

namespace commpass {

/// A number and its standard deviation.
struct Estimate {
  double value = 0;
  double deviation = 0;
};

/// How many standard deviations below 0 an estimate has to be that contradicts what was known before: noise goes so far
/// in one case of a thousand (Student's t, one side, 0.1 %).
/// @param freedom  samples beyond the parameters that were fitted to them
inline double contradicting_deviations(std::ptrdiff_t freedom) {
  constexpr std::array few{318.3, 22.33, 10.21, 7.173, 5.893, 5.208, 4.785, 4.501, 4.297, 4.144};
  constexpr double many = 4;
  if (freedom < 1) return few.front();
  return freedom <= std::ssize(few) ? few[static_cast<std::size_t>(freedom) - 1] : many;
}

}  // namespace commpass
