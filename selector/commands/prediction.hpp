// What `predict` predicts, and from what: a pattern, a machine and a layout become a ranking.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/machine/profile.hpp"
#include "selector/commands/arguments.hpp"
#include "selector/commands/sweep_range.hpp"
#include "selector/report/report.hpp"
#include "selector/report/sweep_report.hpp"
#include "selector/report/what_if_report.hpp"

namespace commpass {

inline constexpr const char *objective_time = "time", *objective_memory = "memory", *objective_partners = "partners";

struct PredictArguments {
  PatternArguments pattern;
  SelectionArguments selection;
  bool one_shot = false;
  std::string sparse;  ///< constant or variable sizes of a sparse exchange; empty: it is none
  bool all = false;
  std::string objective = objective_time;  ///< the minimised quantity
  bool all_points = false;                 ///< of a table: not only the best of each route
  bool prefers_closed_form = false;        ///< of all-to-alls, also where their edges are few

  /// An all-to-all that is priced in closed form; nothing: the pattern's edges are made.
  std::optional<Alltoall> closed_alltoall() const;
  RankingDepth depth() const { return all || objective != objective_time ? RankingDepth::all : RankingDepth::cheapest; }
};

/// How candidates are priced: from the edges of a pattern, or in closed form.
struct Pricing {
  int ranks = 0;
  std::string evaluation;  ///< if it is no exact one, what it is
  /// By time; without strategies all that are offered.
  std::function<std::vector<Candidate>(const Layout&, std::span<const Strategy>)> rank;

  Candidate price_one(const Layout& layout, const Strategy& strategy) const {
    return rank(layout, std::span(&strategy, 1)).front();
  }
};

/// The machine must live as long as the result.
/// @throws InputError
Pricing pricing_of(const PredictArguments& predicted, const Machine& machine, CostModel model);

/// The layout of --layout, --ppn or the environment.
/// @throws InputError if there is none
Layout required_layout(const LayoutArguments& arguments, int ranks, const Environment& environment);

/// Takes those out that were not priced in full.
std::vector<Strategy> remove_parts(std::vector<Candidate>& ranking);

/// Prices what programs do today, as far as it is not in the ranking and has a price.
std::vector<ReportRow> missing_baselines(std::span<const Candidate> ranking, const Layout& layout,
                                         const Pricing& pricing, CostModel model, DataPlace place);

/// A report with all that is told about it.
template <class ReportOf>
struct Predicted {
  Profile profile;
  Layout layout;
  ReportOf report;
  std::string explanation;  ///< of what --explain names
};

/// @throws InputError, NotApplicable
Predicted<Report> make_prediction(const PredictArguments& arguments);

/// @throws InputError, also for switches that such exchanges have no use for, NotApplicable if nothing has a price
Predicted<SparseReport> predict_sparse(const PredictArguments& arguments);

/// What each time and rate of the profile does to the prediction and to the choice among the best points of all routes.
/// @throws InputError, NotApplicable
Predicted<SensitivityReport> find_sensitivity(const PredictArguments& arguments);

/// Predicts every combination of values. All-to-alls are priced in closed form, as far as the named strategies have
/// one, so that all points are priced alike.
/// @throws InputError, also if a key does not fit the pattern or the strategies
SweepReport run_sweep(const PredictArguments& arguments, const std::vector<SweepRange>& ranges);

}  // namespace commpass
