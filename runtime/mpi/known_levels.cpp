#include "runtime/mpi/known_levels.hpp"

#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <utility>

namespace commpass {

namespace {

constexpr std::size_t remembered_max = 8;

struct KnownLevels {
  std::map<int, std::size_t> position_of = {};  ///< by rank in MPI_COMM_WORLD
  Levels levels = {};
};

/// Of the process.
struct Memory {
  std::mutex mutex = {};
  std::list<KnownLevels> known = {};  ///< the latest first
};

Memory& memory() {
  static auto& only = *new Memory;  // never destroyed: programs call MPI until the very end
  return only;
}

std::optional<Levels> part_of(const KnownLevels& known, std::span<const int> world_ranks) {
  std::vector<std::size_t> positions;
  for (const int rank : world_ranks) {
    const auto found = known.position_of.find(rank);
    if (found == known.position_of.end()) return {};
    positions.push_back(found->second);
  }
  Levels part;
  for (const auto& level : known.levels) {
    auto& ids = part.emplace_back(Layout::LevelIds{level.name, {}}).ids;
    for (const auto position : positions) ids.push_back(level.ids[position]);
  }
  return part;
}

}  // namespace

std::optional<Levels> find_known_levels(std::span<const int> world_ranks) {
  auto& of_process = memory();
  const std::lock_guard lock(of_process.mutex);
  for (const auto& known : of_process.known)
    if (auto part = part_of(known, world_ranks)) return part;
  return {};
}

void remember_levels(std::span<const int> world_ranks, const Levels& levels) {
  KnownLevels one{{}, levels};
  for (std::size_t i = 0; i < world_ranks.size(); ++i) one.position_of[world_ranks[i]] = i;
  auto& of_process = memory();
  const std::lock_guard lock(of_process.mutex);
  of_process.known.push_front(std::move(one));
  if (of_process.known.size() > remembered_max) of_process.known.pop_back();
}

}  // namespace commpass
