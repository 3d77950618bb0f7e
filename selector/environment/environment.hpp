// The table of the variables COMMPASS_…, and the one place that reads them from the environment.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/machine/profile_lookup.hpp"
#include "selector/choose/planner_mode.hpp"

namespace commpass {

/// When to show progress on stderr. Under a launcher, which forwards stderr, `automatic` means off.
enum class Progress { automatic, always, never };

/// What becomes of the calls of MPI of a program that libcommpass-mpi was put before.
enum class Interposition {
  off,     ///< they are MPI's
  record,  ///< they are counted, and are MPI's
  on,      ///< the faster of MPI and Commpass runs them
  always   ///< Commpass runs them: for tests
};

/// @throws InputError unless the text is auto, always or never
Progress parse_progress(const std::string& text);

/// What the environment asks for. A switch of the command line goes before it. COMMPASS_ROOT, COMMPASS_DIR and
/// COMMPASS_HOME, which module systems set, are prefixes of an installation; COMMPASS_VERSION is theirs, too.
struct Environment {
  std::optional<std::string> profile;          ///< COMMPASS_PROFILE: name or file
  ProfilePlaces profile_places;                ///< COMMPASS_PROFILE_PATH (separated by ':'), XDG_CONFIG_HOME, prefixes
  std::optional<std::string> strategy;         ///< COMMPASS_STRATEGY: use this one and do not select
  std::optional<std::string> sparse_strategy;  ///< COMMPASS_SPARSE_STRATEGY: the same for sparse exchanges
  std::optional<std::string> alltoallv_strategy;     ///< COMMPASS_ALLTOALLV_STRATEGY: the same for alltoallv
  std::optional<std::string> layout;                 ///< COMMPASS_LAYOUT: treat the machine as laid out like this
  std::optional<std::string> limits;                 ///< COMMPASS_LIMITS: go before those of the profile
  std::optional<PlannerMode> planner;                ///< COMMPASS_PLANNER: how exchanges are chosen
  std::optional<std::string> wisdom;                 ///< COMMPASS_WISDOM: the file in which measurements are kept
  Interposition interposition = Interposition::off;  ///< COMMPASS_MPI: off, record, on, always
  std::vector<std::string> interposed_calls;         ///< COMMPASS_MPI_CALLS (separated by ','); empty: all there are
  std::optional<double> trial_loss_share;            ///< COMMPASS_MPI_LOSS: of the time in calls that are taken over
  std::optional<std::string> record_file;            ///< COMMPASS_MPI_RECORD: where calls that are recorded go
  std::optional<std::string> place_report;           ///< COMMPASS_MPI_REPORT: where a report by places goes
  Progress progress = Progress::automatic;           ///< COMMPASS_PROGRESS: auto, always, never
  bool verbose = false;              ///< COMMPASS_VERBOSE: 0 or 1; say on stderr where a named strategy does not fit,
                                     ///< and what trials have found
  std::vector<std::string> unknown;  ///< names of COMMPASS_… variables that mean nothing here
};

/// A variable. Texts are Markdown, with links as from docs/: docs/environment.md has them as a table; a test compares.
struct EnvironmentVariable {
  const char* name;
  const char* values;   ///< where there are no others, each in backquotes: "`auto`, `always` or `never`"
  const char* meaning;  ///< one sentence without its full stop
  const char* since;    ///< the version of Commpass
  const char* readers;
  const char* hint;  ///< the key of an MPI_Info that goes before it; "": none
  void (*read)(Environment& environment, const std::string& value);  ///< @throws InputError for a value that cannot be
  bool may_be_empty = false;
};
std::span<const EnvironmentVariable> environment_variables();

/// Reads and checks the environment of this process.
/// @throws InputError for a COMMPASS_… variable that has a value that cannot be
Environment read_environment();

/// As read_environment, of the given NAME=VALUE entries.
Environment parse_environment(const std::vector<std::string>& entries);

/// One line on stderr, once in a process, that names the variables that mean nothing here; nothing if there are none.
void warn_unknown(const Environment& environment);

/// What the keys of an MPI_Info begin with that are meant for us.
inline constexpr const char* hint_prefix = "commpass_";

/// Puts a hint in the place of the variable of its name: commpass_layout in that of COMMPASS_LAYOUT. Hints for
/// exchanges and unknown ones change nothing. @throws InputError that names the hint, for a value that cannot be
void apply_hint(Environment& environment, const std::string& key, const std::string& value);
/// Does a key of an MPI_Info mean something, to a communicator or an exchange?
bool is_hint(const std::string& key);
/// Those that do, for people.
std::string known_hints();

/// Did an MPI launcher start this process?
bool is_launched();

/// Should progress be shown? Automatic: stderr is a terminal and no MPI launcher started this process.
bool show_progress(Progress progress);

}  // namespace commpass
