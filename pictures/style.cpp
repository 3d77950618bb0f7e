// The looks of marks: the colours of Okabe and Ito, which common colour blindness does not confuse, overlays, dashes.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "model/base/format.hpp"
#include "pictures/svg.hpp"

namespace commpass {

namespace {

//                                              grey       blue       sky        green      orange     vermilion  purple
//                                              yellow
constexpr std::array<const char*, look_colors> light{"#8c959f", "#0072b2", "#56b4e9", "#009e73",
                                                     "#e69f00", "#d55e00", "#cc79a7", "#d9cb1a"};
constexpr std::array<const char*, look_colors> dark{"#8c959f", "#3d9bd8", "#7cc7f2", "#2fb98f",
                                                    "#e9ac2b", "#e5763a", "#d68fb6", "#f0e442"};

// Viridis of matplotlib (CC0) at 16 even steps: lightness grows evenly, also for colour-blind readers and in print.
constexpr std::array<const char*, shade_count> viridis{"#440154", "#481a6c", "#472f7d", "#414487", "#39568c", "#31688e",
                                                       "#2a788e", "#23888e", "#1f988b", "#22a884", "#35b779", "#54c568",
                                                       "#7ad151", "#a5db36", "#d2e21b", "#fde725"};

struct RouteLook {
  const char* route;
  Look look;
};

// Related routes share a colour.
constexpr RouteLook route_looks[] = {
    {"standard", {0, 0}},        {"mpi", {0, 1}},   {"two-step", {1, 0}},  {"two-step-socket", {1, 1}},
    {"three-step", {2, 0}},      {"split", {2, 1}}, {"stfw", {5, 0}},      {"cartesian", {5, 1}},
    {"local-then-node", {3, 0}}, {"tuna", {4, 0}},  {"tuna-node", {7, 0}}, {"multi-leader", {6, 0}},
};
constexpr Look other_route_look{6, 3};

constexpr const char *light_ink = "#1b1f24", *light_dim = "#57606a", *light_paper = "#ffffff", *light_faint = "#dfe3e8";

/// The style sheet for light or dark paper.
std::string rules(const char* ink, const char* dim, const char* paper, const char* faint,
                  const std::array<const char*, look_colors>& colors) {
  auto text = fmt::format(
      ".picture .ink{{fill:{0}}}.picture .dim{{fill:{1}}}.picture .paper{{fill:{2}}}.picture .faint{{fill:{3}}}\n"
      ".picture .axis{{stroke:{1}}}.picture .grid{{stroke:{3}}}.picture .bold{{stroke:{0}}}.picture .edge,.picture "
      ".halo,.picture .cut{{stroke:{2}}}.picture .overlay,.picture .whisker{{stroke:{0}}}\n",
      ink, dim, paper, faint);
  for (std::size_t c = 0; c < colors.size(); ++c)
    text += fmt::format(".picture .f{0}{{fill:{1}}}.picture .l{0}{{stroke:{1}}}\n", c, colors[c]);
  return text;
}

}  // namespace

Look look_of_route(const std::string& strategy) {
  const auto route = strategy.substr(0, strategy.find_first_of(",@"));
  const auto* found = std::ranges::find_if(route_looks, [&](const RouteLook& known) { return route == known.route; });
  return found != std::end(route_looks) ? found->look : other_route_look;
}

std::vector<std::pair<std::string, std::string>> print_colors() {
  std::vector<std::pair<std::string, std::string>> colors{
      {"ink", light_ink}, {"dim", light_dim}, {"paper", light_paper}, {"faint", light_faint}};
  for (std::size_t c = 0; c < light.size(); ++c) colors.emplace_back(std::to_string(c), light[c]);
  for (std::size_t s = 0; s < viridis.size(); ++s) colors.emplace_back(fmt::format("s{}", s), viridis[s]);
  for (auto& [name, rgb] : colors) rgb.erase(0, 1);
  return colors;
}

std::string shade_style() {
  std::string style;
  for (std::size_t s = 0; s < viridis.size(); ++s) append(style, ".picture .s{}{{fill:{}}}\n", s, viridis[s]);
  return style;
}

std::string picture_style(Paper paper) {
  auto style =
      std::string(
          ".picture text{font-family:system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}\n"
          ".picture{font-size:12px}.picture .strong{font-weight:600}\n"
          ".picture .axis,.picture .grid{stroke-width:1}.picture "
          ".curve{fill:none;stroke-width:2;stroke-linejoin:round}\n"
          ".picture .bold{fill:none;stroke-width:2}.picture .edge{stroke-width:1}.picture .cut{stroke-width:2}\n"
          ".picture .hollow,.picture .halo{fill:none}.picture .halo{stroke-width:5}.picture "
          ".thin{stroke-width:.5}.picture .light{fill-opacity:.5}.picture .band{fill-opacity:.22}.picture "
          ".veil{fill-opacity:.8}\n"
          ".picture .overlay{fill:none;stroke-width:1.2;stroke-linecap:round;stroke-opacity:.55;pointer-events:none}\n"
          ".picture .d1{stroke-dasharray:7 3}.picture .d2{stroke-dasharray:2 3}.picture .d3{stroke-dasharray:9 3 2 3}"
          ".picture .d4{stroke-dasharray:4 4}\n"
          ".picture .pixels{image-rendering:pixelated}.picture .whisker{fill:none;stroke-width:1.3}\n") +
      rules(light_ink, light_dim, light_paper, light_faint, light);
  if (paper == Paper::print) return style;
  return style + "@media screen and (prefers-color-scheme:dark){\n" +
         rules("#e6e9ec", "#a2acb6", "#14181d", "#30373f", dark) +
         ".picture .pixels{filter:invert(1) hue-rotate(180deg)}\n}\n";
}

}  // namespace commpass
