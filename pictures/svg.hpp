// Writes SVG elements: text stays text, every mark may say what it is (a tooltip), colours are classes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "pictures/picture.hpp"

namespace commpass {

/// For element contents and for attributes in double quotes. What XML does not allow (control characters, bytes that
/// are no UTF-8) becomes '?'.
std::string escape_xml(std::string_view text);

/// A coordinate: two decimals at most.
std::string svg_number(double value);

/// About as wide as a text of this size in pixels is in a usual sans-serif font; rather more than less.
double text_width(std::string_view text, double size);

/// The first letters of a text that is wider than there is room for, and "…".
std::string shorten(const std::string& text, double size, double room);

enum class Anchor { start, middle, end };

/// Colours and overlays that tell things apart: never by colour alone.
struct Look {
  int color = 0;    ///< 0 … look_colors − 1 (picture_style)
  int overlay = 0;  ///< 0: none; 1 … look_overlays − 1: a pattern of lines or dots
};
inline constexpr int look_colors = 8, look_overlays = 5;

class Svg {
 public:
  /// @param id  see Picture
  Svg(std::string id, std::string title, std::string description, double width);

  double width() const { return picture_.width; }

  /// @param classes  of picture_style, for example "ink strong"
  /// @param tip      shown where the pointer is; empty: none
  void rect(double x, double y, double width, double height, std::string_view classes, std::string_view tip = {});
  /// A filled rectangle that has a look.
  void mark(double x, double y, double width, double height, const Look& look, std::string_view tip = {},
            bool is_light = false);
  /// A frame of slanted strokes along the border of a rectangle, over whatever it looks like; its middle stays free.
  void hatch(double x, double y, double width, double height);
  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  /// Through all points. @param look  its colour; overlays are dashes
  void curve(std::span<const std::pair<double, double>> points, const Look& look);
  void path(const std::string& data, std::string_view classes, std::string_view tip = {});
  /// A small shape, another one for each look.
  void point(double x, double y, const Look& look, std::string_view tip = {});
  void text(double x, double y, std::string_view text, std::string_view classes = "ink", Anchor anchor = Anchor::start,
            double size = 12);
  /// Turned by a quarter, reading upwards, centred at (x, y).
  void upward_text(double x, double y, std::string_view text, std::string_view classes = "dim", double size = 12);
  /// Lines of at most `room` pixels. @return the y below the last one
  double paragraph(double x, double y, std::string_view text, double room, std::string_view classes = "dim",
                   double size = 11);
  /// A PNG, its pixels kept sharp.
  void image(double x, double y, double width, double height, std::string_view png, std::string_view tip);
  /// Names of looks in rows, of areas or of lines with points. @return the y below the last row
  double legend(double x, double y, double room, std::span<const std::pair<Look, std::string>> entries,
                bool are_lines = false);
  /// Title at the top. @return the y below it
  double heading();

  Picture finish(double height, std::string json, std::string csv) &&;

 private:
  void open(std::string_view element, std::string_view classes);
  void close(std::string_view element, std::string_view tip);

  Picture picture_;
};

}  // namespace commpass
