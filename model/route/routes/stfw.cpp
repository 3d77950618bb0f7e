// stfw: store and forward over a virtual process topology T_n(k_1 … k_n).
#include "model/route/routes/stfw.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "model/route/address_route.hpp"
#include "model/route/catalogue.hpp"
#include "model/route/dimensions.hpp"
#include "model/route/placement.hpp"

namespace commpass {

int stfw_most_dimensions(int ranks) {
  return std::max(1, static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1))));
}

namespace {

/// The smallest k with k^n ≥ count.
int root_up(std::int64_t count, int n) {
  int k = std::max(1, static_cast<int>(std::floor(std::pow(static_cast<double>(count), 1.0 / n))) - 1);
  const auto reaches = [&](std::int64_t base) {
    std::int64_t power = 1;
    for (int i = 0; i < n && power < count; ++i) power *= base;
    return power >= count;
  };
  while (!reaches(k)) ++k;
  return k;
}

}  // namespace

std::vector<int> stfw_dimensions(int ranks, int n) {
  std::vector<int> dimensions;
  if (std::has_single_bit(static_cast<unsigned>(ranks))) {
    const int bits = std::countr_zero(static_cast<unsigned>(ranks));
    for (int d = 0; d < n; ++d) dimensions.push_back(1 << (bits / n + (d < bits % n ? 1 : 0)));
    return dimensions;
  }
  std::int64_t rest = ranks;
  for (int left = n; left > 0; --left) {
    const int size = root_up(rest, left);
    dimensions.push_back(size);
    rest = (rest + size - 1) / size;
  }
  return dimensions;
}

int stfw_message_bound(const std::vector<int>& dimensions) {
  return std::accumulate(dimensions.begin(), dimensions.end(), 0) - static_cast<int>(dimensions.size());
}

