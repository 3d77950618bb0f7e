// What `predict --sweep` tells: the choice and its price over ranges of one or more keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "selector/choose/select.hpp"
#include "selector/choose/ties.hpp"

namespace commpass {

/// One combination of values.
struct SweepPoint {
  std::vector<std::int64_t> values;           ///< by key
  int nodes = 0;                              ///< of its layout; 0: there is none, see `reason`
  std::optional<Candidate> chosen;            ///< nothing: no strategy applies here
  Ties ties{};                                ///< by which it may not be the fastest by prediction
  std::optional<Seconds> standard_s;          ///< one message for each block; nothing: it has no price here
  std::optional<Seconds> mpi_s{};             ///< the MPI library's own call; nothing: it has no price here
  std::vector<std::optional<Seconds>> named;  ///< of each strategy that was named; nothing: it does not apply here
  std::string reason;                         ///< why nothing applies here
  std::string note;                           ///< what the profile lacks that the winner rests on (profile_note.hpp)

  /// How many times as long the direct exchange takes.
  std::optional<double> gain() const;
  /// The same of the MPI library's own call.
  std::optional<double> gain_over_mpi() const;
  /// "2.00 times faster", "1.33 times slower" or "as fast"; empty where it is not known.
  std::string speed() const;
};

struct SweepReport {
  std::vector<std::pair<std::string, std::string>> context;
  std::vector<std::string> keys;  ///< the last one varies fastest
  std::vector<std::string>
      named;  ///< the strategies that were named, without what the keys set; empty: all are looked at
  std::vector<SweepPoint> points;  ///< every combination
};

/// What is told of a winner: its route, and the path of data on devices.
std::string way_of(const Strategy& strategy);

/// Between two neighbours along a key the winner is of another route, or its data takes another path.
struct Crossover {
  std::size_t key, before, after;  ///< which key, and the two points
};
std::vector<Crossover> crossovers(const SweepReport& report);

/// The values of a key, ascending as they were asked for, each once.
std::vector<std::int64_t> values_of(const SweepReport& report, std::size_t key);
/// A value of the key `memory`: where the data is.
inline constexpr std::int64_t memory_host = 1, memory_device = 2;
/// "bytes=4KiB": sizes as people write them, where a key is one; "memory=device".
std::string print_value(const std::string& key, std::int64_t value);

std::string sweep_table(const SweepReport& report);
std::string sweep_csv(const SweepReport& report);
std::string sweep_json(const SweepReport& report);

}  // namespace commpass
