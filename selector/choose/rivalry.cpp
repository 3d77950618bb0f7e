#include "selector/choose/rivalry.hpp"

#include <algorithm>

#include "model/median.hpp"

namespace commpass {

Rivalry::Turn Rivalry::next() {
  const auto call = calls_++;
  if (!is_open_ && call == decides_at_) {
    is_open_ = true;
    is_first_ = true;
    ratios_.clear();
  }
  if (is_open_) return Turn::both;
  return is_ours_ ? Turn::ours : Turn::library;
}

void Rivalry::add(double library_s, double ours_s) {
  if (is_first_) {
    is_first_ = false;
    return;
  }
  ratios_.push_back(library_s > 0 ? ours_s / library_s : 1);
  if (std::ssize(ratios_) < pairs) return;
  ratio_ = median(ratios_);
  is_ours_ = ratio_ < 1;
  is_open_ = false;
  decides_at_ = calls_ * growth;
}

}  // namespace commpass
