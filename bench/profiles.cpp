// bench profiles: calibrates the simulated clusters, for benchmarks that are given their profiles (--profiles).
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/options.hpp"

namespace commpass::bench {
namespace {

nlohmann::ordered_json profiles(const Options& options) {
  nlohmann::ordered_json json{{"profiles", calibrate_all(options.simulator, clusters(options.simulator))}};
  if (!options.json)
    for (const auto& file : json["profiles"]) fmt::print("{}\n", file.get<std::string>());
  json["summary"] = {{"clusters", json["profiles"].size()}};
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  return commpass::bench::run_simulated_benchmark(
      argc, argv, "profiles", "Calibrates the simulated clusters and prints the names of their profiles.",
      commpass::bench::profiles);
}
