// bench calibration: does the calibration give the truth of a simulated cluster back?
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>

#include "bench/device_cases.hpp"
#include "bench/options.hpp"
#include "model/base/file.hpp"
#include "model/base/json.hpp"
#include "model/machine/profile.hpp"

namespace commpass::bench {
namespace {

/// The largest relative error of each kind of parameter; a kind that no cluster has is not there.
using Errors = std::map<std::string, double>;
constexpr const char* kinds[] = {
    "alpha",     "beta",        "alpha_next", "beta_next",   "alpha_receive", "beta_receive", "link",      "switch",
    "injection", "ejection",    "core",       "group",       "bus",           "copy",         "value_run", "reduction",
    "slow_node", "narrow_core", "devices",    "device_copy", "late_messages", "node_memory"};

/// Compares a calibration of a cluster with its description, which lists unidentifiable parameters as `hidden`.
class Comparison {
 public:
  explicit Comparison(const Json& truth) : truth_(truth), hidden_(truth.value("hidden", std::vector<std::string>())) {}

  Errors errors;

  /// The error of an absent parameter is infinite.
  /// @param name   of the parameter: that of its kind, after its level and protocol
  /// @param scale  what an error is relative to; 0: the truth
  void add(const std::string& place, const char* kind, std::optional<double> found, double truth, double scale = 0) {
    if (std::ranges::find(hidden_, place + kind) != hidden_.end()) return;
    const double error =
        found ? std::abs(*found - truth) / (scale > 0 ? scale : truth) : std::numeric_limits<double>::infinity();
    auto& worst = errors[kind];
    worst = std::max(worst, error);
  }

  void add_rate(const char* kind, const char* key, double found) {
    // A limit that is not there must not be found either.
    if (truth_.contains(key)) add("", kind, found, truth_.at(key).get<double>());
    else if (std::isfinite(found)) add("", kind, std::nullopt, 0);
  }

 private:
  const Json& truth_;
  std::vector<std::string> hidden_;
};

double fastest(const Json& protocols) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& protocol : protocols) least = std::min(least, protocol.at("beta_s_per_byte").get<double>());
  return least;
}

/// Compares each described protocol with the calibrated one that holds in its middle.
void compare_channel(const Json& described, const Channel& channel, const std::string& level, Comparison& comparison) {
  const auto& protocols = described.at("protocols");
  const double sending = described.at("send_overhead_s").get<double>(),
               receiving = described.value("receive_overhead_s", 0.0);
  const double beta = fastest(protocols);
  double least = 1;
  for (std::size_t i = 0; i < protocols.size(); ++i) {
    const auto& truth = protocols[i];
    const auto place = fmt::format("{}[{}].", level, i);
    constexpr double beyond = 1 << 22;  // the largest size that is measured
    const double most = truth.value("max_bytes", beyond), own_beta = truth.at("beta_s_per_byte").get<double>();
    const auto& found = channel.protocol(static_cast<Bytes>(std::sqrt(least * most)));
    comparison.add(place, "alpha", found.alpha_s, truth.at("alpha_s").get<double>());
    comparison.add(place, "beta", found.beta_s_per_byte, own_beta);
    comparison.add(place, "alpha_next", found.alpha_next_s, sending);
    comparison.add(place, "beta_next", found.beta_next_s_per_byte, own_beta - beta, own_beta);
    comparison.add(place, "alpha_receive", found.alpha_receive_s, receiving, receiving > 0 ? receiving : sending);
    comparison.add(place, "beta_receive", found.beta_receive_s_per_byte, 0, own_beta);
    const auto time = [&](const auto& p) {
      return p.at("alpha_s").template get<double>() + p.at("beta_s_per_byte").template get<double>() * most;
    };
    constexpr double indistinguishable = 0.03;  // where two protocols cost the same there is no switch to be found
    if (i + 1 < protocols.size() && std::abs(time(truth) / time(protocols[i + 1]) - 1) > indistinguishable) {
      double nearest = std::numeric_limits<double>::infinity();
      for (std::size_t k = 0; k + 1 < channel.protocols.size(); ++k)
        nearest = std::min(nearest, std::abs(static_cast<double>(channel.protocols[k].max_bytes) / most - 1));
      comparison.add(place, "switch", nearest, 0, 1);
    }
    least = most;
  }
  comparison.add(level + ".", "link", channel.link_rate_bytes_per_s, 1 / beta);
}

