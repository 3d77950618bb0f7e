// Bursts of messages: the time of a further message, at a small and a large size of each protocol.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <vector>

#include "calibrate/calibration.hpp"
#include "calibrate/fit/attribution.hpp"
#include "calibrate/fit/fit.hpp"

namespace commpass {

/// A burst of small or large messages of a protocol.
struct Burst {
  std::size_t protocol = 0;
  bool large = false;
  int messages = 0;
  auto operator<=>(const Burst&) const = default;
};

/// The size of small or large messages of a protocol.
/// @param index  of the protocol in the channel
Bytes size_of(const Calibration& calibration, const Channel& channel, std::size_t index, bool large);

/// The time of a further message in a small and a large burst, for a known γ.
using Steps = std::array<Estimate, 2>;

/// Is a step known to half of itself?
inline bool is_determined(const Estimate& step) { return step.deviation <= step.value / 2; }

LoneMessages lone_messages(const Protocol& protocol);

/// Times bursts of all protocols of a channel.
class Bursts {
 public:
  /// @param at_once  messages in flight for each message that `time` is called with
  /// @param time     called with bytes, messages and repetitions
  template <class Time>
  Bursts(Calibration& calibration, const Channel& channel, double share, double at_once, Time time)
      : at_once_(at_once), protocols_(channel.protocols.size()) {
    for (std::size_t i = 0; i < protocols_; ++i)
      for (const bool large : {false, true})
        for (const int messages : counts) times_[{i, large, messages}];
    calibration.sampler.sample_all(times_, share, [&](const Burst& burst, int, int repetitions) {
      return time(size_of(calibration, channel, burst.protocol, burst.large), burst.messages,
                  std::max(1, repetitions / burst.messages));
    });
  }

  /// Are most series settled?
  bool are_settled() const;
  /// The matching queue, which depends neither on the size nor on the protocol.
  Seconds gamma() const;
  Steps steps(std::size_t protocol, Seconds gamma_s) const;

 private:
  static constexpr std::array counts{8, 16, 24, 32};  // shorter bursts show latency

  std::vector<double> messages() const;
  std::vector<double> seconds(std::size_t protocol, bool large) const;

  double at_once_;
  std::size_t protocols_;
  std::map<Burst, Series> times_;
};

}  // namespace commpass
