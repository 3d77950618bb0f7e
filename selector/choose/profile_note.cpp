#include "selector/choose/profile_note.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "model/base/format.hpp"
#include "selector/choose/explain.hpp"

namespace commpass {

namespace {

std::vector<Level> levels_of(const Layout& layout) {
  std::vector<Level> result;
  for (Level level = 0; level <= layout.outermost(); ++level)
    if (layout.has_pairs(level)) result.push_back(level);
  return result;
}

bool knows_receivers(const Machine& machine, const std::vector<Level>& levels) {
  return std::ranges::any_of(levels, [&](Level level) {
    return std::ranges::any_of(host_channel(machine, level).protocols,
                               [](const Protocol& protocol) { return protocol.alpha_receive_s.has_value(); });
  });
}

/// The channel that stands in for that of a level.
std::string stand_in(const Machine& machine, Level level) {
  while (level < machine.outermost() && !machine.host.has(level)) ++level;
  return fmt::format("levels.{}.host", machine.name_of(level));
}

/// Levels of the layout that the machine does not have, or has elsewhere, and their stand-ins.
struct UnknownLevels {
  std::vector<std::string> absent, elsewhere;
};

UnknownLevels unknown_levels(const Machine& machine, const Layout& layout) {
  UnknownLevels result;
  const auto told = layout.told();
  const auto levels = layout.levels_among(machine.levels);
  const auto is_known = [](const std::optional<Level>& level) { return level.has_value(); };
  const auto node = std::ranges::find(told, node_level_name, &LayoutLevel::name) - told.begin();
  for (auto level = levels.begin(); level != levels.end(); ++level) {
    const auto& name = told[at(level - levels.begin())].name;
    const auto found = find_level(machine.levels, name);
    if (is_known(*level) || found == machine.outermost()) continue;
    const auto outer = std::find_if(level, levels.end(), is_known);
    const auto stand_in = std::none_of(levels.begin(), level, is_known) ? Level{0}
                          : outer == levels.end()                       ? machine.outermost()
                                                                        : **outer;
    const bool is_inner = level - levels.begin() < node;
    const auto beside =
        is_inner ? outer : std::find_if(std::reverse_iterator(level), levels.rend(), is_known).base() - 1;
    const auto place = found ? fmt::format(" {} {}", is_inner ? "within" : "outside", machine.name_of(**beside)) : "";
    (found ? result.elsewhere : result.absent)
        .push_back(fmt::format("level {}{}: messages within one are priced like those of levels.{}", name, place,
                               machine.name_of(stand_in)));
  }
  return result;
}

std::string lacking_text(const Machine& machine, const std::vector<std::string>& lacks) {
  return lacks.empty() ? std::string() : fmt::format("profile {} lacks {}", machine.name, join(lacks, "; "));
}

/// Where more processes copy at once than were measured.
std::string lacking_copies(const Machine& machine, const Layout& layout, std::span<const Candidate> ranking) {
  if (!machine.devices_per_node) return {};
  const int sharers = (layout.max_ppn() + *machine.devices_per_node - 1) / *machine.devices_per_node;
  int processes = 0, measured = 0;
  for (const auto& candidate : ranking)
    if (candidate.strategy.path.kind == DataPath::Kind::staged &&
        (candidate.strategy.path.copies == 1 || &candidate == ranking.data()))
      processes = std::max(processes, std::min(sharers * candidate.strategy.path.copies, layout.max_ppn()));
  for (const auto& copy : machine.device_to_host) measured = std::max(measured, copy.processes);
  return processes > measured ? fmt::format(
                                    "copies by more than {} processes of a device at once: up to {} are priced "
                                    "like these",
                                    measured, processes)
                              : std::string();
}

}  // namespace

std::string profile_note(const Machine& machine, const Layout& layout, CostModel model,
                         std::span<const Candidate> ranking) {
  if (model != CostModel::burst) return {};
  const auto levels = levels_of(layout.on(machine));
  std::vector<std::string> lacks;
  const bool copies = machine.copy_block_s || std::isfinite(machine.copy_rate_bytes_per_s),
             receivers = levels.empty() || knows_receivers(machine, levels);
  const bool forwards = std::ranges::any_of(ranking, [](const Candidate& candidate) {
    return std::ranges::count(candidate.cost.stages, false, &StageCost::is_staging) > 1;
  });
  if (forwards && (!copies || !receivers))
    lacks.push_back(fmt::format("{}: forwarding looks cheaper than it is", copies      ? "receivers"
                                                                           : receivers ? "local copies"
                                                                                       : "local copies and receivers"));
  if (layout.nodes() > 1 && layout.max_ppn() > 1 &&
      !std::isfinite(machine.levels[machine.node_level()].up_rate_bytes_per_s))
    lacks.emplace_back("what a node injects: many bytes from several of its ranks look faster than they are");
  for (const auto level : levels) {
    const bool is_optional = level > machine.node_level() && level < machine.outermost();
    if (!machine.host.has(level) && !is_optional)
      lacks.push_back(fmt::format("levels.{}.host: its messages are priced like those of {}", machine.name_of(level),
                                  stand_in(machine, level)));
  }
  for (const auto& [absent, elsewhere] = unknown_levels(machine, layout); const auto* unknown : {&absent, &elsewhere})
    lacks.insert(lacks.end(), unknown->begin(), unknown->end());
  if (const auto crowd = lacking_copies(machine, layout, ranking); !crowd.empty()) lacks.push_back(crowd);
  lacks.insert(lacks.end(), machine.stand_ins.begin(), machine.stand_ins.end());
  auto note = lacking_text(machine, lacks);
  if (const auto beyond = extrapolation(machine, layout); beyond > 0)
    note += fmt::format("{} measured on {} node{}, and here are {}: prices may be off by {:.0f} % more",
                        note.empty() ? "profile " + machine.name + " was" : "; it was", machine.nodes_measured,
                        machine.nodes_measured == 1 ? "" : "s", layout.nodes(), 100 * beyond);
  return note;
}

std::string limits_note(const Machine& machine, std::span<const Candidate> ranking) {
  if (!machine.limits.partners && !machine.limits.buffer_bytes) return {};
  const auto exceeding =
      std::ranges::count_if(ranking, [](const auto& each) { return each.exceeded_limit != nullptr; });
  if (exceeding == 0) return {};
  const auto& chosen = ranking.front();
  if (!chosen.exceeded_limit)
    return fmt::format("strategies that exceed a limit come last ({} of {})", exceeding, ranking.size());
  std::string amount;
  if (const std::string_view key = chosen.exceeded_limit; key == "partners" && chosen.demand && machine.limits.partners)
    amount = fmt::format(" ({} ranks, at most {})", chosen.demand->partners, *machine.limits.partners);
  return fmt::format("{} exceeds limits.{}{}, which nothing that was priced keeps", to_string(chosen.strategy),
                     chosen.exceeded_limit, amount);
}

std::string level_order_note(const Machine& machine, const Layout& layout) {
  return lacking_text(machine, unknown_levels(machine, layout).elsewhere);
}

std::string explain_with_note(std::span<const Candidate> ranking, std::size_t chosen, const Machine& machine,
                              const Layout& layout, CostModel model, const Calls& calls) {
  const auto note = profile_note(machine, layout, model, ranking);
  return explain(ranking, chosen, calls, find_ties(ranking, uncertainty_of(machine), calls)) +
         (note.empty() ? "" : "Note: " + note + ".\n");
}

}  // namespace commpass
