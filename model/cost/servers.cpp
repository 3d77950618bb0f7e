#include "model/cost/servers.hpp"

namespace commpass {

SharedRates::SharedRates(const Layout& layout, const Machine& machine) {
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  // One for each instance of a level, that messages of levels from `first` to `last` pass.
  const auto add = [&](Level where, double rate, int first, int last, bool is_of_receiver = false) {
    if (!(rate < unlimited) || first > last || layout.instances(where) == 0) return;
    for (int level = first; level <= last; ++level)
      passed_[static_cast<std::size_t>(level)].push_back({servers_, layout.instance_of(where), is_of_receiver, rate});
    servers_ += static_cast<std::size_t>(layout.instances(where));
  };
  const Level node = layout.node_level(), outermost = layout.outermost();
  const auto channel_rate = [&](Level level) {
    const auto* channel = machine.host.find(level);
    return channel ? channel->aggregate_rate_bytes_per_s : unlimited;
  };
  const auto add_ways = [&](Level level) {
    const auto& own = machine.levels[level];
    // What messages between nodes share by their channel, those of a node share on their way out of it.
    const double up =
        level == node ? std::min(own.up_rate_bytes_per_s, channel_rate(outermost)) : own.up_rate_bytes_per_s;
    add(level, up, level + 1, outermost);
    add(level, own.down_rate_bytes_per_s, level + 1, outermost, true);
  };
  for (Level level = 0; level <= outermost; ++level) {
    if (level <= node) add(level, channel_rate(level), level, level);
    else if (level < outermost && machine.host.has(level)) add(node, channel_rate(level), level, level);
    add(level, machine.levels[level].inside_rate_bytes_per_s, 0, level);
    if (level <= node) add_ways(level);
  }
  for (Level level = 0; level <= outermost; ++level)
    if (const int instances = layout.instances(level); instances > 0)
      add(level, machine.levels[level].node_share_bytes_per_s * layout.nodes() / instances, level, level);
  for (Level level = node + 1; level < outermost; ++level) add_ways(level);
}

}  // namespace commpass
