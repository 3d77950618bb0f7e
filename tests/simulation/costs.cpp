// What messages and copies cost the processors of a simulated cluster. SMPI charges MPI_Isend, MPI_Issend and MPI_Put,
// by the platform's callback, but neither persistent and blocking sends nor receives; these wrappers (PMPI) do, and
// stand-ins for runtime/execute/memory.cpp and runtime/mpi/timed_start.cpp charge copies and use the simulated clock.
//
// While MPI_Wait waits, reductions that are pending move on. No look is charged for that: the first message that comes
// ends the waiting.
//
// Polling: a probe takes time, and so does a test in vain, or the simulated clock would stand still. A test that finds
// its request complete costs nothing besides what taking in a message does. (SMPI's own cost of a test is switched off,
// which would be paid for every request of a Testall.)
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <simgrid/s4u.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/execute/memory.hpp"
#include "runtime/mpi/in_flight.hpp"
#include "runtime/mpi/oversubscription.hpp"
#include "runtime/mpi/timed_start.hpp"
#include "simulation/description.hpp"
#include "simulation/noise.hpp"
#include "simulation/pending_reductions.hpp"
#include "simulation/work.hpp"

const simulation::Cluster& simulation::cluster() {
  static const auto description = simulation::read_cluster();
  return description;
}

