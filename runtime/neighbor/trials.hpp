// Contenders of an exchange that are planned, and timed before one stays. Private to the runtime.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/choose/decision.hpp"
#include "runtime/context.hpp"
#include "runtime/neighbor/exchange_draft.hpp"

namespace commpass {

/// A contender that can be run.
struct PlannedContender {
  std::unique_ptr<BatchRequests> requests;
  KnownWay way;
  std::shared_ptr<NeighborGraph> graph;  ///< if the MPI library runs it
  Bytes buffer_bytes = 0;
};

/// Plans contenders, and takes those out of the list that cannot be planned. Collective.
/// @param but  the number of one that is planned already: its place stays empty
/// @throws MpiError; Error, the same on every rank, if there is no memory
std::vector<PlannedContender> plan_contenders(const Context& context, const Context::Address& address,
                                              const BuffersAndEdges& given, std::vector<Contender>& contenders,
                                              std::optional<std::size_t> but = {});

/// Times the decided strategy, its contenders and the baseline on the real pattern, in turn. The baseline is the MPI
/// library's collective (where there is none: standard), and stays unless another one is faster beyond doubt. So the
/// decision is never slower than the baseline. Rank 0 explains it. Does not write to the receive buffer, and may read
/// the send buffer. Leaves out strategies that cannot be planned. Collective.
/// @param decision  the same on every rank, before and after
/// @throws MpiError; Error, the same on every rank, if there is no memory
void choose_by_trials(const Context& context, const Context::Address& address, const BuffersAndEdges& given,
                      Decision& decision);

}  // namespace commpass
