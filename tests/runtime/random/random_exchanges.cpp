// Random exchanges of all kinds at once, checked byte by byte, on the ranks that mpirun gives.
#include <fmt/core.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "model/base/error.hpp"
#include "runtime/random/case.hpp"
#include "runtime/random/switches.hpp"

int main(int argc, char** argv) {
  using namespace commpass::random_test;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(
      MPI_COMM_WORLD,
      MPI_ERRORS_RETURN);  // of which MPICH takes the one of any request: a line about the case says more
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int code = 0;
  Switches switches;
  if (argc > 1 && std::strcmp(argv[1], "--help") == 0) {
    if (rank == 0) fmt::print("{}", help());
  } else {
    try {
      switches = parse_switches(argc, argv);
    } catch (const commpass::Error& error) {
      if (rank == 0) fmt::print(stderr, "{}\n", error.what());
      code = 2;
    }
    if (code == 0) {
      for (auto number = switches.first; number < switches.first + switches.cases; ++number) {
        if (switches.verbose && rank == 0) {
          fmt::print(stderr, "case {}\n", number);
          std::fflush(stderr);
        }
        run_case(switches, number);
      }
      alarm(0);
      if (rank == 0)
        fmt::print("{} cases from {} on by seed {} on {} ranks: all bytes are right\n", switches.cases, switches.first,
                   switches.seed, ranks);
    }
  }
  MPI_Finalize();
  return code;
}
