#include "calibrate/bursts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "model/median.hpp"

namespace commpass {

Bytes size_of(const Calibration& calibration, const Channel& channel, std::size_t index, bool large) {
  const auto& protocol = channel.protocols[index];
  const Bytes largest = calibration.options.largest_bytes;
  const Bytes least = index == 0 ? 1 : channel.protocols[index - 1].max_bytes + 1;
  // Away from the switch, where either protocol may run.
  if (!large) return std::min({protocol.max_bytes, largest, least + least / 4});
  constexpr Bytes size_ratio = 16, measurable_bytes = 2048;
  Bytes wanted = std::max(size_ratio * least, measurable_bytes);
  // The bytes have to move for longer than α, for which a busy sender may hide its link.
  constexpr double bandwidth_latency_ratio = 3;
  if (protocol.max_bytes == std::numeric_limits<Bytes>::max() && protocol.beta_s_per_byte > 0)
    wanted = std::max<Bytes>(
        wanted, std::llround(std::min(bandwidth_latency_ratio * protocol.alpha_s / protocol.beta_s_per_byte,
                                      static_cast<double>(largest))));
  return std::min({protocol.max_bytes, largest, wanted});
}

LoneMessages lone_messages(const Protocol& protocol) {
  return {{protocol.alpha_s, protocol.beta_s_per_byte}, protocol.max_bytes};
}

std::vector<double> Bursts::messages() const {
  std::vector<double> result;
  for (const int count : counts) result.push_back(at_once_ * count);
  return result;
}

std::vector<double> Bursts::seconds(std::size_t protocol, bool large) const {
  std::vector<double> result;
  for (const int count : counts) result.push_back(times_.at({protocol, large, count}).time());
  return result;
}

bool Bursts::are_settled() const {
  return 2 * std::ranges::count_if(times_, [](const auto& entry) { return entry.second.settled(); }) >
         std::ssize(times_);
}

Seconds Bursts::gamma() const {
  std::vector<double> gammas;
  for (std::size_t i = 0; i < protocols_; ++i)
    gammas.push_back(fit_gamma(messages(), seconds(i, false)));  // large messages hide it
  return lower_median(std::move(gammas));                        // a growth of one of two protocols is no queue
}

Steps Bursts::steps(std::size_t protocol, Seconds gamma_s) const {
  return {fit_step(messages(), seconds(protocol, false), gamma_s),
          fit_step(messages(), seconds(protocol, true), gamma_s)};
}

void measure_bursts(Calibration& calibration, Level level, const Share& share) {
  calibration.progress(fmt::format("bursts, {}", calibration.name_of(level)));
  auto& channel = calibration.channel(level);
  // Several receivers, if there are some, so that the sender is the bottleneck.
  const Rank sender = calibration.pairs(level).front().first;
  const auto receivers = partners(calibration.layout, sender, level);
  const Bursts bursts(calibration, channel, share.middle(), 1, [&](Bytes bytes, int messages, int repetitions) {
    return calibration.bench.burst(sender, receivers, bytes, messages, repetitions);
  });
  const Bursts postings(calibration, channel, share.end, 1, [&](Bytes bytes, int messages, int repetitions) {
    return calibration.bench.posting(sender, receivers, bytes, messages, repetitions);
  });

  // Several receivers have short matching queues. Then measure_receiving finds γ.
  const Seconds gamma = bursts.gamma();
  std::vector<SentSteps> sent;
  std::vector<bool> is_known;  // by protocol
  for (std::size_t i = 0; i < channel.protocols.size(); ++i) {
    const auto steps = bursts.steps(i, gamma), posted = postings.steps(i, 0);
    auto& both = sent.emplace_back();
    // If one message in many is late, the end of a burst is noisier than its posting.
    for (const std::size_t large : {0, 1})
      both[large] = {size_of(calibration, channel, i, large == 1),
                     is_determined(steps[large]) ? steps[large].value : posted[large].value, posted[large].value};
    is_known.push_back(std::ranges::all_of(posted, is_determined));
  }
  channel.link_rate_bytes_per_s = fit_link_rate(sent);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    auto& protocol = channel.protocols[i];
    if (!is_known[i]) {
      calibration.not_measured(calibration.host_key(level, protocol.name) +
                               ": alpha_next_s and beta_next_s_per_byte: times of bursts differ by more than a further "
                               "message takes");
      continue;
    }
    const auto line = fit_sending(sent[i], channel.link_rate_bytes_per_s, lone_messages(protocol));
    protocol.alpha_next_s = line.alpha_s;
    protocol.beta_next_s_per_byte = line.beta_s_per_byte;
  }
  if (receivers.size() == 1) channel.gamma_s = gamma;
}

}  // namespace commpass
