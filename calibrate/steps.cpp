#include "calibrate/steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "model/median.hpp"

namespace commpass {

Bytes size_of(const Channel& channel, Bytes largest, const Burst& burst) {
  const auto& protocol = channel.protocols[burst.protocol];
  const Bytes least = burst.protocol == 0 ? 1 : channel.protocols[burst.protocol - 1].max_bytes + 1;
  // Away from the switch, where either protocol may run.
  if (!burst.large) return std::min({protocol.max_bytes, largest, least + least / 4});
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

}  // namespace commpass
