// From values to pixels, and where an axis has ticks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pictures/svg.hpp"

namespace commpass {

enum class Scale { linear, log2, log10 };

/// A range of values and the pixels that stand for it. On logarithmic scales values are above 0.
struct Axis {
  Scale scale = Scale::linear;
  double first = 0, last = 1;  ///< values; equal ones are drawn in the middle
  double from_pixel = 0, to_pixel = 1;

  double at(double value) const;
  /// Round values between first and last, ascending, at most `most`: multiples of 1, 2 or 5 times a power of ten;
  /// powers of two, or of ten with 2 and 5 times them where those are few. Where no power of two lies between first
  /// and last, these two.
  std::vector<double> ticks(int most) const;
};

using TickLabel = std::function<std::string(double)>;

/// Lines across, labels below, and the name of the axis.
/// @param y  of the axis; @param top  of the lines
void draw_bottom_axis(Svg& svg, const Axis& axis, double y, double top, const std::string& name, const TickLabel& label,
                      int most_ticks = 8);
/// Labels at the left of `x`, lines to `right`.
void draw_left_axis(Svg& svg, const Axis& axis, double x, double right, const TickLabel& label, int most_ticks = 6);

}  // namespace commpass
