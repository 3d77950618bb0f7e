// What a program asks of a communicator by an MPI_Info.
#pragma once

#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

#include "model/base/types.hpp"
#include "selector/environment/environment.hpp"

namespace commpass {

/// The keys of an info that are meant for us (commpass_…), with their values; of MPI_INFO_NULL none.
std::vector<std::pair<std::string, std::string>> hints_in(MPI_Info info);

/// Puts what an info of a communicator asks for in the place of what the environment does. Keys of exchanges are left
/// to these. @throws InputError that names a key with a value that cannot be
void apply_hints(Environment& environment, MPI_Info info);
/// The same with the info that MPI keeps of a communicator: hints that it was made with, where the library keeps them.
void apply_hints_of(Environment& environment, MPI_Comm comm);

/// One line on stderr for each name, on rank 0 and there once in a process, of keys that mean nothing to any function.
void warn_unknown_hints(MPI_Info info, Rank rank);

}  // namespace commpass
