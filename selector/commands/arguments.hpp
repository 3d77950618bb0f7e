// The switches that `predict`, `measure` and `pattern` share.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/cost/cost.hpp"
#include "model/machine/profile.hpp"
#include "model/pattern/generate.hpp"
#include "model/pattern/pattern.hpp"
#include "selector/choose/select.hpp"
#include "selector/commands/switches.hpp"
#include "selector/environment/environment.hpp"

namespace commpass {

/// PATTERN: a pattern file, a matrix and a number of ranks, or a generator.
struct PatternArguments {
  std::string pattern_file, matrix_file, generator;
  int ranks = 0;
  std::string partition = "block";
  std::optional<Bytes> value_bytes;  ///< default: 8 of a matrix, 1 of a pattern
  bool share_values = false;         ///< values that the same ranks need are one payload
  Bytes max_input_bytes = most_matrix_bytes;

  void add_to(Command& command);
  /// Warns on stderr, once in a process, where ranks own no row of the matrix.
  /// @param default_ranks  for --matrix without --ranks; 0: --ranks is needed
  /// @throws InputError
  Pattern load(int default_ranks = 0) const;
  /// An all-to-all with equal blocks on too many ranks to make its edges; nothing for other patterns.
  /// @throws InputError
  std::optional<Alltoall> large_alltoall() const;
  /// An all-to-all that is called once; nothing for other patterns.
  /// @throws InputError
  std::optional<RaggedAlltoall> one_shot_alltoall() const;
  /// A Cartesian neighbourhood; nothing for other patterns.
  /// @throws InputError
  std::optional<CartesianPattern> cartesian() const;
  /// The switches that ask for the same pattern.
  std::string switches() const;
  /// For people and the context of reports.
  std::string describe() const;
  /// That are read; names may be empty.
  std::vector<std::string> files() const { return {pattern_file, matrix_file}; }
};

/// Which rank sits on which node and socket.
struct LayoutArguments {
  int ppn = 0;
  std::string layout;

  void add_to(Command& command);
  /// The layout asked for; nothing if neither --layout, --ppn nor COMMPASS_LAYOUT is given.
  /// @throws InputError if it does not fit `ranks`
  std::optional<Layout> find(int ranks, const Environment& environment) const;
  /// Warns on stderr where --ppn does not divide the number of ranks, and says whether it does not.
  bool warn_uneven(int ranks) const;
};

/// Which machine, layout, model and strategies.
struct SelectionArguments {
  std::string profile;
  std::vector<std::string> settings;  ///< --set, repeated
  LayoutArguments layout;
  std::string model = "burst";
  std::string memory = "host";
  Calls calls;                          ///< --calls
  std::vector<std::string> strategies;  ///< --strategy, repeated
  std::string strategy_list;            ///< --strategies "all" or "S;S…"
  std::size_t top = 0;
  std::string explain;
  OutputFormat format;

  void add_to(Command& command);
  /// --profile, else COMMPASS_PROFILE, else the one of this machine (find_profile_or_default).
  /// @return the path
  /// @throws InputError
  std::string find_profile(const Environment& environment) const;
  /// That profile with the parameters that --set changes.
  /// @throws InputError
  Profile read_set_profile(const Environment& environment) const;
  /// The same with stand-ins for absent parameters.
  Profile load_profile(const Environment& environment) const;
  /// Tells what --set changes, if it does.
  void add_settings(std::vector<std::pair<std::string, std::string>>& context) const;
  CostModel cost_model() const;
  /// Where the data is.
  DataPlace place() const { return memory == name_of(DataPlace::device) ? DataPlace::device : DataPlace::host; }
  /// The texts of the strategies named; empty: all.
  std::vector<std::string> strategy_names() const;
  /// The strategies named; empty: all.
  /// @throws InputError, also for a path that does not go with the memory
  /// @param cartesian  of its neighbourhood "cartesian" and "trivial" are strategies, too (on_grid)
  std::vector<Strategy> named_strategies(const std::optional<CartesianPattern>& cartesian = {}) const;
};

/// @throws InputError if a strategy names a path of devices for data in host memory
void require_place(const Strategy& strategy, DataPlace place);

/// What --help ends with, where strategies and patterns are named.
inline constexpr auto* catalogues_are_elsewhere =
    "'commpass strategies' lists all strategies, 'commpass patterns' all kinds of patterns for --generate.";

}  // namespace commpass
