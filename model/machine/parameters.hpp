// The parameters of a machine as one table. Reading, writing, the schema, checks, `profile show`, `compare`, `merge`,
// --set and the table of docs/profiles.md follow its rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/machine/machine.hpp"

namespace commpass {

/// The number of a parameter, or that it is absent. Integers do not pass through a double.
using ParameterValue = std::variant<std::monostate, double, std::int64_t>;
inline bool is_absent(const ParameterValue& value) { return value.index() == 0; }
/// For ratios and for people. @throws std::bad_variant_access if it is absent
double to_double(const ParameterValue& value);

struct MachineParameter {
  /// The struct that has the parameter, and so its place in a profile. `merge` takes the parameters of one channel, of
  /// copies, devices, local and operations together from one profile, and each parameter of a level separately.
  enum class Place { protocol, channel, level, copy, devices, local, operations, limits };
  enum class Unit { seconds, seconds_per_byte, bytes_per_second, messages_per_second, bytes, count };
  /// The levels of which it may be: nothing leaves the outermost one, and nodes are only part of those outside them.
  enum class Levels { all, all_but_outermost, outside_nodes };
  struct Range {
    double least, most;
  };
  /// Both take the struct of `place`: Protocol, Channel, MachineLevel, DeviceCopy, Machine (devices and local),
  /// OperationCosts or Limits.
  struct Access {
    ParameterValue (*get)(const void* owner);
    void (*set)(void* owner, const ParameterValue& value);
  };

  const char* key;
  Place place;
  Unit unit;
  Range range;
  Access access;
  const char* measured_by;  ///< the file of its experiment; null: there is none
  const char* meaning;      ///< a phrase: `profile show` puts a colon and the number behind it
  // Cells of the table of docs/profiles.md; null: empty.
  const char* absence = nullptr;      ///< what its absence means; null: a profile without it is refused
  const char* stand_in = nullptr;     ///< what prices use then
  const char* not_offered = nullptr;  ///< which strategies have no price then
  int since = 1;                      ///< version of the schema
  Levels levels = Levels::all;

  bool is_required() const { return absence == nullptr; }
  bool is_integer() const { return unit == Unit::bytes || unit == Unit::count; }
};

/// All rows, those of one place one after the other.
std::span<const MachineParameter> machine_parameters();
std::span<const MachineParameter> parameters_of(MachineParameter::Place place);

/// The row of a key that one place has. @throws std::out_of_range if there is none
const MachineParameter& parameter_named(MachineParameter::Place place, std::string_view key);

/// The first row of a key, whatever its place; null if there is none.
const MachineParameter* find_parameter(std::string_view key);

/// May a level of this number have the parameter, where nodes and the outermost level have those?
bool is_of_level(const MachineParameter& parameter, Level level, Level node, Level outermost);

/// The parameter at all of its places: "levels.*.host.*.alpha_s", "local.copy_block_s". The device has those of the
/// host.
std::string pattern_of(const MachineParameter& parameter);

/// The patterns of all rows that have the key.
std::vector<std::string> patterns_of_key(std::string_view key);

/// "s", "B/s", …; empty for counts.
const char* symbol_of(MachineParameter::Unit unit);

/// "seconds", "bytes per second", …
const char* words_of(MachineParameter::Unit unit);

/// For people: "3.2 us", "25 GB/s", "16383 B".
std::string format_parameter(MachineParameter::Unit unit, const ParameterValue& value);

/// The values of real machines, with a margin of ten or more. A value outside is in another unit.
MachineParameter::Range plausible_range(const MachineParameter& parameter);

/// What to use in place of a number that is out of the parameter's range, or no number; empty: it is within.
std::string range_remedy(const MachineParameter& parameter, const ParameterValue& value);

}  // namespace commpass
