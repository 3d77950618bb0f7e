// The command line that the simulated benchmarks share.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

#include "bench/simulate.hpp"

namespace commpass::bench {

struct Options {
  Simulator simulator;
  bool quick = false;
  bool json = false;
};

/// Parses `--programs DIR --platform FILE --clusters DIR --scratch DIR [--quick] [--json] [--hold-to FILE]` and runs a
/// benchmark, which prints a table unless `json` and returns an object with a `summary`.
/// @param name  of the benchmark; the object of that name in the file of `--hold-to` has the bounds of its summary
/// @return the exit code; 1 if a value of the summary is above its bound
int run_benchmark(int argc, char** argv, const std::string& name, const char* about, const std::function<nlohmann::ordered_json(const Options&)>& benchmark);

}  // namespace commpass::bench
