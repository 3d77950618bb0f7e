// main() of benchmarks that two MPI ranks run.
#pragma once

#include <fmt/core.h>
#include <mpi.h>

#include <string>

#include "bench/options.hpp"
#include "model/base/error.hpp"

namespace commpass::bench {

/// Runs a benchmark on two ranks (run_benchmark), between MPI_Init and MPI_Finalize.
/// @param about      a sentence for --help
/// @param benchmark  (options, rank, shown): does this rank print a table? Any other number of ranks is refused
/// @return the exit code
template <class Benchmark>
int run_on_two_ranks(int argc, char** argv, const std::string& name, const std::string& about, Benchmark benchmark) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Command command{"bench-" + name, about};
  OutputOptions options;
  const bool speaks = rank == 0;
  const auto run = [&] {
    if (ranks != 2) throw InputError("bench " + name, fmt::format("it has {} ranks", ranks), "run it on 2");
    return benchmark(options, rank, speaks && !options.json);
  };
  const int code = run_benchmark(command, argc, argv, name, options, run, speaks);
  MPI_Finalize();
  return code;
}

}  // namespace commpass::bench
