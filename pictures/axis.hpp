// Axes: scales from values to pixels, ticks, and labels.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "model/base/types.hpp"
#include "pictures/svg.hpp"

namespace commpass {

enum class Scale { linear, log2, log10 };

/// The smallest and the largest of several values above 0.
struct ValueRange {
  double min = std::numeric_limits<double>::infinity(), max = 0;

  void add(double value) {
    min = std::min(min, value);
    max = std::max(max, value);
  }
};

/// A range of values and its pixels. On logarithmic scales values are above 0.
struct Axis {
  Scale scale = Scale::linear;
  double first = 0, last = 1;  ///< values; if they are equal, `at` is the centre
  double from_pixel = 0, to_pixel = 1;

  double at(double value) const;
  double clamped(double value) const { return at(std::clamp(value, first, last)); }
  /// At most `max` ascending round values from first to last. Linear: multiples of 1, 2 or 5 times a power of ten.
  /// log2: powers of two, or first and last if there is none between them. log10: powers of ten, if they are few also 2
  /// and 5 times these.
  std::vector<double> ticks(int max) const;
};

using TickLabel = std::function<std::string(double)>;

/// The label of a time: "0", "1.5 us".
std::string time_label(Seconds seconds);

/// Grid lines, labels below, and the name of the axis.
/// @param y  of the axis; @param top  of the grid lines
void draw_bottom_axis(Svg& svg, const Axis& axis, double y, double top, const std::string& name, const TickLabel& label,
                      int ticks_max);
/// Grid lines to `right`, and labels at the left of `x`.
void draw_left_axis(Svg& svg, const Axis& axis, double x, double right, const TickLabel& label, int ticks_max);

}  // namespace commpass