/// Are just those nodes named that are slow?
bool names_slow_nodes(const Json& truth, const Json& provenance) {
  std::vector<int> found, slow;
  for (const auto& each : provenance.at("slow_nodes")) found.push_back(each.at("node").get<int>());
  if (truth.contains("slow_node")) slow.push_back(truth.at("slow_node").get<int>());
  return found == slow;
}

/// Does the layout tell nothing of switches that are there?
bool has_unknown_groups(const Json& truth) {
  return truth.contains("leaf_nodes") && !truth.value("groups_are_known", false);
}

/// Does the verdict tell of a core that no key of a profile describes, where there is one and nowhere else?
bool tells_of_core(const Json& truth, const Verdict& verdict) {
  const bool is_told = verdict.trust != Trust::good && verdict.why.find("the network's core") != std::string::npos;
  return is_told == has_unknown_groups(truth);
}

/// Compares copies of devices: between them and host memory by each number of processes, and within one.
void compare_devices(const Json& truth, const Machine& machine, Comparison& comparison) {
  const auto& devices = truth.at("devices");
  const auto number = [&](const char* key) { return devices.at(key).get<double>(); };
  comparison.add("", "devices", machine.devices_per_node, devices.at("per_node").get<double>());
  const int ranks = truth.at("sockets").get<int>() * truth.at("cores").get<int>();
  constexpr int most = 8;
  for (const auto* copies : {&machine.device_to_host, &machine.host_to_device})
    for (int processes = 1; processes <= std::min(ranks, most); processes *= 2) {
      const auto found = std::ranges::find(*copies, processes, &DeviceCopy::processes);
      const bool is_there = found != copies->end();
      const double rate = std::min(number("process_rate_bytes_per_s"), number("rate_bytes_per_s") / processes);
      comparison.add("", "device_copy", is_there ? std::optional(found->alpha_s) : std::nullopt,
                     number("copy_alpha_s") + number("copy_start_bytes") / rate);
      comparison.add("", "device_copy", is_there ? std::optional(found->beta_s_per_byte) : std::nullopt,
                     1 / (rate * processes));
    }
  const auto& own = truth.at("device");
  comparison.add("", "device_copy", machine.device_copy_call_s,
                 own.at("copy_call_s").get<double>() + own.at("copy_block_s").get<double>());
  comparison.add("", "device_copy", machine.device_copy_rate_bytes_per_s,
                 own.at("copy_rate_bytes_per_s").get<double>());
}

/// Each end of a message through memory of a node copies it, where its ranks share some.
void compare_node_memory(const Json& truth, const Machine& machine, Comparison& comparison) {
  if (!truth.value("shares_memory", false)) {
    if (!machine.shared.empty()) comparison.add("", "node_memory", std::nullopt, 0);
    return;
  }
  const double push_s = truth.at("copy_block_s").get<double>() + truth.at("push_s").get<double>(),
               s_per_byte = 1 / truth.at("copy_rate_bytes_per_s").get<double>();
  for (const auto level : {standard_level::socket, standard_level::node}) {
    const auto* channel = machine.shared.find(level);
    if (!channel) {
      comparison.add("", "node_memory", std::nullopt, 0);
      continue;
    }
    const auto& found = channel->protocols.front();
    // A lone message also waits for a poll.
    comparison.add("", "node_memory", found.beta_s_per_byte, 2 * s_per_byte);
    comparison.add("", "node_memory", found.alpha_next_s, push_s);
    comparison.add("", "node_memory", found.alpha_receive_s, push_s);
  }
}

