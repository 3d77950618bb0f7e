// Messages through memory that the ranks of a node share, as planned exchanges send them.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "calibrate/bursts.hpp"
#include "calibrate/calibration.hpp"
#include "calibrate/fit/attribution.hpp"
#include "calibrate/fit/switches.hpp"
#include "calibrate/pushed_messages.hpp"
#include "runtime/mpi/oversubscription.hpp"

namespace commpass {

namespace {

/// Of messages in bursts, so that those of a whole node need little memory.
constexpr Bytes burst_bytes_max = Bytes{4} << 10;

Bytes largest_pushed(const Calibration& calibration) {
  return std::min(shared_bytes_max, calibration.options.largest_bytes);
}

/// Powers of two, and sizes between.
std::vector<Bytes> powers_up_to(Bytes largest) {
  std::vector<Bytes> sizes;
  for (Bytes bytes = 1; bytes < largest; bytes *= 2) {
    sizes.push_back(bytes);
    if (bytes > 1) sizes.push_back(bytes + bytes / 2);
  }
  sizes.push_back(largest);
  return sizes;
}

/// Fits the protocols of lone messages each way, with all that the exchange takes.
void fit_lone_messages(Calibration& calibration, PushedMessages& messages, Level level, Channel& channel,
                       double share) {
  std::map<Bytes, Series> times;
  for (const Bytes bytes : powers_up_to(largest_pushed(calibration))) times[bytes];
  calibration.sampler.sample_all(times, share, [&](Bytes bytes, int, int repetitions) {
    return messages.pairs(level, 1, bytes, repetitions).all;
  });
  const auto points = points_of(times);
  auto segments = fit_segments(points);
  channel.protocols = protocols_of(points, segments);
  int number = 0;
  for (auto& protocol : channel.protocols)
    protocol.name = ++number == 1 ? std::string("pushed") : fmt::format("pushed-{}", number);
}

/// The part of a channel whose bursts need little memory.
Channel short_messages(Channel channel) {
  std::size_t count = 1;
  while (count < channel.protocols.size() && channel.protocols[count - 1].max_bytes < burst_bytes_max) ++count;
  channel.protocols.resize(count);
  channel.protocols.back().max_bytes = std::min(channel.protocols.back().max_bytes, burst_bytes_max);
  return channel;
}

/// What further messages take of their sender and their receiver, each of which copies them, while all ranks of an
/// instance do the same. Longer ones take as long as lone ones.
void fit_further_messages(Calibration& calibration, PushedMessages& messages, Level level, Channel& channel,
                          double middle, double end) {
  const auto bursting = short_messages(channel);
  const auto bursts = [&](double share, Seconds PushedMessages::Times::*which) {
    return Bursts(calibration, bursting, share, 1, [&](Bytes bytes, int count, int repetitions) {
      return messages.among_partners(level, bytes, count, repetitions).*which;
    });
  };
  const auto posted = bursts(middle, &PushedMessages::Times::posting);
  const auto all = bursts(end, &PushedMessages::Times::all);
  for (std::size_t i = 0; i < bursting.protocols.size(); ++i) {
    auto& protocol = channel.protocols[i];
    const auto sent = posted.steps(i, 0), both = all.steps(i, 0);
    if (!std::ranges::all_of(sent, is_determined) || !std::ranges::all_of(both, is_determined)) {
      calibration.not_measured(
          fmt::format("{}.{}: alpha_next_s and alpha_receive_s: times of bursts differ by more "
                      "than a further message takes",
                      calibration.level_key(level, "shared"), protocol.name));
      continue;
    }
    SentSteps steps;
    std::array<CrossedStep, 2> crossed;
    for (const std::size_t large : {0, 1}) {
      const Bytes bytes = size_of(calibration, bursting, i, large == 1);
      steps[large] = {bytes, sent[large].value, sent[large].value};
      crossed[large] = {.bytes = bytes, .step_s = both[large].value, .sending_s = sent[large].value};
    }
    const auto sending = fit_sending(steps, channel.link_rate_bytes_per_s, lone_messages(protocol));
    const auto taking = fit_taking_beside_sending(crossed, lone_messages(protocol));
    protocol.alpha_next_s = sending.alpha_s;
    protocol.beta_next_s_per_byte = sending.beta_s_per_byte;
    protocol.alpha_receive_s = taking.alpha_s;
    protocol.beta_receive_s_per_byte = taking.beta_s_per_byte;
  }
}

/// What all pairs of a level move together.
void fit_rate_of_all(Calibration& calibration, PushedMessages& messages, Level level, Channel& channel, double share) {
  const auto pairs = calibration.pairs(level).size();
  if (pairs < 2) return;
  constexpr Bytes bytes = Bytes{32} << 10;
  std::map<std::size_t, Series> times;
  for (std::size_t count = 1; count < pairs; count *= 2) times[count];
  times[pairs];
  calibration.sampler.sample_all(times, share, [&](std::size_t count, int, int repetitions) {
    return messages.pairs(level, count, bytes, repetitions).all;
  });
  std::vector<int> counts;
  std::vector<double> seconds;
  for (const auto& [count, series] : times) {
    counts.push_back(static_cast<int>(count));
    seconds.push_back(series.time());
  }
  channel.aggregate_rate_bytes_per_s = fit_shared_rate(counts, seconds, 2 * bytes, channel.protocols.front().alpha_s);
}

}  // namespace

void measure_node_memory(Calibration& calibration, Level level, const Share& share) {
  calibration.progress(fmt::format("memory of a node, {}", calibration.name_of(level)));
  const auto key = calibration.level_key(level, "shared");
  if (!may_share_memory())
    return calibration.not_measured(key + ": the ranks of this simulated cluster share no memory");
  if (!calibration.provenance.warning.empty())
    return calibration.not_measured(key + ": " + calibration.provenance.warning);
  PushedMessages messages(calibration);
  constexpr int probed_messages = 32;
  if (!messages.are_pushed(level, burst_bytes_max, probed_messages))
    return calibration.not_measured(key + ": the ranks share no memory, or have too little of it");
  const double quarter = (share.end - share.begin) / 4;
  Channel channel;
  fit_lone_messages(calibration, messages, level, channel, share.begin + quarter);
  fit_further_messages(calibration, messages, level, channel, share.begin + 2 * quarter, share.begin + 3 * quarter);
  fit_rate_of_all(calibration, messages, level, channel, share.end);
  calibration.machine.shared.by_level[level] = std::move(channel);
}

}  // namespace commpass
