// The surroundings of a profile's measurement: are they those of the running program?
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/profile.hpp"

namespace commpass {

/// A set of hosts as the provenance of a profile holds it, "sha256:SALT:DIGEST": whether two sets are the same can be
/// told, their names cannot be read. A list of candidates can be tried, as with any hash of guessable words.
/// @param names  in any order, repeated or not
/// @param salt   without ':', drawn anew for each profile, so that hashes of different profiles cannot be compared
std::string host_hash(const std::vector<std::string>& names, const std::string& salt);

/// The running program and machine, to be compared with those of a profile. Empty or 0: not known, and not compared.
struct Surroundings {
  std::string mpi_library{};               ///< name and version
  std::optional<std::string> transport{};  ///< settings of the library as text; empty: it chooses by itself
  std::string partition{};                 ///< of the batch system
  int ranks_per_node = 0;                  ///< at most
  std::vector<std::string> hosts{};
};

/// One sentence if a profile was measured with another MPI library, another version or other settings of it, in another
/// partition, with fewer ranks a node or on other hosts than the running program, or is not to be trusted; else
/// nothing. Fewer ranks than it was measured with are part of the measurement. That of unknown_keys_warning follows.
std::string use_warning(const Profile& profile, const Surroundings& here);

/// One sentence if a profile has keys that are not known.
std::string unknown_keys_warning(const Profile& profile);

/// As use_warning, and one sentence if a profile does not say with which library it was measured, as those that come
/// from publications.
std::string provenance_warning(const Profile& profile, const Surroundings& here);

/// "Profile mine: measured 12 days ago with Open MPI v4.1.4 and at most 2 ranks a node; verdict: usable.", as far as it
/// says so, and the end of the line; empty if it says nothing of that.
std::string describe_origin(const Profile& profile, std::time_t now);

/// Days from a date as profiles hold it ("2026-11-21T07:30:00Z") until now; nothing for any other text.
std::optional<double> age_of(const std::string& date, std::time_t now);

}  // namespace commpass
