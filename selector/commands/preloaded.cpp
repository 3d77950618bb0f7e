#include "selector/commands/preloaded.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <string_view>

#include "selector/commands/needed_libraries.hpp"

namespace commpass {

namespace {

bool is_launcher(std::string_view word) {
  constexpr std::array<std::string_view, 10> names{"mpirun",         "mpiexec",         "orterun",      "prterun",
                                                   "mpirun.openmpi", "mpiexec.openmpi", "mpirun.mpich", "mpiexec.mpich",
                                                   "mpirun.hydra",   "mpiexec.hydra"};
  return std::ranges::count(names, word.substr(word.find_last_of('/') + 1)) > 0;
}

/// A program that starts the one behind it.
struct Starter {
  std::string_view name, switches_with_word;  ///< letters of those whose value is the next word
  std::size_t words;                          ///< of its own, before the program
};

const Starter* starter_of(std::string_view word) {
  static constexpr std::array<Starter, 8> starters{{{"env", "uC", 0},
                                                    {"time", "fo", 0},
                                                    {"timeout", "ks", 1},
                                                    {"nice", "n", 0},
                                                    {"nohup", "", 0},
                                                    {"stdbuf", "ioe", 0},
                                                    {"numactl", "iNCmpP", 0},
                                                    {"taskset", "", 1}}};
  const auto* const found = std::ranges::find(starters, word.substr(word.find_last_of('/') + 1), &Starter::name);
  return found == starters.end() ? nullptr : found;
}

/// The first word of the program that is started.
std::size_t skip_starter(const std::vector<std::string>& words, std::size_t at, const Starter& starter) {
  for (++at; at < words.size() && words[at].starts_with('-'); ++at)
    if (words[at].size() == 2 && starter.switches_with_word.find(words[at][1]) != std::string_view::npos) ++at;
  at += starter.words;
  while (at < words.size() && words[at].find('=') != std::string::npos) ++at;  // variables
  return at;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

std::size_t find_launcher(const std::vector<std::string>& words) {
  std::size_t at = 0;
  while (at < words.size())
    if (const auto* starter = starter_of(words[at])) at = skip_starter(words, at, *starter);
    else return is_launcher(words[at]) ? at : words.size();
  return words.size();
}

MpiKind kind_of_launcher(const std::string& version) {
  if (contains(version, "Open MPI") || contains(version, "OpenRTE") || contains(version, "PRRTE"))
    return MpiKind::open_mpi;
  return contains(version, "HYDRA") || contains(version, "MPICH") ? MpiKind::mpich : MpiKind::unknown;
}

MpiKind kind_of_library(const std::string& contents) {
  // MPICH and its relatives have agreed on libmpi.so.12; Debian calls it libmpich. Our own texts name files without a
  // version.
  if (contains(contents, "libmpich.so.12") || contains(contents, "libmpi.so.12")) return MpiKind::mpich;
  return contains(contents, "libmpi.so") ? MpiKind::open_mpi : MpiKind::unknown;
}

bool is_any_linked_with_abi(std::span<const std::string> words) {
  return std::ranges::any_of(words, [](const std::string& word) {
    const auto program = contains(word, "/") ? std::optional(word) : find_program(word);
    if (!program) return false;
    std::ifstream file(*program, std::ios::binary);
    return std::ranges::any_of(needed_libraries(file),
                               [](const auto& library) { return library.starts_with("libmpi_abi.so"); });
  });
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
  if (switches.empty()) return {std::move(words), std::move(variables)};
  std::vector<std::string> line;
  for (std::size_t i = 0; i < words.size(); ++i) {
    line.push_back(words[i]);
    // -x holds for the programs up to the next colon alone, -genv for all.
    const bool begins_programs = i == launcher || (kind == MpiKind::open_mpi && i > launcher && words[i] == ":");
    if (begins_programs) line.insert(line.end(), switches.begin(), switches.end());
  }
  return {std::move(line), std::move(variables)};
}

}  // namespace commpass
