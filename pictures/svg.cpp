#include "pictures/svg.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "model/base/format.hpp"
#include "model/base/text.hpp"

namespace commpass {

namespace {

/// The length of the first UTF-8 character of a text; 0 if XML does not allow it.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\n' || first == '\t' ? 1 : 0;
  const std::size_t count = first >= 0xC2 && first < 0xE0   ? 2
                            : first >= 0xE0 && first < 0xF0 ? 3
                            : first >= 0xF0 && first < 0xF5 ? 4
                                                            : 0;
  for (std::size_t i = 1; i < count; ++i)
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  // Overlong forms, surrogates, numbers beyond Unicode, and the two noncharacters.
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0) || (first == 0xF0 && byte(1) < 0x90) ||
      (first == 0xF4 && byte(1) >= 0x90) || (first == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE))
    return 0;
  return count;
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80; }

std::string box_attributes(double x, double y, double width, double height) {
  return fmt::format(" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", svg_number(x), svg_number(y), svg_number(width),
                     svg_number(height));
}

}  // namespace

std::string escape_xml(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto count = character_bytes(text);
    if (count == 0) result += '?';
    else if (text.front() == '&') result += "&amp;";
    else if (text.front() == '<') result += "&lt;";
    else if (text.front() == '>') result += "&gt;";
    else if (text.front() == '"') result += "&quot;";
    else result += text.substr(0, count);
    text.remove_prefix(count == 0 ? 1 : count);
  }
  return result;
}