Errors compare(const Json& truth, const Profile& profile) {
  const auto& machine = profile.machine;
  Comparison comparison(truth);
  if (truth.contains("devices")) compare_devices(truth, machine, comparison);
  const auto provenance = Json::parse(profile.provenance_json);
  const bool is_named = names_slow_nodes(truth, provenance);
  comparison.add("", "slow_node", is_named ? std::optional(0.0) : std::nullopt, 0, 1);
  std::optional<double> retransmission_s;
  if (provenance.contains("late_messages"))
    retransmission_s = provenance.at("late_messages").at("late_s").get<double>();
  if (truth.contains("receive_queue"))
    comparison.add("", "late_messages", retransmission_s,
                   truth.at("receive_queue").at("retransmission_s").get<double>());
  else if (retransmission_s) comparison.add("", "late_messages", std::nullopt, 0);
  compare_node_memory(truth, machine, comparison);
  const bool is_told = machine.verdict && tells_of_core(truth, *machine.verdict);
  comparison.add("", "narrow_core", is_told ? std::optional(0.0) : std::nullopt, 0, 1);
  if (truth.contains("slow_node")) return comparison.errors;  // the description is of the other nodes
  if (has_unknown_groups(truth)) return comparison.errors;
  for (const auto level : {standard_level::socket, standard_level::node, standard_level::network})
    if (machine.host.has(level))
      compare_channel(truth.at(standard_level::name(level)), *machine.host.find(level), standard_level::name(level),
                      comparison);
  comparison.add_rate("injection", "injection_rate_bytes_per_s",
                      machine.levels[standard_level::node].up_rate_bytes_per_s);
  comparison.add_rate("ejection", "ejection_rate_bytes_per_s",
                      machine.levels[standard_level::node].down_rate_bytes_per_s);
  comparison.add_rate("core", "core_rate_per_node_bytes_per_s",
                      machine.levels[standard_level::network].node_share_bytes_per_s);
  comparison.add_rate("group", "leaf_rate_bytes_per_s", machine.levels[standard_level::group].up_rate_bytes_per_s);
  comparison.add_rate("bus", "bus_rate_bytes_per_s", machine.levels[standard_level::node].inside_rate_bytes_per_s);
  comparison.add_rate("copy", "copy_rate_bytes_per_s", machine.copy_rate_bytes_per_s);
  // What every cluster has, unless its description says otherwise (tests/simulation/description.hpp).
  constexpr double usual_run_s = 2e-9, usual_reduction_ratio = 0.75;
  comparison.add("", "value_run", machine.value_run_s, truth.value("value_run_s", usual_run_s));
  comparison.add("", "reduction", machine.reduction_rate_bytes_per_s,
                 truth.value("reduction_rate_bytes_per_s",
                             usual_reduction_ratio * truth.at("copy_rate_bytes_per_s").get<double>()));
  return comparison.errors;
}

/// The clusters whose profiles are compared, each with the number of nodes on which it is calibrated.
std::vector<ClusterShape> compared_clusters(const Options& options) {
  // A node is slower than others only where there are others, and switches are more than one.
  constexpr std::pair<const char*, int> folders[] = {
      {".", 0},      {"beyond", 0},        {"ejection", 0}, {"slow-node", 4},  {"leaf-switches", 6},
      {"groups", 0}, {"receive-queue", 0}, {"devices", 0},  {"node-memory", 0}};
  std::vector<ClusterShape> all;
  for (const auto& [folder, nodes] : folders) {
    auto found = clusters_of_kind(options.simulator, folder);
    if (options.quick && folder == std::string_view("devices")) keep_quick(found);
    for (auto& cluster : found) {
      if (nodes > 0) cluster.calibration_nodes = nodes;
      all.push_back(std::move(cluster));
    }
  }
  require_some(options.simulator, all);
  return all;
}

Json calibration(const Options& options) {
  Json json;
  Errors worst;
  const auto all = compared_clusters(options);
  const auto profiles = calibrate_all(options.simulator, all);
  if (!options.json) {
    fmt::print("{:<16}", "cluster");
    for (const auto* kind : kinds) fmt::print(" {:>13}", kind);
    fmt::print("   (largest relative errors)\n");
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto truth = Json::parse(read_file(all[i].file));
    const auto errors = compare(truth, read_profile(profiles[i]));
    Json row{{"cluster", all[i].name}};
    if (!options.json) fmt::print("{:<16}", all[i].name);
    for (const auto* kind : kinds) {
      const auto error = errors.find(kind);
      if (!options.json)
        fmt::print(" {:>13}", error == errors.end() ? "-" : fmt::format("{:.2f}%", 100 * error->second));
      if (error == errors.end()) continue;
      row[fmt::format("{}_error", kind)] = error->second;
      worst[kind] = std::max(worst[kind], error->second);
    }
    if (!options.json) fmt::print("\n");
    json["clusters"].push_back(std::move(row));
  }
  for (const auto& [kind, error] : worst) json["summary"][kind + "_error_max"] = error;
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  return commpass::bench::run_simulated_benchmark(
      argc, argv, "calibration", "Compares calibrated profiles of simulated clusters with their descriptions.",
      commpass::bench::calibration);
}
