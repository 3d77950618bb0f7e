// Functions of the MPI library of this process, which libcommpass-mpi-abi is not linked with.
#pragma once

namespace commpass {

/// The next function of this name behind our own; null if the process has none.
void* find_function(const char* name);
/// The same, or one line on stderr and the end of the process.
void* find_function_or_end(const char* name);

}  // namespace commpass
