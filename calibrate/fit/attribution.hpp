// Attributes the time of a further message to its sender's processor, its sender's link, its receiver's processor, or a
// rate that ranks share: to the one that takes longest. No MPI.
#pragma once

#include <array>
#include <limits>
#include <span>

#include "calibrate/fit/fit.hpp"
#include "model/base/types.hpp"

namespace commpass {

/// A further message of a burst, of one size.
struct SentStep {
  Bytes bytes = 0;
  Seconds step_s = 0;     ///< by which the burst ends later
  Seconds posting_s = 0;  ///< by which its sends are posted later
};
/// A small and a large one of a protocol.
using SentSteps = std::array<SentStep, 2>;

/// The rate at which the messages of one rank move together: that of the largest messages that take at least twice as
/// long to move as to post.
/// @return infinity where there are none: then the processor moves them
double fit_link_rate(std::span<const SentSteps> protocols);

/// Upper bounds of a further message, by lone messages: its alpha is at most theirs. The largest size takes at most
/// twice the time of a lone message, as caches may not hold a burst of them.
struct LoneMessages {
  Line line{std::numeric_limits<double>::infinity(), 0};
  Bytes most_bytes = std::numeric_limits<Bytes>::max();  ///< the largest size; the last protocol has none
};

/// o_s and its slope: until a message is posted, or, where neither posting nor the link explains the step, until it has
/// moved.
Line fit_sending(const SentSteps& steps, double link_rate_bytes_per_s, const LoneMessages& lone = {});

/// A further message to one receiver, of one size.
struct TakenStep {
  Bytes bytes = 0;
  Seconds step_s = 0;       ///< by which the receiver has all later
  Seconds explained_s = 0;  ///< time of its sender, or of a rate that the senders share
};
using TakenSteps = std::array<TakenStep, 2>;

/// A further message each way between two ranks, of one size.
struct CrossedStep {
  Bytes bytes = 0;
  Seconds step_s = 0;                                         ///< by which a rank has sent and has all later
  Seconds sending_s = 0;                                      ///< time of its processor for the send
  Seconds moving_s = 0;                                       ///< time of the link
  Seconds once_s = std::numeric_limits<Seconds>::infinity();  ///< of a single message each way, which caches hold
};

/// o_r of a rank that also sends: the step less its sending. 0 if sending or the link explains the step.
Seconds fit_taking_beside_sending(const CrossedStep& step);
/// o_r and its slope, of a small and a large message. If the link hides the large message, it costs as much as the
/// small one.
Line fit_taking_beside_sending(const std::array<CrossedStep, 2>& steps, const LoneMessages& lone);

/// o_r and its slope. If o_r of smaller messages and the explained time add up to the step, o_r is that of smaller
/// messages: messages that arrive at once are received one after the other. If the explained time is the step, o_r is
/// 0.
/// @param known_s  o_r of the protocol before, or beside sending; 0 if unknown
Line fit_taking(const TakenSteps& steps, Seconds known_s, const LoneMessages& lone = {});

}  // namespace commpass
