// Where one protocol ends and the next begins, a larger message takes no less time. No MPI.
#pragma once

#include <span>
#include <vector>

#include "calibrate/fit/fit.hpp"

namespace commpass {

/// Lines through the same points that do not fall from one segment to the next, but where the points leave no doubt
/// that time does. Where they do not fall, they stay as they are; otherwise all are fitted anew, together.
/// @param points    sorted by growing size
/// @param segments  whose max_bytes are final
/// @return the lines of the segments
std::vector<Line> hold_at_switches(std::span<const SizePoint> points, std::span<const Segment> segments);

/// The protocols that segments tell, the last for messages of any size; their lines become those that are held.
std::vector<Protocol> protocols_of(std::span<const SizePoint> points, std::span<Segment> segments);

}  // namespace commpass
