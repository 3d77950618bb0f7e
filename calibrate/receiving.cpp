// Many messages at once to one rank: o_r of further messages.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>

#include "calibrate/bursts.hpp"
#include "calibrate/calibration.hpp"
#include "calibrate/fit/attribution.hpp"

namespace commpass {

namespace {

/// The time of a further message to a receiver by its senders, and by the rates that they share.
class Senders {
 public:
  Senders(const Calibration& calibration, Level level, Rank receiver, std::span<const Rank> senders)
      : channel_(*calibration.machine.host.find(level)), count_(static_cast<double>(senders.size())) {
    const auto& layout = calibration.layout;
    const auto& levels = calibration.machine.levels;
    const auto limit = [&](double rate) { shared_rate_ = std::min(shared_rate_, rate); };
    const auto node = layout.node_level(), outermost = layout.outermost();
    if (level != outermost) {
      limit(channel_.aggregate_rate_bytes_per_s);
      for (Level outer = level; outer <= node; ++outer) limit(levels[outer].inside_rate_bytes_per_s);
      return;
    }
    std::map<int, int> of_node;
    int most_of_a_node = 0;
    for (const Rank sender : senders) most_of_a_node = std::max(most_of_a_node, ++of_node[layout.node(sender)]);
    limit(levels[node].up_rate_bytes_per_s * count_ / most_of_a_node);
    limit(levels[node].down_rate_bytes_per_s);
    limit(levels[outermost].node_share_bytes_per_s * layout.nodes());
    // Senders outside the receiver's group share the links into it.
    for (const auto group : levels_of_groups(layout)) {
      const auto is_outside = [&](Rank sender) { return layout.level(sender, receiver) > group; };
      if (const auto outside = std::ranges::count_if(senders, is_outside); outside > 0)
        limit(levels[group].up_rate_bytes_per_s * count_ / static_cast<double>(outside));
    }
  }

  Seconds seconds(Bytes bytes) const {
    const auto size = static_cast<double>(bytes);
    return std::max(channel_.leaving_seconds(size) / count_, size / shared_rate_);
  }

