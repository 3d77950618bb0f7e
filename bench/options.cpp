#include "bench/options.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "selector/arguments.hpp"

namespace commpass::bench {

int run_benchmark(int argc, char** argv, const char* summary, const std::function<void(const Options&)>& benchmark) {
  Options options;
  CLI::App app{summary};
  app.add_option("--programs", options.simulator.programs, "directory of the programs built with smpicxx")->required();
  app.add_option("--platform", options.simulator.platform, "library of the simulated platform")->required();
  app.add_option("--clusters", options.simulator.clusters, "directory of cluster descriptions")->required();
  app.add_option("--scratch", options.simulator.scratch, "directory for profiles and logs")->required();
  app.add_flag("--quick", options.quick, "fewer and smaller cases, at most five minutes");
  app.add_flag("--json", options.json, "JSON on stdout");
  return run_command(app, argc, argv, [&] {
    std::filesystem::create_directories(options.simulator.scratch);
    benchmark(options);
  });
}

}  // namespace commpass::bench
