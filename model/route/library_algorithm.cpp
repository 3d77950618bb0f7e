#include "model/route/library_algorithm.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <vector>

namespace commpass {

namespace {

enum class Algorithm { bruck, linear, linear_sync, pairwise, two_process, scattered_8, scattered_24, scattered_32 };

struct Description {
  const char* name;
  const char* strategy;
  const char* open_mpi = "";  ///< its number in rules of coll/tuned; empty: none
  const char* mpich = "";     ///< its name in MPICH's selection file
};

/// By Algorithm. Open MPI's linear_sync has as many messages in flight as linear, unless a user limits them
/// (coll_tuned_alltoall_max_requests, 0).
constexpr std::array descriptions{
    Description{"modified Bruck", "tuna,radix=2", "3", "MPIR_Alltoall_intra_brucks"},
    Description{"linear", "standard", "1"},
    Description{"linear with synchronised windows", "standard", "4"},
    Description{"pairwise", "standard,window=1", "2", "MPIR_Alltoall_intra_pairwise"},
    Description{"exchange of two ranks", "standard", "5"},
    Description{"scattered in windows of 8", "standard,window=8"},
    Description{"scattered in windows of 24", "standard,window=24"},
    Description{"scattered in windows of 32", "standard,window=32", "", "MPIR_Alltoall_intra_scattered"}};

constexpr int any_ranks = std::numeric_limits<int>::max();
constexpr std::int64_t any_bytes = std::numeric_limits<std::int64_t>::max();

/// The algorithm on fewer ranks, and of smaller blocks, than these. Of several rows the first holds.
struct Rule {
  int ranks_below;
  std::int64_t bytes_below;
  Algorithm algorithm;
};

using enum Algorithm;

/// coll/tuned of Open MPI 4.1 and 5.0 (decision_fixed), by the bytes of a block.
constexpr Rule open_mpi_alltoall[] = {{3, any_bytes, two_process},
                                      {8, 8192, linear_sync},
                                      {8, 16384, linear},
                                      {8, 65536, linear_sync},
                                      {8, 524288, linear},
                                      {8, 1048576, pairwise},
                                      {8, any_bytes, linear},
                                      {16, 262144, linear_sync},
                                      {16, any_bytes, linear},
                                      {32, 4, linear_sync},
                                      {32, 512, bruck},
                                      {32, 8192, linear_sync},
                                      {32, 32768, linear},
                                      {32, 262144, linear_sync},
                                      {32, 524288, linear},
                                      {32, any_bytes, linear_sync},
                                      {64, 512, bruck},
                                      {64, 524288, linear},
                                      {64, any_bytes, linear_sync},
                                      {128, 1024, bruck},
                                      {128, 2048, linear},
                                      {128, 4096, linear_sync},
                                      {128, 262144, linear},
                                      {128, any_bytes, pairwise},
                                      {256, 1024, bruck},
                                      {256, 2048, linear_sync},
                                      {256, 262144, linear},
                                      {256, any_bytes, pairwise},
                                      {512, 1024, bruck},
                                      {512, 8192, linear_sync},
                                      {512, 32768, linear},
                                      {512, any_bytes, pairwise},
                                      {1024, 512, bruck},
                                      {1024, 8192, linear_sync},
                                      {1024, 16384, linear},
                                      {1024, 131072, linear_sync},
                                      {1024, 262144, linear},
                                      {1024, any_bytes, pairwise},
                                      {2048, 512, bruck},
                                      {2048, 1024, linear_sync},
                                      {2048, 2048, linear},
                                      {2048, 16384, linear_sync},
                                      {2048, 262144, linear},
                                      {2048, any_bytes, linear_sync},
                                      {4096, 1024, bruck},
                                      {4096, 4096, linear_sync},
                                      {4096, 8192, linear},
                                      {4096, 131072, linear_sync},
                                      {4096, any_bytes, linear},
                                      {any_ranks, 2048, bruck},
                                      {any_ranks, 8192, linear_sync},
                                      {any_ranks, 16384, linear},
                                      {any_ranks, 32768, linear_sync},
                                      {any_ranks, 65536, linear},
                                      {any_ranks, any_bytes, linear_sync}};
constexpr Rule open_mpi_alltoallv[] = {{4, any_bytes, pairwise},    {64, any_bytes, linear},
                                       {128, any_bytes, pairwise},  {256, any_bytes, linear},
                                       {1024, any_bytes, pairwise}, {any_ranks, any_bytes, linear}};

/// Open MPI up to 4.0, and Spectrum MPI, which is made of it.
constexpr Rule older_open_mpi_alltoall[] = {{3, any_bytes, two_process},
                                            {13, 3000, linear},
                                            {any_ranks, 200, bruck},
                                            {any_ranks, 3000, linear},
                                            {any_ranks, any_bytes, pairwise}};
constexpr Rule always_pairwise[] = {{any_ranks, any_bytes, pairwise}};

constexpr Rule mpich_alltoall[] = {{8, 32769, scattered_32},
                                   {any_ranks, 257, bruck},
                                   {any_ranks, 32769, scattered_32},
                                   {any_ranks, any_bytes, pairwise}};
constexpr Rule always_scattered[] = {{any_ranks, any_bytes, scattered_32}};

/// The table of MVAPICH2 for processors and networks that it does not know, of 16 ranks a node.
constexpr Rule mvapich_alltoall[] = {
    {33, 2049, bruck},          {33, any_bytes, scattered_32}, {65, 2049, bruck},
    {65, 16385, scattered_32},  {65, any_bytes, pairwise},     {129, 2049, bruck},
    {129, any_bytes, pairwise}, {any_ranks, 1025, bruck},      {any_ranks, any_bytes, pairwise}};

/// MPICH_ALLTOALL_SHORT_MSG is printed as 64-512, by ranks that are not told: the middle.
constexpr Rule cray_alltoall[] = {{any_ranks, 257, bruck}, {any_ranks, any_bytes, scattered_24}};
constexpr Rule cray_alltoallv[] = {{any_ranks, any_bytes, scattered_8}};

constexpr Rule always_linear[] = {{any_ranks, any_bytes, linear}};

/// Those that differ in their messages: linear_sync has those of linear.
constexpr Algorithm open_mpi_offers[] = {linear, pairwise, bruck};
constexpr Algorithm open_mpi_alltoallv_offers[] = {linear, pairwise};
constexpr Algorithm mpich_offers[] = {scattered_32, pairwise, bruck};

struct Library {
  const char* name;
  std::span<const Rule> alltoall, alltoallv;
  const char* source;
  std::span<const Algorithm> alltoall_offers{}, alltoallv_offers{};
  const char* Description::*tuning_name = nullptr;
};

constexpr Library open_mpi{"Open MPI 4.1",        open_mpi_alltoall,
                           open_mpi_alltoallv,    "Open MPI 4.1, ompi/mca/coll/tuned/coll_tuned_decision_fixed.c",
                           open_mpi_offers,       open_mpi_alltoallv_offers,
                           &Description::open_mpi};
constexpr Library older_open_mpi{"Open MPI 4.0",        older_open_mpi_alltoall,
                                 always_pairwise,       "Open MPI 4.0, ompi/mca/coll/tuned/coll_tuned_decision_fixed.c",
                                 open_mpi_offers,       open_mpi_alltoallv_offers,
                                 &Description::open_mpi};
constexpr Library spectrum{"Spectrum MPI by Open MPI 4.0", older_open_mpi_alltoall, always_pairwise,
                           "Open MPI 4.0, ompi/mca/coll/tuned/coll_tuned_decision_fixed.c"};
constexpr Library mpich{
    "MPICH 4",          mpich_alltoall,
    always_scattered,   "MPICH 4, MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE, _MEDIUM_MSG_SIZE and _THROTTLE",
    mpich_offers,       {},
    &Description::mpich};
constexpr Library intel{"Intel MPI by MPICH 4", mpich_alltoall, always_scattered, mpich.source};
constexpr Library mvapich{"MVAPICH2 2.3", mvapich_alltoall, always_scattered,
                          "MVAPICH2 2.3, src/mpi/coll/alltoall_tuning.c, its table for unknown machines"};
constexpr Library cray{"Cray MPICH 8", cray_alltoall, cray_alltoallv,
                       "Cray MPICH 8, the defaults that MPICH_ENV_DISPLAY prints"};

/// The version of a text, "4.1.4" of "Open MPI v4.1.4", as 4.1; 0: it has none.
double version_of(std::string_view text) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = i == 0 || text[i - 1] == ' ' || text[i - 1] == 'v' || text[i - 1] == '-' || text[i - 1] == '\t';
    if (begins && digit(text[i])) return std::strtod(std::string(text.substr(i, 3)).c_str(), nullptr);
  }
  return 0;
}