namespace {
namespace stfw {

std::string malformed(const Strategy& strategy) {
  return strategy.values("n").empty() != strategy.values("dims").empty() ? "" : "it needs either n or dims";
}

std::string inapplicable(const Strategy& strategy, const Layout& layout) {
  const int ranks = layout.ranks();
  if (const auto n = strategy.values("n"); !n.empty()) {
    const int most = stfw_most_dimensions(ranks);
    return n[0] <= most ? "" : fmt::format("{} ranks have at most n={} dimensions", ranks, most);
  }
  return too_small(strategy.values("dims"), ranks, "ranks");
}

bool is_outer_first(const Strategy& strategy) { return !strategy.values("outer-first").empty(); }
bool is_placed(const Strategy& strategy) { return !strategy.values("placed").empty(); }

std::unique_ptr<Route> make(const Strategy& strategy, const Layout& layout, const PatternTables& tables) {
  const auto n = strategy.values("n"), dims = strategy.values("dims");
  std::vector<int> sizes(dims.begin(), dims.end());
  if (!n.empty() && layout.ranks() > 1) sizes = stfw_dimensions(layout.ranks(), static_cast<int>(n[0]));
  auto address = Address::flat(layout.ranks(), sizes);
  address.place(tables.positions);
  std::vector<std::size_t> order(address.digits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (is_outer_first(strategy)) std::ranges::reverse(order);
  return std::make_unique<AddressRoute>(std::move(address), order);
}

PatternNeed need(const Strategy& strategy) {
  return is_placed(strategy) ? PatternNeed::rank_traffic : PatternNeed::nothing;
}

PatternTables tables(const Strategy& strategy, const Layout& layout, const Pattern& pattern) {
  return {{}, place_ranks(*make(strategy, layout, {}), layout, pattern)};
}

/// Other digits, and the same in the opposite order.
std::vector<Strategy> vary(const Strategy& strategy, const Layout& layout) {
  const auto n = strategy.values("n");
  auto sizes = strategy.values("dims");
  if (!n.empty()) {
    const auto balanced = stfw_dimensions(layout.ranks(), static_cast<int>(n[0]));
    sizes.assign(balanced.begin(), balanced.end());
  }
  std::vector<Strategy> result;
  for (auto& varied : vary_dimensions(sizes, layout.ranks())) {
    const auto dimensions = std::ssize(varied);
    if (dimensions < 2) continue;  // standard
    const auto balanced = stfw_dimensions(layout.ranks(), static_cast<int>(dimensions));
    auto argument =
        std::ranges::equal(varied, balanced) ? Argument{"n", {dimensions}} : Argument{"dims", std::move(varied)};
    result.push_back({"stfw", {std::move(argument)}, strategy.window, strategy.coalescing});
    if (is_outer_first(strategy)) result.back().set("outer-first", {1});
  }
  auto& opposite = result.emplace_back(strategy);
  opposite.set("outer-first", is_outer_first(strategy) ? std::vector<std::int64_t>() : std::vector<std::int64_t>{1});
  return result;
}

/// How many ranks are on each socket; nothing if that is not the same number everywhere, or if ranks that follow each
/// other do not share a socket.
std::optional<int> ranks_of_socket(const Layout& layout) {
  const int each = layout.ranks() / layout.sockets();
  for (Rank rank = 0; rank < layout.ranks(); ++rank)
    if (layout.socket(rank) != rank / each) return std::nullopt;
  return each;
}

/// Cuts along the edges of sockets, nodes and groups, so that the lowest digits stay within these. On a regular layout
/// local-then-node is the one that stays within the node.
std::vector<Strategy> suggest_of_places(const Layout& layout) {
  if (!layout.is_in_order_of_nodes()) return {};
  std::vector<Strategy> strategies;
  const auto add = [&](std::int64_t size) {
    const auto others = (layout.ranks() + size - 1) / size;
    if (size > 1 && others > 1) strategies.push_back({"stfw", {{"dims", {size, others}}}, {}});
  };
  if (const int nodes = layout.nodes_of_each_group(); nodes > 1 && layout.even())
    add(std::int64_t{nodes} * layout.max_ppn());
  if (layout.sockets() > layout.nodes())
    if (const auto each = ranks_of_socket(layout)) add(*each);
  if (!layout.even()) add(layout.max_ppn());
  return strategies;
}

/// Appends digits whose product is the number: its prime factors, the next ones taken together while that is no more
/// than `most`.
void append_digits(int number, int most, Dimensions& digits) {
  std::int64_t digit = 1;
  for (int prime = 2; number > 1;) {
    if (number % prime != 0) {
      // Behind the root only the number itself is left.
      prime = prime * prime > number ? number : prime + 1;
      continue;
    }
    number /= prime;
    if (digit > 1 && digit * prime > most) digits.push_back(std::exchange(digit, prime));
    else digit *= prime;
  }
  if (digit > 1) digits.push_back(digit);
}

/// Full addresses whose digits end where nodes do, of several lengths: from balanced ones, whose slabs may reach across
/// nodes, a search comes to these only by many steps.
std::vector<Strategy> suggest_full(const Layout& layout) {
  if (!layout.is_in_order_of_nodes() || !layout.even()) return {};
  std::vector<Strategy> strategies;
  for (const int most : {2, 4, 8}) {
    Dimensions digits;
    append_digits(layout.max_ppn(), most, digits);
    append_digits(layout.nodes(), most, digits);
    const auto n = static_cast<int>(digits.size());
    if (n < 3 || n > stfw_most_dimensions(layout.ranks())) continue;  // others are suggested anyway
    Strategy strategy{"stfw", {{"dims", digits}}, {}};
    if (!std::ranges::equal(digits, stfw_dimensions(layout.ranks(), n)) &&
        std::ranges::find(strategies, strategy) == strategies.end())
      strategies.push_back(std::move(strategy));
  }
  return strategies;
}

std::vector<Strategy> suggest(const Layout& layout) {
  std::vector<Strategy> strategies;
  for (int n = 2; n <= stfw_most_dimensions(layout.ranks()); ++n) strategies.push_back({"stfw", {{"n", {n}}}, {}});
  for (auto& strategy : suggest_of_places(layout)) strategies.push_back(std::move(strategy));
  for (auto& strategy : suggest_full(layout)) strategies.push_back(std::move(strategy));
  return strategies;
}

}  // namespace stfw
}  // namespace

CatalogueRow stfw_row() {
  using namespace stfw;
  using Kind = Parameter::Kind;
  return {
      .name = "stfw",
      .usage =
          "stfw,n=N[,outer-first][,placed][,window=W][,staggered] or "
          "stfw,dims=K1xK2x...[,outer-first][,placed][,window=W][,staggered]",
      .summary = "store and forward over a virtual process topology of n dimensions",
      .source = "SC'19 STFW paper (Selvitopi, Aykanat) §3 and §5",
      .parameters = {{"n", Kind::integer, 1, "the number of dimensions, 1 to lg P rounded up"},
                     {"dims", Kind::dimensions, 2,
                      "the sizes of the dimensions, each 2 or more, lowest digit first, with a product of P or more"},
                     {"outer-first", Kind::flag, 1, "the highest digit first: between nodes, then within"},
                     {"placed", Kind::flag, 1,
                      "ranks that exchange much get near addresses, so that less is forwarded"}},
      .default_window = {},
      .malformed = malformed,
      .inapplicable = inapplicable,
      .make = make,
      .suggest = suggest,
      .vary = vary,
      .need = need,
      .tables = tables};
}

}  // namespace commpass
