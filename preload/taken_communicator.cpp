#include "preload/taken_communicator.hpp"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <new>
#include <numeric>
#include <utility>

#include "model/base/error.hpp"
#include "preload/matching_order.hpp"
#include "preload/settings.hpp"
#include "runtime/choose/warn_once.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/cartesian_topology.hpp"
#include "runtime/mpi/mpi_library.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

constinit thread_local std::array<FoundCalls, found_calls_max> found_calls{};
std::atomic<std::uint64_t> freed_communicators = 0;

namespace {

/// Of the process.
struct Registry {
  std::mutex mutex = {};
  int key = MPI_KEYVAL_INVALID;
  std::list<TakenCommunicator> all = {};  ///< in the order in which they were met
  std::map<int, PastCalls> past = {};
  std::vector<std::unique_ptr<Engines>> kept_engines = {};  ///< of communicators that are gone
  std::optional<OwnCommunicator> self = {};  ///< for exchanges of this rank with itself, before others need them

  /// With the mutex locked. @param one  a list of one
  TakenCommunicator* keep(std::list<TakenCommunicator>& one) noexcept {
    one.front().place = one.begin();
    all.splice(all.end(), one);
    return &all.back();
  }
  void remember(const TakenCommunicator& one) noexcept {
    try {
      add(one);
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the report lacks these calls
    }
  }

