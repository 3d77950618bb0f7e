#include "selector/choose/rivalry.hpp"

#include <cmath>

namespace commpass {

void Rivalry::postpone(double calls) {
  constexpr double calls_max = 1e12;  // so that a sum of two is an integer
  constexpr std::int64_t calls_to_wait = 8;
  const auto wanted = static_cast<std::int64_t>(std::ceil(std::clamp(calls, 1.0, calls_max)));
  tries_at_ = calls_ + std::max(wanted, calls_ / calls_to_wait);
}

void Rivalry::add(Seconds library_s, Seconds ours_s, Seconds loss_s) {
  if (trials_.is_warm()) loss_s_ = loss_s;
  trials_.round()[library] = library_s;
  trials_.round()[ours] = ours_s;
  trials_.end_round();
  if (trials_.is_over()) close(trials_.ratio(ours));
}

void Rivalry::leave() {
  if (trials_.is_warm()) return close({0, 0, 0});
  trials_.end_round();
}

void Rivalry::close(const MedianInterval& ratio) {
  ratio_ = ratio;
  is_ours_ = ratio.median > 0 && ratio.high < 1;
  tries_at_ = calls_ * growth;
  trials_.restart();
}

}  // namespace commpass
