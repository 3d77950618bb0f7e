// Which of its algorithms an MPI library takes for a call, by the rules of its own code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/route/strategy.hpp"

namespace commpass {

/// The collectives that an exchange can be left to.
enum class LibraryFunction { alltoall, alltoallv, neighbor_alltoallv };

/// "MPI_Alltoall", …
const char* name_of(LibraryFunction function);

/// What a library does in a call: the messages of a strategy, and how that is known.
struct LibraryAlgorithm {
  LibraryFunction function = LibraryFunction::alltoall;
  std::string name{};              ///< "modified Bruck", "linear", "linear with synchronised windows", "pairwise", …
  Strategy strategy{};             ///< whose messages it sends
  bool exchanges_nothing = false;  ///< MPI_Alltoallv: ranks without a block get an empty message, too
  std::string rule{};              ///< "Open MPI 4.1 on 32 to 63 ranks, blocks below 512 B"
  std::string source{};            ///< where the rule is published
  bool is_stand_in = false;        ///< the profile names no library whose rules are known
  std::string tuning_name{};       ///< in a file that the library reads its choices from; empty: it reads none
  bool operator==(const LibraryAlgorithm&) const = default;

  /// Blocks are turned in memory before and after (Bruck et al. 1997).
  bool turns_blocks() const { return strategy.route == "tuna"; }
};

/// Are the rules of a library known, or do those of MPICH 4 stand in?
/// @param library  name and version, as MPI tells them or as people write them: "Open MPI v4.1.4", "openmpi 4.1"
bool has_known_rules(std::string_view library);

/// "MVAPICH2 2.3", or "MPICH 4, for the profile names no MPI library whose rules are known".
std::string describe_rules_of(std::string_view library);

/// @param library      as has_known_rules takes it
/// @param ranks        of the communicator, at least one
/// @param block_bytes  of each block of MPI_Alltoall; the other calls are chosen by ranks alone
LibraryAlgorithm library_algorithm(std::string_view library, LibraryFunction function, int ranks, double block_bytes);

/// The algorithms that a file can make the library take, one for each that differs in its messages. Empty if the
/// library reads no such file, or has one algorithm alone.
std::vector<LibraryAlgorithm> offered_algorithms(std::string_view library, LibraryFunction function);

}  // namespace commpass
