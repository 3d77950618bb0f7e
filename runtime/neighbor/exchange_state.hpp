// The state of an Exchange, and functions that plan one of datatypes, or by a plan that is made without other ranks.
// Private to the runtime.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/choose/decision.hpp"
#include "runtime/context.hpp"
#include "runtime/execute/batch_requests.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"
#include "runtime/mpi/typed_blocks.hpp"
#include "runtime/neighbor/tried_requests.hpp"
#include "runtime/neighbor/typed_exchange.hpp"

namespace commpass {

struct Failure;
class Landings;

/// Requests for the bytes of these blocks.
class PackedRequests final : public RequestsAround {
 public:
  TypedBlocks sends, receives;
  const void* send_buffer = nullptr;  ///< the user's, as the next one
  void* receive_buffer = nullptr;

  ~PackedRequests() override { drop(); }
  bool are_in_flight() const { return are_in_flight_; }
  Bytes packed_bytes() const { return sends.packed_bytes() + receives.packed_bytes(); }

 private:
  void before() override {
    are_in_flight_ = true;
    sends.pack(send_buffer);
  }
  void after() override {
    receives.unpack(receive_buffer);
    are_in_flight_ = false;
  }

  bool are_in_flight_ = false;
};

struct Exchange::State {
  std::shared_ptr<Context> context;  ///< keeps the MPI communicator alive, and
  Context::Address address;          ///< that on which it sends, if it is another
  Decision decision;
  Bytes buffer_bytes = 0;
  Bytes bytes_to_other_nodes = 0;
  std::shared_ptr<NeighborGraph> graph{};  ///< of a contender that may be gone: all ranks free it together
  TriedRequests* tried = nullptr;          ///< those of the executor, if contenders are tried
  std::unique_ptr<Executor> executor{};    ///< last, so that it goes first

  /// Does something in start, test or wait, whose time counts while contenders are tried.
  template <class Action>
  auto run(Action action) {
    struct Timed {
      TriedRequests* tried;
      double begin_s = MPI_Wtime();
      ~Timed() { tried->add_time(MPI_Wtime() - begin_s); }
    };
    std::optional<Timed> timed;
    if (tried && tried->is_timed()) timed.emplace(Timed{tried});
    return action(*executor);
  }

  /// Packs and unpacks in each exchange.
  void surround(std::unique_ptr<PackedRequests> packed) {
    buffer_bytes += packed->packed_bytes();
    executor->surround(std::move(packed));
  }
};

/// That this rank sends in an exchange of the plan.
Bytes bytes_to_other_nodes(const Plan& plan, const Context& context);

/// One side of an exchange of datatypes: a side of a call, or a list of blocks.
struct TypedSide {
  const void* buffer = nullptr;
  std::span<const TypedBlock> blocks{};
  std::optional<CallSide> call{};
  int count = 0;                  ///< of the call's blocks
  std::span<const Rank> peers{};  ///< of these; empty: all ranks

  TypedSide(const void* its_buffer, std::span<const TypedBlock> list) : buffer(its_buffer), blocks(list) {}
  TypedSide(const CallSide& side, int its_count, std::span<const Rank> its_peers = {})
      : buffer(side.buffer), call(side), count(its_count), peers(its_peers) {}
};

/// The sides of an exchange of datatypes, as edges of bytes.
struct TypedEdges {
  const void* from = nullptr;  ///< the user's buffer, or one of ours
  void* to = nullptr;          ///< likewise
  std::vector<SendEdge> sends{};
  std::vector<ReceiveEdge> receives{};
};
/// Local. @param packed       keeps the blocks, and our buffers
/// @param are_packed  also those without gaps
/// @throws InputError for invalid blocks; MpiError, std::bad_alloc
TypedEdges edges_of(PackedRequests& packed, const TypedSide& sends, const TypedSide& receives, bool are_packed,
                    MPI_Comm comm);

/// Chooses and plans one (Communicator::typed_neighbor_exchange). Collective.
/// @param receives  the buffer is written to
/// @param before    a failure of this rank when it made the arguments, if any
/// @throws Error, the same on every rank
TypedExchange plan_typed_exchange(const std::shared_ptr<Context>& context, const TypedSide& sends,
                                  const TypedSide& receives, const ExchangeOptions& options, const Failure& before);

/// Runs a plan of this rank, in host memory. Local.
/// @param landings  of the plan's messages within the node; null: they go by MPI
/// @throws Error, std::bad_alloc
Exchange exchange_of_plan(const std::shared_ptr<Context>& context, const Context::Address& address, const Plan& plan,
                          const void* send_buffer, void* receive_buffer, Decision decision,
                          std::unique_ptr<Landings> landings = nullptr);

}  // namespace commpass
