// Persistent collectives of the program, whose exchanges the MPI library or a plan of ours runs.
//
// The program holds the MPI library's own request. Where ours runs an exchange, that request stays inactive, and the
// calls that start, complete, ask for or free requests (planned_waits.cpp) find our exchange by it. A program whose
// calls are all out of our reach runs the library's exchanges.
//
// Why no program waits for ever. It may start an exchange and then block in any call of MPI, which moves on none of our
// stages. So a plan has one batch (plan_one_stage_exchange), and all that others need of this rank is done in
// MPI_Start:
// - Its receives and sends are posted there. The MPI library moves them on in each of its calls.
// - Messages through memory of the node are copied into slots of their receivers there. MPI_Start never waits for a
//   slot. Exchange k uses the slots of exchange k - 2, which the receivers have freed: this rank has completed exchange
//   k - 1, either by a message of that receiver, which left when it had completed k - 2, or, from a receiver that sends
//   it nothing, by its number of completed exchanges (PushedRequests::are_all_taken).
// - What ranks tell each other of trials are messages that are posted there, too (TriedRequests).
// A wait for exchange k needs that other ranks have started it, and no more. MPI allows that of a collective. Above,
// "has completed k - 1" follows from "has started k", as the request of an exchange must be inactive before.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "preload/neighbor_places.hpp"
#include "preload/takeover.hpp"
#include "runtime/neighbor/neighbor_exchange.hpp"
#include "runtime/neighbor/typed_exchange.hpp"

namespace commpass {

/// The blocks of a call on this rank, those without elements left out. Displacements are in bytes.
struct PlannedBlocks {
  const void* send_buffer = nullptr;
  std::vector<TypedBlock> sends = {};
  void* receive_buffer = nullptr;
  std::vector<TypedBlock> receives = {};

  template <class Side, class Type>
  static void add(const std::vector<int>& ranks, const std::vector<int>& places, Side side, Type type,
                  std::vector<TypedBlock>& blocks) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const auto place = static_cast<std::size_t>(places[i]);
      const NeighborPlace here = side(place);
      if (here.count != 0) blocks.push_back({ranks[i], here.displacement, here.count, type(place)});
    }
  }
};

/// Adds the blocks of a call. Of an all-to-all the neighbours are all ranks.
using ListBlocks = Callback<void(const CallNeighbors& among, PlannedBlocks& blocks)>;

/// Of sides with a type for each place, and displacements in bytes.
template <class Sends, class SendType, class Receives, class ReceiveType>
auto typed_blocks(const void* sendbuf, Sends sends, SendType sendtype, void* recvbuf, Receives receives,
                  ReceiveType recvtype) {
  return [=](const CallNeighbors& among, PlannedBlocks& blocks) {
    blocks.send_buffer = sendbuf;
    blocks.receive_buffer = recvbuf;
    blocks.add(among.destinations, among.destination_places, sends, sendtype, blocks.sends);
    blocks.add(among.sources, among.source_places, receives, recvtype, blocks.receives);
  };
}
/// Of sides of one type, and displacements in elements.
template <class Sends, class Receives>
auto blocks_of(const void* sendbuf, Sends sends, MPI_Datatype sendtype, void* recvbuf, Receives receives,
               MPI_Datatype recvtype) {
  return [=](const CallNeighbors& among, PlannedBlocks& blocks) {
    typed_blocks(sendbuf, places_in_bytes(sends, sendtype), same_types(sendtype), recvbuf,
                 places_in_bytes(receives, recvtype), same_types(recvtype))(among, blocks);
  };
}

/// The program's datatypes, as copies that stay when it frees them.
class KeptElements {
 public:
  KeptElements() = default;
  ~KeptElements();
  KeptElements(const KeptElements&) = delete;
  KeptElements& operator=(const KeptElements&) = delete;

  /// @throws MpiError, std::bad_alloc
  void keep(std::vector<TypedBlock>& blocks);

 private:
  struct Copy {
    MPI_Datatype of, copy;
  };
  std::vector<Copy> copies_;
};

/// A request of the program, for whose exchanges we have a plan.
class PlannedRequest {
 public:
  struct Made {
    InterposedCall kind;
    MPI_Comm comm;
    int ranks;
    Bytes bytes;            ///< that this rank sends
    bool has_library_call;  ///< is it the first contender of the exchange?
  };
  PlannedRequest(const Made& made, std::unique_ptr<KeptElements> elements, Exchange exchange);
  /// Completes an exchange in flight, and counts the starts.
  ~PlannedRequest();
  PlannedRequest(const PlannedRequest&) = delete;
  PlannedRequest& operator=(const PlannedRequest&) = delete;

  // These return codes of MPI, after the program's error handler.
  int start(MPI_Request* request);
  /// The program is told of the end. The request is inactive from then on.
  int report();

