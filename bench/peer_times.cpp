#include "bench/peer_times.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/file.hpp"

namespace commpass::bench {

std::vector<double> time_schedules(const Simulator& simulator, const ClusterShape& cluster, int ranks,
                                   const std::vector<std::string>& schedules, const std::string& name,
                                   const std::string& options) {
  std::string arguments = options;
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    const auto file = fmt::format("{}-{}.txt", name, i);
    write_file(file, schedules[i]);
    arguments += fmt::format(" '{}'", file);
  }
  return nlohmann::json::parse(simulate(simulator, cluster, ranks, "commpass-reference", arguments))
      .get<std::vector<double>>();
}

}  // namespace commpass::bench