std::string svg_number(double value) {
  if (!std::isfinite(value)) value = 0;
  auto text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

double text_width(std::string_view text, double size) {
  constexpr double width_per_size = 0.58;
  return static_cast<double>(std::ranges::count_if(text, std::not_fn(is_continuation))) * size * width_per_size;
}

std::string shorten(const std::string& text, double size, double room) {
  if (text_width(text, size) <= room) return text;
  auto rest = text;
  while (!rest.empty() && text_width(rest + "…", size) > room) {
    while (rest.size() > 1 && is_continuation(rest.back())) rest.pop_back();
    rest.pop_back();
  }
  return rest + "…";
}

Svg::Svg(const Frame& frame, std::string title, std::string description, double width) : has_title_(frame.has_title) {
  picture_.id = frame.id;
  picture_.title = std::move(title);
  picture_.description = std::move(description);
  picture_.width = width > 0 ? width : frame.width;
}

void Svg::element(std::string_view name, std::string_view classes, std::string_view attributes, std::string_view tip) {
  append(picture_.body, "<{}{}{}", name, classes.empty() ? "" : fmt::format(" class=\"{}\"", classes), attributes);
  if (tip.empty()) picture_.body += "/>\n";
  else append(picture_.body, "><title>{}</title></{}>\n", escape_xml(tip), name);
}

void Svg::rect(double x, double y, double width, double height, std::string_view classes, std::string_view tip) {
  element("rect", classes, box_attributes(x, y, width, height), tip);
}

namespace {

/// Lines or dots over a rectangle, aligned with those of the whole picture. Browsers take minutes to print some hundred
/// patterns of SVG.
std::string overlay_lines(double x, double y, double width, double height, int overlay) {
  constexpr double apart = 6, middle = apart / 2;
  const double right = x + width, bottom = y + height;
  std::string data;
  // Shifted multiples of `apart` between `from` and `to`.
  const auto each = [](double from, double to, double shift, auto draw) {
    for (double at = std::ceil((from - shift) / apart) * apart + shift; at <= to; at += apart) draw(at);
  };
  const auto slanted = [&](double from, double to, auto height_at) {
    if (to > from)
      append(data, "M{} {}L{} {}", svg_number(from), svg_number(height_at(from)), svg_number(to),
             svg_number(height_at(to)));
  };
  switch (overlay) {
    case 1:  // rising: x + y is constant
      each(x + y, right + bottom, 0, [&](double sum) {
        slanted(std::max(x, sum - bottom), std::min(right, sum - y), [&](double at) { return sum - at; });
      });
      break;
    case 2:  // falling: y − x is constant
      each(y - right, bottom - x, 0, [&](double difference) {
        slanted(std::max(x, y - difference), std::min(right, bottom - difference),
                [&](double at) { return at + difference; });
      });
      break;
    case 3:
      each(y, bottom, middle, [&](double down) {
        each(x, right, middle,
             [&](double across) { append(data, "M{} {}h.01", svg_number(across), svg_number(down)); });
      });
      break;
    case 4:
      each(y, bottom, middle,
           [&](double down) { append(data, "M{} {}H{}", svg_number(x), svg_number(down), svg_number(right)); });
      break;
    default: break;
  }
  return data;
}

}  // namespace

void Svg::mark(double x, double y, double width, double height, const Look& look, std::string_view tip, bool is_light) {
  rect(x, y, width, height, fmt::format("f{}{}", look.color, is_light ? " light" : ""), tip);
  if (const auto lines = overlay_lines(x, y, width, height, look.overlay); !lines.empty())
    path(lines, is_light ? "overlay light" : "overlay");
}

void Svg::hatch(double x, double y, double width, double height) {
  constexpr double apart = 5, depth = 5;
  std::string data;
  for (double at = x; at + depth <= x + width; at += apart)
    for (const double bottom : {y + depth, y + height})
      append(data, "M{} {}l{} {}", svg_number(at), svg_number(bottom), depth, -depth);
  for (double at = y + depth + apart; at + depth <= y + height; at += apart)
    for (const double left : {x, x + width - depth})
      append(data, "M{} {}l{} {}", svg_number(left), svg_number(at), depth, -depth);
  path(data, "overlay");
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  element("line", classes,
          fmt::format(" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", svg_number(x1), svg_number(y1), svg_number(x2),
                      svg_number(y2)),
          {});
}

void Svg::curve(std::span<const std::pair<double, double>> points, const Look& look) {
  std::string data;
  for (const auto& [x, y] : points)
    data += fmt::format("{}{} {}", data.empty() ? "M" : " L", svg_number(x), svg_number(y));
  path(data, fmt::format("curve l{} d{}", look.color, look.overlay));
}

void Svg::whisker(double x1, double y1, double x2, double y2, std::string_view classes) {
  constexpr double cap = 3;
  const double dx = x1 == x2 ? cap : 0, dy = x1 == x2 ? 0 : cap;
  std::string data = fmt::format("M{} {}L{} {}", svg_number(x1), svg_number(y1), svg_number(x2), svg_number(y2));
  for (const auto& [x, y] : {std::pair(x1, y1), std::pair(x2, y2)})
    append(data, "M{} {}L{} {}", svg_number(x - dx), svg_number(y - dy), svg_number(x + dx), svg_number(y + dy));
  path(data, classes);
}

void Svg::path(const std::string& data, std::string_view classes, std::string_view tip) {
  element("path", classes, fmt::format(" d=\"{}\"", data), tip);
}

void Svg::point(double x, double y, const Look& look, std::string_view tip) {
  constexpr double r = 4;
  const auto at = [](double px, double py) { return svg_number(px) + " " + svg_number(py); };
  std::string data;
  switch (look.color % 4) {
    case 0:  // a circle
      data = fmt::format("M{} a{} {} 0 1 0 {} 0 a{} {} 0 1 0 {} 0 Z", at(x - r, y), r, r, 2 * r, r, r, -2 * r);
      break;
    case 1:  // a square
      data = fmt::format("M{} L{} L{} L{} Z", at(x - r, y - r), at(x + r, y - r), at(x + r, y + r), at(x - r, y + r));
      break;
    case 2:  // a triangle
      data = fmt::format("M{} L{} L{} Z", at(x, y - r - 1), at(x + r + 1, y + r), at(x - r - 1, y + r));
      break;
    default:  // a diamond
      data = fmt::format("M{} L{} L{} L{} Z", at(x, y - r - 1), at(x + r + 1, y), at(x, y + r + 1), at(x - r - 1, y));
  }
  path(data, fmt::format("f{} edge", look.color), tip);
}

void Svg::text(double x, double y, std::string_view text, std::string_view classes, Anchor anchor, double size) {
  constexpr const char* anchors[] = {"start", "middle", "end"};
  append(picture_.body, "<text class=\"{}\" x=\"{}\" y=\"{}\"{}{}>{}</text>\n", classes, svg_number(x), svg_number(y),
         anchor == Anchor::start ? "" : fmt::format(" text-anchor=\"{}\"", anchors[static_cast<int>(anchor)]),
         size == 12 ? "" : fmt::format(" font-size=\"{}\"", svg_number(size)), escape_xml(text));
}

void Svg::upward_text(double x, double y, std::string_view text) {
  append(picture_.body,
         "<text class=\"dim\" transform=\"translate({} {}) rotate(-90)\" text-anchor=\"middle\" font-size=\"12\">{}"
         "</text>\n",
         svg_number(x), svg_number(y), escape_xml(text));
}

double Svg::paragraph(double y, std::string_view text, double size, std::string_view classes) {
  const double leading = size * 1.4, room = picture_.width - 2 * picture_margin;
  std::string line;
  const auto flush = [&] {
    if (line.empty()) return;
    this->text(picture_margin, y, line, classes, Anchor::start, size);
    y += leading;
    line.clear();
  };
  for (const auto& word : split(text, ' ')) {
    if (!line.empty() && text_width(line + " " + word, size) > room) flush();
    line += (line.empty() ? "" : " ") + word;
  }
  flush();
  return y;
}

void Svg::image(double x, double y, double width, double height, std::string_view png, std::string_view tip) {
  element("image", "pixels",
          box_attributes(x, y, width, height) +
              fmt::format(" preserveAspectRatio=\"none\" href=\"data:image/png;base64,{}\"", base64(png)),
          tip);
}

double Svg::legend(double x, double y, double room, const Legend& entries, bool are_lines) {
  constexpr double gap = 6, apart = 16, row = 19;
  const double box = are_lines ? 26 : 12;
  double left = x;
  for (const auto& [look, name] : entries) {
    const double needed = box + gap + text_width(name, 12);
    if (left > x && left + needed > x + room) {
      left = x;
      y += row;
    }
    if (are_lines) {
      curve(std::array{std::pair(left, y + 6), std::pair(left + box, y + 6)}, look);
      point(left + box / 2, y + 6, look);
    } else {
      mark(left, y, box, box, look);
    }
    text(left + box + gap, y + 10, name);
    left += needed + apart;
  }
  return y + row + 4;
}

double Svg::head(std::string_view introduction) {
  constexpr double title_y = 22, title_size = 15, gap = 20, introduction_size = 12;
  if (!has_title_) return picture_margin;
  const double below = paragraph(title_y, picture_.title, title_size, "ink strong");
  return paragraph(below - title_size * 1.4 + gap, introduction, introduction_size);
}

Picture Svg::finish(double height, const Document& numbers, int indent) && {
  picture_.height = height;
  picture_.json = json_text(numbers.json(), indent);
  picture_.csv = numbers.write(Form::csv);
  return std::move(picture_);
}

namespace {

std::string element(const Picture& picture, std::string_view attributes, std::string_view first) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" viewBox=\"0 0 {} {}\"{} role=\"img\" "
      "aria-labelledby=\"{}-title {}-desc\">\n<title id=\"{}-title\">{}</title>\n<desc id=\"{}-desc\">{}</desc>\n"
      "{}{}</svg>\n",
      svg_number(picture.width), svg_number(picture.height), attributes, picture.id, picture.id, picture.id,
      escape_xml(picture.title), picture.id, escape_xml(picture.description), first, picture.body);
}

}  // namespace

std::string svg_document(const Picture& picture, const std::string& width, Paper paper) {
  const auto size =
      width.empty() ? fmt::format(" width=\"{}\" height=\"{}\"", svg_number(picture.width), svg_number(picture.height))
                    : fmt::format(" width=\"{}\"", escape_xml(width));
  return element(
      picture, size,
      fmt::format(
          "<metadata>{}</metadata>\n<style>\n{}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
          escape_xml(picture.json), picture_style(paper) + (has_shades(picture) ? shade_style() : "")));
}

std::string svg_element(const Picture& picture) { return element(picture, {}, {}); }

}  // namespace commpass