namespace {

using simulation::cluster;
using simulation::work;

void spend(double seconds) {
  if (seconds > 0) simgrid::s4u::this_actor::sleep_for(seconds);
}

const simulation::Place& own_place() {
  static const auto place = simulation::place_of(simgrid::s4u::this_actor::get_host()->get_name());
  return place;
}

/// The rank in MPI_COMM_WORLD of a member of a group, which is freed.
int rank_in_world(MPI_Group group, int member) {
  MPI_Group world = MPI_GROUP_NULL;
  int rank = 0;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(group, 1, &member, world, &rank);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return rank;
}

const simulation::Locality& locality_to(MPI_Comm comm, int peer) {
  static std::unordered_map<int, simulation::Place> places;  // by rank in MPI_COMM_WORLD
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  const int rank = rank_in_world(group, peer);
  auto [entry, is_new] = places.try_emplace(rank);
  // Ranks are placed on hosts in order, node after node (the host file of bench/simulate).
  const int cores = cluster().sockets * cluster().cores;
  if (is_new) entry->second = {rank / cores, rank % cores};
  return cluster().locality(own_place(), entry->second);
}

void look() {
  constexpr double poll_s = 1e-7;
  spend(poll_s);
}

/// What a request costs this processor, when it is started (sends) or complete (receives).
struct RequestCost {
  double start_s = 0, complete_s = 0;
  double answer_s = 0;   ///< of synchronous sends: how long their receivers' answers take
  bool pending = false;  ///< started, and its completion not paid for
};
std::unordered_map<MPI_Request, RequestCost>& costs() {
  static std::unordered_map<MPI_Request, RequestCost> by_request;
  return by_request;
}

/// Synchronous sends whose message is there and whose answer is on its way: when it comes. (SMPI's end with the
/// message.) They have handles of their own, which are no requests.
std::unordered_map<MPI_Request, double>& answers() {
  static std::unordered_map<MPI_Request, double> due;
  return due;
}
MPI_Request await_answer(double seconds) {
  static char handles[1 << 16];
  static std::size_t next = 0;
  const auto handle = reinterpret_cast<MPI_Request>(&handles[next++ % sizeof handles]);
  answers()[handle] = simgrid::s4u::Engine::get_clock() + seconds;
  return handle;
}

/// The farthest answer that the puts of a window wait for.
std::unordered_map<MPI_Win, double>& put_answers() {
  static std::unordered_map<MPI_Win, double> seconds;
  return seconds;
}

double size_of(int count, MPI_Datatype type) {
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  return static_cast<double>(count) * bytes;
}

void finish(MPI_Request before, MPI_Request after) {
  const auto entry = costs().find(before);
  if (entry == costs().end()) return;
  if (entry->second.pending) work(entry->second.complete_s);
  entry->second.pending = false;
  if (after == MPI_REQUEST_NULL) costs().erase(entry);
}

/// A test without the cost of a look.
int try_request(MPI_Request* request, int* done, MPI_Status* status) {
  *done = 1;
  if (*request == MPI_REQUEST_NULL) return MPI_SUCCESS;
  if (const auto answer = answers().find(*request); answer != answers().end()) {
    *done = simgrid::s4u::Engine::get_clock() >= answer->second;
    if (!*done) return MPI_SUCCESS;
    answers().erase(answer);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  const MPI_Request before = *request;
  const int code = PMPI_Test(request, done, status);
  if (!*done) return code;
  if (const auto cost = costs().find(before); cost != costs().end() && cost->second.answer_s > 0) {
    *done = 0;
    *request = await_answer(cost->second.answer_s);
    costs().erase(cost);
  } else {
    finish(before, *request);
  }
  return code;
}

/// Waits for the first of the requests and of the messages of a pending reduction. Of those that are
/// complete it takes the first. (SMPI drops requests that were waited for; it keeps those that a test has found, and
/// looks through them from then on.)
/// @param own, messages  of which the one that is complete is set to what MPI makes of it
/// @param which          its number if it is one of `own`, otherwise MPI_UNDEFINED
int wait_for_one(const std::vector<MPI_Request*>& own, const std::vector<MPI_Request*>& messages, int* which,
                 MPI_Status* status) {
  auto everything = own;
  everything.insert(everything.end(), messages.begin(), messages.end());
  std::vector<MPI_Request> all;
  for (const auto* request : everything) all.push_back(*request);
  const auto before = all;
  int found = 0;
  if (const int code = PMPI_Waitany(static_cast<int>(all.size()), all.data(), &found, status); code != MPI_SUCCESS)
    return code;
  finish(before[found], all[found]);
  *everything[found] = all[found];
  *which = found < static_cast<int>(own.size()) ? found : MPI_UNDEFINED;
  if (*which == MPI_UNDEFINED) simulation::end_complete_steps();
  return MPI_SUCCESS;
}

/// Takes in messages of pending reductions as they come, as long as there are any and the request is not complete.
int wait_with_reductions(MPI_Request* request, int* done, MPI_Status* status) {
  std::vector<MPI_Request*> messages;
  for (simulation::start_pending_messages(messages); !messages.empty() && !*done;
       simulation::start_pending_messages(messages)) {
    int which = 0;
    if (const int code = wait_for_one({request}, messages, &which, status); code != MPI_SUCCESS) return code;
    *done = which == 0;
    messages.clear();
  }
  return MPI_SUCCESS;
}

/// Receives of a list that cost this processor something and are not complete, to be taken in as they come: a processor
/// that waits for several is idle only while there is nothing to take in, whatever the order in which they were posted.
class ChargedReceives {
 public:
  ChargedReceives(MPI_Request* requests, int count, MPI_Status* statuses)
      : statuses_(statuses), is_taken_(static_cast<std::size_t>(count), false) {
    for (int i = 0; i < count; ++i) {
      const auto cost = costs().find(requests[i]);
      if (cost == costs().end() || !cost->second.pending || cost->second.complete_s == 0) continue;
      places_.push_back(i);
      requests_.push_back(&requests[i]);
    }
  }

  /// Waits for all.
  int wait() {
    std::vector<MPI_Request*> reductions;
    while (!requests_.empty()) {
      reductions.clear();
      simulation::start_pending_messages(reductions);
      MPI_Status status;
      int which = MPI_UNDEFINED;
      if (const int code = wait_for_one(requests_, reductions, &which, &status); code != MPI_SUCCESS) return code;
      if (which != MPI_UNDEFINED) take(which, status);
    }
    return MPI_SUCCESS;
  }

  /// Takes in those that are there.
  int test() {
    while (!requests_.empty()) {
      std::vector<MPI_Request> now;
      for (const auto* request : requests_) now.push_back(*request);
      const auto before = now;
      int which = MPI_UNDEFINED, found = 0;
      MPI_Status status;
      if (const int code = PMPI_Testany(static_cast<int>(now.size()), now.data(), &which, &found, &status);
          code != MPI_SUCCESS)
        return code;
      if (!found || which == MPI_UNDEFINED) break;
      finish(before[which], now[which]);
      *requests_[which] = now[which];
      take(which, status);
    }
    return MPI_SUCCESS;
  }

  /// Has the request at a place of the list been taken in by this?
  bool has_taken(int place) const { return is_taken_[static_cast<std::size_t>(place)]; }

 private:
  void take(int which, const MPI_Status& status) {
    const int place = places_[static_cast<std::size_t>(which)];
    if (statuses_ != MPI_STATUSES_IGNORE) statuses_[place] = status;
    is_taken_[static_cast<std::size_t>(place)] = true;
    places_.erase(places_.begin() + which);
    requests_.erase(requests_.begin() + which);
  }

  MPI_Status* statuses_;
  std::vector<bool> is_taken_;
  std::vector<int> places_;
  std::vector<MPI_Request*> requests_;  // at these places
};

MPI_Status* status_at(MPI_Status statuses[], int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

}  // namespace

void simulation::work(double seconds) {
  static const auto noise = Noise::from_environment();
  const double slow = cluster().slowness(own_place(), own_place());
  spend(seconds * slow * (noise ? noise->of_work(simgrid::s4u::Engine::get_clock(), own_place().number()) : 1));
}

void simulation::wait_for_pending_message() {
  std::vector<MPI_Request*> messages;
  start_pending_messages(messages);
  if (messages.empty()) return end_complete_steps();  // of no numbers
  int which = MPI_UNDEFINED;
  wait_for_one({}, messages, &which, MPI_STATUS_IGNORE);
}

extern "C" {

int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const int code = PMPI_Send_init(buffer, count, type, peer, tag, comm, request);
  costs()[*request] = {locality_to(comm, peer).send_seconds(size_of(count, type)), 0};
  return code;
}
int MPI_Ssend_init(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  const int code = PMPI_Ssend_init(buffer, count, type, peer, tag, comm, request);
  costs()[*request] = {locality_to(comm, peer).send_seconds(size_of(count, type)), 0};
  return code;
}
int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request) {
  const int code = PMPI_Recv_init(buffer, count, type, peer, tag, comm, request);
  costs()[*request] = {0, locality_to(comm, peer).receive_overhead_s};
  return code;
}
int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request) {
  const int code = PMPI_Irecv(buffer, count, type, peer, tag, comm, request);
  if (peer >= 0) costs()[*request] = {.complete_s = locality_to(comm, peer).receive_overhead_s, .pending = true};
  return code;
}
int MPI_Issend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
               MPI_Request* request) {
  const int code = PMPI_Issend(buffer, count, type, peer, tag, comm, request);
  costs()[*request] = {.answer_s = locality_to(comm, peer).protocols.front().alpha_s};
  return code;
}
int MPI_Request_free(MPI_Request* request) {
  costs().erase(*request);
  if (answers().erase(*request) > 0) {
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  return PMPI_Request_free(request);
}
int MPI_Start(MPI_Request* request) {
  const auto entry = costs().find(*request);
  if (entry != costs().end()) {
    work(entry->second.start_s);
    entry->second.pending = true;
  }
  return PMPI_Start(request);
}
int MPI_Startall(int count, MPI_Request requests[]) {
  for (int i = 0; i < count; ++i)
    if (const int code = MPI_Start(&requests[i]); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}
int MPI_Send(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm) {
  work(locality_to(comm, peer).send_seconds(size_of(count, type)));
  return PMPI_Send(buffer, count, type, peer, tag, comm);
}
int MPI_Recv(void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Status own;
  const int code = PMPI_Recv(buffer, count, type, peer, tag, comm, &own);
  work(locality_to(comm, own.MPI_SOURCE).receive_overhead_s);
  if (status != MPI_STATUS_IGNORE) *status = own;
  return code;
}
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  int done = 0;
  if (const int code = wait_with_reductions(request, &done, status); done || code != MPI_SUCCESS) return code;
  const MPI_Request before = *request;
  const int code = PMPI_Wait(request, status);
  finish(before, *request);
  return code;
}
// Messages with a cost are taken in as they come; the rest one after another, which simulates faster than all at once.
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  ChargedReceives receives(requests, count, statuses);
  if (const int code = receives.wait(); code != MPI_SUCCESS) return code;
  for (int i = 0; i < count; ++i) {
    if (receives.has_taken(i)) continue;
    if (const int code = MPI_Wait(&requests[i], status_at(statuses, i)); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}
int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  const int code = try_request(request, done, status);
  if (!*done) look();
  return code;
}
// One look, which takes in arrived messages, and ends at the first that is not there. A complete request is a null
// request in the next call.
int MPI_Testall(int count, MPI_Request requests[], int* all_done, MPI_Status statuses[]) {
  *all_done = 1;
  ChargedReceives receives(requests, count, statuses);
  if (const int code = receives.test(); code != MPI_SUCCESS) return code;
  for (int i = 0; i < count; ++i) {
    if (receives.has_taken(i)) continue;
    int done = 0;
    if (const int code = try_request(&requests[i], &done, status_at(statuses, i)); code != MPI_SUCCESS) return code;
    *all_done = *all_done && done;
    if (!done && !answers().contains(requests[i])) break;
  }
  if (!*all_done) look();
  return MPI_SUCCESS;
}
int MPI_Testsome(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  *completed = 0;
  bool any_active = false;
  for (int i = 0; i < count; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    any_active = true;
    int done = 0;
    if (const int code = try_request(&requests[i], &done, status_at(statuses, *completed)); code != MPI_SUCCESS)
      return code;
    if (done) indices[(*completed)++] = i;
  }
  if (!any_active) *completed = MPI_UNDEFINED;
  else if (*completed == 0) look();
  return MPI_SUCCESS;
}
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* found, MPI_Status* status) {
  look();
  return PMPI_Iprobe(source, tag, comm, found, status);
}
// One simulated host is one core, so SMPI finds each rank alone.
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part) {
  if (!cluster().shares_memory) return PMPI_Comm_split_type(comm, type, key, info, part);
  return PMPI_Comm_split(comm, own_place().node, key, part);
}
int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  for (int found = 0; !found;)
    if (const int code = MPI_Iprobe(source, tag, comm, &found, status); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}
