// Contenders that the exchanges of a program try: from plans to requests and a result. Private to the runtime.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/neighbor/exchange_state.hpp"
#include "runtime/neighbor/plan_cache.hpp"
#include "runtime/neighbor/trials.hpp"
#include "runtime/neighbor/tried_requests.hpp"

namespace commpass {

/// The contenders, for people.
std::string describe_trials(std::span<const Contender> contenders);

/// The contenders of a known plan, but for one that is planned already. Collective. @throws Error, the same on every
/// rank
std::vector<PlannedContender> plan_again(const Context& context, const Context::Address& address,
                                         const BuffersAndEdges& given, const PlanCache::Entry& entry, std::size_t but);

/// Requests that try the contenders of an exchange's decision, and end in its state. Local. @throws std::bad_alloc
/// @param planned  in the same order
/// @param told     where ranks tell each other times, and nothing else
/// @param key      of the result, if it is kept as wisdom
std::unique_ptr<TriedRequests> try_contenders(Exchange::State& state, std::vector<PlannedContender> planned,
                                              const Context::Address& told, std::shared_ptr<TrialResult> result,
                                              std::optional<WisdomKey> key);

}  // namespace commpass
