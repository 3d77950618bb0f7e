// The report of `predict` and `measure`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "selector/choose/rank_named.hpp"
#include "selector/choose/select.hpp"
#include "selector/choose/ties.hpp"
#include "selector/report/document.hpp"

namespace commpass {

struct ReportRow {
  Candidate candidate;
  std::optional<Seconds> measured_s;
  bool is_priced = true;                     ///< false: it was measured only, and its cost is meaningless
  std::optional<Seconds> measured_plan_s{};  ///< for a number of calls
  std::optional<Seconds> measured_mean_s{}, measured_percentile_99_s{};
};

struct Report {
  ReportContext context;
  std::string chosen;
  std::vector<ReportRow> rows;          ///< by rank, then the rows without a price
  std::optional<Seconds> baseline_s;    ///< measured: the plain loop of MPI libraries
  std::optional<double> regret;         ///< measured time of the choice ÷ that of the fastest
  std::vector<Strategy> pruned{};       ///< not priced in full: the lower bound of their busiest ranks is too long
  std::vector<ReportRow> baselines{};   ///< the baselines (baseline.hpp) that are not among the rows
  Calls calls{};                        ///< the number of calls that rank the candidates
  std::vector<NotPriced> not_priced{};  ///< among the named strategies
  Ties ties{};
  bool shows_all_points = true;  ///< false: tables show the best of each route
  std::string note{};            ///< profile_note; empty: none
};

/// The maximum over ranks of the messages sent in each stage: "7+3"; "0" without messages.
std::string messages_per_stage(const Cost& cost);

/// The sum over stages of the maximum over ranks of the bytes sent.
Bytes bytes_per_stage(const Cost& cost);

/// The rows of a table: the first of each route (and path of data on devices), the choice, the fastest by prediction,
/// and the baselines.
/// @param top  the number of rows besides the baselines; 0: table_rows_max with the baselines, or all if all points are
/// shown
std::vector<const ReportRow*> shown_rows(const Report& report, std::size_t top = 0);
inline constexpr std::size_t table_rows_max = 10;

/// describe_ties of the choice.
std::string describe_ties(const Report& report);

/// The choice, its reason, and its comparison with the baselines: sentences of one paragraph.
std::string describe_choice(const Report& report);

/// CSV has the rows of the ranking up to `top`, and the baselines; `chosen` and `baseline` are 1 or 0; '+' separates
/// stages. JSON has the first `top` rows of the ranking; 0: all.
/// @param top  of text see shown_rows
Document document_of(const Report& report, std::size_t top = 0);

/// A line of text for each strategy without a price, and a list in JSON.
void add_not_priced(Document& document, std::span<const NotPriced> strategies);

}  // namespace commpass
