// Where the α and β of messages lie: as one calibration tells, and in one more launch.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/machine/machine.hpp"
#include "model/machine/profile.hpp"

namespace commpass {

/// Where α and β of one more launch lie, with a probability of 95 %.
struct LaunchInterval {
  std::string protocol;
  std::pair<double, double> alpha_s, beta_s_per_byte;
};

/// One for each protocol of `kept`. Of each launch the line counts through its times at both ends of the protocol's
/// sizes, whatever its own protocols are. The interval is Student's, for one value more, of the logarithms; of the
/// values themselves where one is 0 or less.
/// @param launches  two channels or more, `kept` among them
std::vector<LaunchInterval> intervals_over(const Channel& kept, std::span<const Channel* const> launches);

/// The intervals of a profile that its calibration found, by name: levels.socket.host.eager.alpha_s. What is none is
/// left out.
std::map<std::string, std::pair<double, double>> intervals_of(const Profile& profile);

}  // namespace commpass