int MPI_Put(const void* from, int count, MPI_Datatype type, int peer, MPI_Aint offset, int peer_count,
            MPI_Datatype peer_type, MPI_Win window) {
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Win_get_group(window, &group);
  const int rank = rank_in_world(group, peer);
  auto& longest = put_answers()[window];
  longest = std::max(longest, locality_to(MPI_COMM_WORLD, rank).protocols.front().alpha_s);
  return PMPI_Put(from, count, type, peer, offset, peer_count, peer_type, window);
}
int MPI_Win_flush_all(MPI_Win window) {
  const int code = PMPI_Win_flush_all(window);
  spend(std::exchange(put_answers()[window], 0.0));
  return code;
}
// Not there in SMPI, which has no intercommunicators.
int MPI_Comm_test_inter(MPI_Comm, int* is_intercommunicator) {
  *is_intercommunicator = 0;
  return MPI_SUCCESS;
}
// Not there in SMPI, nor needed: a put writes where it is read.
int MPI_Win_sync(MPI_Win) { return MPI_SUCCESS; }
// Nor is this; simulated messages have no more bytes than an int counts.
int MPI_Get_elements_x(MPI_Status* status, MPI_Datatype type, MPI_Count* count) {
  int elements = 0;
  const int code = PMPI_Get_count(status, type, &elements);
  *count = elements;
  return code;
}

}  // extern "C"

