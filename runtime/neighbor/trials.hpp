// Strategies of an exchange are tried and timed before one is planned. Private to the runtime.
#pragma once

#include <optional>

#include "runtime/choose/selection.hpp"
#include "runtime/context.hpp"
#include "runtime/neighbor/exchange_draft.hpp"

namespace commpass {

/// Times what was decided, its contenders and what programs do without Commpass on the real pattern, in turn. The MPI
/// library's collective (where there is none: standard) stays, unless one of them is faster beyond doubt. So what is
/// decided is never slower than that. Rank 0 says so in the explanation. The receive buffer is not written to, and the
/// send buffer may be read. What cannot be planned is left out. Collective.
/// @param decision  the same on every rank, and then, too
/// @param seconds   for timed exchanges; that of rank 0 holds. What does not fit is not tried
/// @throws MpiError; Error, the same on every rank, if there is no memory
void choose_by_trials(const Context& context, const Context::Address& address, const BuffersAndEdges& given,
                      std::optional<Seconds> seconds, Decision& decision);

}  // namespace commpass
