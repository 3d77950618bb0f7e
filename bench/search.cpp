// bench search: does the choice find what the model prices lowest? Clusters, patterns and points of the space of
// strategies are drawn at random; formulas only, nothing is simulated.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "bench/options.hpp"
#include "bench/skewed_patterns.hpp"
#include "bench/summary.hpp"
#include "model/base/error.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/pattern/generate.hpp"
#include "model/route/catalogue.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/pattern_pricer.hpp"
#include "selector/choose/select.hpp"

namespace commpass::bench {
namespace {

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  /// 0 … below − 1.
  int below(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  bool one_in(int n) { return below(n) == 0; }
  /// Log-uniform.
  double between(double least, double most) {
    constexpr int steps = 1 << 20;
    return least * std::pow(most / least, static_cast<double>(below(steps)) / steps);
  }
  template <class Value>
  Value of(std::initializer_list<Value> values) {
    return *(values.begin() + below(static_cast<int>(values.size())));
  }

 private:
  std::mt19937 random_;
};

// Numbers are spread over what machines have (bench/draw_clusters.py).
Channel draw_channel(Draw& draw, double alpha_s, double beta_s_per_byte, bool receivers_pay) {
  Channel channel;
  const int protocols = draw.of({1, 2, 2, 3});
  double end = draw.between(256, 4096), alpha = alpha_s, beta = beta_s_per_byte;
  const double busy = draw.between(0.1, 0.6);
  for (int i = 0; i < protocols; ++i) {
    Protocol protocol{fmt::format("protocol-{}", i + 1), static_cast<Bytes>(end), alpha, beta, busy * alpha_s};
    if (i + 1 == protocols) protocol.max_bytes = std::numeric_limits<Bytes>::max();
    if (receivers_pay) protocol.alpha_receive_s = busy * alpha_s * draw.between(0.3, 0.9);
    channel.protocols.push_back(protocol);
    end *= draw.between(3, 16);
    alpha *= draw.between(1.8, 3.5);
    beta *= draw.between(0.25, 0.7);
  }
  return channel;
}

struct Cluster {
  Machine machine;
  Layout layout;
};

Cluster draw_cluster(Draw& draw, unsigned seed) {
  const int nodes = 3 + draw.below(10), sockets = draw.of({1, 1, 2, 2, 4}), cores = 2 + draw.below(6);
  Machine machine;
  machine.name = fmt::format("drawn-{}", seed);
  const bool receivers_pay = draw.below(5) < 2;
  const double near = draw.between(1.5e-7, 8e-7), far = draw.between(8e-7, 1.2e-5);
  const double near_beta = draw.between(5e-11, 4e-10), far_beta = draw.between(1e-10, 1.2e-9);
  machine.host.by_level[standard_level::socket] = draw_channel(draw, near, near_beta, receivers_pay);
  machine.host.by_level[standard_level::node] =
      draw_channel(draw, near * draw.between(1, 2.2), near_beta * draw.between(1, 2), receivers_pay);
  machine.host.by_level[standard_level::network] = draw_channel(draw, far, far_beta, receivers_pay);
  auto& node = machine.levels[standard_level::node];
  if (!draw.one_in(4)) node.up_rate_bytes_per_s = draw.between(1, 8) / far_beta;
  if (draw.one_in(3)) node.down_rate_bytes_per_s = draw.between(1, 8) / far_beta;
  if (draw.one_in(2)) node.inside_rate_bytes_per_s = draw.between(2, 12) / near_beta;
  machine.copy_rate_bytes_per_s = draw.between(2e9, 2e10);
  machine.copy_block_s = draw.between(5e-9, 6e-8);
  machine.operations.batch_s = draw.between(5e-8, 5e-7);
  return {machine, Layout::regular(nodes, sockets, cores)};
}

/// One rank of each node sends to all others.
Pattern leaders_to_all(const Layout& layout, Bytes bytes) {
  Pattern pattern{layout.ranks(), {}};
  for (int node = 0; node < layout.nodes(); ++node)
    for (Rank to = 0; to < layout.ranks(); ++to)
      if (const Rank from = layout.ranks_of(node).front(); from != to) pattern.edges.push_back({from, to, bytes});
  return pattern;
}

/// Most ranks have nothing to do.
Pattern few_ranks(const Layout& layout, Draw& draw, Bytes bytes) {
  Pattern pattern{layout.ranks(), {}};
  for (Rank from = 0; from < layout.ranks(); ++from)
    if (from % 5 == 0)
      for (int i = 0; i < 12; ++i)
        if (const Rank to = draw.below(layout.ranks()); to != from) pattern.edges.push_back({from, to, bytes});
  return pattern;
}

struct DrawnPattern {
  std::string name;
  Pattern pattern;
};

DrawnPattern draw_pattern(Draw& draw, const Layout& layout) {
  const int ranks = layout.ranks();
  const auto bytes = static_cast<Bytes>(draw.between(8, 65536));
  switch (draw.below(12)) {
    case 0:
      return {fmt::format("all-to-all of {} B", bytes),
              generate_pattern(fmt::format("alltoall:ranks={},bytes={}", ranks, bytes))};
    case 1: return {"hot sender", hot_sender(ranks)};
    case 2: return {"hot receiver", hot_receiver(ranks)};
    case 3: return {"power law of partners", power_law_of_partners(ranks)};
    case 4: return {"wide sizes", wide_sizes(ranks)};
    case 5: return {"transposes", transposes(ranks)};
    case 6: return {"adaptive mesh", adaptive_mesh(ranks)};
    case 7: return {fmt::format("leaders to all, {} B", bytes), leaders_to_all(layout, bytes)};
    case 8: return {fmt::format("few ranks, {} B", bytes), few_ranks(layout, draw, bytes)};
    case 9:
      return {fmt::format("sizes of power law up to {} B", bytes),
              generate_pattern(fmt::format("power-law:ranks={},bytes={}", ranks, bytes))};
    default: {
      const int degree = 2 + draw.below(std::min(ranks - 2, 40));
      return {fmt::format("{} partners, {} B", degree, bytes),
              generate_pattern(fmt::format("random:ranks={},degree={},bytes={}", ranks, degree, bytes))};
    }
  }
}

std::string draw_digits(Draw& draw, int least) {
  std::string text;
  for (int product = 1; product < least || text.empty();) {
    const int size = 2 + draw.below(7);
    product *= size;
    text += fmt::format("{}{}", text.empty() ? "" : "x", size);
  }
  return text;
}

/// A point of the whole space: any route, digits, radix, cap, leaders, window, messages, flag.
Strategy draw_point(Draw& draw, const Layout& layout) {
  while (true) {
    std::string text;
    switch (draw.below(10)) {
      case 0: text = "standard"; break;
      case 1: text = "stfw,dims=" + draw_digits(draw, layout.ranks()); break;
      case 2: text = fmt::format("tuna,radix={}", 2 + draw.below(layout.ranks() - 2)); break;
      case 3: text = fmt::format("tuna-node,radix={}", 2 + draw.below(layout.max_ppn() - 1)); break;
      case 4: text = fmt::format("split,cap={}", static_cast<Bytes>(draw.between(64, 65536))); break;
      case 5: text = draw.of({"two-step", "two-step-socket", "three-step", "local-then-node"}); break;
      case 6: text = fmt::format("multi-leader,leaders={}", 1 + draw.below(layout.max_ppn())); break;
      case 7:
        text = draw.of({"two-step", "local-then-node"}) + std::string(",node=") + draw_digits(draw, layout.nodes());
        break;
      case 8:
        text = draw.of({"two-step", "local-then-node"}) + std::string(",local=") + draw_digits(draw, layout.max_ppn());
        break;
      default: {
        const auto suggested = suggest_strategies(layout);
        text = to_string(suggested[static_cast<std::size_t>(draw.below(static_cast<int>(suggested.size())))]);
      }
    }
    if (draw.one_in(3)) text += fmt::format(",window={}", 1 << draw.below(7));
    if (draw.one_in(3)) text += ",staggered";
    try {
      auto strategy = parse_strategy(text);
      if (strategy.route == "mpi") continue;
      const auto& row = catalogue_row(strategy.route);
      if (row.malformed(strategy).empty() && row.inapplicable(strategy, layout).empty()) return strategy;
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): its parameters do not go together; another one
    }
  }
}

struct Case {
  std::string cluster, pattern, chosen, best;
  int ranks = 0;
  Seconds chosen_s = 0, best_s = 0;
  double behind() const { return chosen_s / best_s; }
};

Case run_case(unsigned seed, int points) {
  Draw draw(seed);
  const auto [machine, layout] = draw_cluster(draw, seed);
  const auto [name, pattern] = draw_pattern(draw, layout);
  const auto choice =
      rank_strategies(pattern, layout, machine, CostModel::burst, {}, {}, RankingDepth::cheapest).front();
  Case result{machine.name,
              name,
              to_string(choice.strategy),
              to_string(choice.strategy),
              layout.ranks(),
              choice.cost.seconds,
              choice.cost.seconds};
  std::vector<Strategy> drawn;
  for (int i = 0; i < points; ++i) drawn.push_back(draw_point(draw, layout));
  for (const auto& candidate : pattern_pricer(pattern, layout, machine, CostModel::burst, {})(drawn))
    if (!candidate.exceeded_limit && candidate.cost.seconds < result.best_s) {
      result.best = to_string(candidate.strategy);
      result.best_s = candidate.cost.seconds;
    }
  return result;
}

struct SearchOptions : OutputOptions {
  int cases = 100, points = 50, seed = 1;
};

Json search(const SearchOptions& options) {
  const int cases = options.quick ? std::min(options.cases, 20) : options.cases;
  std::vector<double> behind;
  Json json{{"schema_version", 1}};
  json["cases"] = Json::array();
  if (!options.json)
    fmt::print("{:<12} {:>5}  {:<34} {:<38} {:>10}  {:<40} {:>7}\n", "cluster", "ranks", "pattern", "chosen", "price",
               "cheapest of those drawn", "behind");
  for (int i = 0; i < cases; ++i) {
    const auto found = run_case(static_cast<unsigned>(options.seed * 1000 + i), options.points);
    behind.push_back(found.behind());
    json["cases"].push_back({{"cluster", found.cluster},
                             {"ranks", found.ranks},
                             {"pattern", found.pattern},
                             {"chosen", found.chosen},
                             {"chosen_s", found.chosen_s},
                             {"cheapest_drawn", found.best},
                             {"behind", found.behind()}});
    if (!options.json && found.behind() > 1)
      fmt::print("{:<12} {:>5}  {:<34} {:<38} {:>10}  {:<40} {:>7.3f}\n", found.cluster, found.ranks, found.pattern,
                 found.chosen, format_seconds(found.chosen_s), found.best, found.behind());
  }
  const auto more_than = [&](double factor) {
    return std::ranges::count_if(behind, [&](double b) { return b > factor; });
  };
  constexpr double one_percent = 1.01;
  json["summary"] = {{"cases", cases},
                     {"points", options.points},
                     {"behind_geometric_mean", geometric_mean(behind)},
                     {"behind_worst", std::ranges::max(behind)},
                     {"behind_by_more_than_1_percent", more_than(one_percent)}};
  if (!options.json)
    fmt::print("\n{} cases, {} points each: behind by more than 1 % in {}, at worst {:.3f} times, {:.4f} in the mean\n",
               cases, options.points, more_than(one_percent), std::ranges::max(behind), geometric_mean(behind));
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  using namespace commpass;
  using namespace commpass::bench;
  SearchOptions options;
  Command command{"bench-search", "does the choice find what the model prices lowest?"};
  command.add({{"--cases", &options.cases, "how many are drawn (100)"},
               {"--points", &options.points, "of the space of strategies, drawn in each (50)"},
               {"--seed", &options.seed, "of the draw (1)"}});
  return run_benchmark(std::move(command), argc, argv, "search", options, [&] { return search(options); });
}
