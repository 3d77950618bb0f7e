#include "selector/choose/offer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "model/base/error.hpp"
#include "model/route/catalogue.hpp"
#include "selector/choose/baseline.hpp"

namespace commpass {

namespace {

int most_processes(const std::vector<DeviceCopy>& copies) {
  int most = 0;
  for (const auto& copy : copies) most = std::max(most, copy.processes);
  return most;
}

/// Strategies that forward on devices pack blocks there, and copies without a price would decide.
std::string lacking_on_device(const Strategy& strategy, const Machine& machine) {
  if (strategy.route == baselines().front().strategy.route) return {};
  if (machine.device_copy_call_s || !machine.device_to_host.empty()) return {};
  return "profile " + machine.name +
         " has neither devices.copy_call_s nor copy.device_to_host, from which the price of packing on devices is "
         "taken";
}

}  // namespace

std::string lacking(const DataPath& path, const Machine& machine) {
  const auto lacks = [&](const std::string& what) {
    return "profile " + machine.name + " has no " + what + ": use one that was measured with devices";
  };
  if (path.is_shared && machine.shared.empty())
    return "profile " + machine.name + " has no levels.*.shared: calibrate on two ranks of a node";
  if (path.kind == DataPath::Kind::device && machine.device.empty()) return lacks("device");
  if (path.kind != DataPath::Kind::staged) return {};
  if (machine.device_to_host.empty()) return lacks("copy.device_to_host");
  if (machine.host_to_device.empty()) return lacks("copy.host_to_device");
  if (path.copies > std::min(most_processes(machine.device_to_host), most_processes(machine.host_to_device)))
    return lacks(fmt::format("copies by {} processes", path.copies));
  return {};
}

std::string lacking(const Strategy& strategy, const Machine& machine, CostModel model, Usage usage) {
  if (auto reason = lacking(strategy.path, machine); !reason.empty()) return reason;
  if (strategy.path.is_shared && !through_node_memory(strategy)) return "the MPI library moves all of its messages";
  if (model != CostModel::burst) return {};
  const auto lacks = catalogue_row(strategy.route).lacks;
  if (strategy.path.kind != DataPath::Kind::device) return lacks ? lacks(machine, usage) : std::string();
  return lacks ? lacks(on_device(machine), usage) : lacking_on_device(strategy, machine);
}

std::string lacking(const SparseStrategy& strategy, const Machine& machine) {
  if (auto reason = lacking(strategy.route.path, machine); !reason.empty()) return reason;
  // Free puts would win wherever messages are small.
  if (strategy.discovery != Discovery::rma || machine.operations.put_s) return {};
  return "profile " + machine.name + " has no operations.put_s: calibrate where the MPI library has windows";
}

void require_price(const Strategy& strategy, const Machine& machine, CostModel model, Usage usage) {
  if (const auto reason = lacking(strategy, machine, model, usage); !reason.empty())
    throw NotApplicable(to_string(strategy), reason);
}

std::vector<DataPath> device_paths(const Layout& layout, const Machine& machine, bool are_taken, bool copies_shared) {
  using Kind = DataPath::Kind;
  std::vector<DataPath> paths{{Kind::device}, {Kind::staged}};
  std::set<int> processes;
  for (const auto& copy : machine.device_to_host) processes.insert(copy.processes);
  for (const int copies : processes)
    if (copies > 1 && copies <= layout.max_ppn()) paths.push_back({Kind::staged, copies});
  std::erase_if(paths, [&](const DataPath& path) {
    return !lacking(path, machine).empty() || (path.kind == Kind::device && !are_taken) ||
           (path.copies > 1 && !copies_shared);
  });
  return paths;
}

std::vector<DataPath> offered_paths(DataPlace place, const Layout& layout, const Machine& machine) {
  if (place == DataPlace::host) {
    std::vector<DataPath> paths(host_paths.begin(), host_paths.end());
    if (layout.max_ppn() > 1 && lacking(shared_host_path, machine).empty()) paths.push_back(shared_host_path);
    return paths;
  }
  auto paths = device_paths(layout, machine);
  if (paths.empty())
    throw InputError("profile " + machine.name, "it has neither device messages nor copies in both directions",
                     "use one that was measured with devices, or name data in host memory");
  return paths;
}

std::vector<Strategy> on_paths(std::span<const Strategy> strategies, std::span<const DataPath> paths,
                               const Machine& machine, CostModel model) {
  std::vector<Strategy> result;
  for (const auto& strategy : strategies) {
    if (strategy.path != DataPath{}) {
      result.push_back(strategy);
      continue;
    }
    std::vector<Strategy> all, priced;
    for (const auto& path : paths) {
      all.push_back(strategy);
      all.back().path = path;
      if (lacking(all.back(), machine, model).empty()) priced.push_back(all.back());
    }
    std::ranges::copy(priced.empty() ? all : priced, std::back_inserter(result));
  }
  return result;
}

std::vector<Strategy> offered_strategies(const Layout& layout, const Machine& machine, CostModel model, Usage usage,
                                         std::span<const DataPath> paths) {
  std::vector<Strategy> offered;
  const auto suggested = suggest_strategies(layout);
  for (const auto& path : paths)
    for (auto strategy : suggested) {
      if (path.copies > 1 && strategy != baselines().front().strategy && strategy.route != "split") continue;
      if (model != CostModel::burst && catalogue_row(strategy.route).lacks) continue;
      strategy.path = path;
      if (lacking(strategy, machine, model, usage).empty()) offered.push_back(std::move(strategy));
    }
  return offered;
}

}  // namespace commpass