  /// Started, and ours: the program has not been told of the end.
  bool is_active() const { return is_active_; }
  /// Is the library's request never started any more, or its exchange not ours? Else it is inactive, which MPICH 4.0
  /// does not know of requests of persistent collectives.
  bool is_left() const { return is_left_ && !is_active_; }
  /// Of an active one, without waiting. @return is it complete?
  bool poll() noexcept;
  /// Of an active one: completes it.
  void finish() noexcept;
  /// The program has freed the communicator.
  void forget(MPI_Comm comm) {
    if (made_.comm == comm) made_.comm = MPI_COMM_WORLD;
  }

 private:
  template <class Action>
  void attempt_to(Action action) noexcept;
  int raise(int code) const;
  void count_started();

  Made made_;
  std::unique_ptr<KeptElements> elements_;  ///< outlive the exchange
  Exchange exchange_;
  CallRecord record_;
  bool is_left_ = false;  ///< to the MPI library, for good
  bool is_active_ = false, is_done_ = false;
  int code_ = MPI_SUCCESS;  ///< of the exchange that is done
};

/// A bit for each of the requests with plans; 0: there are none.
inline std::atomic<std::uint64_t> planned_filter = 0;

inline std::uint64_t filter_bit(MPI_Request request) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // multiplicative hashing (Knuth, TAOCP 3, §6.4)
  constexpr int to_last_bits = 58;
  return std::uint64_t{1} << (static_cast<std::uint64_t>(std::hash<MPI_Request>{}(request)) * golden >> to_last_bits);
}

/// May a request of this call have a plan? Not of calls that are ours.
inline bool may_be_planned() { return planned_filter.load(std::memory_order_relaxed) != 0 && !is_inside(); }

struct FoundPlan {
  MPI_Request request = MPI_REQUEST_NULL;
  PlannedRequest* planned = nullptr;
};
/// The last one.
inline FoundPlan found_plan;

PlannedRequest* find_in_table(MPI_Request request);
/// The plan for a request; null: there is none.
inline PlannedRequest* find_planned(MPI_Request request) {
  if (found_plan.request == request) return found_plan.planned;
  return (planned_filter.load(std::memory_order_relaxed) & filter_bit(request)) != 0 ? find_in_table(request) : nullptr;
}
/// The program frees the request.
void drop_planned(MPI_Request request);

/// May calls of a kind get a plan, as far as settings tell? Not those that are ours.
bool may_plan(InterposedCall kind);

/// Plans the exchanges of a persistent collective, where that is affordable and possible on all ranks. Collective.
/// @param code     of the library's call
/// @param request  made by it
void plan_request(InterposedCall kind, MPI_Comm comm, int code, const MPI_Request* request, bool is_in_place,
                  const ListBlocks& list_blocks) noexcept;

/// Makes a persistent collective by the library's call, and plans its exchanges.
template <class Sends, class Blocks, class Library>
[[gnu::always_inline]] inline int pass_on_and_plan(InterposedCall kind, MPI_Comm comm, const void* sendbuf,
                                                   const void* recvbuf, const MPI_Request* request, const Sends& sends,
                                                   const Blocks& blocks, const Library& library) {
  if (!may_plan(kind)) return pass_on(kind, comm, sends, library);
  const int code = pass_on(kind, comm, sends, library);
  const bool is_in_place = sendbuf == MPI_IN_PLACE || (sendbuf == recvbuf && sendbuf != MPI_BOTTOM);
  plan_request(kind, comm, code, request, is_in_place, ListBlocks(blocks));
  return code;
}

/// The communicator is freed; requests on it stay.
void forget_communicator_of_requests(MPI_Comm comm) noexcept;
/// In MPI_Finalize: drops all plans. An exchange that was not completed is left as it is.
void release_planned_requests() noexcept;

}  // namespace commpass

/// MPI's calls of requests, some of which may have plans: with the arguments and the result of MPI's. Exchanges of ours
/// and requests of the library are polled by turns where a call waits for any of them.
namespace commpass::planned {

int start(MPI_Request* request);
int start_all(int count, MPI_Request* requests);
int wait(MPI_Request* request, MPI_Status* status);
int wait_all(int count, MPI_Request* requests, MPI_Status* statuses);
int wait_any(int count, MPI_Request* requests, int* index, MPI_Status* status);
int wait_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses);
int test(MPI_Request* request, int* flag, MPI_Status* status);
int test_all(int count, MPI_Request* requests, int* flag, MPI_Status* statuses);
int test_any(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status);
int test_some(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses);
int get_status(MPI_Request request, int* flag, MPI_Status* status);
#ifdef COMMPASS_MPI_ABI  // of MPI 4.1
int get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses);
int get_status_any(int count, const MPI_Request* requests, int* index, int* flag, MPI_Status* status);
int get_status_some(int count, const MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses);
#endif
int free(MPI_Request* request);

}  // namespace commpass::planned
