// The pictures, functions from data to SVG, and the page that holds them. The file NAME.cpp draws the picture NAME.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/cost/trace.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/machine/profile.hpp"
#include "model/pattern/pattern.hpp"
#include "model/route/route.hpp"
#include "model/route/strategy.hpp"
#include "model/schedule/schedule.hpp"
#include "pictures/svg.hpp"
#include "selector/report/advice.hpp"
#include "selector/report/document.hpp"
#include "selector/report/report.hpp"
#include "selector/report/sweep_report.hpp"
#include "selector/report/what_if_report.hpp"

namespace commpass {

inline constexpr std::int64_t drawn_edges_max = 1 << 21;  ///< of patterns for pictures of messages

/// The path of a block, or of a fragment that a route has cut from it.
struct BlockPath {
  Rank destination = 0;
  std::vector<Rank> after;  ///< by stage, the rank that holds it then
};

/// One exchange with one strategy: the input of pictures of messages.
struct ExchangeView {
  Pattern pattern;
  Layout layout;
  std::string strategy;  ///< its text, or the name of a route that has none
  DataPath path;
  Schedule schedule;
  std::vector<Rank> positions;     ///< by rank, the rank whose part it plays in the route; empty: its own
  Rank traced = 0;                 ///< the first rank that sends
  std::vector<BlockPath> paths{};  ///< of its blocks
};

/// The paths of all blocks of a sender.
std::vector<BlockPath> trace_blocks(const Route& route, const Pattern& pattern, Rank sender);

/// @throws NotApplicable, InputError
ExchangeView view_exchange(Pattern pattern, const Layout& layout, const Strategy& strategy);
/// The same for a route without strategy, of coalesced messages and an unlimited window.
ExchangeView view_route(Pattern pattern, const Layout& layout, const Route& route, const std::string& name);

/// The activities of all ranks on the path of the strategy (trace_exchange).
/// @throws InputError
Trace trace_view(const ExchangeView& view, const Machine& machine);

// Predictions.

/// A bar for each strategy: the baselines, then the best of the ranking. Each stage is divided as the critical path to
/// its last finish is (CostPart). A whisker is the uncertainty of the prediction, and ties are hatched. If the
/// baselines are much longer, the other bars are drawn again, enlarged.
/// @param top  the number of strategies of the ranking; at least 1
Picture draw_cost_bars(const Report& report, std::size_t top = 6, const Frame& frame = "cost-bars");

/// A line for each named strategy, or for the best of each route that is chosen somewhere, and lines for sending
/// directly and for the MPI library's call. Whiskers are the uncertainty of the profile. Dashed lines separate choices
/// of different routes. Axes are logarithmic, except for keys with few values.
/// @throws InputError unless the sweep has one key, and a point with a predicted time
Picture draw_sweep_lines(const SweepReport& report, const Frame& frame = "sweep");

/// A cell for each point: the route of the choice by colour and name, and its speed-up over sending directly. Ties are
/// hatched. A note tells which parameters the profile lacks. The first key goes up, the second to the right.
/// @throws InputError unless the sweep has two keys
Picture draw_strategy_map(const SweepReport& report, const Frame& frame = "strategy-map");

/// The Pareto front over time and memory with the partners of each strategy, and the other strategies as far as they
/// are within its axes.
/// @throws InputError as pareto_front
Picture draw_pareto_front(const Report& report, const Frame& frame = "pareto");

/// A tornado diagram: for each parameter, the strongest first, the change of the predicted time with twice and with
/// half of it. At most twelve parameters.
/// @throws InputError if no parameter has an effect
Picture draw_sensitivity(const SensitivityReport& report, const Frame& frame = "sensitivity");

// Messages of an exchange.

/// A bitmap of at most 512 × 512 cells for the pattern, and one of at most 256 × 256 for each stage. Darker cells have
/// more bytes; all bitmaps share a logarithmic scale.
Picture draw_matrices(const ExchangeView& view, const Frame& frame = "matrix");

/// Rows of sampled ranks: those on the critical path, which is drawn in bold, and evenly spaced others.
Picture draw_timeline(const ExchangeView& view, const Trace& trace, const Frame& frame = "timeline");

/// The activities of all ranks for Perfetto and chrome://tracing (Trace Event Format, JSON object): a process for each
/// node, a thread for each rank, microseconds.
std::string chrome_trace(const ExchangeView& view, const Trace& trace);

inline constexpr int path_ranks_max = 64;

/// A row for each rank, a column after each stage: the ranks that hold the blocks of the first sender, in bold, and all
/// messages.
/// @throws InputError for more than path_ranks_max
Picture draw_block_paths(const ExchangeView& view, const Frame& frame = "paths");

inline constexpr int drawn_ranks_max = 4096;

/// A box for each node and a square for each rank, by groups if there are several. Its colour is the bytes that the
/// rank sends and receives in all stages; a frame marks a rank that plays the part of another one.
/// @throws InputError for more than drawn_ranks_max
Picture draw_layout(const ExchangeView& view, const Frame& frame = "layout");

// Profiles and recorded runs.

/// A line for each level of the profile, and another for the sender's time of a further message of a burst if that is
/// shorter. Marks are switch points of protocols. Bands are the intervals of the fits, and squares measured times, if
/// the profile has them.
/// @param other  draws the lines of another profile, too; null: none
/// @throws InputError if the profile has no level
Picture draw_message_times(const Profile& profile, const Profile* other = nullptr, const Frame& frame = "messages");

/// Does the profile have a shared rate, or measurements of one?
bool has_shared_rates(const Profile& profile);

/// Lines of the max-rate model, max(alone, alpha + pairs·bytes / rate), within a socket, within a node, out of a node
/// and into one; and measured points with their intervals, if the profile keeps them.
/// @throws InputError unless has_shared_rates
Picture draw_shared_rates(const Profile& profile, const Frame& frame = "rates");

/// A strip for each of the first calls of the advice: their share of each part of the run, on the busiest rank; for
/// non-blocking calls their number. If there is a machine, the first one divides each strip into the remaining and the
/// saved time. JSON and CSV have all calls.
/// @throws InputError if the record has no calls
Picture draw_calls_over_time(const Advice& advice, const Frame& frame = "calls");

/// All texts are escaped. A picture zooms, and has its numbers as JSON, and as CSV if that is short. Of a table the
/// page has the columns for people: a number sorts its column, else the text does.
std::string html_page(const std::string& title, const Document& document);

}  // namespace commpass
