#include "pictures/axis.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/text.hpp"

namespace commpass {

namespace {

double on_scale(Scale scale, double value) {
  switch (scale) {
    case Scale::linear: return value;
    case Scale::log2: return std::log2(value);
    case Scale::log10: return std::log10(value);
  }
  return value;
}

constexpr double rounding = 1e-9;

std::vector<double> linear_ticks(double first, double last, int max) {
  const double rough = (last - first) / max, power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = power;
  for (const double multiple : {1.0, 2.0, 5.0, 10.0}) {
    step = multiple * power;
    if (step >= rough * (1 - rounding)) break;
  }
  std::vector<double> ticks;
  for (double n = std::ceil(first / step - rounding); n * step <= last + step * rounding; ++n)
    ticks.push_back(n * step + 0.0);  // no -0
  return ticks;
}

std::vector<double> log2_ticks(double first, double last, int max) {
  const double low = std::ceil(std::log2(first) - rounding), high = std::floor(std::log2(last) + rounding);
  const double step = std::max(1.0, std::ceil((high - low + 1) / max));
  std::vector<double> ticks;
  for (double power = low; power <= high; power += step) ticks.push_back(std::exp2(power));
  return ticks.empty() ? std::vector{first, last} : ticks;
}

std::vector<double> log10_ticks(double first, double last, int max) {
  const double low = std::floor(std::log10(first) + rounding), high = std::floor(std::log10(last) + rounding);
  const auto make = [&](std::initializer_list<double> multiples, double step) {
    std::vector<double> ticks;
    for (double power = low; power <= high; power += step)
      for (const double multiple : multiples) {
        const double value = multiple * std::pow(10.0, power);
        if (value >= first * (1 - rounding) && value <= last * (1 + rounding)) ticks.push_back(value);
      }
    return ticks;
  };
  constexpr std::size_t ticks_min = 3;
  for (const auto& ticks : {make({1, 2, 5}, 1), make({1, 3}, 1), make({1}, 1)})
    if (std::ssize(ticks) <= max && ticks.size() >= ticks_min) return ticks;
  if (last < first * 10) return linear_ticks(first, last, max);
  return make({1}, std::max(1.0, std::ceil((high - low + 1) / max)));
}

}  // namespace

double Axis::at(double value) const {
  const double begin = on_scale(scale, first), end = on_scale(scale, last);
  if (!(end > begin)) return (from_pixel + to_pixel) / 2;
  return from_pixel + (on_scale(scale, value) - begin) / (end - begin) * (to_pixel - from_pixel);
}

std::vector<double> Axis::ticks(int max) const {
  if (!(last > first)) return {first};
  switch (scale) {
    case Scale::linear: return linear_ticks(first, last, max);
    case Scale::log2: return log2_ticks(first, last, max);
    case Scale::log10: return log10_ticks(first, last, max);
  }
  return {};
}

std::string time_label(Seconds seconds) { return seconds == 0 ? "0" : format_seconds(seconds); }

void draw_bottom_axis(Svg& svg, const Axis& axis, double y, double top, const std::string& name, const TickLabel& label,
                      int ticks_max) {
  for (const auto value : axis.ticks(ticks_max)) {
    svg.line(axis.at(value), top, axis.at(value), y, "grid");
    svg.text(axis.at(value), y + 16, label(value), "dim", Anchor::middle, 11);
  }
  svg.line(axis.from_pixel, y, axis.to_pixel, y, "axis");
  if (!name.empty()) svg.text((axis.from_pixel + axis.to_pixel) / 2, y + 34, name, "dim", Anchor::middle);
}

void draw_left_axis(Svg& svg, const Axis& axis, double x, double right, const TickLabel& label, int ticks_max) {
  for (const auto value : axis.ticks(ticks_max)) {
    svg.line(x, axis.at(value), right, axis.at(value), "grid");
    svg.text(x - 6, axis.at(value) + 4, label(value), "dim", Anchor::end, 11);
  }
}

}  // namespace commpass
