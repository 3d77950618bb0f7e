#include "bench/options.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "selector/commands/run_command.hpp"

namespace commpass::bench {

namespace {

/// @throws Error that names all values above their bounds
void hold(const std::string& name, const Json& summary, const std::string& file) {
  const auto bounds = Json::parse(read_file(file)).at(name);
  std::string above;
  for (const auto& [key, bound] : bounds.items())
    if (const double value = summary.at(key).get<double>(); !(value <= bound.get<double>()))
      above += fmt::format("; {} is {:.6g}, the recorded bound is {:.6g}", key, value, bound.get<double>());
  if (!above.empty()) throw Error(fmt::format("bench {} got worse than {} says{}", name, file, above));
}

}  // namespace

int run_benchmark(Command command, int argc, char** argv, const std::string& name, OutputOptions& options,
                  const std::function<Json()>& benchmark, bool speaks) {
  std::string bounds;
  command.add({{"--quick", &options.quick, "fewer and smaller cases, at most five minutes"},
               {"--json", &options.json, "JSON on stdout"},
               {"--hold-to", &bounds, "fail if the summary is above the bounds in this file"}});
  command.run = [&] {
    const auto result = benchmark();
    if (options.json && speaks) fmt::print("{}\n", result.dump(2));
    if (!bounds.empty()) hold(name, result.at("summary"), bounds);
  };
  return run_command(command, argc, argv, speaks);
}

int run_simulated_benchmark(int argc, char** argv, const std::string& name, const char* about,
                            const std::function<Json(const Options&)>& benchmark) {
  Options options;
  Command command{"bench-" + name, about};
  auto& simulator = options.simulator;
  command.add({{"--programs", &simulator.programs, "directory of the programs built with smpicxx", {.required = true}},
               {"--platform", &simulator.platform, "library of the simulated platform", {.required = true}},
               {"--clusters",
                &simulator.clusters,
                "directory of cluster descriptions",
                {.required = true, .last_counts = true}},
               {"--scratch", &simulator.scratch, "directory for profiles and logs", {.required = true}},
               {"--profiles", &simulator.profiles,
                "directory of the clusters' profiles, the scratch directory of another benchmark; else they are made"},
               {"--noise",
                &simulator.calibration_noise,
                "random delays while profiles are made; --noise=SEED draws others",
                {.value_alone = "1"}}});
  if (name == "regret")
    command.add({{"--only", &options.only, "only patterns with this in their names, on all numbers of ranks"}});
  if (name == "sums") {
    options.matrices = COMMPASS_EXAMPLE_MATRICES;
    command.add({{"--matrices", &options.matrices, "directory of matrices, NAME.mtx.gz, to take others"}});
  }
  return run_benchmark(std::move(command), argc, argv, name, options, [&] {
    std::filesystem::create_directories(options.simulator.scratch);
    return benchmark(options);
  });
}

}  // namespace commpass::bench
