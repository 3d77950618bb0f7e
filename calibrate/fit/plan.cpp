#include "calibrate/fit/plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "calibrate/fit/pairs.hpp"
#include "calibrate/fit/skew.hpp"
#include "model/base/error.hpp"

namespace commpass {

namespace {

constexpr const char *two_nodes = "two nodes", *two_pairs = "two disjoint pairs of ranks";

int ranks_of(const std::vector<std::vector<Rank>>& rings) {
  std::size_t ranks = 0;
  for (const auto& ring : rings) ranks += ring.size();
  return static_cast<int>(ranks);
}

/// Makes the plan of one layout.
class Planned {
 public:
  Planned(const Layout& layout, const Machine& machine) : layout_(layout), machine_(machine) {
    for (Level level = 0; level <= layout.node_level(); ++level) add_level(level);
    add_level(layout.outermost());  // the messages of all levels outside nodes
  }

  std::vector<Experiment> take() {
    const int nodes = layout_.nodes(), all = layout_.ranks();
    constexpr int nodes_min = 3;  // messages between two nodes do not show which one is slow
    add("slow_nodes", "ping-pongs between neighbouring nodes, and within each", std::max(nodes, 2), node_share.length(),
        nodes < nodes_min && layout_.max_ppn() < 2 ? "three nodes" : "");
    add("operations.new_send_bytes", "bursts with new and with persistent requests", 2, request_share.length());
    for (const auto level : all_levels_)
      add(key(level, "host"), "ping-pongs of many sizes, sends whose receive is late", 2,
          ping_pong_share.of(level, levels_).length() + switch_share.of(level, levels_).length(), why_no_pair(level));
    of_each("host.alpha_next_s", "bursts of one rank", burst_share,
            [&](Level level) { return 1 + partners_of(first_pair(level).first, level); });
    for (const auto level : levels_) add_shared_rate(level);
    for (const auto level : levels_with_others_within(layout_)) add_inside_rate(level);
    add_outside_rates();
    of_each("host.alpha_receive_s", "many ranks that send to one", receive_share,
            [&](Level level) { return 1 + partners_of(first_pair(level).second, level); });
    add("local.copy_rate_bytes_per_s", "copies by all ranks at once", all, copy_share.length());
    add("local.value_run_s", "loops over small values", all, value_share.length());
    add("local.reduction_rate_bytes_per_s", "additions by all ranks at once", all, reduction_share.length());
    add("local.datatype_rate_bytes_per_s", "derived datatypes", all, datatype_share.length());
    add("operations", "collective calls, probes, puts", all, operation_share.length());
    add("operations.neighbor_alltoall_s", "MPI's neighbourhood collective beside single messages", all,
        collective_share.length());
    add("operations.alltoallv_s", "MPI_Alltoallv beside single messages", all,
        alltoallv_share.length() + visits_share.length());
    add("limits.messages_off_node", "more and more messages at once, until a timer shows", all, flight_share.length(),
        nodes < 2 ? two_nodes : "");
    add("operations.batch_s", "exchanges of small messages beside their price", all, calls_share.length());
    add("operations.skew_s", "rounds of small messages between nodes beside their price", all, skew_share.length(),
        nodes < 2                  ? two_nodes
        : skew_rounds(layout_) < 2 ? "two ranks a node, or three nodes"
                                   : "");
    for (const auto level : all_levels_)
      if (level <= layout_.node_level())
        add(key(level, "shared"), "planned exchanges of pairs through memory of a node", 2,
            memory_share.of(level, near_levels()).length(), why_no_pair(level));
    add("held_out", "irregular exchanges that no parameter is fitted to", all, held_out_share.length());
    return std::move(plan_);
  }

 private:
  void add_level(Level level) {
    all_levels_.push_back(level);
    auto pairs = disjoint_pairs(layout_, level);
    if (pairs.empty()) return;
    levels_.push_back(level);
    pairs_.push_back(std::move(pairs));
  }

  void add(std::string parameters, const char* method, int ranks, double budget_part, std::string needs = {}) {
    plan_.push_back({std::move(parameters), method, ranks, budget_part, std::move(needs)});
  }
  template <class Ranks>
  void of_each(const char* parameters, const char* method, const Share& share, Ranks ranks) {
    for (const auto level : levels_)
      add(key(level, parameters), method, ranks(level), share.of(level, levels_).length());
  }

  std::vector<Level> near_levels() const { return levels_within_nodes(levels_, layout_); }

  std::string key(Level level, const char* parameter) const {
    return fmt::format("levels.{}.{}", machine_.name_of(level), parameter);
  }

  const std::vector<Pair>& pairs(Level level) const {
    return pairs_[static_cast<std::size_t>(std::ranges::find(levels_, level) - levels_.begin())];
  }
  const Pair& first_pair(Level level) const { return pairs(level).front(); }
  int partners_of(Rank rank, Level level) const { return static_cast<int>(partners(layout_, rank, level).size()); }

