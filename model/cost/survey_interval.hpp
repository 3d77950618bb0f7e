// After which exchanges ranks sum up what all of them have sent.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "model/base/types.hpp"

namespace commpass {

constexpr int longest_survey_interval = 16;
/// Exchanges that the MPI library runs are surveyed this many times less often, and not at least as often as others:
/// where their traffic has changed, they are as fast as without us.
constexpr int library_survey_ratio = 50;

/// A survey takes a reduction over all ranks, which small exchanges should not pay each time, nor those whose surveys
/// find the same again and again. The traffic seldom changes at once, but it may in the first exchanges. The same on
/// every rank that is told the same.
class SurveyTurns {
 public:
  /// Counts an exchange.
  /// @param interval  how many of them there are for each that is surveyed, in the long run
  /// @return true after the 1st, 2nd, 4th, 8th … until they are `interval` apart; and where three surveys in a row have
  ///         found the same, not before the 4th exchange after the last one
  bool is_due(int interval = longest_survey_interval) {
    if (pass_undue(interval)) return false;
    surveyed_ = ++exchanges_;
    return true;
  }
  /// Counts an exchange that is not surveyed; of one that is, is_due() has to be asked. @return is it counted?
  bool pass_undue(int interval) {
    constexpr std::int64_t quiet = 4;
    const auto usual =
        alike_ >= 2 ? std::max<std::int64_t>(interval, quiet) : std::min<std::int64_t>(interval, surveyed_);
    if (exchanges_ + 1 - surveyed_ >= usual) return false;
    ++exchanges_;
    return true;
  }

  /// Notes whether the last survey differs from the one before it. A survey without a note leaves the count of equal
  /// surveys as it is.
  void note(bool is_news) { alike_ = is_news ? 0 : std::min(alike_ + 1, 2); }

 private:
  std::int64_t exchanges_ = 0, surveyed_ = 0;  // the last one that was
  int alike_ = 0;                              // latest surveys, up to two, with the result of the survey before
};

/// How many exchanges there should be for each that is surveyed, so that surveys take at most 2 % of their time; 1 to
/// 100.
/// @param exchange,reduction  how long one takes
inline int survey_interval(Seconds exchange, Seconds reduction) {
  constexpr double most_part = 0.02, longest = 100;
  const double wanted = std::ceil(reduction / (most_part * std::max(exchange, 1e-12)));
  return static_cast<int>(std::clamp(wanted, 1.0, longest));
}

}  // namespace commpass
