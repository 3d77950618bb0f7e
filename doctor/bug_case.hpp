// A case of mpi_bugs.hpp, as the ranks of its launch run it.
#pragma once

#include <string_view>

namespace commpass {

/// Between its own MPI_Init and MPI_Finalize. Rank 0 prints the result. @return the exit code
int run_mpi_bug_case(std::string_view name);

}  // namespace commpass
