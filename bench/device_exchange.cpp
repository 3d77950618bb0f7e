// commpass-device-exchange: exchanges of data on the devices of a simulated cluster. The simulation is of one memory,
// so that staged data goes through host memory between simulated copies, and data on devices needs none.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>

#include "measure/mpi_program.hpp"
#include "measure/pattern_data.hpp"
#include "model/base/error.hpp"
#include "model/base/json.hpp"
#include "model/machine/profile.hpp"
#include "model/route/strategy.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/mpi/timed_start.hpp"
#include "simulation/devices.hpp"
#include "simulation/work.hpp"

namespace commpass {
namespace {

/// What this rank copies for staged data.
struct Staging {
  int node = 0, device = 0, copies = 1;
  double sent = 0, received = 0;

  void to_host() const { copy(sent); }
  void to_device() const { copy(received); }

 private:
  void copy(double bytes) const {
    if (bytes > 0) simulation::copy_device(node, device, bytes, copies);
  }
};

/// The ranks of a node that have data share its devices evenly, in the order of ranks.
Staging staging_of(const Pattern& pattern, const Layout& layout, Rank rank) {
  Staging staging{layout.node(rank)};
  std::vector<bool> has_data(static_cast<std::size_t>(pattern.ranks), false);
  for (const auto& edge : pattern.edges) {
    if (edge.bytes == 0) continue;
    has_data[static_cast<std::size_t>(edge.source)] = has_data[static_cast<std::size_t>(edge.destination)] = true;
    if (edge.source == rank) staging.sent += static_cast<double>(edge.bytes);
    if (edge.destination == rank) staging.received += static_cast<double>(edge.bytes);
  }
  int before = 0, all = 0;
  for (const Rank other : layout.ranks_of(staging.node)) {
    if (!has_data[static_cast<std::size_t>(other)]) continue;
    before += other < rank;
    ++all;
  }
  const int devices = std::min(all, simulation::cluster().devices.per_node);
  if (devices > 0) staging.device = before * devices / all;
  return staging;
}

/// Seconds by strategy; every byte is checked.
Json exchange(const std::string& pattern_file, const std::string& layout_text, const std::vector<std::string>& names,
              const std::string& profile) {
  const Rank rank = rank_in(MPI_COMM_WORLD);
  const auto pattern = read_pattern(pattern_file);
  const auto layout = parse_layout(layout_text, pattern.ranks);
  Communicator communicator(MPI_COMM_WORLD, read_profile(profile).machine, {layout});
  auto data = data_of(pattern, rank);
  fill(data);
  auto staging = staging_of(pattern, layout, rank);
  Json seconds;
  for (const auto& name : names) {
    auto strategy = parse_strategy(name);
    const auto path = std::exchange(strategy.path, {});
    staging.copies = path.copies;
    ExchangeOptions options;
    options.strategy = to_string(strategy);
    auto planned = communicator.neighbor_exchange(data.send_buffer.data(), data.sends, data.receive_buffer.data(),
                                                  data.receives, options);
    const bool is_staged = path.kind == DataPath::Kind::staged;
    const auto run = [&] {
      if (is_staged) staging.to_host();
      planned.start();
      planned.wait();
      if (is_staged) staging.to_device();
    };
    seconds[name] = time_exchange(MPI_COMM_WORLD, run);
    if (const auto wrong = verify(data, rank, name); !wrong.empty()) throw Error(wrong);
  }
  return seconds;
}

}  // namespace
}  // namespace commpass

int main(int argc, char** argv) {
  using namespace commpass;
  Command command{"commpass-device-exchange", "Exchanges of data on simulated devices; prints JSON"};
  std::string pattern, layout, profile;
  std::vector<std::string> strategies;
  command.add({{"--pattern", &pattern, "the bytes between each pair of ranks: a pattern file", {.required = true}},
               {"--layout", &layout, "a node for each rank"},
               {"--profile", &profile, "any profile of the cluster: strategies are named"},
               {"--strategies", [&](const std::string& text) { strategies = split_strategies(text); },
                "strategies with their paths, all of one memory"}});
  command.run = [&] {
    const auto json = exchange(pattern, layout, strategies, profile);
    if (rank_in(MPI_COMM_WORLD) == 0) fmt::print("{}\n", json.dump());
  };
  return run_mpi_command(command, argc, argv);
}
