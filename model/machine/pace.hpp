// Whether small messages take now what they took when a profile was measured: some machines change their speed.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/machine/profile.hpp"

namespace commpass {

/// Size of the messages that are timed, one at a time.
inline constexpr Bytes pace_bytes = 8;

/// The factor from which on the machine counts as changed, to either side.
inline constexpr double another_pace = 1.5;

/// What one takes between two ranks of a level.
struct Pace {
  std::string level, place;  ///< its name, and place_of it
  Seconds seconds = 0;
};

/// "8 B take 310 ns on a socket, 1.2 us between nodes"
std::string describe_pace(std::span<const Pace> paces);

/// What they took while a profile was measured; empty if it does not tell.
std::vector<Pace> pace_of(const Profile& profile);

/// Where they differ most: one sentence without its full stop; nothing if they do not differ.
std::string pace_warning(std::span<const Pace> then, std::span<const Pace> now);

}  // namespace commpass
