// A machine profile: a Machine and where it comes from, as JSON (schema: profiles/schema.json).
#pragma once

#include <string>
#include <vector>

#include "model/machine/machine_data.hpp"

namespace commpass {

/// A machine, and its measurement.
struct Profile {
  Machine machine;                          ///< its parameters
  std::string provenance_json = "{}";       ///< a JSON object, kept as it was written
  std::vector<std::string> unknown_keys{};  ///< that were passed over; only a newer minor version may have them
};

/// What to_json writes. The minor version grows where keys are added that an older Commpass may pass over.
inline constexpr int profile_schema_version = 3;
inline constexpr int profile_schema_minor = 4;

/// The largest uncertainty of a verdict.
inline constexpr double most_uncertainty = 1e6;

/// Reads a profile of this version, or of an older one, strictly: unknown keys, missing keys, wrong types and
/// impossible numbers are errors. Only where schema_minor is newer than what this Commpass knows, unknown keys are
/// passed over: minor versions add keys, and change none.
/// @param origin  what to call the text in errors, usually the file name
/// @throws InputError that names the key
Profile parse_profile(const std::string& text, const std::string& origin);

/// The most bytes that are read of a profile. Those that come with Commpass or that calibrate writes have a few KiB.
inline constexpr Bytes most_profile_bytes = Bytes{4} << 20;

/// Reads the file `path`.
/// @throws InputError, also if it holds more than most_profile_bytes
Profile read_profile(const std::string& path);

/// The stand-in where no profile is named and none was measured here (profiles/generic.json).
Profile generic_profile();

/// The profile as JSON text of this version, with a newline at the end. parse_profile gives the same profile back.
std::string to_json(const Profile& profile);

/// Writes the profile under a temporary name beside `path` and renames it.
/// @throws InputError if that is not possible
void write_profile(const Profile& profile, const std::string& path);

}  // namespace commpass