 private:
  const Channel& channel_;
  double count_;
  double shared_rate_ = std::numeric_limits<double>::infinity();  ///< of all senders together
};

/// Bursts each way between the first two ranks of a level: their processors send and receive.
Bursts time_both_ways(Calibration& calibration, Level level, const Channel& channel, double share) {
  const auto pair = calibration.pairs(level).front();
  return {calibration, channel, share, 1, [&calibration, pair](Bytes bytes, int messages, int repetitions) {
            return calibration.bench.both_ways(pair.first, pair.second, bytes, messages, repetitions);
          }};
}

/// Times a single message each way, of all sizes of the bursts.
std::map<Bytes, Series> time_once_each_way(Calibration& calibration, Level level, double share) {
  const auto& channel = calibration.channel(level);
  const auto pair = calibration.pairs(level).front();
  std::map<Bytes, Series> times;
  for (std::size_t i = 0; i < channel.protocols.size(); ++i)
    for (const bool large : {false, true}) times[size_of(calibration, channel, i, large)];
  calibration.sampler.sample_all(times, share, [&](Bytes bytes, int, int repetitions) {
    return calibration.bench.both_ways(pair.first, pair.second, bytes, 1, repetitions);
  });
  return times;
}

CrossedStep crossed_step(const Channel& channel, Bytes bytes, const Estimate& step) {
  const auto size = static_cast<double>(bytes);
  return {bytes, step.value, channel.protocol(bytes).next_seconds(size), size / channel.link_rate_bytes_per_s};
}

/// o_r of the smallest messages by bursts each way: the senders of a fan-in may be slower than their receiver. 0 if
/// undetermined.
Seconds receive_overhead_of_smallest(Calibration& calibration, Level level, double share, Seconds gamma_s) {
  auto smallest = calibration.channel(level);
  smallest.protocols.resize(1);
  const auto step = time_both_ways(calibration, level, smallest, share).steps(0, gamma_s).front();
  const Bytes bytes = size_of(calibration, smallest, 0, false);
  return is_determined(step) ? fit_taking_beside_sending(crossed_step(smallest, bytes, step)) : 0;
}

void report_undetermined(Calibration& calibration, Level level, const Protocol& protocol, const char* of,
                         const char* and_so) {
  calibration.not_measured(
      fmt::format("{}: alpha_receive_s and beta_receive_s_per_byte: times of {} differ by more than a further message "
                  "takes{}",
                  calibration.host_key(level, protocol.name), of, and_so));
}

/// For ranks with one partner: o_r is the time of messages each way beyond sending.
void measure_receiving_of_two(Calibration& calibration, Level level, double share) {
  auto& channel = calibration.channel(level);
  const auto bursts = time_both_ways(calibration, level, channel, share);
  const auto once = time_once_each_way(calibration, level, share);
  const Seconds gamma = channel.gamma_s.value_or(0);
  for (std::size_t i = 0; i < channel.protocols.size(); ++i) {
    auto& protocol = channel.protocols[i];
    const auto steps = bursts.steps(i, gamma);
    if (!std::ranges::all_of(steps, is_determined)) {
      report_undetermined(calibration, level, protocol, "messages each way", "");
      continue;
    }
    std::array<CrossedStep, 2> crossed;
    for (const std::size_t large : {0, 1}) {
      const Bytes bytes = size_of(calibration, channel, i, large == 1);
      crossed[large] = crossed_step(channel, bytes, steps[large]);
      crossed[large].once_s = once.at(bytes).time();
    }
    const auto line = fit_taking_beside_sending(crossed, lone_messages(protocol));
    protocol.alpha_receive_s = line.alpha_s;
    protocol.beta_receive_s_per_byte = line.beta_s_per_byte;
  }
}

}  // namespace

void measure_receiving(Calibration& calibration, Level level, const Share& share) {
  calibration.progress(fmt::format("receiving, {}", calibration.name_of(level)));
  auto& channel = calibration.channel(level);
  const Rank receiver = calibration.pairs(level).front().second;
  auto senders = partners(calibration.layout, receiver, level);
  if (senders.size() < 2) return measure_receiving_of_two(calibration, level, share.end);
  const auto time = [&](double end) {
    return Bursts(calibration, channel, end, static_cast<double>(senders.size()),
                  [&](Bytes bytes, int messages, int repetitions) {
                    return calibration.bench.fan_in(senders, receiver, bytes, messages, repetitions);
                  });
  };
  const double third = (share.end - share.begin) / 3;
  auto bursts = time(share.begin + third);
  // If one message in a hundred is late, most samples of a fan-in have a late one. Three senders have fewer messages.
  constexpr std::size_t fewer_senders = 3;
  if (!bursts.are_settled() && senders.size() > fewer_senders) {
    senders.resize(fewer_senders);
    bursts = time(share.begin + 2 * third);
  }
  const Seconds gamma = bursts.gamma();
  const Senders others(calibration, level, receiver, senders);
  // If the time of a message is hidden, o_r of the smaller messages counts.
  Line taking{receive_overhead_of_smallest(calibration, level, share.end, gamma), 0};
  bool is_known = false;
  for (std::size_t i = 0; i < channel.protocols.size(); ++i) {
    auto& protocol = channel.protocols[i];
    const auto steps = bursts.steps(i, gamma);
    if (!std::ranges::all_of(steps, is_determined)) {
      report_undetermined(calibration, level, protocol, "many senders",
                          is_known ? "; taken to be as of smaller messages, whose receiver is the same" : "");
      if (!is_known) continue;
      protocol.alpha_receive_s = taking.alpha_s;
      protocol.beta_receive_s_per_byte = taking.beta_s_per_byte;
      continue;
    }
    TakenSteps both;
    for (const std::size_t large : {0, 1}) {
      const Bytes bytes = size_of(calibration, channel, i, large == 1);
      both[large] = {bytes, steps[large].value, others.seconds(bytes)};
    }
    taking = fit_taking(both, taking.alpha_s, lone_messages(protocol));
    protocol.alpha_receive_s = taking.alpha_s;
    protocol.beta_receive_s_per_byte = taking.beta_s_per_byte;
    is_known = true;
  }
  channel.gamma_s = gamma;
}

}  // namespace commpass
