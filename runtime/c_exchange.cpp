// Handles of exchanges that are planned or in flight, and the planned ones among them, from C.
#include "runtime/c_exchange.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "model/base/text.hpp"
#include "runtime/c_support.hpp"
#include "runtime/choose/info_hints.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/planned_exchanges.hpp"

struct commpass_exchange_state {
  commpass::c::AnyExchange exchange;
  std::string strategy, explanation;
  std::optional<double> predicted_s;
};

namespace commpass::c {

commpass_exchange make_exchange(AnyExchange exchange) {
  auto* const handle = new commpass_exchange_state{std::move(exchange), {}, {}, {}};
  std::visit(
      [&](const auto& e) {
        handle->strategy = e.strategy();
        handle->explanation = e.explanation();
        handle->predicted_s = e.predicted_seconds();
      },
      handle->exchange);
  return handle;
}

AnyExchange& held_by(commpass_exchange exchange) {
  if (!exchange) throw InputError("commpass_exchange", "it is NULL", "make one with a function that ends in _init");
  return exchange->exchange;
}

}  // namespace commpass::c

namespace {

using commpass::Bytes;
using commpass::ExchangeOptions;
using commpass::Failure;
using commpass::InputError;
using commpass::TypedBlock;
using commpass::TypedExchange;
using commpass::c::guarded;
using commpass::c::held_by;
using commpass::c::require_communicator;
using commpass::c::require_list;

Bytes extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  if (type == MPI_DATATYPE_NULL)
    throw InputError("datatype", "it is MPI_DATATYPE_NULL", "give the type of the elements");
  COMMPASS_MPI_CALL(MPI_Type_get_extent, type, &lower, &extent);
  return extent;
}

/// One side of a call; peers are all ranks in order if there is no list of them.
struct SideInC {
  const void* buffer;
  int size;
  const int* peers;
  const int* counts;
  const int* displacements;            ///< in elements; of w in bytes; null: one block for all
  const MPI_Aint* wide_displacements;  ///< in their place
  const MPI_Datatype* types;           ///< one for each
  MPI_Datatype type;                   ///< or one for all
  bool is_one_block = false;           ///< `counts` is one number

  std::vector<TypedBlock> blocks() const {
    if (buffer == MPI_IN_PLACE) throw InputError("commpass exchange", "MPI_IN_PLACE is given", "give a send buffer");
    if (size < 0) throw InputError("commpass exchange", fmt::format("there are {} neighbours", size), "use 0 or more");
    require_list("commpass exchange", counts, size, "the list of counts");
    require_list("commpass exchange",
                 is_one_block         ? counts
                 : wide_displacements ? static_cast<const void*>(wide_displacements)
                                      : displacements,
                 size, "the list of displacements");
    const Bytes extent = types || size == 0 ? 1 : extent_of(type);
    std::vector<TypedBlock> result;
    for (int i = 0; i < size; ++i) {
      const int count = is_one_block ? counts[0] : counts[i];
      if (types && count == 0) continue;  // MPI allows any type there
      const Bytes at = is_one_block ? 0 : wide_displacements ? wide_displacements[i] : displacements[i] * extent;
      result.push_back({peers ? peers[i] : i, at, count, types ? types[i] : type});
    }
    return result;
  }
};

ExchangeOptions options_of(MPI_Info info) {
  ExchangeOptions options;
  options.strategy = commpass::c::value_of(info, "commpass_strategy");
  if (const auto calls = commpass::c::value_of(info, "commpass_calls"); !calls.empty()) {
    options.calls = commpass::parse_number<double>(calls);
    if (!options.calls || *options.calls <= 0)
      throw InputError("info commpass_calls " + calls, "it is no number of calls", "use one above 0");
  }
  if (const auto planner = commpass::c::value_of(info, "commpass_planner"); !planner.empty())
    options.planner = commpass::parse_planner_mode(planner);
  if (const auto seconds = commpass::c::value_of(info, "commpass_planner_seconds"); !seconds.empty()) {
    options.planner_seconds = commpass::parse_number<double>(seconds);
    if (!options.planner_seconds)
      throw InputError("info commpass_planner_seconds " + seconds, "it is no number", "use one above 0");
  }
  options.any_buffers = commpass::c::value_of(info, "commpass_any_buffers") == "true";
  return options;
}

int plan(const SideInC& send_side, const SideInC& receive_side, MPI_Info info, commpass_comm comm,
         commpass_exchange* exchange) {
  *exchange = nullptr;
  return guarded([&] {
    const auto use = require_communicator(comm);
    commpass::warn_unknown_hints(info, comm->engines.context->comm.rank());
    std::vector<TypedBlock> sends, receives;
    ExchangeOptions options;
    Failure failure;
    commpass::attempt(failure, [&] {
      sends = send_side.blocks();
      receives = receive_side.blocks();
      options = options_of(info);
    });
    *exchange = commpass::c::make_exchange(commpass::plan_typed_exchange(
        comm->engines.context, {send_side.buffer, sends}, {receive_side.buffer, receives}, options, failure));
  });
}

