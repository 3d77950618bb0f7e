// The command line that the simulated benchmarks share.
#pragma once

#include <functional>

#include "bench/simulate.hpp"

namespace commpass::bench {

struct Options {
  Simulator simulator;
  bool quick = false;
  bool json = false;
};

/// Parses `--programs DIR --platform FILE --clusters DIR --scratch DIR [--quick] [--json]` and runs a benchmark.
/// @return the exit code
int run_benchmark(int argc, char** argv, const char* summary, const std::function<void(const Options&)>& benchmark);

}  // namespace commpass::bench
