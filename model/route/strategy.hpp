// A strategy: a point in the space of ways to run an exchange, and its text form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/route/data_path.hpp"

namespace commpass {

/// How many rounds of a stage are in flight at once.
struct Window {
  int rounds = 0;  ///< 0: unlimited
  bool unlimited() const { return rounds == 0; }
  /// The batch of a message of round 1, 2, … ; messages without a round (0) are in batch 0.
  int batch(int round) const { return unlimited() || round == 0 ? 0 : (round - 1) / rounds; }
  bool operator==(const Window&) const = default;
};

/// How messages are made of the blocks that go from one rank to another in a stage (TuNA paper §IV-B).
enum class Coalescing : std::uint8_t {
  coalesced,  ///< one for all of them
  staggered   ///< one for each block
};

/// A parameter of a route and its value: one number, or the sizes of several dimensions.
struct Argument {
  std::string name;
  std::vector<std::int64_t> values;
  bool operator==(const Argument&) const = default;
};

/// A route with its parameters, a window, its coalescing, and the ways of the data. Made by parse_strategy or by the
/// catalogue's suggestions.
struct Strategy {
  std::string route;                ///< a name in the catalogue
  std::vector<Argument> arguments;  ///< in the order of the catalogue
  Window window;
  Coalescing coalescing = Coalescing::coalesced;
  DataPath path = {};
  bool operator==(const Strategy&) const = default;

  /// The values of a parameter; empty if it was not given.
  std::vector<std::int64_t> values(const std::string& name) const;
  /// Gives a parameter of the route these values; {}: takes it away.
  void set(const std::string& name, std::vector<std::int64_t> values);
};

/// The value of a parameter that is left to the model; "auto" in text.
inline constexpr std::int64_t automatic_value = 0;

/// Does a strategy leave a parameter to the model (radix=auto)? It then stands for a family of strategies, of which one
/// has to be chosen before it has a route (selector/choose/family.hpp).
bool is_automatic(const Strategy& strategy);

/// Reads "NAME,key=value,…[@PATH]", for example "stfw,n=3", "standard,window=8" or "tuna,radix=4,staggered@staged".
/// @throws InputError with the route's usage
Strategy parse_strategy(const std::string& text);

/// The strategies of a list, "standard,two-step" or "standard;stfw,n=2": a word behind a comma that has '=' or is a
/// flag ("staggered", "shared") belongs to the strategy before it; every other word begins one.
std::vector<std::string> split_strategies(const std::string& list);

/// The same for callers that move host memory only, by messages.
/// @throws InputError, also if the text names another path or "shared"
Strategy parse_host_strategy(const std::string& text);

/// The same with messages within nodes through memory that their ranks share; nothing where it cannot be so: the
/// library moves the messages, or the data stays on devices.
std::optional<Strategy> through_node_memory(Strategy strategy);

/// The canonical text, which parse_strategy reads back: parameters in the catalogue's order, the window only where
/// it is not the route's default, "staggered" and "shared" behind them, and at last the path unless it is the host's.
std::string to_string(const Strategy& strategy);

}  // namespace commpass