  std::string why_no_pair(Level level) const {
    if (std::ranges::find(levels_, level) != levels_.end()) return {};
    if (level > layout_.node_level()) return two_nodes;
    const auto name = machine_.name_of(level);
    return level == 0
               ? fmt::format("two ranks of a {}", name)
               : fmt::format("two ranks of a {} on different ones of the level {}", name, machine_.name_of(level - 1));
  }

  void add_shared_rate(Level level) {
    const bool between_nodes = level == layout_.outermost();
    const auto sharing = between_nodes ? pairs_out_of_one_node(layout_) : pairs(level);
    const auto count = static_cast<int>(sharing.size());
    add(between_nodes ? key(layout_.node_level(), "up_rate_bytes_per_s")
                      : key(level, "host.aggregate_rate_bytes_per_s"),
        "more and more pairs at once", 2 * count, sharing_share.of(level, levels_).length(),
        count < 2 ? two_pairs : "");
  }

  void add_inside_rate(Level level) {
    const auto rings = rings_within(layout_, level);
    const auto has_three = [](const std::vector<Rank>& ring) { return ring.size() > 2; };
    const bool is_enough = rings.size() >= 2 || std::ranges::any_of(rings, has_three);
    add(key(level, "inside_rate_bytes_per_s"), "all ranks of an instance at once", ranks_of(rings),
        bus_share.of(level, levels_with_others_within(layout_)).length(),
        is_enough
            ? ""
            : fmt::format("three ranks on a {}, two of them on a {}", machine_.name_of(level), machine_.name_of(0)));
  }

  void add_outside_rates() {
    const auto groups = levels_of_groups(layout_);
    const auto rings = rings_between_nodes(layout_);
    if (groups.empty())
      add(key(layout_.outermost(), "node_share_bytes_per_s"), "all nodes at once", ranks_of(rings), core_share.length(),
          rings.empty() ? two_nodes : "");
    for (const auto level : groups)
      add(key(level, "up_rate_bytes_per_s"), "all groups of nodes at once", ranks_of(rings_between(layout_, level)),
          core_share.of(level, groups).length());
    const auto pairs = pairs_into_one_node(layout_);
    std::set<int> senders;
    for (const auto& pair : pairs) senders.insert(layout_.node(pair.first));
    // A single sender shows its injection only.
    add(key(layout_.node_level(), "down_rate_bytes_per_s"), "all nodes to one", static_cast<int>(2 * pairs.size()),
        ejection_share.length(), senders.size() < 2 ? "three nodes, and two ranks on the one that receives" : "");
  }

  const Layout& layout_;
  const Machine& machine_;
  std::vector<Level> all_levels_, levels_;  // those that have pairs
  std::vector<std::vector<Pair>> pairs_;    // of these
  std::vector<Experiment> plan_;
};

}  // namespace

Share Share::of(Level level, const std::vector<Level>& all) const {
  const auto until = [&](std::ptrdiff_t levels) {
    return begin + (end - begin) * static_cast<double>(levels) / static_cast<double>(all.size());
  };
  const auto earlier = std::ranges::count_if(all, [&](Level l) { return l < level; });
  return {until(earlier), until(earlier + 1)};
}

Machine machine_like(const Layout& layout, const std::string& name) {
  Machine machine;
  machine.name = name;
  machine.levels.clear();
  for (const auto& level : layout.level_names()) machine.levels.push_back({.name = level});
  if (const auto misplaced = find_misplaced(machine.levels))
    throw InputError("layout", fmt::format("level '{}' {}", machine.name_of(misplaced->level), misplaced->why),
                     "name its levels outermost first");
  return machine;
}

std::vector<Level> levels_within_nodes(std::vector<Level> levels, const Layout& layout) {
  std::erase_if(levels, [&](Level level) { return level > layout.node_level(); });
  return levels;
}

std::vector<Level> levels_with_others_within(const Layout& layout) {
  std::vector<Level> levels;
  for (auto level = std::min<Level>(1, layout.node_level()); level <= layout.node_level(); ++level)
    levels.push_back(level);
  return levels;
}

std::vector<Level> levels_of_groups(const Layout& layout) {
  std::vector<Level> levels;
  for (Level level = layout.node_level() + 1; level < layout.outermost(); ++level)
    if (layout.instances(level) > 1) levels.push_back(level);
  return levels;
}

std::vector<Experiment> plan_calibration(const Layout& layout, const Machine& machine) {
  return Planned(layout, machine).take();
}

const Experiment& experiment_for(const std::string& parameters, std::span<const Experiment> plan) {
  const auto found = std::ranges::find(plan, parameters, &Experiment::parameters);
  if (found == plan.end()) throw std::out_of_range("there is no experiment for " + parameters);
  return *found;
}

}  // namespace commpass
