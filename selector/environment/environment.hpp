// The table of the variables COMMPASS_…, and the one place that reads them from the environment.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/machine/profile_lookup.hpp"
#include "selector/choose/planner_mode.hpp"

namespace commpass {

/// When to show progress on stderr. `automatic`: not under a launcher, which forwards stderr.
enum class Progress { automatic, always, never };

/// Who runs the MPI calls of a program with libcommpass-mpi.
enum class Interposition {
  off,     ///< MPI
  record,  ///< MPI; they are counted
  on,      ///< the faster of MPI and Commpass
  always   ///< Commpass, for tests
};

/// @throws InputError unless the text is auto, always or never
Progress parse_progress(const std::string& text);

/// The settings in the environment. Switches of the command line override them. COMMPASS_ROOT, COMMPASS_DIR and
/// COMMPASS_HOME, which module systems set, are prefixes of an installation; COMMPASS_VERSION is ignored.
struct Environment {
  std::optional<std::string> profile;                ///< COMMPASS_PROFILE: name or file
  ProfilePlaces profile_places;                      ///< COMMPASS_PROFILE_PATH, XDG_CONFIG_HOME, HOME and prefixes
  std::optional<std::string> strategy;               ///< COMMPASS_STRATEGY: in place of a choice
  std::optional<std::string> sparse_strategy;        ///< COMMPASS_SPARSE_STRATEGY: likewise for sparse exchanges
  std::optional<std::string> alltoallv_strategy;     ///< COMMPASS_ALLTOALLV_STRATEGY: likewise for alltoallv
  std::optional<std::string> layout;                 ///< COMMPASS_LAYOUT: in place of the detected one
  std::optional<std::string> limits;                 ///< COMMPASS_LIMITS: override those of the profile
  std::optional<PlannerMode> planner;                ///< COMMPASS_PLANNER
  std::optional<std::string> wisdom;                 ///< COMMPASS_WISDOM: the file of measurements
  Interposition interposition = Interposition::off;  ///< COMMPASS_MPI
  std::vector<std::string> interposed_calls;         ///< COMMPASS_MPI_CALLS; empty: all
  std::optional<double> trial_loss_share;            ///< COMMPASS_MPI_LOSS: of the time in intercepted calls
  std::optional<std::string> record_file;            ///< COMMPASS_MPI_RECORD: the file of recorded calls
  std::optional<std::string> place_report;           ///< COMMPASS_MPI_REPORT: the file of the report by places
  Progress progress = Progress::automatic;           ///< COMMPASS_PROGRESS
  bool verbose = false;                              ///< COMMPASS_VERBOSE: report unsuitable strategies, and trials
  std::vector<std::string> unknown;                  ///< names of other COMMPASS_… variables
};

/// A row of docs/environment.md; a test compares. Texts are Markdown with links relative to docs/.
struct EnvironmentVariable {
  const char* name;
  const char* values;   ///< a closed set has backquotes: "`auto`, `always` or `never`"
  const char* meaning;  ///< one sentence without its full stop
  const char* since;    ///< the version of Commpass
  const char* readers;
  const char* hint;  ///< the key of an MPI_Info that overrides it; "": none
  void (*read)(Environment& environment, const std::string& value);  ///< @throws InputError for an invalid value
  bool may_be_empty = false;
};
std::span<const EnvironmentVariable> environment_variables();

/// Reads and checks the environment of this process.
/// @throws InputError for an invalid value of a COMMPASS_… variable
Environment read_environment();

/// As read_environment, with given NAME=VALUE entries.
Environment parse_environment(const std::vector<std::string>& entries);

/// Prints a line about unknown variables to stderr, once in a process.
void warn_unknown(const Environment& environment);

/// Prefix of our keys of an MPI_Info.
inline constexpr const char* hint_prefix = "commpass_";

/// Overrides a variable by a hint: commpass_layout overrides COMMPASS_LAYOUT. Other hints are ignored.
/// @throws InputError that names the hint, for an invalid value
void apply_hint(Environment& environment, const std::string& key, const std::string& value);
/// Is the key of an MPI_Info a hint to communicators or exchanges?
bool is_hint(const std::string& key);
/// All hints, for people.
std::string known_hints();

/// Did an MPI launcher start this process?
bool is_launched();

/// Should progress be shown? Automatic: stderr is a terminal and no MPI launcher started this process.
bool show_progress(Progress progress);

}  // namespace commpass
