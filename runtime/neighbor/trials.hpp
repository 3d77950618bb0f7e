// Times strategies of an exchange before one is planned. Private to the runtime.
#pragma once

#include "runtime/choose/decision.hpp"
#include "runtime/context.hpp"
#include "runtime/neighbor/exchange_draft.hpp"

namespace commpass {

/// Times the decided strategy, its contenders and the baseline on the real pattern, in turn. The baseline is the MPI
/// library's collective (where there is none: standard), and stays unless another one is faster beyond doubt. So the
/// decision is never slower than the baseline. Rank 0 explains it. Does not write to the receive buffer, and may read
/// the send buffer. Leaves out strategies that cannot be planned. Collective.
/// @param decision  the same on every rank, before and after
/// @throws MpiError; Error, the same on every rank, if there is no memory
void choose_by_trials(const Context& context, const Context::Address& address, const BuffersAndEdges& given,
                      Decision& decision);

}  // namespace commpass