 private:
  void add(const TakenCommunicator& one) {
    if (one.records.empty()) return;
    auto& calls = past[one.ranks];
    if (!one.left_to_library.empty()) calls.refusals.insert(one.left_to_library);
    for (const auto& record : one.records) {
      calls.records[record.kind].add(record);
      if (is_of_neighborhood(record.kind) && record.by_library > 0 && !one.neighborhood)
        calls.refusals.insert("it has no neighbours");
    }
  }
};

Registry& registry() {
  static auto& only = *new Registry;  // never destroyed: programs call MPI until the very end
  return only;
}

/// What MPI keeps of ours at a communicator.
struct Carried {
  bool is_known;                  ///< MPI knows the communicator
  TakenCommunicator* taken = {};  ///< null: nothing yet
};

Carried carried_by(MPI_Comm comm, int key) {
  void* value = nullptr;
  int is_there = 0;
  if (key == MPI_KEYVAL_INVALID || comm == MPI_COMM_NULL ||
      PMPI_Comm_get_attr(comm, key, static_cast<void*>(&value), &is_there) != MPI_SUCCESS)
    return {false};
  return {true, is_there ? static_cast<TakenCommunicator*>(value) : nullptr};
}

/// No engines are freed in an attribute's callback, in which collectives are not allowed.
int forget_communicator(MPI_Comm, int, void* value, void*) {
  auto* const of = static_cast<TakenCommunicator*>(value);
  auto& of_process = registry();
  freed_communicators.fetch_add(1, std::memory_order_release);
  if (of_process.key == MPI_KEYVAL_INVALID || !of) return MPI_SUCCESS;  // what it carried is gone
  if (of->log) of->log->forget();
  if (!of->records.empty()) return MPI_SUCCESS;
  const std::lock_guard lock(of_process.mutex);
  of_process.all.erase(of->place);
  return MPI_SUCCESS;
}

void begin_log(TakenCommunicator& of, MPI_Comm comm) {
  if (of.kin.is_logged() && !of.log) of.log = std::make_unique<CallLog>(comm, of.kin);
}

/// All ranks make the duplicates of a communicator in the same order.
int inherit(MPI_Comm comm, int, void*, void* value, void* copy, int* is_copied) {
  auto& of_process = registry();
  *is_copied = 0;
  if (of_process.key == MPI_KEYVAL_INVALID || !value) return MPI_SUCCESS;
  try {
    auto& from = *static_cast<TakenCommunicator*>(value);
    std::list<TakenCommunicator> one(1);
    auto& made = one.front();
    made.ranks = from.ranks;
    made.left_to_library = from.left_to_library;
    if (const auto& of = from.neighborhood)  // without the arguments, which come with engines
      made.neighborhood = std::make_unique<CallNeighbors>(CallNeighbors{
          of->sources, of->destinations, of->source_places, of->destination_places, of->has_twice, of->mendings});
    begin_log(from, comm);
    made.kin = from.kin.make_duplicate();
    const std::lock_guard lock(of_process.mutex);
    *static_cast<TakenCommunicator**>(copy) = of_process.keep(one);
    *is_copied = 1;
    return MPI_SUCCESS;
  } catch (const std::bad_alloc&) {  // ranks would disagree on when to tell each other of calls
    return MPI_ERR_NO_MEM;
  }
}

/// What all ranks can tell without asking the others.
/// @param world_ranks  gets its ranks in MPI_COMM_WORLD; others may not have this library, or other settings
std::string refusal(MPI_Comm comm, std::vector<int>& world_ranks) {
  int is_inter = 0, size = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  if (is_inter) return "it is an intercommunicator";
  PMPI_Comm_size(comm, &size);
  if (size == 1) return "it has one rank";
  world_ranks = world_ranks_of(comm);
  const bool has_strangers = world_ranks.empty() || std::ranges::count(world_ranks, MPI_UNDEFINED) > 0;
  return has_strangers ? "it has ranks that MPI_COMM_WORLD does not have" : "";
}

/// Is a driver of a GPU in the process, so that buffers may lie where the host cannot read?
bool may_have_device_memory() {
  return dlsym(RTLD_DEFAULT, "cuMemcpy") != nullptr || dlsym(RTLD_DEFAULT, "hipMemcpy") != nullptr;
}

/// A side of a neighbourhood: ranks as MPI lists them become those that there are, and their places.
/// @param swapped  1: of two places after one another the second comes first; 0: they come as they are
void keep_those_there_are(const std::vector<int>& listed, int swapped, std::vector<int>& ranks,
                          std::vector<int>& places) {
  for (int i = 0; i < static_cast<int>(listed.size()); ++i) {
    const int place = i ^ swapped;
    const int rank = listed[static_cast<std::size_t>(place)];
    if (rank == MPI_PROC_NULL) continue;
    ranks.push_back(rank);
    places.push_back(place);
  }
}

struct Listed {
  std::vector<int> sources = {}, destinations = {};
};

Listed neighbors_of_distributed_graph(MPI_Comm comm) {
  int in = 0, out = 0, weighted = 0;
  PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  Listed listed{std::vector<int>(static_cast<std::size_t>(in)), std::vector<int>(static_cast<std::size_t>(out))};
  std::vector<int> in_weights(listed.sources.size()), out_weights(listed.destinations.size());
  PMPI_Dist_graph_neighbors(comm, in, listed.sources.data(), in_weights.data(), out, listed.destinations.data(),
                            out_weights.data());
  return listed;
}

Listed neighbors_of_graph(MPI_Comm comm) {
  int rank = 0, count = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Graph_neighbors_count(comm, rank, &count);
  std::vector<int> both(static_cast<std::size_t>(count));
  PMPI_Graph_neighbors(comm, rank, count, both.data());
  return {both, both};
}

Listed neighbors_of_grid(MPI_Comm comm) {
  int dimensions = 0;
  PMPI_Cartdim_get(comm, &dimensions);
  std::vector<int> both;
  for (int dimension = 0; dimension < dimensions; ++dimension) {
    int before = 0, after = 0;
    PMPI_Cart_shift(comm, dimension, 1, &before, &after);
    both.insert(both.end(), {before, after});
  }
  return {both, both};
}

bool has_twice(std::vector<int> ranks) {
  std::ranges::sort(ranks);
  return std::ranges::adjacent_find(ranks) != ranks.end();
}

int topology_of(MPI_Comm comm) {
  int topology = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &topology);
  return topology;
}

Listed listed_neighbors(MPI_Comm comm) {
  const int topology = topology_of(comm);
  if (topology == MPI_DIST_GRAPH) return neighbors_of_distributed_graph(comm);
  if (topology == MPI_GRAPH) return neighbors_of_graph(comm);
  return topology == MPI_CART ? neighbors_of_grid(comm) : Listed{};
}

