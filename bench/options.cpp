#include "bench/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "model/error.hpp"
#include "model/file.hpp"
#include "selector/commands/arguments.hpp"

namespace commpass::bench {

namespace {

/// @throws Error that names all values above their bounds
void hold(const std::string& name, const nlohmann::ordered_json& summary, const std::string& file) {
  const auto bounds = nlohmann::json::parse(read_file(file)).at(name);
  std::string above;
  for (const auto& [key, bound] : bounds.items())
    if (const double value = summary.at(key); !(value <= bound.get<double>()))
      above += fmt::format("; {} is {:.6g}, the recorded bound is {:.6g}", key, value, bound.get<double>());
  if (!above.empty()) throw Error(fmt::format("bench {} got worse than {} says{}", name, file, above));
}

}  // namespace

int run_benchmark(CLI::App& app, int argc, char** argv, const std::string& name, OutputOptions& options,
                  const std::function<nlohmann::ordered_json()>& benchmark, bool speaks) {
  std::string bounds;
  app.add_flag("--quick", options.quick, "fewer and smaller cases, at most five minutes");
  app.add_flag("--json", options.json, "JSON on stdout");
  app.add_option("--hold-to", bounds, "fail if the summary is above the bounds in this file");
  return run_command(
      app, argc, argv,
      [&] {
        const auto result = benchmark();
        if (options.json && speaks) fmt::print("{}\n", result.dump(2));
        if (!bounds.empty()) hold(name, result.at("summary"), bounds);
      },
      speaks);
}

int run_simulated_benchmark(int argc, char** argv, const std::string& name, const char* about,
                            const std::function<nlohmann::ordered_json(const Options&)>& benchmark) {
  Options options;
  CLI::App app{about};
  app.add_option("--programs", options.simulator.programs, "directory of the programs built with smpicxx")->required();
  app.add_option("--platform", options.simulator.platform, "library of the simulated platform")->required();
  app.add_option("--clusters", options.simulator.clusters, "directory of cluster descriptions")
      ->required()
      ->take_last();
  app.add_option("--scratch", options.simulator.scratch, "directory for profiles and logs")->required();
  app.add_option("--profiles", options.simulator.profiles,
                 "directory of the clusters' profiles, the scratch directory of another benchmark; else they are made");
  if (name == "regret")
    app.add_option("--only", options.only, "only patterns with this in their names, on all numbers of ranks");
  app.add_flag("--noise{1}", options.simulator.calibration_noise,
               "random delays while profiles are made; --noise=SEED draws others");
  return run_benchmark(app, argc, argv, name, options, [&] {
    std::filesystem::create_directories(options.simulator.scratch);
    return benchmark(options);
  });
}

}  // namespace commpass::bench
