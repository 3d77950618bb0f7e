// The report of `predict --sweep`: the choice and its predicted time over ranges of keys.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "selector/choose/select.hpp"
#include "selector/choose/ties.hpp"
#include "selector/report/document.hpp"

namespace commpass {

/// One combination of values.
struct SweepPoint {
  std::vector<double> values;                 ///< by key; integers, but of parameters of the profile
  int nodes = 0;                              ///< of its layout; 0: none, see `reason`
  std::optional<Candidate> chosen;            ///< nothing: no strategy is applicable
  Ties ties{};                                ///< of the choice
  std::optional<Seconds> standard_s;          ///< one message for each block; nothing: no price
  std::optional<Seconds> mpi_s{};             ///< the call of the MPI library; nothing: no price
  std::map<std::string, Seconds> by_route{};  ///< the shortest of each route (route_and_path) that has a price
  std::vector<std::optional<Seconds>> named;  ///< of each named strategy; nothing: it is not applicable
  std::string reason;                         ///< why no strategy is applicable
  std::string note;                           ///< parameters that the profile lacks for the choice (profile_note.hpp)

  /// Time of the direct exchange ÷ that of the choice.
  std::optional<double> gain() const;
  /// Time of the call of the MPI library ÷ that of the choice.
  std::optional<double> gain_over_mpi() const;
  /// gain() as "2.00 times faster", "1.33 times slower" or "as fast"; empty if it is unknown.
  std::string speed() const;
};

struct SweepReport {
  ReportContext context;
  std::vector<std::string> keys;   ///< see SweepRange; the last one varies fastest
  std::vector<std::string> named;  ///< named strategies without the parameters that are keys; empty: all are candidates
  std::vector<SweepPoint> points;  ///< all combinations
};

/// The route of a strategy, and its path of data on devices.
std::string route_and_path(const Strategy& strategy);

/// Two points that are neighbours along a key, and whose choices have different routes or paths.
struct Crossover {
  std::size_t key, before, after;  ///< indices of the key and of the points
};
std::vector<Crossover> crossovers(const SweepReport& report);

/// The values of a key in the order of the report, each once.
std::vector<double> values_of(const SweepReport& report, std::size_t key);
/// The notes of the points: not those that another one includes, whose numbers may differ.
std::vector<std::string> notes_of(const SweepReport& report);
/// Values of the key `memory`.
inline constexpr double memory_host = 1, memory_device = 2;
/// The value as users write it: "4KiB" of bytes, "device" of memory, "1.5 us" of a parameter of the profile
/// ("…alpha_s="), "2" of a factor of it ("…alpha_s*").
std::string print_value(const std::string& key, double value);

/// The key without the sign behind that of a parameter.
std::string people_key(const std::string& key);

/// By name, the predicted time at a point of each named strategy, else of the best of each route.
std::map<std::string, Seconds> prices_of(const SweepReport& report, const SweepPoint& point);

Document document_of(const SweepReport& report);

}  // namespace commpass
