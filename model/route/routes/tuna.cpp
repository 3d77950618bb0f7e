// tuna: the base-r digits of the distance, lowest first; rounds run one after another unless a window says otherwise.
#include <fmt/core.h>

#include <cmath>
#include <set>

#include "model/route/catalogue.hpp"
#include "model/route/distance_route.hpp"

namespace commpass {

namespace {
namespace tuna {

std::string malformed(const Strategy& strategy) { return strategy.arguments.empty() ? "it needs a radix" : ""; }

std::string inapplicable(const Strategy& strategy, const Layout& layout) {
  if (layout.ranks() < 2) return "a single rank has no distances";
  const auto radix = strategy.values("radix")[0];
  return radix <= layout.ranks() ? "" : fmt::format("radix {} is larger than the {} ranks", radix, layout.ranks());
}

std::unique_ptr<Route> make(const Strategy& strategy, const Layout& layout, const PatternTables&) {
  return std::make_unique<DistanceRoute>(layout.ranks(), static_cast<int>(strategy.values("radix")[0]));
}

std::vector<Strategy> suggest(const Layout& layout) {
  const int ranks = layout.ranks();
  if (ranks < 2) return {};
  // The paper's trends: about 2 for small blocks, √P for medium, P for large; powers of two between them.
  std::set<int> radices{2, ranks};
  for (int radix = 4; radix < ranks; radix *= 2) radices.insert(radix);
  if (ranks > 3) radices.insert({3, static_cast<int>(std::lround(std::sqrt(ranks)))});
  std::vector<Strategy> strategies;
  for (const int rounds : {1, 0})
    for (const int radix : radices) strategies.push_back({"tuna", {{"radix", {radix}}}, {rounds}});
  return strategies;
}

}  // namespace tuna
}  // namespace

CatalogueRow tuna_row() {
  using namespace tuna;
  return {.name = "tuna",
          .usage = "tuna,radix=R[,window=W][,staggered]",
          .summary = "the base-R digits of the distance between ranks, lowest first, one round at a time",
          .source = "TuNA paper (Fan, Domke, Ba, Kumar) §III",
          .parameters = {{"radix", Parameter::Kind::integer, 2,
                          "the base of the digits, 2 to P, or 'auto': the cheapest", true}},
          .default_window = {1},
          .malformed = malformed,
          .inapplicable = inapplicable,
          .make = make,
          .suggest = suggest,
          .vary = [](const Strategy& strategy, const Layout& layout) {
            return vary_argument(strategy, "radix", 2, layout.ranks());
          }};
}

}  // namespace commpass
