#include "model/route/routes/node_digits.hpp"

#include <algorithm>
#include <numeric>

#include "model/route/address_route.hpp"
#include "model/route/dimensions.hpp"

namespace commpass {

namespace {

std::vector<int> sizes_of(const Strategy& strategy, const std::string& name, int count) {
  const auto values = strategy.values(name);
  if (values.empty()) return {std::max(count, 2)};
  return {values.begin(), values.end()};
}

}  // namespace

std::vector<Parameter> node_digit_parameters() {
  using Kind = Parameter::Kind;
  return {{"local", Kind::dimensions, 2,
           "the sizes of the digits of the local rank, each 2 or more, lowest first, with a product of the ranks of a "
           "node or more"},
          {"node", Kind::dimensions, 2,
           "the sizes of the digits of the node, each 2 or more, lowest first, with a product of the nodes or more"}};
}

std::vector<Strategy> suggest_node_digits(const std::string& route, const Layout& layout) {
  if (layout.nodes() == 1 || layout.max_ppn() == 1) return {};  // the same as standard
  std::vector<Strategy> strategies{{route, {}, {}}};
  if (const int nodes = layout.nodes_of_each_group(); nodes > 1)
    strategies.push_back({route, {{"node", {nodes, layout.groups()}}}, {}});
  return strategies;
}

std::string node_digits_inapplicable(const Strategy& strategy, const Layout& layout) {
  const auto local = strategy.values("local"), node = strategy.values("node");
  // On a node with fewer ranks, a host has the local rank modulo these, and so other digits than those it stands in
  // for.
  if (local.size() > 1 && !layout.even()) return "several local digits need as many ranks on every node";
  auto reason = local.empty() ? "" : too_small(local, layout.max_ppn(), "ranks of a node");
  return !reason.empty() || node.empty() ? reason : too_small(node, layout.nodes(), "nodes");
}

std::unique_ptr<Route> make_node_digits_route(const Strategy& strategy, const Layout& layout, First first) {
  const auto local = sizes_of(strategy, "local", layout.max_ppn()), node = sizes_of(strategy, "node", layout.nodes());
  auto address = Address::of_nodes(layout, local, node);
  // Where a digit is missing (one node, one rank a node) the others are left.
  std::vector<std::size_t> order(address.digits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto locals = trim_radices(local, layout.max_ppn()).size();
  if (first == First::node)
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(locals), order.end());
  return std::make_unique<AddressRoute>(std::move(address), order);
}

std::vector<Strategy> vary_node_digits(const Strategy& strategy, const Layout& layout, const char* other) {
  auto swapped = strategy;
  swapped.route = other;
  std::vector<Strategy> result{std::move(swapped)};
  const Dimensions one_local{layout.max_ppn()}, one_node{layout.nodes()};
  auto local = strategy.values("local"), node = strategy.values("node");
  if (local.empty()) local = one_local;
  if (node.empty()) node = one_node;
  const auto add = [&](const Dimensions& locals, const Dimensions& nodes) {
    auto& varied = result.emplace_back(strategy);
    varied.arguments.clear();
    if (locals != one_local) varied.arguments.push_back({"local", locals});
    if (nodes != one_node) varied.arguments.push_back({"node", nodes});
  };
  for (const auto& varied : vary_dimensions(local, layout.max_ppn())) add(varied, node);
  for (const auto& varied : vary_dimensions(node, layout.nodes())) add(local, varied);
  return result;
}

}  // namespace commpass
