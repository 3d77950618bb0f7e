#include "selector/provenance.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace commpass {

std::string provenance_warning(const Profile& profile, const std::string& mpi_library) {
  const auto provenance = nlohmann::json::parse(profile.provenance_json);
  const auto text_of = [&](const char* key) { return provenance.contains(key) && provenance[key].is_string() ? provenance[key].get<std::string>() : std::string(); };
  constexpr auto* remedy = "predictions may be off, so calibrate here ('mpirun -n N commpass calibrate')";
  const auto measured_with = text_of("mpi_library"), date = text_of("date");
  if (measured_with == mpi_library) return {};
  if (measured_with.empty())
    return fmt::format("profile {} does not say with which MPI library it was measured, so perhaps on another machine; {}.", profile.machine.name, remedy);
  return fmt::format("profile {} was measured with {}{}, but this is {}; {}.", profile.machine.name, measured_with, date.empty() ? "" : " on " + date, mpi_library, remedy);
}

}  // namespace commpass
