// How a launcher is told to start its ranks with libcommpass-mpi before the MPI library.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace commpass {

/// Whose mpirun it is, or whose library.
enum class MpiKind { open_mpi, mpich, unknown };

/// "mpirun", "mpiexec.mpich", …: the first word, or the first one behind programs such as env and timeout, if it is
/// one; else the number of words. A launcher further behind is an argument, or is started by an unknown
/// program.
std::size_t find_launcher(const std::vector<std::string>& words);

/// By what `mpirun --version` prints.
MpiKind kind_of_launcher(const std::string& version);
/// By the names of the libraries that a shared library wants, as they stand in its file.
MpiKind kind_of_library(const std::string& contents);
/// "Open MPI", "MPICH", "an MPI library that is not known".
const char* name_of(MpiKind kind);

/// Is one of these words the name of a program, in PATH or a path, that is linked with the ABI of the MPI standard
/// (MPI 5.0, section 20.2.1: a library named mpi_abi)?
bool is_any_linked_with_abi(std::span<const std::string> words);

/// A command line, and the variables to set for it.
struct Preloaded {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> variables;
};

/// Open MPI and MPICH give the library to their ranks only (-x, -genv). Any other launcher, and a program that is
/// started alone, get it by the environment, as srun passes it on.
/// @param words      launcher, program and their arguments
/// @param kind       of the launcher
/// @param library    to be preloaded, before what LD_PRELOAD holds already
/// @param variables  for all ranks
/// @param exported   names of variables that are set and that all ranks are to have, too; Open MPI leaves those behind
/// on
///                   other nodes
Preloaded preload(std::vector<std::string> words, MpiKind kind, const std::string& library,
                  std::vector<std::pair<std::string, std::string>> variables, const std::vector<std::string>& exported);

}  // namespace commpass