namespace commpass {

namespace {

class SimulatedMemory final : public Memory {
 public:
  void copy(std::span<const LocalCopy> copies) override {
    double seconds = copies.empty() ? 0 : cluster().copy_call_s;
    for (const auto& [from, to, bytes] : copies) {
      std::memcpy(to, from, bytes);
      seconds += cluster().copy_block_s + static_cast<double>(bytes) / cluster().copy_rate_bytes_per_s;
    }
    work(seconds);
  }
  void order() override {}
  /// Lines of memory, and the number behind the message, go from one processor to the other.
  void push(std::span<const LocalCopy> copies) override {
    work(cluster().push_s);
    copy(copies);
  }
};

}  // namespace

Memory& host_memory() {
  static SimulatedMemory memory;
  return memory;
}

// Simulated nodes have a core for each rank, whatever this machine has, and ranks are threads of one process.
bool is_oversubscribed(MPI_Comm) { return false; }
bool may_share_memory() { return cluster().shares_memory; }
std::string oversubscription_warning(MPI_Comm) { return {}; }
unsigned threads_of_rank(MPI_Comm) { return 1; }

// A poll of memory that ranks share takes time, or the simulated clock would stand still. Long waits have fewer polls,
// each of 2 % of the wait, since each takes time of the simulator, too. MPI needs no probes.
void RareProbe::poll(MPI_Comm) {
  constexpr double poll_s = 2e-8, share = 0.02;
  static double began_s = 0, ended_s = -1;  // of this rank's wait, and of its last poll
  const double now_s = simgrid::s4u::Engine::get_clock();
  if (now_s != ended_s) began_s = now_s;
  spend(std::max(poll_s, share * (now_s - began_s)));
  ended_s = simgrid::s4u::Engine::get_clock();
}

// A barrier leaves ranks further apart than an exchange takes; the simulated clock is the same for all.
void common_start(MPI_Comm comm) {
  simulation::link_collectives();
  constexpr double ahead_s = 1e-3;
  double now = PMPI_Wtime(), latest = 0;
  PMPI_Allreduce(&now, &latest, 1, MPI_DOUBLE, MPI_MAX, comm);
  spend(latest + ahead_s - PMPI_Wtime());
}

void wait_without_mpi(double seconds) { spend(seconds); }

}  // namespace commpass
