// Where profiles are found by their names, and which machine one was measured on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/machine/profile.hpp"

namespace commpass {

/// Where profiles are looked for besides ./profiles, /etc/commpass and where Commpass lies itself.
struct ProfilePlaces {
  std::vector<std::string> first;     ///< directories that go before all others
  std::string user;                   ///< the user's directory; empty: none
  std::vector<std::string> prefixes;  ///< of installations; profiles lie in share/commpass/profiles
};

/// The directories in which profiles are looked for by name, in this order: the first ones, ./profiles, the user's,
/// /etc/commpass, those of the prefixes, of the installation that this library or program belongs to, wherever it was
/// moved, and of the source tree and the prefix that it was built with.
std::vector<std::string> profile_directories(const ProfilePlaces& places = {});

/// share/commpass/profiles of the installation in which a library or program lies, at most three directories above it.
/// @return empty: there is none
std::string installed_profiles(const std::string& library_or_program);

/// The paths of all profiles in the directories, by name; of several with one name the first.
std::vector<std::string> list_profiles(const std::vector<std::string>& directories);

/// Finds a profile by file name or by NAME (a file NAME.json in one of the directories).
/// @return the path
/// @throws InputError that says where it looked
std::string find_profile(const std::string& name_or_path, const std::vector<std::string>& directories);

/// The properties that tell one machine from another: a profile of the one says nothing about the other.
struct Fingerprint {
  std::string processor;    ///< its model; empty: not known
  int node_processors = 0;  ///< processors (hardware threads) of a node; 0: not known
  std::string mpi_library;  ///< name and version; empty: not known
  bool operator==(const Fingerprint&) const = default;
};

/// That of the machine that a profile was measured on; nothing if it does not say.
std::optional<Fingerprint> fingerprint_of(const Profile& profile);

/// The model of the processor as Linux tells it; empty: it does not.
std::string processor_model(const std::string& cpuinfo = "/proc/cpuinfo");

/// The fingerprint of this node without its MPI library, which programs without MPI do not know.
Fingerprint host_fingerprint();

}  // namespace commpass