/// Blocks from one rank to another come in the order in which they are sent. On a grid a block that goes down in a
/// dimension comes from above.
/// @return false where a rank is a neighbour several times
bool find_neighbors(MPI_Comm comm, CallNeighbors& found) {
  const auto listed = listed_neighbors(comm);
  keep_those_there_are(listed.sources, topology_of(comm) == MPI_CART ? 1 : 0, found.sources, found.source_places);
  keep_those_there_are(listed.destinations, 0, found.destinations, found.destination_places);
  return !has_twice(found.sources) && !has_twice(found.destinations);
}

/// One line of a process: the sentences of communicators of several sizes differ.
void tell_what_prevents(const TakenCommunicator& of) {
  static std::atomic<bool> is_told = false;
  if (is_told.exchange(true)) return;
  warn_once(fmt::format("MPI runs all calls of a communicator of {} ranks: {}", of.ranks, of.left_to_library));
}

/// Does this rank, or any other, say so? Collective.
bool any_rank(MPI_Comm comm, bool here) {
  int there = here ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_INT, MPI_MAX, comm);
  return there != 0;
}

}  // namespace

int peers_in(MPI_Comm comm) {
  int ranks = 0, is_inter = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  is_inter ? PMPI_Comm_remote_size(comm, &ranks) : PMPI_Comm_size(comm, &ranks);
  return ranks;
}

Degrees degrees_in(MPI_Comm comm) {
  const auto listed = listed_neighbors(comm);
  return {listed.sources.size(), listed.destinations.size()};
}

namespace {

/// A communicator that inherited nothing.
std::list<TakenCommunicator> survey(MPI_Comm comm) {
  std::list<TakenCommunicator> one(1);
  auto& made = one.front();
  PMPI_Comm_size(comm, &made.ranks);
  std::vector<int> world_ranks;
  made.left_to_library = refusal(comm, world_ranks);
  if (topology_of(comm) != MPI_UNDEFINED) {
    made.neighborhood = std::make_unique<CallNeighbors>();
    made.neighborhood->has_twice = !find_neighbors(comm, *made.neighborhood);
  }
  if (settings().logs() && made.left_to_library.empty())
    made.kin.own = std::make_shared<CallLogFamily>(comm, std::move(world_ranks));
  return one;
}

TakenCommunicator* find_or_survey(MPI_Comm comm) {
  auto& of_process = registry();
  const std::lock_guard lock(of_process.mutex);
  if (of_process.key == MPI_KEYVAL_INVALID)
    PMPI_Comm_create_keyval(inherit, forget_communicator, &of_process.key, nullptr);
  const auto carried = carried_by(comm, of_process.key);
  auto* found = carried.taken;
  if (!found && carried.is_known) {
    auto one = survey(comm);
    found = of_process.keep(one);
    PMPI_Comm_set_attr(comm, of_process.key, found);
  }
  if (found) begin_log(*found, comm);
  return found;
}

/// Do ranks tell by this alone that one may be a neighbour several times? So all of them call the same function.
bool may_have_twice(MPI_Comm comm) {
  if (topology_of(comm) != MPI_CART) return true;
  const auto grid = grid_of(comm);
  if (!grid) return false;
  for (std::size_t i = 0; i < grid->dims.size(); ++i)
    if (grid->dims[i] <= 2 && grid->periodic[i]) return true;
  return false;
}

/// One line of a process. @param why  after "where"
void tell_of_mending(InterposedCall kind, MPI_Comm comm, const char* why) {
  static std::atomic<bool> is_told = false;
  if (is_told.exchange(true)) return;
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  warn_once(fmt::format("{} of this MPI library moves blocks to wrong places where {}; Commpass corrects such calls.",
                        mpi_name_of(interposed_call_names[static_cast<std::size_t>(kind)]), why),
            rank);
}

/// The arguments of each place in the order that makes the library's MPI_Neighbor_alltoallw right.
std::vector<int> mend_receive_places(const CallNeighbors& of, MatchingOrder order, std::size_t degree) {
  std::vector<int> mended(degree);
  std::iota(mended.begin(), mended.end(), 0);
  if (order == MatchingOrder::right) return mended;
  std::map<int, std::vector<int>> right;  // the places of each source, in the order in which it sends
  for (std::size_t i = 0; i < of.sources.size(); ++i) right[of.sources[i]].push_back(of.source_places[i]);
  for (const auto& [source, places] : right) {
    auto taken = places;
    std::ranges::sort(taken);
    if (order == MatchingOrder::reversed) std::ranges::reverse(taken);
    for (std::size_t k = 0; k < places.size(); ++k) mended[static_cast<std::size_t>(taken[k])] = places[k];
  }
  return mended;
}

/// Local. Where it depends on several blocks between two ranks, all ranks get one or none.
std::optional<Mending> make_mending(InterposedCall kind, BlockCall call, const CallNeighbors& neighbors, MPI_Comm self,
                                    MPI_Comm comm) {
  const bool is_grid = topology_of(comm) == MPI_CART;
  const auto order_of = [&](BlockForm form) { return find_matching_order(self, is_grid, {form, call.way}); };
  const auto [sources, destinations] = degrees_in(comm);
  const bool matches_wrongly = may_have_twice(comm) && order_of(call.form) != MatchingOrder::right;
  // Issue 6233 of MPICH: of the function with int counts.
  const bool mixes_counts = call.form == BlockForm::alltoallw && sources != destinations && is_mpich();
  if (!matches_wrongly && !mixes_counts) return {};
  const auto order = may_have_twice(comm) ? order_of(BlockForm::alltoallw) : MatchingOrder::right;
  if (order == MatchingOrder::other) return {};
  Mending made{std::vector<int>(destinations), mend_receive_places(neighbors, order, sources)};
  std::iota(made.send_places.begin(), made.send_places.end(), 0);
  if (mixes_counts) tell_of_mending(kind, comm, "a rank has not as many sources as destinations");
  else if (neighbors.has_twice) tell_of_mending(kind, comm, "a rank is a neighbour several times");
  return made;
}

const Mending* find_mending(InterposedCall kind, TakenCommunicator& of, MPI_Comm comm) {
  const auto call = block_call_of(kind);
  const auto& self = registry().self;
  if (!call || !of.neighborhood || !self || settings().mode < Interposition::on) return nullptr;
  auto& all = of.neighborhood->mendings;
  auto known = all.find(kind);
  if (known == all.end())
    known = all.emplace(kind, make_mending(kind, *call, *of.neighborhood, self->get(), comm)).first;
  return known->second ? &*known->second : nullptr;
}

}  // namespace

