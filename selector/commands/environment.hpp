// The one place that reads COMMPASS_… from the environment.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace commpass {

/// When to show progress on stderr. Under a launcher `automatic` means off: nobody can tell whether somebody looks.
enum class Progress { automatic, always, never };

/// @throws InputError unless the text is auto, always or never
Progress parse_progress(const std::string& text);

/// What the environment asks for. A switch of the command line goes before it.
struct Environment {
  std::optional<std::string> profile;             ///< COMMPASS_PROFILE: name or file
  std::vector<std::string> profile_path;          ///< COMMPASS_PROFILE_PATH: directories, separated by ':'
  std::optional<std::string> strategy;            ///< COMMPASS_STRATEGY: use this one and do not select
  std::optional<std::string> sparse_strategy;     ///< COMMPASS_SPARSE_STRATEGY: the same for sparse exchanges
  std::optional<std::string> alltoallv_strategy;  ///< COMMPASS_ALLTOALLV_STRATEGY: the same for alltoallv
  std::optional<std::string> layout;              ///< COMMPASS_LAYOUT: treat the machine as laid out like this
  Progress progress = Progress::automatic;        ///< COMMPASS_PROGRESS: auto, always, never
  bool verbose = false;  ///< COMMPASS_VERBOSE: 0 or 1; say on stderr where a named strategy does not fit
};

/// Reads and checks the environment of this process.
/// @throws InputError for a COMMPASS_… variable that is unknown or has a value that cannot be
Environment read_environment();

/// As read_environment, of the given NAME=VALUE entries.
Environment parse_environment(const std::vector<std::string>& entries);

/// Should progress be shown? Automatic: stderr is a terminal and no MPI launcher started this process.
bool show_progress(Progress progress);

}  // namespace commpass
