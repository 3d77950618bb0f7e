// Strategies that run where a profile has no price for messages between the ranks of a communicator: an application
// goes on, and is told once.
#pragma once

#include <string>

#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"

namespace commpass {

/// The strategies that run in place of a choice.
inline constexpr const char* unpriced_exchange = "standard";
inline constexpr const char* unpriced_alltoallv = "mpi";  ///< MPI_Alltoallv, MPI_Alltoall; in place, standard
inline constexpr const char* unpriced_sparse = "direct+nbx";

/// Why nothing can be priced, in a sentence for people that ends with the remedy; empty: it can. The same on every
/// rank.
std::string why_unpriced(const Layout& layout, const Machine& machine);

/// Says so on stderr, on rank 0, and there once for each profile and what it lacks.
/// @param why  of why_unpriced
void warn_unpriced(const std::string& why, Rank rank);

}  // namespace commpass
