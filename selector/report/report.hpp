// Reports of patterns, and of predicted and measured exchanges.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/base/types.hpp"
#include "model/pattern/pattern_statistics.hpp"
#include "selector/choose/baseline.hpp"
#include "selector/choose/rank.hpp"
#include "selector/choose/select.hpp"
#include "selector/choose/sparse_choice.hpp"
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
  std::vector<Strategy> pruned{};       ///< not priced in full: the lower bound of their busiest ranks is too long
  std::vector<ReportRow> baselines{};   ///< the baselines (baseline.hpp) that are not among the rows
  Calls calls{};                        ///< the number of calls that rank the candidates
  std::vector<NotPriced> not_priced{};  ///< among the named strategies
  Ties ties{};
  bool shows_all_points = true;  ///< false: tables show the best of each route
  std::string note{};            ///< profile_note; empty: none
};

/// The row of the choice; null if no row has it.
const ReportRow* chosen_row(const Report& report);

/// Measured time of the choice ÷ that of the fastest row, which may be a baseline; with `calls` both with their
/// planning.
struct Regret {
  double value;
  const ReportRow* fastest;
};
/// Nothing if the choice was not measured.
std::optional<Regret> regret_of(const Report& report);

/// A baseline beside the choice: measured times if the choice was measured, else those by which candidates are ranked.
struct Comparison {
  const Baseline* baseline;
  const Candidate* candidate;
  Seconds own_s, baseline_s;
};
std::vector<Comparison> comparisons(const Report& report);

/// The part by which a predicted time may be off: of a profile with a verdict, and of a sample of nodes.
double relative_error(const Candidate& candidate, const Report& report);

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

struct SparseRow {
  SparseStrategy strategy;
  Seconds seconds = 0;
  std::vector<SparseStageCost> stages;
  bool exceeds_limit = false;  ///< see SparseCandidate
};

struct SparseReport {
  ReportContext context;
  std::vector<SparseRow> rows;        ///< by rank, the choice first
  std::optional<SparseRow> plain;     ///< direct+nbx, the baseline; absent: it is chosen
  std::vector<NotPriced> not_priced;  ///< among the named strategies
  std::string note;                   ///< about the prices; empty: none
  double uncertainty = 0;             ///< of the profile: smaller relative differences are ties
};

/// @param top  rows to show; 0: all
Document document_of(const SparseReport& report, std::size_t top = 0);

/// The stages of a strategy with their times, and its comparison with the choice.
std::string explain_sparse(const SparseReport& report, const SparseRow& row);

/// CSV has a line for each number of all tables (table, row, column, value), since each table has other columns.
/// @param pattern  the name of the pattern
/// @param layout   of the statistics; null: none
Document document_of(const PatternStatistics& statistics, const std::string& pattern, const Layout* layout);

struct CallReportRow {
  std::string name;
  std::optional<Seconds> predicted_s;  ///< absent where the selector does not consider it
  Seconds measured_s = 0;
};

struct CallReport {
  ReportContext context;
  std::string chosen;                    ///< the library's choice, after some calls of the same exchange
  Seconds chosen_s = 0;                  ///< measured, with the overhead of choosing
  std::vector<CallReportRow> rows;       ///< strategies by predicted time
  std::string baseline_kind;             ///< a description of the baselines in a few words
  std::vector<CallReportRow> baselines;  ///< the exchange by other means than Commpass
  /// Measured: a non-blocking barrier, and the reduction that replaces it at the end of nbx.
  std::optional<Seconds> barrier_s{}, tally_s{};

  /// chosen_s ÷ the time of the fastest strategy or baseline; noise may take it below 1.
  double regret() const;
};

/// CSV has the rows, the baselines, and in the last row the choice (`kind`: strategy, baseline, choice).
Document document_of(const CallReport& report);

}  // namespace commpass
