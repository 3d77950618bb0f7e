// The command line of benchmarks.
#pragma once

#include <functional>
#include <string>

#include "bench/simulate.hpp"
#include "model/base/json.hpp"
#include "selector/commands/switches.hpp"

namespace commpass::bench {

/// The switches that all benchmarks have.
struct OutputOptions {
  bool quick = false;
  bool json = false;
};

/// Adds `--quick`, `--json` and `--hold-to FILE` to a command, parses its command line and runs a benchmark, which
/// prints a table unless `json` and returns an object with a `summary`.
/// @param name    of the benchmark; the object of that name in the file of `--hold-to` has the bounds of its summary
/// @param speaks  print JSON and errors; one rank of an MPI program does
/// @return the exit code; 1 if a value of the summary is above its bound
int run_benchmark(Command command, int argc, char** argv, const std::string& name, OutputOptions& options,
                  const std::function<Json()>& benchmark, bool speaks = true);

/// Those of simulated benchmarks.
struct Options : OutputOptions {
  Simulator simulator;
  std::string only;      ///< of `regret`: in the names of the patterns that are run; empty: all are
  std::string matrices;  ///< of `sums`: a directory of matrices, NAME.mtx.gz
};

/// The same for a benchmark that simulates: parses `--programs DIR --platform FILE --clusters DIR --scratch DIR` and
/// `--profiles DIR`, too.
int run_simulated_benchmark(int argc, char** argv, const std::string& name, const char* about,
                            const std::function<Json(const Options&)>& benchmark);

}  // namespace commpass::bench