const Library* find_library(std::string_view text) {
  std::string name;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  constexpr double first_of_new_rules = 4.1;
  if (has("spectrum")) return &spectrum;
  if (has("openmpi")) {
    const auto version = version_of(text);
    return version > 0 && version < first_of_new_rules ? &older_open_mpi : &open_mpi;
  }
  if (has("mvapich")) return &mvapich;
  if (has("craympich")) return &cray;
  if (has("intelmpi") || has("intelrmpi")) return &intel;
  return has("mpich") ? &mpich : nullptr;
}

/// "on 32 to 63 ranks, blocks of 4 to 511 B"
std::string describe_range(std::span<const Rule> rules, const Rule& rule, bool is_by_bytes) {
  int ranks_from = 1;
  std::int64_t bytes_from = 0;
  for (const auto& other : rules) {
    if (&other == &rule) break;
    if (other.ranks_below < rule.ranks_below) ranks_from = std::max(ranks_from, other.ranks_below);
    if (other.ranks_below == rule.ranks_below) bytes_from = std::max(bytes_from, other.bytes_below);
  }
  auto text = rule.ranks_below == any_ranks
                  ? ranks_from == 1 ? "on any ranks" : fmt::format("on {} ranks and more", ranks_from)
                  : fmt::format("on {} to {} ranks", ranks_from, rule.ranks_below - 1);
  if (!is_by_bytes) return text;
  if (rule.bytes_below != any_bytes)
    return text + fmt::format(", blocks of {} to {} B", bytes_from, rule.bytes_below - 1);
  return bytes_from == 0 ? text : text + fmt::format(", blocks of {} B and more", bytes_from);
}

}  // namespace

