#include "calibrate/fit/late_messages.hpp"

#include <algorithm>

#include "model/median.hpp"

namespace commpass {

namespace {

/// By how much each of the late ones is.
std::vector<Seconds> delays_of(const CrowdedExchanges& exchanges) {
  constexpr Seconds least_timer_s = 0.01;
  constexpr double least_slowdown = 5;
  const auto usual = median(exchanges.seconds);
  std::vector<Seconds> delays;
  for (const auto seconds : exchanges.seconds)
    if (seconds > usual + least_timer_s && seconds > least_slowdown * usual) delays.push_back(seconds - usual);
  // Where most are late, the median is, too.
  const auto fastest = std::ranges::min(exchanges.seconds);
  if (usual > fastest + least_timer_s && usual > least_slowdown * fastest) {
    delays.clear();
    for (const auto seconds : exchanges.seconds)
      if (seconds > fastest + least_timer_s && seconds > least_slowdown * fastest) delays.push_back(seconds - fastest);
  }
  return delays;
}

}  // namespace

std::optional<LateMessages> find_late_messages(std::span<const CrowdedExchanges> exchanges) {
  constexpr std::size_t no_accident = 2;
  std::size_t usual = 0;
  int most_in_time = 0;
  for (const auto& each : exchanges) {
    if (each.seconds.empty()) continue;
    const auto delays = delays_of(each);
    const bool is_first = &each == exchanges.data();
    if (is_first) usual = delays.size();
    else if (delays.size() >= std::max(no_accident, 2 * usual + 1))
      return LateMessages{each.messages, static_cast<int>(delays.size()), static_cast<int>(each.seconds.size()),
                          median(delays), most_in_time};
    most_in_time = each.messages;
  }
  return std::nullopt;
}

}  // namespace commpass