const FoundCalls& find_calls(InterposedCall kind, MPI_Comm comm) {
  auto& found = place_of_found(kind, comm);
  if (is_valid(found, kind, comm)) return found;
  const auto freed = freed_communicators.load(std::memory_order_acquire);
  found = {};
  auto* const of = find_or_survey(comm);
  return found = {
             comm, kind, freed, of, of ? &of->record(kind) : nullptr, of ? find_mending(kind, *of, comm) : nullptr};
}

void begin_taking() noexcept {
  try {
    insist([] { return find_or_survey(MPI_COMM_WORLD); });
    if (settings().mode >= Interposition::on) registry().self = OwnCommunicator::split(MPI_COMM_SELF, 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "commpass: %s\n", error.what());
  }
}

CallRecord& TakenCommunicator::add_record(InterposedCall call) {
  constexpr std::int64_t late_calls_before = 16;
  return records.emplace_front(CallRecord{call, Rivalry(kin.is_late() ? late_calls_before : Rivalry::calls_before)});
}

void open_engines(TakenCommunicator& of, MPI_Comm comm) {
  try {
    if (any_rank(comm, may_have_device_memory())) {
      of.left_to_library =
          "a GPU's driver is in the program, whose buffers may lie in memory that the host cannot read";
      return;
    }
    // A duplicate would have the program's attributes, whose callbacks it does not expect then.
    const auto plain = OwnCommunicator::split(comm, 0);
    of.engines = std::make_unique<Engines>(make_context(plain.get(), "", nullptr));
    of.engines->context->may_try_calls = false;  // calls are timed against the library's own here
    if (!of.engines->context->unpriced.empty()) {
      of.left_to_library = of.engines->context->unpriced;
      of.engines.reset();
      return;
    }
    if (!of.engines->context->named.strategy.empty())
      warn_once(
          "COMMPASS_STRATEGY has no effect on calls that are taken over, those of neighbourhoods among them: "
          "COMMPASS_ALLTOALLV_STRATEGY names the strategy that runs these.",
          of.engines->context->comm.rank());
    if (!of.neighborhood) return;
    auto& all = *of.neighborhood;
    all.has_twice = any_rank(comm, all.has_twice);
    for (auto* numbers : {&all.send_counts, &all.send_displacements, &all.receive_counts, &all.receive_displacements})
      numbers->assign(static_cast<std::size_t>(of.ranks), 0);
    for (auto* types : {&all.send_types, &all.receive_types})
      types->assign(static_cast<std::size_t>(of.ranks), MPI_DATATYPE_NULL);
  } catch (const std::exception& error) {
    // The same on every rank: a context is made on all or none.
    of.left_to_library = sentence_of(error);
    of.engines.reset();
    tell_what_prevents(of);
  }
}