const char* name_of(LibraryFunction function) {
  constexpr std::array names{"MPI_Alltoall", "MPI_Alltoallv", "MPI_Neighbor_alltoallv"};
  return names.at(static_cast<std::size_t>(function));
}

bool has_known_rules(std::string_view library) { return find_library(library) != nullptr; }

std::string describe_rules_of(std::string_view library) {
  if (const auto* const known = find_library(library)) return known->name;
  return fmt::format("{}, for the profile names no MPI library whose rules are known", mpich.name);
}

std::vector<LibraryAlgorithm> offered_algorithms(std::string_view library, LibraryFunction function) {
  const auto* const known = find_library(library);
  std::vector<LibraryAlgorithm> result;
  if (!known || function == LibraryFunction::neighbor_alltoallv) return result;
  const bool is_alltoallv = function == LibraryFunction::alltoallv;
  for (const auto each : is_alltoallv ? known->alltoallv_offers : known->alltoall_offers) {
    const auto& description = descriptions.at(static_cast<std::size_t>(each));
    result.push_back({.function = function,
                      .name = description.name,
                      .strategy = parse_strategy(description.strategy),
                      .exchanges_nothing = is_alltoallv && each == pairwise,
                      .source = known->source,
                      .tuning_name = description.*known->tuning_name});
  }
  return result;
}

LibraryAlgorithm library_algorithm(std::string_view library, LibraryFunction function, int ranks, double block_bytes) {
  const auto* const known = find_library(library);
  const auto& by = known ? *known : mpich;
  const bool is_by_bytes = function == LibraryFunction::alltoall;
  const auto rules = function == LibraryFunction::neighbor_alltoallv ? std::span<const Rule>(always_linear)
                     : is_by_bytes                                   ? by.alltoall
                                                                     : by.alltoallv;
  const auto bytes = static_cast<std::int64_t>(std::llround(std::clamp(block_bytes, 0.0, 1e18)));
  const auto rule = std::ranges::find_if(rules, [&](const Rule& r) {
    return ranks < r.ranks_below && (bytes < r.bytes_below || r.bytes_below == any_bytes);
  });
  const auto& description = descriptions.at(static_cast<std::size_t>(rule->algorithm));
  LibraryAlgorithm result{
      .function = function, .name = description.name, .strategy = parse_strategy(description.strategy)};
  if (by.tuning_name) result.tuning_name = description.*by.tuning_name;
  result.exchanges_nothing = function == LibraryFunction::alltoallv && rule->algorithm == pairwise;
  result.rule = fmt::format("{} {}", by.name, describe_range(rules, *rule, is_by_bytes));
  result.source = function == LibraryFunction::neighbor_alltoallv
                      ? "neighbourhood collectives of Open MPI and MPICH post all messages at once"
                      : by.source;
  result.is_stand_in = known == nullptr;
  return result;
}

}  // namespace commpass
