// What an interposed communicator of the program carries: who runs its calls, and what that has brought.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "preload/call_log.hpp"
#include "runtime/engines.hpp"
#include "selector/choose/rivalry.hpp"
#include "selector/environment/interposed_call.hpp"

namespace commpass {

/// What became of the calls of one kind. Numbers of this rank.
struct CallRecord {
  InterposedCall kind = {};
  Rivalry rivalry = {};
  std::int64_t by_library = 0, by_ours = 0, by_both = 0;
  std::int64_t bytes = 0;      ///< that this rank sent
  double seconds = 0;          ///< in these calls, waiting for others included
  std::int64_t unwatched = 0;  ///< the next calls, which the library runs; counted above, by the call before them
  std::string strategy = {};   ///< of the last call that was ours

  std::int64_t calls() const { return by_library + by_ours + by_both; }
  void add(const CallRecord& other);
};

/// How MPI_Neighbor_alltoallw brings the right blocks where the library's own call brings others: place i of that call
/// has the arguments that the program gives for place send_places[i] or receive_places[i].
struct Mending {
  std::vector<int> send_places, receive_places;
};

/// The ranks that this one sends to and receives from by neighbourhood collectives, in MPI's order; no MPI_PROC_NULL.
struct CallNeighbors {
  std::vector<int> sources = {}, destinations = {};
  std::vector<int> source_places = {}, destination_places = {};  ///< in the arguments: MPI_PROC_NULL has a place there
  bool has_twice = false;  ///< a neighbour: this rank; where there are engines, any
  std::map<InterposedCall, std::optional<Mending>> mendings = {};  ///< of calls that were met
  // The arguments of a collective, as of an all-to-all: 0 but for neighbours. Empty where there are no engines.
  std::vector<Bytes> send_counts = {}, send_displacements = {}, receive_counts = {}, receive_displacements = {};
  std::vector<MPI_Datatype> send_types = {}, receive_types = {};
};

/// Kept by an attribute of the program's communicator.
struct TakenCommunicator {
  int ranks = 0;
  std::forward_list<CallRecord> records = {};  ///< of the kinds of which there were calls: one or two
  std::string left_to_library = {};  ///< why all of its calls are; empty: they are not, or it is not known yet
  std::unique_ptr<Engines> engines = {};
  bool has_plans = false;  ///< of requests, which may outlive it: engines stay until MPI_Finalize
  Kinship kin = {};
  std::unique_ptr<CallLog> log = {};                  ///< where calls are recorded, after the first call
  std::unique_ptr<CallNeighbors> neighborhood = {};   ///< null: it has no neighbours
  std::list<TakenCommunicator>::iterator place = {};  ///< among all that were met

  /// @throws std::bad_alloc  of the first call of a kind
  CallRecord& record(InterposedCall call) {
    for (auto& one : records)
      if (one.kind == call) return one;
    return add_record(call);
  }

 private:
  CallRecord& add_record(InterposedCall call);
};

/// The ranks that a collective of a communicator names: of an intercommunicator the remote ones. Local.
int peers_in(MPI_Comm comm);

/// How many places the arguments of a neighborhood's collective have on either side; 0 without neighbours. Local.
struct Degrees {
  std::size_t sources, destinations;
};
Degrees degrees_in(MPI_Comm comm);

/// The calls of a kind on a communicator, as a thread found them last.
struct FoundCalls {
  MPI_Comm comm;
  InterposedCall kind;
  std::uint64_t freed;    ///< the number of freed communicators then: a handle may be that of another one since
  TakenCommunicator* of;  ///< null: MPI does not know the communicator
  CallRecord* record;     ///< null: likewise
  const Mending* mending = nullptr;  ///< null: the library's own call is right, or nothing else is
};
inline constexpr std::size_t found_calls_max = 16;
extern constinit thread_local std::array<FoundCalls, found_calls_max> found_calls;
/// Counts communicators that are gone.
extern std::atomic<std::uint64_t> freed_communicators;

inline FoundCalls& place_of_found(InterposedCall kind, MPI_Comm comm) {
  const auto bits = std::hash<MPI_Comm>{}(comm) + static_cast<std::size_t>(kind);
  return found_calls[(bits ^ bits >> 4) % found_calls_max];  // handles may be addresses, which allocators align
}
inline bool is_valid(const FoundCalls& found, InterposedCall kind, MPI_Comm comm) {
  return found.comm == comm && found.kind == kind && found.record &&
         found.freed == freed_communicators.load(std::memory_order_acquire);
}

/// What the communicator carries is made where there is nothing yet. What one carries its duplicates inherit, but for
/// engines. Local. @throws std::bad_alloc
const FoundCalls& find_calls(InterposedCall kind, MPI_Comm comm);

/// Lets duplicates of MPI_COMM_WORLD inherit what it carries. After MPI_Init; local.
void begin_taking() noexcept;

/// Makes the engine that runs exchanges, or finds out why it cannot. Collective; the same on every rank.
void open_engines(TakenCommunicator& of, MPI_Comm comm);

/// May a communicator have requests with plans? Then its engines stay, and MPI libraries have few communicators.
bool can_keep_more_engines();

/// Frees what the communicator carries, if anything; calls that were not told yet are counted, and no more. Collective
/// where there are engines.
void release(MPI_Comm comm) noexcept;
/// Frees all, those made last first. Collective over all of them.
void release_all() noexcept;

/// What became of the calls on communicators that have been released.
struct PastCalls {
  std::map<InterposedCall, CallRecord> records = {};  ///< of the kinds of which there were calls
  std::set<std::string> refusals = {};                ///< why calls were left to the MPI library
};
/// By the number of ranks.
const std::map<int, PastCalls>& past_calls();
/// Adds calls of a kind on communicators of a number of ranks. Without memory the report lacks them.
void remember_calls(int ranks, const CallRecord& record) noexcept;

}  // namespace commpass
