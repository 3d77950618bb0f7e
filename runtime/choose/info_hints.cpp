#include "runtime/choose/info_hints.hpp"

#include <fmt/core.h>

#include <array>

#include "runtime/choose/warn_once.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

std::vector<std::pair<std::string, std::string>> hints_in(MPI_Info info) {
  std::vector<std::pair<std::string, std::string>> hints;
  if (info == MPI_INFO_NULL) return hints;
  int keys = 0;
  COMMPASS_MPI_CALL(MPI_Info_get_nkeys, info, &keys);
  for (int i = 0; i < keys; ++i) {
    std::array<char, MPI_MAX_INFO_KEY + 1> key{};
    COMMPASS_MPI_CALL(MPI_Info_get_nthkey, info, i, key.data());
    if (!std::string(key.data()).starts_with(hint_prefix)) continue;
    std::array<char, MPI_MAX_INFO_VAL + 1> value{};
    int is_there = 0;
    COMMPASS_MPI_CALL(MPI_Info_get, info, key.data(), MPI_MAX_INFO_VAL, value.data(), &is_there);
    hints.emplace_back(key.data(), value.data());
  }
  return hints;
}

void apply_hints(Environment& environment, MPI_Info info) {
  for (const auto& [key, value] : hints_in(info)) apply_hint(environment, key, value);
}

void apply_hints_of(Environment& environment, MPI_Comm comm) {
  MPI_Info info = MPI_INFO_NULL;
  COMMPASS_MPI_CALL(MPI_Comm_get_info, comm, &info);
  if (info == MPI_INFO_NULL) return;
  try {
    apply_hints(environment, info);
  } catch (...) {
    MPI_Info_free(&info);
    throw;
  }
  MPI_Info_free(&info);
}

void warn_unknown_hints(MPI_Info info, Rank rank) {
  for (const auto& [key, value] : hints_in(info))
    if (!is_hint(key))
      warn_once(fmt::format("info {} is unknown and changes nothing; known are {}.", key, known_hints()), rank);
}

}  // namespace commpass
