// Many messages at once: what each further one costs its sender and its receiver.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "calibrate/calibration.hpp"
#include "calibrate/fit.hpp"

namespace commpass {

namespace {

/// What is varied in bursts: the protocol, a small or a large message of it, and how many.
struct Burst {
  std::size_t protocol = 0;
  bool large = false;
  int messages = 0;
  auto operator<=>(const Burst&) const = default;
};

/// Seconds of one more message: alpha + beta·s.
struct Step {
  Line line;
  Seconds gamma_s = 0;
};

Bytes size_of(const Channel& channel, Bytes largest, const Burst& burst) {
  const Bytes least = burst.protocol == 0 ? 1 : channel.protocols[burst.protocol - 1].max_bytes + 1;
  constexpr Bytes apart = 16;
  const Bytes wanted = burst.large ? apart * least : least + least / 4;  // away from the switch, where both may hold
  return std::min({channel.protocols[burst.protocol].max_bytes, largest, wanted});
}

/// Fits the steps of all protocols of a channel from bursts that `time` runs.
/// @param at_once  messages that are under way for each that `time` is asked for
/// @param time     called with bytes, messages and repetitions
template <class Time>
std::vector<Step> measure_steps(Calibration& calibration, const Channel& channel, double share, double at_once,
                                Time time) {
  const Bytes largest = calibration.options.largest_bytes;
  constexpr std::array counts{1, 2, 4, 8, 16, 32};
  std::map<Burst, Series> bursts;
  for (std::size_t i = 0; i < channel.protocols.size(); ++i)
    for (const bool large : {false, true})
      for (const int messages : counts) bursts[{i, large, messages}];
  calibration.sampler.sample_all(bursts, share, [&](const Burst& burst, int, int repetitions) {
    return time(size_of(channel, largest, burst), burst.messages, std::max(1, repetitions / burst.messages));
  });
  std::vector<Step> steps;
  for (std::size_t i = 0; i < channel.protocols.size(); ++i) {
    std::array<BurstFit, 2> fits;
    for (const bool large : {false, true}) {
      std::vector<double> messages, seconds;
      for (const int count : counts) {
        messages.push_back(at_once * count);
        seconds.push_back(bursts.at({i, large, count}).middle());
      }
      fits[large ? 1 : 0] = fit_burst(messages, seconds);
    }
    const auto small_bytes = static_cast<double>(size_of(channel, largest, {i, false, 0})),
               large_bytes = static_cast<double>(size_of(channel, largest, {i, true, 0}));
    auto& step = steps.emplace_back();
    if (large_bytes > small_bytes)
      step.line.beta_s_per_byte = std::max(0.0, (fits[1].step_s - fits[0].step_s) / (large_bytes - small_bytes));
    step.line.alpha_s = std::max(0.0, fits[0].step_s - step.line.beta_s_per_byte * small_bytes);
    step.gamma_s = std::min(fits[0].gamma_s, fits[1].gamma_s);  // the queue does not depend on the size
  }
  return steps;
}

Seconds median_gamma(const std::vector<Step>& steps) {
  std::vector<double> gammas;
  for (const auto& step : steps) gammas.push_back(step.gamma_s);
  return median(gammas);
}

}  // namespace

void measure_bursts(Calibration& calibration, Locality locality) {
  calibration.progress(fmt::format("bursts, {}", name_of(locality)));
  auto& channel = calibration.channel(locality);
  // To several receivers, if there are, so that it is the sender's time that shows.
  const Rank sender = calibration.pairs(locality).front().first;
  const auto receivers = partners(calibration.layout, sender, locality);
  const auto steps = measure_steps(calibration, channel, burst_share.after(locality, calibration.localities), 1,
                                   [&](Bytes bytes, int messages, int repetitions) {
                                     return calibration.bench.burst(sender, receivers, bytes, messages, repetitions);
                                   });
  for (std::size_t i = 0; i < steps.size(); ++i) {
    channel.protocols[i].alpha_next_s = steps[i].line.alpha_s;
    channel.protocols[i].beta_next_s_per_byte = steps[i].line.beta_s_per_byte;
  }
  // Several receivers have short queues; then measure_receiving sees the growth.
  if (receivers.size() == 1) channel.gamma_s = median_gamma(steps);
}

void measure_receiving(Calibration& calibration, Locality locality) {
  calibration.progress(fmt::format("receiving, {}", name_of(locality)));
  auto& channel = calibration.channel(locality);
  const Rank receiver = calibration.pairs(locality).front().second;
  const auto senders = partners(calibration.layout, receiver, locality);
  if (senders.size() < 2) {
    calibration.not_measured(
        fmt::format("host.{}.protocols: alpha_receive_s and beta_receive_s_per_byte need two senders to one receiver",
                    name_of(locality)));
    return;
  }
  const auto at_once = static_cast<double>(senders.size());
  const auto steps = measure_steps(calibration, channel, receive_share.after(locality, calibration.localities), at_once,
                                   [&](Bytes bytes, int messages, int repetitions) {
                                     return calibration.bench.fan_in(senders, receiver, bytes, messages, repetitions);
                                   });
  for (std::size_t i = 0; i < steps.size(); ++i) {
    channel.protocols[i].alpha_receive_s = steps[i].line.alpha_s;
    channel.protocols[i].beta_receive_s_per_byte = steps[i].line.beta_s_per_byte;
  }
  channel.gamma_s = median_gamma(steps);
}

}  // namespace commpass
