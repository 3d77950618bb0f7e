// Does a profile belong to the MPI library and the hosts that run?
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/profile.hpp"

namespace commpass {

/// A set of hosts as the provenance of a profile holds it, "sha256:SALT:DIGEST": whether two sets are the same can be
/// told, their names cannot be read. No more than that: who has a list of candidates can try them, as with any hash of
/// guessable words.
/// @param names  in any order, repeated or not
/// @param salt   without ':', drawn anew for each profile, so that hashes of different profiles cannot be compared
std::string host_hash(const std::vector<std::string>& names, const std::string& salt);

/// One sentence if a profile was measured with another MPI library, another version of it or on other hosts than those
/// that run, or does not say with which library, as those that come from publications; else nothing.
/// @param mpi_library  name and version, as a calibration with this library would write them into the provenance
/// @param hosts        names of the hosts that run; empty: not known
std::string provenance_warning(const Profile& profile, const std::string& mpi_library,
                               const std::vector<std::string>& hosts = {});

/// Days from a date as profiles hold it ("2026-11-21T07:30:00Z") until now; nothing for any other text.
std::optional<double> age_of(const std::string& date, std::time_t now);

}  // namespace commpass
