// What `predict` and `measure` tell: a table for people, JSON for machines.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "selector/choose/rank_named.hpp"
#include "selector/choose/select.hpp"
#include "selector/choose/ties.hpp"

namespace commpass {

struct ReportRow {
  Candidate candidate;
  std::optional<Seconds> measured_s;
  bool is_priced = true;                     ///< false: it was run without a price, and its cost says nothing
  std::optional<Seconds> measured_plan_s{};  ///< where calls are counted
  std::optional<Seconds> measured_mean_s{}, measured_percentile_99_s{};
};

struct Report {
  std::vector<std::pair<std::string, std::string>> context;  ///< key and value: profile, layout, pattern, model, …
  std::string chosen;
  std::vector<ReportRow> rows;          ///< as they are ranked, then those without a price
  std::optional<Seconds> baseline_s;    ///< measured: the plain loop of MPI libraries
  std::optional<double> regret;         ///< measured time of the chosen one ÷ of the best
  std::vector<Strategy> pruned{};       ///< not priced in full, since their busiest ranks alone take too long
  std::vector<ReportRow> baselines{};   ///< what programs do today (baseline.hpp), as far as it is not among the rows
  Calls calls{};                        ///< by which candidates are compared with them
  std::vector<NotPriced> not_priced{};  ///< of those that are named
  Ties ties{};                          ///< by which the choice may not be the fastest by prediction
  bool shows_all_points = true;         ///< false: tables show the best of each route
  std::string note{};                   ///< what to know about the prices (profile_note.hpp); empty: nothing
};

/// The most messages that a rank sends in each stage, "7+3"; "0" where there are none.
std::string messages_per_stage(const Cost& cost);

/// The most bytes that a rank sends in each stage, summed up.
Bytes bytes_per_stage(const Cost& cost);

/// The rows that a table or a picture of few rows shows: of each route (and path of data on devices) the first, the
/// choice, the fastest by prediction, and what programs do today, as far as it is among the rows.
/// @param top  at most so many, and then what programs do today; 0: at most table_rows_max with what programs do today,
/// or, where all points are shown, all
std::vector<const ReportRow*> shown_rows(const Report& report, std::size_t top = 0);
inline constexpr std::size_t table_rows_max = 10;

/// describe_ties of what is chosen.
std::string describe_ties(const Report& report);

/// What is chosen, why, and how it compares with what programs do today: sentences of one paragraph.
std::string describe_choice(const Report& report);

/// @param top  see shown_rows
std::string report_table(const Report& report, std::size_t top = 0);
/// @param top  the first so many of the ranking; 0: all
std::string report_json(const Report& report, std::size_t top = 0);

}  // namespace commpass
