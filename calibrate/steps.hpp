// By how much one more message makes a burst longer, at a small and a large size of every protocol.
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

/// What is varied in bursts: the protocol, a small or a large message of it, and how many.
struct Burst {
  std::size_t protocol = 0;
  bool large = false;
  int messages = 0;
  auto operator<=>(const Burst&) const = default;
};

/// The size of its messages.
Bytes size_of(const Channel& channel, Bytes largest, const Burst& burst);

/// By how much one more message makes a small and a large burst longer, where γ is known.
using Steps = std::array<Estimate, 2>;

/// A step that noise does not hide: known to half of itself.
inline bool is_determined(const Estimate& step) { return step.deviation <= step.value / 2; }

/// What lone messages of a protocol take.
LoneMessages lone_messages(const Protocol& protocol);

/// Bursts of all protocols of a channel.
class Bursts {
 public:
  /// Times them.
  /// @param at_once  messages that are under way for each that `time` is asked for
  /// @param time     called with bytes, messages and repetitions
  template <class Time>
  Bursts(Calibration& calibration, const Channel& channel, double share, double at_once, Time time)
      : at_once_(at_once), protocols_(channel.protocols.size()) {
    const Bytes largest = calibration.options.largest_bytes;
    for (std::size_t i = 0; i < protocols_; ++i)
      for (const bool large : {false, true})
        for (const int messages : counts) times_[{i, large, messages}];
    calibration.sampler.sample_all(times_, share, [&](const Burst& burst, int, int repetitions) {
      return time(size_of(channel, largest, burst), burst.messages, std::max(1, repetitions / burst.messages));
    });
  }

  /// Are most times known?
  bool are_settled() const;
  /// The queue's growth, which depends neither on the size nor on the protocol.
  Seconds gamma() const;
  Steps steps(std::size_t protocol, Seconds gamma_s) const;

 private:
  static constexpr std::array counts{8, 16, 24, 32};  // of fewer the way there shows

  std::vector<double> messages() const;
  std::vector<double> seconds(std::size_t protocol, bool large) const;

  double at_once_;
  std::size_t protocols_;
  std::map<Burst, Series> times_;
};

}  // namespace commpass
