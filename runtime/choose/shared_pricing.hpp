// Ranks share the work of pricing strategies.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/machine/layout.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "selector/choose/select.hpp"

namespace commpass {

/// Which ranks price: rank 0 first, then one of each other node, then a second one of each node, and so on.
/// @param most          in all, 1 or more
/// @param most_of_node  on one node, 1 or more
std::vector<Rank> choose_evaluators(const Layout& layout, int most, int most_of_node);

/// How many threads of a node may price at once: each holds a schedule of the pattern.
int most_threads_of_node(std::int64_t edges);

/// Those that take part in pricing; on others a null communicator. Collective.
/// @param edges  of the pattern that each of them holds
/// @throws Error, the same on every rank
OwnCommunicator evaluators_of(MPI_Comm comm, const Layout& layout, std::int64_t edges);

/// Runs `decide` on rank 0, with pricers whose work all ranks of `comm` share. Each gives what that of `prices` gives
/// on one rank. Strategies that need the same schedule are priced by the same rank. Collective.
/// @param prices  those of this rank, up to ten; as many, for the same pattern and machine, on all ranks
/// @throws on rank 0 what `decide` throws, and Error if another rank fails to price its share; on other ranks only
/// MpiError
void share_pricing(MPI_Comm comm, std::span<const Pricer> prices,
                   const std::function<void(std::span<const Pricer> shared)>& decide);
/// The same on those of `comm` that take part in pricing. Collective over `comm`.
/// @param edges      see evaluators_of
/// @param prices_of  gives the pricers of a rank that takes part; collective over these ranks
/// @throws Error, the same on every rank
void share_pricing(MPI_Comm comm, const Layout& layout, std::int64_t edges,
                   const std::function<std::vector<Pricer>(MPI_Comm evaluators)>& prices_of,
                   const std::function<void(std::span<const Pricer> shared)>& decide);

}  // namespace commpass
