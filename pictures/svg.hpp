// Writes SVG elements: text stays text, marks may have tooltips, colours are classes of picture_style.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "selector/report/document.hpp"

namespace commpass {

inline constexpr double picture_width = 820, picture_margin = 16;  ///< pixels

/// What a picture is called and how wide it is.
struct Frame {
  std::string id;                ///< see Picture
  double width = picture_width;  ///< pixels, for texts of 12 pixels
  bool has_title = true;         ///< false: no title and no introduction, for a paper's own caption

  Frame(std::string name) : id(std::move(name)) {}       // NOLINT: most frames are a name
  Frame(const char* name) : Frame(std::string(name)) {}  // NOLINT
  Frame(std::string name, double wide, bool titled) : id(std::move(name)), width(wide), has_title(titled) {}

  /// A number of ticks for this width, where the usual one has `usual`.
  int ticks(int usual) const { return std::max(3, static_cast<int>(usual * std::min(1.0, width / picture_width))); }
};

/// Text for element contents and for attributes in double quotes. Control characters and bytes that are not UTF-8
/// become
/// '?', since XML does not allow them.
std::string escape_xml(std::string_view text);

/// A coordinate with at most two decimals.
std::string svg_number(double value);

/// An estimate, rather too large, of the width of a text in a common sans-serif font. @param size  of the font, pixels
double text_width(std::string_view text, double size);

/// The text; if it is wider than `room` pixels, its first letters and "…".
std::string shorten(const std::string& text, double size, double room);

enum class Anchor { start, middle, end };

/// Colour and overlay of a mark: readers distinguish marks without colour, too.
struct Look {
  int color = 0;    ///< 0 … look_colors − 1 (picture_style)
  int overlay = 0;  ///< 0: none; 1 … look_overlays − 1: a pattern of lines or dots
  bool operator==(const Look&) const = default;
};
inline constexpr int look_colors = 8, look_overlays = 5;
using Legend = std::vector<std::pair<Look, std::string>>;

/// Steps of the sequential colour map viridis, classes "s0" (dark, least) … "s15" (bright, most).
inline constexpr int shade_count = 16;

/// The look of a route, the same in every picture. @param strategy  its text, or that of its route
Look look_of_route(const std::string& strategy);

class Svg {
 public:
  /// @param width  another one than that of the frame; 0: that
  Svg(const Frame& frame, std::string title, std::string description, double width = 0);

  /// @param classes  of picture_style, for example "ink strong"
  /// @param tip      the tooltip; empty: none
  void rect(double x, double y, double width, double height, std::string_view classes, std::string_view tip = {});
  /// A filled rectangle.
  void mark(double x, double y, double width, double height, const Look& look, std::string_view tip = {},
            bool is_light = false);
  /// Slanted strokes along the border of a rectangle; its centre stays free.
  void hatch(double x, double y, double width, double height);
  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  /// A line through points. Overlays are dashes.
  void curve(std::span<const std::pair<double, double>> points, const Look& look);
  void path(const std::string& data, std::string_view classes, std::string_view tip = {});
  /// The interval of a predicted time, with caps at its ends.
  void whisker(double x1, double y1, double x2, double y2, std::string_view classes = "whisker");
  /// A small shape, which depends on the colour.
  void point(double x, double y, const Look& look, std::string_view tip = {});
  void text(double x, double y, std::string_view text, std::string_view classes = "ink", Anchor anchor = Anchor::start,
            double size = 12);
  /// Text that reads upwards, centred at (x, y).
  void upward_text(double x, double y, std::string_view text);
  /// Lines of dimmed text between the margins. @return the y below the last line
  double paragraph(double y, std::string_view text, double size = 11, std::string_view classes = "dim");
  /// A PNG with sharp pixels.
  void image(double x, double y, double width, double height, std::string_view png, std::string_view tip);
  /// The names of looks in rows of at most `room` pixels. @return the y below the last row
  /// @param are_lines  looks of lines with points, not of areas
  double legend(double x, double y, double room, const Legend& entries, bool are_lines = false);
  /// The title, and a paragraph below it, if the frame has one. @return the y below
  double head(std::string_view introduction);

  /// @param numbers  of the picture, as JSON and CSV
  /// @param indent   of JSON: numbers take many lines
  Picture finish(double height, const Document& numbers, int indent = 1) &&;

 private:
  void element(std::string_view name, std::string_view classes, std::string_view attributes, std::string_view tip);

  Picture picture_;
  bool has_title_ = true;
};

/// Where a picture is shown.
enum class Paper { screen, print };

/// A file with the style, and the numbers as metadata.
/// @param width  of a page: "3.5in"; empty: pixels
/// @param paper  in print nothing is dark
std::string svg_document(const Picture& picture, const std::string& width = {}, Paper paper = Paper::screen);
/// The element for a page, which has picture_style() once.
std::string svg_element(const Picture& picture);
/// CSS of all pictures: light or dark as the reader's system, light in print.
std::string picture_style(Paper paper = Paper::screen);
/// CSS of the colour map, which few pictures have.
std::string shade_style();
inline bool has_shades(const Picture& picture) { return picture.body.find("class=\"s") != std::string::npos; }

/// The colours of print by their classes: "0" … "7", "s0" … "s15", "ink", "dim", "paper", "faint", as six hexadecimal
/// digits.
std::vector<std::pair<std::string, std::string>> print_colors();

/// A tikzpicture for LaTeX, as wide as `width_pt` points of TeX.
/// @throws InputError for pictures with bitmaps
std::string pgf_document(const Picture& picture, double width_pt);

struct Rgb {
  std::uint8_t red = 0, green = 0, blue = 0;
};
inline constexpr int png_colors = 16;

/// @param pixels   row by row, each below png_colors
/// @param palette  its first colour is transparent
/// @throws Error unless the pixels are width × height, and both are above 0
std::string png(int width, int height, std::span<const std::uint8_t> pixels,
                const std::array<Rgb, png_colors>& palette);

std::string base64(std::string_view bytes);

}  // namespace commpass
