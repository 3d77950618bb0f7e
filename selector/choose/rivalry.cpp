#include "selector/choose/rivalry.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace commpass {

Rivalry::Turn Rivalry::next() { return calls_++ < tries_at_ ? decided() : Turn::both; }

void Rivalry::postpone(double calls) {
  constexpr double calls_max = 1e12;  // so that a sum of two is an integer
  constexpr std::int64_t calls_to_wait = 8;
  const auto wanted = static_cast<std::int64_t>(std::ceil(std::clamp(calls, 1.0, calls_max)));
  tries_at_ = calls_ + std::max(wanted, calls_ / calls_to_wait);
}

void Rivalry::add(Seconds library_s, Seconds ours_s, Seconds loss_s) {
  if (is_first_) {
    is_first_ = false;
    return;
  }
  loss_s_ = loss_s;
  ratios_.push_back(library_s > 0 ? ours_s / library_s : 1);
  if (std::ssize(ratios_) < pairs) return;
  ratio_ = exact_median_interval(ratios_);
  close(ratio_.high < 1);
}

void Rivalry::leave() {
  if (is_first_) {
    is_first_ = false;
    return;
  }
  ratio_ = {0, 0, 0};
  close(false);
}

void Rivalry::close(bool is_ours) {
  is_ours_ = is_ours;
  is_first_ = true;
  ratios_.clear();
  tries_at_ = calls_ * growth;
}

}  // namespace commpass
