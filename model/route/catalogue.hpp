// The catalogue of routes. The parser, the help, the errors, the docs and the tests take what they know from here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/pattern/pattern_tables.hpp"
#include "model/route/route.hpp"
#include "model/route/strategy.hpp"

namespace commpass {

struct Machine;
enum class Usage;

/// A parameter of a route.
struct Parameter {
  enum class Kind { integer, dimensions, bytes, flag };
  const char* name;
  Kind kind;
  std::int64_t least;   ///< smallest value (of each dimension); a flag has no value in text, and 1 in a Strategy
  const char* meaning;  ///< with its range and unit, for the help
  bool may_be_automatic = false;  ///< "auto" leaves it to the model
};

/// Everything about one route. A new route is one file that defines such a row, and one line in catalogue.cpp.
struct CatalogueRow {
  const char* name;
  const char* usage;  ///< all forms, for the help: "stfw,n=N or stfw,dims=AxBx…"
  const char* summary;
  const char* source;  ///< paper and section
  std::vector<Parameter> parameters;
  Window default_window;

  /// Which parameters must be there: a reason why these do not go together, or empty.
  std::string (*malformed)(const Strategy& strategy) = [](const Strategy&) { return std::string(); };
  /// A reason why the strategy cannot be used for this layout, or empty.
  std::string (*inapplicable)(const Strategy& strategy, const Layout& layout) = [](const Strategy&, const Layout&) {
    return std::string();
  };
  /// The route. Only for applicable strategies. `tables` are those that `tables` makes, or empty.
  std::unique_ptr<Route> (*make)(const Strategy& strategy, const Layout& layout, const PatternTables& tables);
  /// The applicable strategies worth considering for a layout, the papers' points first.
  std::vector<Strategy> (*suggest)(const Layout& layout);
  /// Applicable strategies next to one of this route, by their parameters; null if it has none. For searches.
  std::vector<Strategy> (*vary)(const Strategy& strategy, const Layout& layout) = nullptr;
  /// What its ways depend on besides the layout; null: nothing.
  PatternNeed (*need)(const Strategy& strategy) = nullptr;
  /// The tables for a pattern of which no more than what it needs has to be right; null: it needs none.
  PatternTables (*tables)(const Strategy& strategy, const Layout& layout, const Pattern& pattern) = nullptr;
  /// A reason why the parameters of a machine do not tell its price under burst, or empty; null: what every machine has
  /// is enough. The papers' models know nothing of a route that has this.
  std::string (*lacks)(const Machine& machine, Usage usage) = nullptr;
  /// Does its route answer uniform_runs? If not, it is offered for patterns with edges alone.
  bool has_uniform_runs = true;
};

/// For routes whose stages have no rounds: why they take no window, or empty.
std::string refuse_window(const Strategy& strategy);

/// Is there a strategy that differs from this one in its window alone?
bool takes_window(const Strategy& strategy);

/// The strategy with half and with twice the value of a parameter, an eighth less, one more, one less, and half way
/// to the most, within [least, most].
std::vector<Strategy> vary_argument(const Strategy& strategy, const std::string& name, std::int64_t least,
                                    std::int64_t most);

/// All rows. Their order breaks ties.
const std::vector<CatalogueRow>& catalogue();

/// @throws InputError that lists the names
const CatalogueRow& catalogue_row(const std::string& name);

/// @throws NotApplicable with the reason why a strategy cannot be used for a layout, or leaves something to the model
void require_applicable(const Strategy& strategy, const Layout& layout);

/// The part of a pattern that the route of a strategy depends on.
PatternNeed pattern_need(const Strategy& strategy);

/// The tables of a strategy's route; empty where it needs nothing.
/// @param pattern  of which only what it needs has to be right
/// @throws InputError if the layout has another number of ranks, NotApplicable
PatternTables make_tables(const Strategy& strategy, const Layout& layout, const Pattern& pattern);

/// The route of a strategy.
/// @param tables  as make_tables gives them; empty: the route for a pattern without edges
/// @throws NotApplicable
std::unique_ptr<Route> make_route(const Strategy& strategy, const Layout& layout, const PatternTables& tables = {});

/// The route of a strategy for a pattern.
/// @throws NotApplicable, InputError if the layout has another number of ranks
std::unique_ptr<Route> make_route(const Strategy& strategy, const Layout& layout, const Pattern& pattern);

/// All strategies worth considering for a layout, in catalogue order, each once.
std::vector<Strategy> suggest_strategies(const Layout& layout);

// The rows, each defined in the file of its route, where a namespace of its name has what the row refers to.
CatalogueRow standard_row();
CatalogueRow two_step_row();
CatalogueRow two_step_socket_row();
CatalogueRow three_step_row();
CatalogueRow split_row();
CatalogueRow local_then_node_row();
CatalogueRow stfw_row();
CatalogueRow multi_leader_row();
CatalogueRow tuna_row();
CatalogueRow tuna_node_row();
CatalogueRow cartesian_row();
CatalogueRow mpi_row();

}  // namespace commpass
