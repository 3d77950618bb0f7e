#include "selector/commands/preloaded.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace commpass {

namespace {

bool is_launcher(std::string_view word) {
  constexpr std::array<std::string_view, 10> names{"mpirun",         "mpiexec",         "orterun",      "prterun",
                                                   "mpirun.openmpi", "mpiexec.openmpi", "mpirun.mpich", "mpiexec.mpich",
                                                   "mpirun.hydra",   "mpiexec.hydra"};
  return std::ranges::count(names, word.substr(word.find_last_of('/') + 1)) > 0;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

std::size_t find_launcher(const std::vector<std::string>& words) {
  return static_cast<std::size_t>(std::ranges::find_if(words, is_launcher) - words.begin());
}

MpiKind kind_of_launcher(const std::string& version) {
  if (contains(version, "Open MPI") || contains(version, "OpenRTE") || contains(version, "PRRTE"))
    return MpiKind::open_mpi;
  return contains(version, "HYDRA") || contains(version, "MPICH") ? MpiKind::mpich : MpiKind::unknown;
}

MpiKind kind_of_library(const std::string& contents) {
  // MPICH and its relatives have agreed on libmpi.so.12; Debian calls it libmpich.
  if (contains(contents, "libmpich.so") || contains(contents, "libmpi.so.12")) return MpiKind::mpich;
  return contains(contents, "libmpi.so") ? MpiKind::open_mpi : MpiKind::unknown;
}

const char* name_of(MpiKind kind) {
  if (kind == MpiKind::open_mpi) return "Open MPI";
  return kind == MpiKind::mpich ? "MPICH" : "an MPI library that is not known";
}

Preloaded preload(std::vector<std::string> words, MpiKind kind, const std::string& library,
                  std::vector<std::pair<std::string, std::string>> variables,
                  const std::vector<std::string>& exported) {
  const std::string preloading = "LD_PRELOAD";
  const auto launcher = find_launcher(words);
  std::vector<std::string> switches;
  if (launcher == words.size() || kind == MpiKind::unknown) {
    variables.emplace_back(preloading, library);
  } else if (kind == MpiKind::mpich) {
    switches = {"-genv", preloading, library};  // all other variables go along
  } else {
    switches = {"-x", preloading + "=" + library};
    for (const auto& variable : variables) switches.insert(switches.end(), {"-x", variable.first});
    for (const auto& name : exported) switches.insert(switches.end(), {"-x", name});
  }
  if (!switches.empty())
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(launcher) + 1, switches.begin(), switches.end());
  return {std::move(words), std::move(variables)};
}

}  // namespace commpass