/// The ranks of a communicator; 0 for none, which the call then refuses.
int ranks_of(commpass_comm comm) { return comm ? comm->engines.context->layout.ranks() : 0; }

constexpr auto* any_of_init = "a function that ends in _init";

}  // namespace

int commpass_neighbor_alltoallv_init(const void* sendbuf, int outdegree, const int* dest, const int* sendcounts,
                                     const int* sdispls, MPI_Datatype sendtype, void* recvbuf, int indegree,
                                     const int* src, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                                     MPI_Info info, commpass_comm comm, commpass_exchange* exchange) {
  return plan({sendbuf, outdegree, dest, sendcounts, sdispls, nullptr, nullptr, sendtype},
              {recvbuf, indegree, src, recvcounts, rdispls, nullptr, nullptr, recvtype}, info, comm, exchange);
}

int commpass_neighbor_alltoallw_init(const void* sendbuf, int outdegree, const int* dest, const int* sendcounts,
                                     const MPI_Aint* sdispls, const MPI_Datatype* sendtypes, void* recvbuf,
                                     int indegree, const int* src, const int* recvcounts, const MPI_Aint* rdispls,
                                     const MPI_Datatype* recvtypes, MPI_Info info, commpass_comm comm,
                                     commpass_exchange* exchange) {
  return plan({sendbuf, outdegree, dest, sendcounts, nullptr, sdispls, sendtypes, MPI_DATATYPE_NULL},
              {recvbuf, indegree, src, recvcounts, nullptr, rdispls, recvtypes, MPI_DATATYPE_NULL}, info, comm,
              exchange);
}

int commpass_neighbor_allgatherv_init(const void* sendbuf, int outdegree, const int* dest, int sendcount,
                                      MPI_Datatype sendtype, void* recvbuf, int indegree, const int* src,
                                      const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Info info,
                                      commpass_comm comm, commpass_exchange* exchange) {
  return plan({sendbuf, outdegree, dest, &sendcount, nullptr, nullptr, nullptr, sendtype, true},
              {recvbuf, indegree, src, recvcounts, rdispls, nullptr, nullptr, recvtype}, info, comm, exchange);
}

int commpass_alltoallv_init(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                            void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                            MPI_Info info, commpass_comm comm, commpass_exchange* exchange) {
  const int ranks = ranks_of(comm);
  return plan({sendbuf, ranks, nullptr, sendcounts, sdispls, nullptr, nullptr, sendtype},
              {recvbuf, ranks, nullptr, recvcounts, rdispls, nullptr, nullptr, recvtype}, info, comm, exchange);
}

int commpass_alltoallw_init(const void* sendbuf, const int* sendcounts, const int* sdispls,
                            const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts, const int* rdispls,
                            const MPI_Datatype* recvtypes, MPI_Info info, commpass_comm comm,
                            commpass_exchange* exchange) {
  const int ranks = ranks_of(comm);
  return plan({sendbuf, ranks, nullptr, sendcounts, sdispls, nullptr, sendtypes, MPI_DATATYPE_NULL},
              {recvbuf, ranks, nullptr, recvcounts, rdispls, nullptr, recvtypes, MPI_DATATYPE_NULL}, info, comm,
              exchange);
}

int commpass_start(commpass_exchange exchange) {
  return guarded([&] { commpass::c::exchange_of<TypedExchange>(exchange, any_of_init).start(); });
}

int commpass_start_buffers(const void* sendbuf, void* recvbuf, commpass_exchange exchange) {
  return guarded([&] { commpass::c::exchange_of<TypedExchange>(exchange, any_of_init).start(sendbuf, recvbuf); });
}

int commpass_test(commpass_exchange exchange, int* complete) {
  return guarded([&] { *complete = std::visit([](auto& e) { return e.test(); }, held_by(exchange)) ? 1 : 0; });
}

int commpass_wait(commpass_exchange exchange) {
  return guarded([&] { std::visit([](auto& e) { e.wait(); }, held_by(exchange)); });
}

int commpass_exchange_free(commpass_exchange* exchange) {
  delete *exchange;
  *exchange = nullptr;
  return COMMPASS_SUCCESS;
}

const char* commpass_exchange_strategy(commpass_exchange exchange) {
  return exchange ? exchange->strategy.c_str() : "";
}
const char* commpass_exchange_explanation(commpass_exchange exchange) {
  return exchange ? exchange->explanation.c_str() : "";
}
double commpass_exchange_predicted_seconds(commpass_exchange exchange) {
  constexpr double none = -1;
  return exchange ? exchange->predicted_s.value_or(none) : none;
}
