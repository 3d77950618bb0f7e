#include "runtime/alltoall/alltoallv_prices.hpp"

#include <utility>

#include "model/cost/plan_cost.hpp"
#include "model/error.hpp"
#include "model/route/catalogue.hpp"
#include "selector/choose/family.hpp"
#include "selector/choose/offer.hpp"

namespace commpass {

Strategy parse_one_shot_strategy(const std::string& text) {
  auto strategy = parse_strategy(text);
  if (pattern_need(strategy) != PatternNeed::nothing)
    throw NotApplicable(text,
                        "its ways depend on the whole pattern, which an exchange that is run once does not gather");
  return strategy;
}

ExchangeClass exchange_class(const BlocksClass& blocks) {
  return {blocks.rarity_on_node, blocks.rarity_off_node,
          blocks.sizes == BlockSizes::equal ? finer_sizes * blocks.size_bits + blocks.finer_size : blocks.size_bits,
          blocks.size_spread, blocks.is_even ? 1 : 0};
}

std::vector<DataPath> paths_with_prices(const Layout& layout, const Machine& machine) {
  std::vector<DataPath> paths;
  try {
    paths = offered_paths(DataPlace::device, layout, machine);
  } catch (const InputError&) {
    return {};
  }
  std::erase_if(paths, [](const DataPath& path) { return path.copies > 1; });
  return paths;
}

const std::string& decisions_for(const std::string& named, const DeviceUse& devices) {
  static const std::string staged = "@staged", any_path = "@device";
  if (!named.empty() || !devices.is_used) return named;
  return devices.is_refused ? staged : any_path;
}

namespace {

std::vector<DataPath> paths_to_choose_from(const DeviceUse& devices, const Layout& layout, const Machine& machine) {
  auto paths = devices.is_used ? paths_with_prices(layout, machine) : std::vector<DataPath>();
  if (devices.is_refused) std::erase(paths, DataPath{DataPath::Kind::device});
  if (paths.empty()) paths.assign(host_paths.begin(), host_paths.end());
  return paths;
}

}  // namespace

OneShotChoice cheapest_alltoallv(const std::string& named, const RandomPattern& blocks, BlockSizes sizes,
                                 const DeviceUse& devices, const Layout& layout, const Machine& machine) {
  std::vector<Strategy> given;
  DataPath path;
  if (!named.empty()) {
    given.push_back(parse_strategy(named));
    path = std::exchange(given.front().path, {});
  }
  auto best = rank_one_shot(blocks, layout, machine, CostModel::burst, given, sizes, RankingDepth::cheapest,
                            paths_to_choose_from(devices, layout, machine))
                  .front();
  if (!named.empty()) best.strategy.path = path;
  return {to_string(best.strategy), best.cost.seconds,
          survey_interval(best.cost.seconds, small_collective_seconds(layout, machine))};
}

std::string unpriced_name(const std::string& family, const Layout& layout) {
  auto strategy = parse_strategy(family);
  const auto path = std::exchange(strategy.path, {});
  strategy = unpriced_member(strategy, layout);
  strategy.path = path;
  return to_string(strategy);
}

}  // namespace commpass
