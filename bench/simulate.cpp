#include "bench/simulate.hpp"

#include <fmt/core.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/json.hpp"
#include "selector/choose/parallel.hpp"

namespace commpass::bench {

namespace fs = std::filesystem;

namespace {

ClusterShape shape_of(const std::string& file) {
  const auto json = Json::parse(read_file(file));
  ClusterShape shape{json.at("name").get<std::string>(), json.at("sockets").get<int>(), json.at("cores").get<int>(),
                     file};
  if (json.value("groups_are_known", false)) {
    shape.group_nodes = json.at("leaf_nodes").get<int>();
    shape.calibration_nodes = 2 * shape.group_nodes;
  }
  // Several nodes have to send for the limit into one of them to show.
  constexpr int senders = 3;
  if (json.contains("ejection_rate_bytes_per_s")) shape.calibration_nodes = senders + 1;
  return shape;
}

/// The library to preload for faster simulation (tests/simulation/processor_clock.cpp), for a shell; nothing if it was
/// not built.
std::string preloading(const Simulator& simulator) {
  const auto library = fs::absolute(simulator.platform).parent_path() / "libsimulated_processor_clock.so";
  return fs::exists(library) ? fmt::format("LD_PRELOAD='{}' ", library.string()) : "";
}

}  // namespace

std::vector<ClusterShape> clusters_of_kind(const Simulator& simulator, const std::string& folder) {
  if (!fs::is_directory(simulator.clusters))
    throw InputError("--clusters " + simulator.clusters, "there is no such directory",
                     "give one of cluster descriptions, as tests/clusters is");
  std::vector<ClusterShape> result;
  const auto path = simulator.clusters + "/" + folder;
  if (!fs::exists(path)) return result;
  for (const auto& entry : fs::directory_iterator(path))
    if (entry.path().extension() == ".json") result.push_back(shape_of(entry.path().string()));
  std::ranges::sort(result, {}, &ClusterShape::name);
  return result;
}

std::vector<ClusterShape> clusters(const Simulator& simulator, const std::vector<std::string>& folders) {
  std::vector<ClusterShape> result;
  for (const auto& folder : folders) std::ranges::move(clusters_of_kind(simulator, folder), std::back_inserter(result));
  require_some(simulator, result);
  return result;
}

void require_some(const Simulator& simulator, const std::vector<ClusterShape>& clusters) {
  if (clusters.empty())
    throw InputError("--clusters " + simulator.clusters, "no cluster lies in it",
                     "give a directory of descriptions that end in .json, as tests/clusters is");
}

std::string layout_of(const ClusterShape& cluster, int ranks) {
  std::string text;
  for (int rank = 0; rank < ranks; ++rank) {
    const int node = rank / cluster.ppn();
    if (rank > 0) text += ',';
    if (cluster.group_nodes > 0) text += fmt::format("{}.", node / cluster.group_nodes);
    text += fmt::format("{}.{}", node, rank % cluster.ppn() / cluster.cores);
  }
  return text;
}

std::string simulate(const Simulator& simulator, const ClusterShape& cluster, int ranks, const std::string& program,
                     const std::string& arguments, int noise) {
  static std::atomic<int> runs = 0;
  const auto run = fmt::format("{}/run-{}", simulator.scratch, ++runs);
  const int nodes = (ranks + cluster.ppn() - 1) / cluster.ppn();
  std::string hosts;
  for (int rank = 0; rank < ranks; ++rank) hosts += fmt::format("n{}c{}\n", rank / cluster.ppn(), rank % cluster.ppn());
  const auto host_file = run + ".hosts", output = run + ".output", log = run + ".log";
  write_file(host_file, hosts);
  // The settings are explained in docs/benchmarks.md, "Simulated clusters".
  const auto command = fmt::format(
      "{}{}SIMULATED_CLUSTER='{}' SIMULATED_NODES={} timeout 3600 smpirun -platform '{}' -hostfile '{}' -np {} "
      "--cfg=network/crosstraffic:no --cfg=smpi/simulate-computation:no --cfg=smpi/send-is-detached-thresh:0 "
      "--cfg=smpi/async-small-thresh:0 "
      "--cfg=smpi/iprobe:0 --cfg=smpi/test:0 --cfg=smpi/grow-injected-times:no --log=root.thresh:warning '{}/{}' {} "
      ">'{}' 2>'{}'",
      preloading(simulator), noise ? fmt::format("SIMULATED_NOISE={} ", noise) : "", cluster.file, nodes,
      simulator.platform, host_file, ranks, simulator.programs, program, arguments, output, log);
  write_file(run + ".sh", command + "\n");          // to repeat it by hand
  const int status = std::system(command.c_str());  // NOLINT: a shell for each thread does no harm
  const auto complaints = read_file(log);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || complaints.find("Deadlock") != std::string::npos ||
      complaints.find("deadlock") != std::string::npos)
    throw Error(fmt::format("the simulation of '{} {}' with {} ranks on {} failed:\n{}", program, arguments, ranks,
                            cluster.name, complaints.substr(complaints.size() > 2000 ? complaints.size() - 2000 : 0)));
  return read_file(output);
}

std::vector<std::string> calibrate_all(const Simulator& simulator, const std::vector<ClusterShape>& clusters) {
  std::vector<std::string> files;
  const bool are_there = !simulator.profiles.empty();
  for (const auto& cluster : clusters)
    files.push_back(fmt::format("{}/{}.json", are_there ? simulator.profiles : simulator.scratch, cluster.name));
  if (are_there) return files;
  // Without noise a few samples settle everything; with it the budget is used up, and simulated time takes time.
  constexpr auto* budget_with_noise = " --budget 1s";
  const auto ranks_of = [](const ClusterShape& cluster) { return cluster.calibration_nodes * cluster.ppn(); };
  std::vector<std::size_t> longest_first(clusters.size());
  std::iota(longest_first.begin(), longest_first.end(), 0);
  std::ranges::stable_sort(longest_first, std::ranges::greater(), [&](std::size_t i) { return ranks_of(clusters[i]); });
  in_parallel(clusters.size(), [&](std::size_t turn) {
    const auto i = longest_first[turn];
    const auto& cluster = clusters[i];
    const int ranks = ranks_of(cluster);
    simulate(simulator, cluster, ranks, "commpass-calibrate",
             fmt::format("-o '{}' --name {} --layout {} --progress never{}", files[i], cluster.name,
                         layout_of(cluster, ranks), simulator.calibration_noise ? budget_with_noise : ""),
             simulator.calibration_noise);
  });
  return files;
}

}  // namespace commpass::bench
