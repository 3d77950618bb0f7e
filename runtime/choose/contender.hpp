// Strategies that may be the fastest for an exchange, each with its evidence. Private to the runtime.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/base/types.hpp"
#include "runtime/execute/persistent_requests.hpp"
#include "selector/choose/trial_timer.hpp"

namespace commpass {

struct Contender {
  std::string strategy;
  std::optional<Seconds> predicted_s{};  ///< of one exchange; absent: it has no price
  int survey_interval = 0;               ///< see there; 0: it is named, and nothing is to be learnt for the next choice
  std::optional<Seconds> measured_s{};   ///< of one exchange, if it was timed
  RequestLife requests = RequestLife::persistent;
};

/// The first of a ranking, as many as a mode times at most.
/// @param contender_of  of one that is ranked
template <class Each, class ContenderOf>
std::vector<Contender> contenders_of(std::span<const Each> ranking, PlannerMode planner, ContenderOf contender_of) {
  std::vector<Contender> result;
  for (const auto& each : ranking.first(std::min(ranking.size(), most_timed(planner))))
    result.push_back(contender_of(each));
  return result;
}

/// Those to be timed: on each path of those given the methods of programs without Commpass, of which the first one is
/// the baseline, then those given. Each once.
/// @param by_price          the cheapest first, at least one
/// @param has_library_call  has the MPI library a call for such exchanges?
std::vector<Contender> with_programs_methods(std::span<const Contender> by_price, bool has_library_call);

/// A line by which rank 0 tells those that it has priced.
std::string to_text(std::span<const Contender> contenders);
std::vector<Contender> parse_contenders(const std::string& text);

}  // namespace commpass
