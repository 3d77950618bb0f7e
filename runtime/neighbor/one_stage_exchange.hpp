// An exchange of datatypes whose messages all leave in its start, tried against a call of the MPI library. Private to
// the runtime.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/neighbor/exchange_state.hpp"

namespace commpass {

/// The contenders of an exchange.
struct OneStageContenders {
  std::vector<std::string> strategies;  ///< at least one, the same on every rank; each sends directly
  /// A call of the MPI library that moves the same data between the user's buffers, and is the baseline; null on all
  /// ranks: there is none.
  std::unique_ptr<BatchRequests> library_call{};
  std::int64_t calls_ahead = 0;  ///< see TriedRequests::Trials; the same on every rank
};

/// Plans one, whose exchanges try the contenders: those of its decision, where the library's call is "mpi". It does not
/// know its bytes.
///
/// Each contender has one batch. So start() does all that this rank does for others, and a wait ends when all ranks
/// have started the exchange, whatever other calls of MPI they make then: docs/unmodified.md needs that.
///
/// A strategy whose messages within nodes cannot go through shared memory is left out. Collective.
/// @param before  a failure of this rank when it made the arguments, if any
/// @throws Error, the same on every rank: for edges that do not match, and if there are several batches
Exchange plan_one_stage_exchange(const std::shared_ptr<Context>& context, const TypedSide& sends,
                                 const TypedSide& receives, OneStageContenders contenders, const Failure& before);

}  // namespace commpass
