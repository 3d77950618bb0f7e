#include "model/machine/late_messages.hpp"

#include <algorithm>
#include <limits>

#include "model/median.hpp"

namespace commpass {

namespace {

constexpr Seconds least_timer_s = 0.01;
constexpr double least_slowdown = 5;

bool is_late(Seconds seconds, Seconds usual) {
  return seconds > usual + least_timer_s && seconds > least_slowdown * usual;
}

/// What exchanges take at most if all come in time: the queue that an arriving message is compared with grows with the
/// messages, too. Infinite if there are none of fewer messages.
Seconds in_time(const CrowdedExchanges* fewer, int messages) {
  if (!fewer) return std::numeric_limits<Seconds>::infinity();
  const auto growth = static_cast<double>(messages) / fewer->messages;
  return median(fewer->seconds) * growth * growth;
}

/// By how much each of the late ones is. Where most or all are late, the median is, too.
/// @param fewer  the exchanges before, which came in time; nullptr: none
std::vector<Seconds> delays_of(const CrowdedExchanges& exchanges, const CrowdedExchanges* fewer) {
  auto usual = median(exchanges.seconds);
  const auto fastest = std::ranges::min(exchanges.seconds), most = in_time(fewer, exchanges.messages);
  if (is_late(usual, fastest)) usual = fastest;
  if (is_late(usual, most)) usual = median(fewer->seconds);
  std::vector<Seconds> delays;
  for (const auto seconds : exchanges.seconds)
    if (is_late(seconds, usual)) delays.push_back(seconds - usual);
  return delays;
}

}  // namespace

std::optional<LateMessages> find_late_messages(std::span<const CrowdedExchanges> exchanges) {
  constexpr std::size_t no_accident = 2;
  std::size_t usual = 0;
  const CrowdedExchanges* fewer = nullptr;
  for (const auto& each : exchanges) {
    if (each.seconds.empty()) continue;
    const auto delays = delays_of(each, fewer);
    if (!fewer) usual = delays.size();
    else if (delays.size() >= std::max(no_accident, 2 * usual + 1))
      return LateMessages{each.messages, static_cast<int>(delays.size()), static_cast<int>(each.seconds.size()),
                          median(delays), fewer->messages};
    fewer = &each;
  }
  return std::nullopt;
}

}  // namespace commpass