void release(MPI_Comm comm) noexcept {
  auto& of_process = registry();
  auto* const value = carried_by(comm, of_process.key).taken;
  if (!value) return;
  const bool has_calls = !value->records.empty();
  PMPI_Comm_delete_attr(comm, of_process.key);  // which erases one without calls
  if (!has_calls) return;
  std::list<TakenCommunicator> released;  // freed without the lock, since ranks meet there
  const std::lock_guard lock(of_process.mutex);
  released.splice(released.end(), of_process.all, value->place);
  // Ranks may free communicators in different orders, and must not wait for each other here.
  if (value->log) value->log->leave();
  of_process.remember(*value);
  if (value->has_plans) insist([&] { of_process.kept_engines.push_back(std::move(value->engines)); });
}

void release_all() noexcept {
  auto& of_process = registry();
  // Ranks may have met communicators in different orders, where calls do not block.
  const auto for_each_log = [&](auto action) {
    for (auto& one : of_process.all)
      if (one.log) action(*one.log);
  };
  for_each_log([](CallLog& log) {
    if (log.is_forgotten()) log.leave();
  });
  for_each_log([](CallLog& log) { log.begin_telling(); });
  for_each_log([](CallLog& log) { log.end_telling(); });
  for_each_log([](CallLog& log) { log.begin_telling_leftovers(); });
  for_each_log([](CallLog& log) { log.end_telling_leftovers(); });
  freed_communicators.fetch_add(1, std::memory_order_release);
  for (; !of_process.all.empty(); of_process.all.pop_back()) of_process.remember(of_process.all.back());
  while (!of_process.kept_engines.empty()) of_process.kept_engines.pop_back();
  of_process.key = MPI_KEYVAL_INVALID;
  of_process.self.reset();
}

bool can_keep_more_engines() {
  constexpr std::size_t engines_max = 64;  // of some two thousand communicators of MPICH, each takes a few
  const std::lock_guard lock(registry().mutex);
  return registry().kept_engines.size() < engines_max;
}

void CallRecord::add(const CallRecord& other) {
  const auto counted = std::max<std::int64_t>(other.calls(), 1);  // some of which have not come
  by_library += other.by_library - other.unwatched;
  by_ours += other.by_ours;
  by_both += other.by_both;
  bytes += other.bytes - other.bytes / counted * other.unwatched;
  seconds += other.seconds - other.seconds / static_cast<double>(counted) * static_cast<double>(other.unwatched);
  if (!other.strategy.empty()) strategy = other.strategy;
  if (other.rivalry.ratio().median > 0) rivalry = other.rivalry;
}

const std::map<int, PastCalls>& past_calls() { return registry().past; }

void remember_calls(int ranks, const CallRecord& record) noexcept {
  const std::lock_guard lock(registry().mutex);
  try {
    registry().past[ranks].records[record.kind].add(record);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): as Registry::remember
  }
}

}  // namespace commpass
