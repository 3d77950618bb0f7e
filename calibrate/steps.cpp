#include "calibrate/steps.hpp"

#include "model/median.hpp"

namespace commpass {

Bytes size_of(const Channel& channel, Bytes largest, const Burst& burst) {
  const Bytes least = burst.protocol == 0 ? 1 : channel.protocols[burst.protocol - 1].max_bytes + 1;
  constexpr Bytes apart = 16, seen_by_the_clock = 2048;
  // Away from the switch, where both may hold.
  const Bytes wanted = burst.large ? std::max(apart * least, seen_by_the_clock) : least + least / 4;
  return std::min({channel.protocols[burst.protocol].max_bytes, largest, wanted});
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
    gammas.push_back(fit_gamma(messages(), seconds(i, false)));  // large ones hide it
  return median(std::move(gammas));
}

Steps Bursts::steps(std::size_t protocol, Seconds gamma_s) const {
  return {fit_step(messages(), seconds(protocol, false), gamma_s),
          fit_step(messages(), seconds(protocol, true), gamma_s)};
}

}  // namespace commpass
