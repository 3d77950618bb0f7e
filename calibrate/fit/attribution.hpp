// Whose time one more message takes: its sender's processor, its sender's link, its receiver's processor, or what many
// ranks share. Each is seen where it takes longest. No MPI.
#pragma once

#include <array>
#include <limits>
#include <span>

#include "calibrate/fit/fit.hpp"
#include "model/base/types.hpp"

namespace commpass {

/// One more message of a burst, of one size.
struct SentStep {
  Bytes bytes = 0;
  Seconds step_s = 0;     ///< by which the burst ends later
  Seconds posting_s = 0;  ///< by which its sends are posted later
};
/// A small and a large one of a protocol.
using SentSteps = std::array<SentStep, 2>;

/// The rate at which the messages of one rank move together: that of the largest messages that take much longer to move
/// than to post.
/// @return infinity where there are none: then the processor moves them
double fit_link_rate(std::span<const SentSteps> protocols);

/// What is known of a message before it is looked at in a burst: the times of lone ones. One more of them keeps a
/// processor no longer than the whole way of a lone one takes: no more than its α, and where messages are largest,
/// whose bytes a cache may no longer hold, no more than twice as long.
struct LoneMessages {
  Line line{std::numeric_limits<double>::infinity(), 0};
  Bytes most_bytes = std::numeric_limits<Bytes>::max();  ///< the largest; of the last protocol no size is
};

/// What the processor of a sender is busy: until a message is posted, or, where neither that nor the link explains how
/// long a message takes, until it has moved.
Line fit_sending(const SentSteps& steps, double link_rate_bytes_per_s, const LoneMessages& lone = {});

/// One more message for one receiver, of one size.
struct TakenStep {
  Bytes bytes = 0;
  Seconds step_s = 0;       ///< by which the receiver has all later
  Seconds explained_s = 0;  ///< which it takes anyhow: its sender, or what the senders share
};
using TakenSteps = std::array<TakenStep, 2>;

/// One more message each way between two ranks, of one size.
struct CrossedStep {
  Bytes bytes = 0;
  Seconds step_s = 0;     ///< by which a rank has sent and has all later
  Seconds sending_s = 0;  ///< which its processor sends one
  Seconds moving_s = 0;   ///< which one takes to move on its own
  Seconds once_s =
      std::numeric_limits<Seconds>::infinity();  ///< that a single one each way takes, of which many may fill caches
};

/// What taking in a message keeps a processor busy that also sends one: what a message each way takes beyond being
/// sent; 0 where that is hardly anything, or where no more is seen than that messages move.
Seconds fit_taking_beside_sending(const CrossedStep& step);
/// The same of a small and a large message. Where messages move for as long as a large one is taken in, it costs as
/// much as a small one.
Line fit_taking_beside_sending(const std::array<CrossedStep, 2>& steps, const LoneMessages& lone);

/// What the processor of a receiver is busy. Where it is busy for as long as for smaller messages, and others explain
/// the rest, that is it; for messages that arrive all at once, one comes after the other. What others explain alone is
/// taken to cost nothing.
/// @param known_s  what it is busy as far as others tell: for a message of the protocol before, or beside sending; 0 if
/// nothing does
Line fit_taking(const TakenSteps& steps, Seconds known_s, const LoneMessages& lone = {});

}  // namespace commpass
