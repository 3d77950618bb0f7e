// Bursts of one rank: o_s of further messages, and the rate of its link.
#include <fmt/core.h>

#include <algorithm>

#include "calibrate/calibration.hpp"
#include "calibrate/fit/attribution.hpp"
#include "calibrate/steps.hpp"

namespace commpass {

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
      both[large] = {size_of(channel, calibration.options.largest_bytes, {i, large == 1, 0}),
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
