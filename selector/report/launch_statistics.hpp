// Statistics over several launches of `calibrate`: intervals of α and β, and the error of predictions across launches.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/base/json_fwd.hpp"
#include "model/machine/machine.hpp"
#include "model/machine/profile.hpp"

namespace commpass {

using Interval = std::pair<double, double>;

/// Prediction intervals of α and β for one more launch, with a probability of 95 %.
struct LaunchInterval {
  std::string protocol;
  Interval alpha_s, beta_s_per_byte;
};

/// One for each protocol of `kept`. A launch enters by the line through its times at both ends of the protocol's sizes,
/// whatever its own protocols are. The interval is Student's prediction interval of the logarithms; of the values
/// themselves if one of them is 0 or less.
/// @param launches  two channels or more, `kept` among them
std::vector<LaunchInterval> intervals_over(const Channel& kept, std::span<const Channel* const> launches);

/// The intervals in the provenance of a profile, by name: levels.socket.host.eager.alpha_s.
std::map<std::string, Interval> intervals_of(const Profile& profile);

/// Compares the prediction of each held-out exchange with its time in the other launches. Calibrations of one layout
/// draw the same held-out exchanges.
/// @param provenances  of profiles of one launch each
/// @return the median of the factors between both, less 1; nothing if no two launches ran the same exchange
std::optional<double> miss_between_launches(std::span<const Json> provenances);

}  // namespace commpass
