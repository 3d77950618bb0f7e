#include "preload/world_rank.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

/// The ranks of a communicator in MPI_COMM_WORLD.
struct WorldRanks {
  bool is_same = false;  ///< as those of the communicator
  std::vector<int> ranks = {};
};

/// Of the process: what communicators carry, and those that were asked for last.
struct KnownCommunicators {
  static constexpr std::size_t ranks_max = std::size_t{1} << 22;  ///< of all communicators

  std::mutex mutex = {};   ///< of the members below, and of callbacks
  std::mutex making = {};  ///< one thread gives a communicator its ranks
  int key = MPI_KEYVAL_INVALID;
  std::size_t ranks = 0;
};

KnownCommunicators& known_communicators() {
  static auto& only = *new KnownCommunicators;  // never destroyed: programs call MPI until the very end
  return only;
}

/// Counts communicators that are gone, whose handles may be those of others now.
std::atomic<std::uint64_t> gone_communicators = 0;

int forget_ranks(MPI_Comm, int, void* value, void*) {
  const std::unique_ptr<WorldRanks> gone(static_cast<WorldRanks*>(value));
  auto& known = known_communicators();
  const std::lock_guard lock(known.mutex);
  known.ranks -= gone->ranks.size();
  ++gone_communicators;
  return MPI_SUCCESS;
}

std::unique_ptr<WorldRanks> find_world_ranks(MPI_Comm comm) {
  auto found = std::make_unique<WorldRanks>();
  found->ranks = world_ranks_of(comm);
  std::vector<int> own(found->ranks.size());
  std::iota(own.begin(), own.end(), 0);
  found->is_same = found->ranks == own;
  if (found->is_same) found->ranks = {};
  return found;
}

/// @return null where they cannot be found
const WorldRanks* known_world_ranks(MPI_Comm comm) {
  auto& known = known_communicators();
  const std::lock_guard one_at_a_time(known.making);
  if (known.key == MPI_KEYVAL_INVALID)
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_ranks, &known.key, nullptr);
  void* value = nullptr;
  int is_there = 0;
  PMPI_Comm_get_attr(comm, known.key, static_cast<void*>(&value), &is_there);
  if (is_there) return static_cast<const WorldRanks*>(value);
  try {
    auto found = find_world_ranks(comm);
    {
      const std::lock_guard lock(known.mutex);
      if (known.ranks + found->ranks.size() > KnownCommunicators::ranks_max) found->ranks = {};
      known.ranks += found->ranks.size();
    }
    PMPI_Comm_set_attr(comm, known.key, found.get());
    return found.release();
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace

Rank world_rank(MPI_Comm comm, int rank) {
  if (comm == MPI_COMM_WORLD || rank < 0) return rank;
  thread_local MPI_Comm last = MPI_COMM_NULL;
  thread_local std::uint64_t last_gone = 0;
  thread_local const WorldRanks* last_ranks = nullptr;
  const auto gone = gone_communicators.load(std::memory_order_acquire);
  if (last != comm || last_gone != gone || !last_ranks) {
    last_ranks = known_world_ranks(comm);
    last = comm;
    last_gone = gone;
  }
  if (!last_ranks) return MPI_UNDEFINED;
  if (last_ranks->is_same) return rank;
  const auto at = static_cast<std::size_t>(rank);
  return at < last_ranks->ranks.size() ? last_ranks->ranks[at] : MPI_UNDEFINED;
}

}  // namespace commpass
