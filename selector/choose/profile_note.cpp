#include "selector/choose/profile_note.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/base/format.hpp"
#include "selector/choose/explain.hpp"

namespace commpass {

namespace {

std::vector<Locality> localities_of(const Layout& layout) {
  std::vector<Locality> result;
  if (layout.sockets() < layout.ranks()) result.push_back(Locality::socket);
  if (layout.sockets() > layout.nodes()) result.push_back(Locality::node);
  if (layout.nodes() > 1) result.push_back(Locality::network);
  return result;
}

bool knows_receivers(const Machine& machine, const std::vector<Locality>& localities) {
  return std::ranges::any_of(localities, [&](Locality locality) {
    return std::ranges::any_of(host_channel(machine, locality).protocols,
                               [](const Protocol& protocol) { return protocol.alpha_receive_s.has_value(); });
  });
}

/// The key of the channel that stands in for that of a locality.
const char* stand_in(const Machine& machine, Locality locality) {
  return name_of(locality == Locality::socket && machine.host.has(Locality::node) ? Locality::node : Locality::network);
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
  const auto localities = localities_of(layout);
  std::vector<std::string> lacks;
  const bool copies = machine.copy_block_s || std::isfinite(machine.copy_rate_bytes_per_s),
             receivers = localities.empty() || knows_receivers(machine, localities);
  const bool forwards = std::ranges::any_of(ranking, [](const Candidate& candidate) {
    return std::ranges::count(candidate.cost.stages, false, &StageCost::is_staging) > 1;
  });
  if (forwards && (!copies || !receivers))
    lacks.push_back(fmt::format("{}: forwarding looks cheaper than it is", copies      ? "receivers"
                                                                           : receivers ? "local copies"
                                                                                       : "local copies and receivers"));
  if (layout.nodes() > 1 && layout.max_ppn() > 1 && !std::isfinite(machine.injection_rate_bytes_per_s))
    lacks.emplace_back("what a node injects: many bytes from several of its ranks look faster than they are");
  for (const auto locality : localities)
    if (!machine.host.has(locality))
      lacks.push_back(fmt::format("host.{}: its messages are priced like those of host.{}", name_of(locality),
                                  stand_in(machine, locality)));
  if (const auto crowd = lacking_copies(machine, layout, ranking); !crowd.empty()) lacks.push_back(crowd);
  return lacks.empty() ? std::string() : fmt::format("profile {} lacks {}", machine.name, join(lacks, "; "));
}

std::string explain_with_note(std::span<const Candidate> ranking, std::size_t chosen, const Machine& machine,
                              const Layout& layout, CostModel model, const Calls& calls) {
  const auto note = profile_note(machine, layout, model, ranking);
  return explain(ranking, chosen, calls, find_ties(ranking, uncertainty_of(machine), calls)) +
         (note.empty() ? "" : "Note: " + note + ".\n");
}

}  // namespace commpass
