// Which of its own algorithms an MPI library should take for all-to-alls: the contents of its tuning files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/types.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/route/library_algorithm.hpp"

namespace commpass {

/// The choice for blocks of these sizes.
struct TuningRule {
  Bytes bytes_from = 0;                         ///< of a block; the rule holds up to the next one
  std::optional<LibraryAlgorithm> algorithm{};  ///< nothing: the one that the library takes by itself
  // Where the algorithm gains most over the library's own choice:
  Bytes gain_bytes = 0;
  std::string library_name{};            ///< of that choice
  const char* exceeded_limit = nullptr;  ///< of the machine, by that choice and not by the algorithm; else null
  Seconds library_s = 0, seconds = 0;
};

/// The rules of communicators with this many ranks, and with more, up to the next larger number.
struct TunedRanks {
  int ranks = 0;
  std::vector<TuningRule> alltoall{};           ///< by size, from 0 on
  std::optional<LibraryAlgorithm> alltoallv{};  ///< for messages of all sizes; nothing: the library's own choice
};

struct Tuning {
  std::string library;            ///< "Open MPI 4.1"
  std::vector<TunedRanks> ranks;  ///< ascending
};

/// The numbers of ranks that are priced: powers of two, whole nodes and all ranks.
std::vector<int> tuned_ranks(const Layout& layout);

/// Compares the library's algorithms for equal blocks from each rank to each, of communicators of the first ranks of
/// the layout. One is named where its predicted time is below that of the library's own choice by more than the
/// uncertainty of the profile; limits of the machine come first. For MPI_Alltoallv, which a library chooses by ranks
/// alone, one is named that gains at some size and loses at none.
/// @param library  one with offered_algorithms
Tuning find_tuning(std::string_view library, const Layout& layout, const Machine& machine);

}  // namespace commpass
