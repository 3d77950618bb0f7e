// The elements of a picture as a pgfpicture's drawing commands, for LaTeX.
#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "pictures/pictures.hpp"
#include "pictures/svg.hpp"

namespace commpass {

namespace {

/// One element of Picture::body, which Svg has written.
struct SvgElement {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;

  std::string attribute(const std::string& key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? std::string() : found->second;
  }
  double number(const std::string& key) const { return parse_number<double>(attribute(key)).value_or(0); }
};

std::string unescape_xml(std::string text) {
  for (const auto& [entity, character] :
       {std::pair("&lt;", "<"), {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}})  // the ampersand last
    for (auto found = text.find(entity); found != std::string::npos; found = text.find(entity, found + 1))
      text.replace(found, std::string_view(entity).size(), character);
  return text;
}

std::vector<SvgElement> elements_of(const std::string& body) {
  std::vector<SvgElement> elements;
  for (auto begin = body.find('<'); begin != std::string::npos; begin = body.find('<', begin + 1)) {
    const auto end = body.find('>', begin);
    const auto tag = std::string_view(body).substr(begin + 1, end - begin - 1);
    if (tag.starts_with('/') || tag.starts_with("title")) continue;  // tooltips are for screens
    SvgElement element;
    const auto name_end = tag.find_first_of(" /");
    element.name = tag.substr(0, name_end);
    for (auto quote = tag.find("=\"", name_end); quote != std::string_view::npos;) {
      const auto key_begin = tag.rfind(' ', quote) + 1, value_end = tag.find('"', quote + 2);
      element.attributes[std::string(tag.substr(key_begin, quote - key_begin))] =
          tag.substr(quote + 2, value_end - quote - 2);
      quote = tag.find("=\"", value_end);
    }
    if (element.name == "text") element.text = unescape_xml(body.substr(end + 1, body.find("</text>", end) - end - 1));
    elements.push_back(std::move(element));
  }
  return elements;
}

/// Options of a TikZ path for classes of picture_style.
std::string options_of(const std::string& classes, double point_per_pixel) {
  std::string fill, draw, rest;
  double width = 1, opacity = 1;
  bool is_hollow = false;
  const auto stroke = [&](const std::string& color, double pixels) {
    draw = color;
    width = pixels;
  };
  for (const auto& each : split(classes, ' ')) {
    if (each.size() == 2 && each[0] == 'f') fill = "commpass" + each.substr(1);
    else if (each.size() > 1 && each[0] == 's' && each[1] <= '9') fill = "commpass" + each;
    else if (each.size() == 2 && each[0] == 'l') draw = "commpass" + each.substr(1);
    else if (each == "ink" || each == "dim" || each == "paper" || each == "faint") fill = "commpass" + each;
    else if (each == "axis") stroke("commpassdim", 1);
    else if (each == "grid") stroke("commpassfaint", 1);
    else if (each == "bold") stroke("commpassink", 2);
    else if (each == "edge") stroke("commpasspaper", 1);
    else if (each == "cut") stroke("commpasspaper", 2);
    else if (each == "halo") stroke("commpasspaper", 5);
    else if (each == "whisker") stroke("commpassink", 1.3);
    else if (each == "overlay") {
      stroke("commpassink", 1.2);
      rest += ",draw opacity=.55,line cap=round";
    } else if (each == "curve") width = 2;
    else if (each == "light") opacity = 0.5;
    else if (each == "band") opacity = 0.22;
    constexpr std::array dashes{"7 3", "2 3", "9 3 2 3", "4 4"};
    if (each.size() == 2 && each[0] == 'd' && each[1] >= '1' && each[1] <= '4') {
      rest += ",dash pattern=";
      bool is_on = true;
      for (const auto& length : split(dashes[static_cast<std::size_t>(each[1] - '1')], ' ')) {
        append(rest, "{} {:.3g}pt ", is_on ? "on" : "off", *parse_number<double>(length) * point_per_pixel);
        is_on = !is_on;
      }
    }
    if (each == "thin") width = 0.5;
    is_hollow = is_hollow || each == "hollow" || each == "halo" || each == "bold" || each == "curve" ||
                each == "overlay" || each == "whisker";
  }
  std::string options;
  if (!fill.empty() && !is_hollow) append(options, "fill={},fill opacity={:.3g},", fill, opacity);
  if (!draw.empty()) append(options, "draw={},line width={:.3g}pt,", draw, width * point_per_pixel);
  return options + (rest.empty() ? rest : rest.substr(1));
}

/// Path data of Svg: M, L, l, H, h, a in two halves of a circle, Z.
std::string path_of(const std::string& data) {
  std::string result;
  std::size_t at = 0;
  double x = 0, y = 0;
  const auto number = [&] {
    at = std::min(data.find_first_not_of(" ,", at), data.size());
    const auto end = std::min(data.find_first_not_of("+-.0123456789", at), data.size());
    const auto value = parse_number<double>(std::string_view(data).substr(at, end - at)).value_or(0);
    at = end;
    return value;
  };
  const auto go = [&](const char* how, double to_x, double to_y) {
    append(result, "{}({},{})", how, svg_number(x = to_x), svg_number(y = to_y));
  };
  bool is_round = false;
  while (at < data.size()) {
    const char command = data[at++];
    switch (command) {
      case 'M': {
        const double to_x = number(), to_y = number();
        go(" ", to_x, to_y);
        break;
      }
      case 'L': {
        const double to_x = number(), to_y = number();
        go(" -- ", to_x, to_y);
        break;
      }
      case 'l': {
        const double by_x = number(), by_y = number();
        go(" -- ", x + by_x, y + by_y);
        break;
      }
      case 'H': go(" -- ", number(), y); break;
      case 'h': go(" -- ", x + number(), y); break;
      case 'a': {
        const double radius = number();
        for (int i = 0; i < 4; ++i) number();  // the other radius, rotation and flags
        const double by_x = number();
        number();
        if (!is_round)
          append(result, " ({},{}) circle[radius={}]", svg_number(x + by_x / 2), svg_number(y), svg_number(radius));
        is_round = true;
        break;
      }
      case 'Z':
        if (!is_round) result += " -- cycle";
        break;
      default: break;
    }
  }
  return result;
}

std::string node_of(const SvgElement& element, double point_per_pixel) {
  constexpr double usual_size = 12;
  double size = element.number("font-size");
  if (size <= 0) size = usual_size;
  size *= point_per_pixel;
  const auto& anchor = element.attribute("text-anchor");
  double x = element.number("x"), y = element.number("y");
  std::string more;
  if (const auto turn = element.attribute("transform"); !turn.empty()) {  // upward_text
    const auto place = split(turn.substr(turn.find('(') + 1, turn.find(')') - turn.find('(') - 1), ' ');
    x = parse_number<double>(place.at(0)).value_or(0);
    y = parse_number<double>(place.at(1)).value_or(0);
    more = ",rotate=90";
  }
  const auto& classes = element.attribute("class");
  const bool is_strong = classes.find("strong") != std::string::npos, is_dim = classes.find("dim") != std::string::npos;
  return fmt::format(
      "\\node[anchor=base{},inner sep=0pt,text={}{},font=\\sffamily{}\\fontsize{{{:.3g}}}{{{:.3g}}}\\selectfont] at "
      "({},{}) {{{}}};\n",
      anchor == "end"      ? " east"
      : anchor == "middle" ? ""
                           : " west",
      is_dim ? "commpassdim" : "commpassink", more, is_strong ? "\\bfseries" : "", size, size * 1.2, svg_number(x),
      svg_number(y), escape_latex(element.text));
}

}  // namespace

std::string pgf_document(const Picture& picture, double width_pt) {
  const double point_per_pixel = width_pt / picture.width;
  auto text =
      fmt::format("% {}\n% \\usepackage{{tikz}}\n\\begin{{tikzpicture}}[x={:.5f}pt,y=-{:.5f}pt,line width=0.4pt]\n",
                  picture.title, point_per_pixel, point_per_pixel);
  for (const auto& [name, rgb] : print_colors())
    if (!name.starts_with('s') || has_shades(picture))
      append(text, "\\definecolor{{commpass{}}}{{HTML}}{{{}}}\n", name, rgb);
  append(text, "\\path[use as bounding box] (0,0) rectangle ({},{});\n", svg_number(picture.width),
         svg_number(picture.height));
  for (const auto& element : elements_of(picture.body)) {
    const auto options = options_of(element.attribute("class"), point_per_pixel);
    if (element.name == "text") {
      text += node_of(element, point_per_pixel);
    } else if (element.name == "rect") {
      const double x = element.number("x"), y = element.number("y");
      append(text, "\\path[{}] ({},{}) rectangle ({},{});\n", options, svg_number(x), svg_number(y),
             svg_number(x + element.number("width")), svg_number(y + element.number("height")));
    } else if (element.name == "line") {
      append(text, "\\path[{}] ({},{}) -- ({},{});\n", options, element.attribute("x1"), element.attribute("y1"),
             element.attribute("x2"), element.attribute("y2"));
    } else if (element.name == "path") {
      append(text, "\\path[{}]{};\n", options, path_of(element.attribute("d")));
    } else {
      throw InputError("format pgf", "this picture has bitmaps, which TikZ cannot draw", "use pdf");
    }
  }
  return text + "\\end{tikzpicture}\n";
}

}  // namespace commpass
