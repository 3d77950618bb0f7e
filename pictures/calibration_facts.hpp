// What a calibrated profile tells of its own making: how sure its lines are, and exchanges that nothing was fitted to.
#pragma once

#include <string>
#include <vector>

#include "model/machine/profile.hpp"
#include "pictures/measured_scatter.hpp"

namespace commpass {

/// Of a fitted line of one level and protocol: the bounds between which alpha and beta lie.
struct FittedInterval {
  std::string level, protocol;
  int sizes = 0;  ///< of messages that it was fitted to
  double median_relative_error = 0;
  double alpha_s[2]{}, beta_s_per_byte[2]{};
};

/// A lone message as it was timed, and the interval of its time.
struct TimedMessage {
  std::string level;
  double bytes = 0, seconds = 0, low_s = 0, high_s = 0;
};

/// So many pairs of ranks that sent at once, and the time of a message of each.
struct TimedPairs {
  int pairs = 0;
  double seconds = 0, low_s = 0, high_s = 0;
};

/// How a rate that ranks share was looked for.
struct TimedSharing {
  std::string parameter;
  double bytes = 0;  ///< of each message
  std::vector<TimedPairs> points;
};

/// Those of the profile's provenance. Provenance is free: what is not as calibrate writes it is passed over, and
/// so are times that cannot be drawn.
std::vector<FittedInterval> fitted_intervals(const Profile& profile);
std::vector<TimedMessage> timed_messages(const Profile& profile);
std::vector<TimedSharing> timed_sharing(const Profile& profile);
std::vector<MeasuredPrice> held_out_prices(const Profile& profile);

}  // namespace commpass
