// Fits and measured times in the provenance of a calibrated profile.
#pragma once

#include <string>
#include <vector>

#include "model/base/types.hpp"
#include "model/machine/profile.hpp"
#include "pictures/svg.hpp"
#include "selector/report/document.hpp"

namespace commpass {

struct MeasuredPrice {
  std::string strategy;
  Seconds predicted_s = 0, measured_s = 0;
  std::string exchange{};  ///< its name if there are several

  /// Are both from 1e-12 to 1e6 s? Files may have other numbers.
  bool can_be_drawn() const;
};

/// The times in the output of `measure --json` that can be drawn.
/// @param origin  the name of the file, for errors
/// @throws InputError
std::vector<MeasuredPrice> read_measured_prices(const std::string& json, const std::string& origin);

/// A point for each, the diagonal, and a band of 15 % around it.
/// @param prices  at least one
Picture draw_measured(const std::vector<MeasuredPrice>& prices, const Frame& frame = "measured");

/// The intervals of α and β of one level and protocol.
struct FittedInterval {
  std::string level, protocol;
  int sizes = 0;  ///< number of message sizes in the fit
  double median_relative_error = 0;
  double alpha_s[2]{}, beta_s_per_byte[2]{};
};

/// The measured time of a lone message, and its interval.
struct TimedMessage {
  std::string level;
  double bytes = 0, seconds = 0, low_s = 0, high_s = 0;
};

/// The time of a message if several pairs of ranks send at once.
struct TimedPairs {
  int pairs = 0;
  double seconds = 0, low_s = 0, high_s = 0;
};

/// The measurements of a rate that ranks share.
struct TimedSharing {
  std::string parameter;
  double bytes = 0;  ///< of each message
  std::vector<TimedPairs> points;
};

/// Users may edit a provenance, so these skip entries of other forms, and times beyond the axes.
std::vector<FittedInterval> fitted_intervals(const Profile& profile);
std::vector<TimedMessage> timed_messages(const Profile& profile);
std::vector<TimedSharing> timed_sharing(const Profile& profile);
std::vector<MeasuredPrice> held_out_prices(const Profile& profile);

}  // namespace commpass
