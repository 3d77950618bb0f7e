// How good predictions and choices are, by exchanges that were measured.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/fit/measured_times.hpp"
#include "model/base/json.hpp"
#include "model/machine/machine.hpp"

namespace commpass::bench {

/// The machine that a profile is of.
struct JudgedMachine {
  Machine machine;
  int sockets = 1;  ///< of a node
};

/// How many algorithms are tried in place of taking the cheapest.
inline constexpr std::size_t tried_algorithms = 3;

/// What choosing costs: the median time of the algorithm that is chosen ÷ that of the fastest one with a price.
struct Regret {
  int cases = 0;
  double gmean = 1, p95 = 1, worst = 1;
  int fastest_chosen = 0;  ///< cases without regret
  MeasuredCase worst_case;
  double stalled_choices = 0;  ///< share of cases in which the algorithm that is chosen stalls
  double stalled_runs = 0;     ///< share of its runs
  int ties = 0;                ///< cases in which several algorithms have the least price: their geometric mean counts
};

/// An algorithm of a case, and its price.
struct PricedTime {
  MeasuredAlgorithm algorithm;
  std::string strategy;
  Seconds predicted_s = 0, fastest_s = 0, median_s = 0;
  bool is_stalled = false;
};

/// A case, for those who look for a reason.
struct JudgedCase {
  MeasuredCase of;
  std::vector<PricedTime> times;  ///< the cheapest first
  std::optional<std::string> free_choice;
};

/// Figures of one data set.
struct Judgement {
  int cases = 0, measured = 0;
  int priced = 0;                            ///< of the measured algorithms of all cases
  int stalled = 0;                           ///< of these: left out of errors of prices
  double median_factor = 1, p90_factor = 1;  ///< of max(q, 1 ÷ q), where q = price ÷ fastest run
  double bias = 1;                           ///< geometric mean of q
  double within_2 = 0;                       ///< share
  std::optional<double> rank_correlation;    ///< of prices and medians in a case, median over the cases
  std::optional<Regret> choice;              ///< by price, among all with a price
  std::optional<Regret> limited_choice;      ///< among those with at most default_messages_off_node in flight
  std::optional<Regret> tried_choice;        ///< the fastest of the cheapest tried_algorithms within that limit
  std::optional<Regret> free_choice;         ///< of `predict`, if a measured algorithm stands for it
  int same_as_chosen = 0;                    ///< of the cases of free_choice: the same strategy was measured
  std::map<std::string, int> not_measured;   ///< free choices that no measured algorithm stands for
  std::vector<std::pair<std::string, Regret>> rules;  ///< one algorithm for all cases, the best rule first
  std::optional<double> library_factor;               ///< median factor of the price of the MPI library's own call
  std::map<std::string, int> not_priced;              ///< measured algorithms without a price, by reason
  std::vector<JudgedCase> rows;
};

/// @param machines  by the name that the times have; other machines' times have no price
/// @throws InputError if nothing has a price
Judgement judge(const std::vector<MeasuredTime>& times, const std::map<std::string, JudgedMachine>& machines,
                const std::string& origin);

/// What times have in common whose errors are taken together.
enum class ErrorGroup { algorithm, nodes, bytes };

struct GroupError {
  std::string group;
  int times = 0;
  double median_factor = 1, bias = 1;
};

/// Errors of prices by groups of times, without those that stall.
std::vector<GroupError> errors_by(const Judgement& judgement, ErrorGroup group);

/// @param has_rows  also each case with its prices and its choice
Json to_json(const Judgement& judgement, bool has_rows);

}  // namespace commpass::bench
