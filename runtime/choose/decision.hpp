// The one decision of all ranks: contenders with their evidence, of which rank 0 decides and tells all, and trials
// where prices cannot tell. Private to the runtime.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/base/types.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "runtime/execute/persistent_requests.hpp"
#include "selector/choose/select.hpp"
#include "selector/choose/trial_timer.hpp"

namespace commpass {

struct Context;

/// A strategy that may be the fastest for an exchange, with its evidence.
struct Contender {
  std::string strategy;
  std::optional<Seconds> predicted_s{};  ///< of one exchange; absent: it has no price
  int survey_interval = 0;               ///< see there; 0: it is named, and nothing is to be learnt for the next choice
  std::optional<Seconds> measured_s{};   ///< of one exchange, if it was timed
  RequestLife requests = RequestLife::persistent;
};

/// How much evidence is asked for. The same on every rank.
struct HowToChoose {
  PlannerMode planner = PlannerMode::estimate;
  Seconds seconds = 0;  ///< that timing may lose; so long may rank 0 price a new class at once, too
};

/// The wanted mode; nothing: as the context says, else adaptive.
PlannerMode planner_mode(const Context& context, std::optional<PlannerMode> wanted);

/// @param planner,seconds  the wanted mode and time, of planner_mode() and default_planner_seconds() @throws InputError
HowToChoose how_to_choose(const Context& context, std::optional<PlannerMode> planner, std::optional<Seconds> seconds);

/// The contender that runs, and how it was found.
struct Decision : Contender {
  std::string explanation{};
  HowToChoose how{};                    ///< as all ranks have agreed
  std::vector<Contender> contenders{};  ///< those to be timed; with estimate none
  std::optional<double> calls{};        ///< of a planned exchange, as all ranks have agreed
  bool is_of_family = false;            ///< was a family named (SelectionOptions::automatic)?
  double from_bytes = 0;                ///< it holds for blocks of this mean size on
  Seconds pricing_s = 0;                ///< how long pricing took
  std::int64_t patience = 0;            ///< exchanges of a neighbouring class before that is priced (OneShotChooser)

  /// Its number among its contenders.
  std::size_t incumbent() const;
  /// The result of their trials. Takes no memory.
  void take_fastest(TrialTimer& trials);
};

/// The decisions of rank 0 on every rank, but for `how.planner`, `calls` and `is_of_family`. Collective.
/// @param decide  is called on rank 0 alone @throws its exception, on every rank
std::vector<Decision> decided_by_rank_0(MPI_Comm comm, const std::function<std::vector<Decision>()>& decide);

/// The first of a ranking, as many as a mode times at most.
/// @param contender_of  of one that is ranked
/// @param is_tried      may it be timed, too?
template <class Each, class ContenderOf, class IsTried = bool (*)(const Each&)>
std::vector<Contender> contenders_of(
    std::span<const Each> ranking, PlannerMode planner, ContenderOf contender_of,
    IsTried is_tried = [](const Each&) { return true; }) {
  std::vector<Contender> result;
  for (const auto& each : ranking)
    if (result.size() < most_timed(planner) && is_tried(each)) result.push_back(contender_of(each));
  return result;
}

/// Those to be timed: on each path of those given the methods of programs without Commpass, of which the first one is
/// the baseline, then those given. Each once.
/// @param by_price          the cheapest first, at least one
/// @param has_library_call  has the MPI library a call for such exchanges?
std::vector<Contender> with_programs_methods(std::span<const Contender> by_price, bool has_library_call);

/// The contenders of `adaptive`: the methods of programs without Commpass, of which the first one is the baseline, the
/// first of the ranking, which runs between trials, and those that may be tried. Methods stay out where prices show
/// that they are slower, or exceed a limit.
/// @param twin      is tried behind the first of the ranking, whatever its price; empty: none is
/// @param is_tried  those of the ranking
std::vector<Contender> contenders_to_try(std::span<const Candidate> ranking, const std::string& twin,
                                         bool has_library_call,
                                         const std::function<Contender(const Candidate&)>& contender_of,
                                         const std::function<bool(const Candidate&)>& is_tried);

/// Puts a strategy behind the incumbent, with the price that it may have among the contenders. Empty: none is put.
void try_behind(const std::string& incumbent, const std::string& strategy, std::vector<Contender>& contenders);

/// The times of contenders, and the fastest, for people. @param sample  see explain (trial_timer.hpp)
std::string explain(TrialTimer& trials, std::span<const Contender> contenders, const std::string& sample = "");

/// Ends a round of trials, of which the times of the slowest rank count. Collective. @throws MpiError
void end_round_together(MPI_Comm comm, TrialTimer& trials);

// Where a profile has no price for messages between the ranks of a communicator, an application goes on with these, and
// is told once.
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
