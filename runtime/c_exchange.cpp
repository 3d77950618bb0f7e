// Handles of exchanges that are planned or in flight, and the planned ones among them, from C.
#include "runtime/c_exchange.hpp"

#include "model/base/text.hpp"
#include "runtime/c_support.hpp"
#include "runtime/choose/info_hints.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/neighbor/exchange_state.hpp"
#include "runtime/planned_exchanges.hpp"

struct commpass_exchange_state {
  commpass::c::AnyExchange exchange;
  std::string strategy, explanation;
  std::optional<double> predicted_s;

  void take(const auto& of) {
    if (const auto& now = of.strategy(); now != strategy) strategy = now;
    if (const auto& now = of.explanation(); now != explanation) explanation = now;
    predicted_s = of.predicted_seconds();
  }
  /// Trials in the program's exchanges change them.
  void refresh() {
    if (const auto* const planned = std::get_if<commpass::TypedExchange>(&exchange)) take(*planned);
  }
};

namespace commpass::c {

commpass_exchange make_exchange(AnyExchange exchange) {
  auto handle = std::make_unique<commpass_exchange_state>(commpass_exchange_state{std::move(exchange), {}, {}, {}});
  std::visit([&](const auto& e) { handle->take(e); }, handle->exchange);
  return handle.release();
}

AnyExchange& held_by(commpass_exchange exchange) {
  if (!exchange) throw InputError("commpass_exchange", "it is NULL", "make one with a function that ends in _init");
  return exchange->exchange;
}

}  // namespace commpass::c

namespace {

using commpass::CallSide;
using commpass::ExchangeOptions;
using commpass::Failure;
using commpass::InputError;
using commpass::TypedExchange;
using commpass::TypedSide;
using commpass::c::guarded;
using commpass::c::held_by;
using commpass::c::list;
using commpass::c::ranks_of;
using commpass::c::require_communicator;

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

int plan(const TypedSide& sends, const TypedSide& receives, MPI_Info info, commpass_comm comm,
         commpass_exchange* exchange) {
  *exchange = nullptr;
  return guarded([&] {
    const auto use = require_communicator(comm);
    commpass::warn_unknown_hints(info, comm->engines.context->comm.rank());
    ExchangeOptions options;
    Failure failure;
    commpass::attempt(failure, [&] { options = options_of(info); });
    *exchange = commpass::c::make_exchange(
        commpass::plan_typed_exchange(comm->engines.context, sends, receives, options, failure));
  });
}

constexpr auto* any_of_init = "a function that ends in _init";

}  // namespace

int commpass_neighbor_alltoallv_init(const void* sendbuf, int outdegree, const int* dest, const int* sendcounts,
                                     const int* sdispls, MPI_Datatype sendtype, void* recvbuf, int indegree,
                                     const int* src, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                                     MPI_Info info, commpass_comm comm, commpass_exchange* exchange) {
  return plan({CallSide::v(sendbuf, list(sendcounts, outdegree), list(sdispls, outdegree), sendtype), outdegree,
               list(dest, outdegree)},
              {CallSide::v(recvbuf, list(recvcounts, indegree), list(rdispls, indegree), recvtype), indegree,
               list(src, indegree)},
              info, comm, exchange);
}

int commpass_neighbor_alltoallw_init(const void* sendbuf, int outdegree, const int* dest, const int* sendcounts,
                                     const MPI_Aint* sdispls, const MPI_Datatype* sendtypes, void* recvbuf,
                                     int indegree, const int* src, const int* recvcounts, const MPI_Aint* rdispls,
                                     const MPI_Datatype* recvtypes, MPI_Info info, commpass_comm comm,
                                     commpass_exchange* exchange) {
  return plan({CallSide::w(sendbuf, list(sendcounts, outdegree), list(sdispls, outdegree), list(sendtypes, outdegree)),
               outdegree, list(dest, outdegree)},
              {CallSide::w(recvbuf, list(recvcounts, indegree), list(rdispls, indegree), list(recvtypes, indegree)),
               indegree, list(src, indegree)},
              info, comm, exchange);
}

int commpass_neighbor_allgatherv_init(const void* sendbuf, int outdegree, const int* dest, int sendcount,
                                      MPI_Datatype sendtype, void* recvbuf, int indegree, const int* src,
                                      const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Info info,
                                      commpass_comm comm, commpass_exchange* exchange) {
  return plan({CallSide::one(sendbuf, sendcount, sendtype), outdegree, list(dest, outdegree)},
              {CallSide::v(recvbuf, list(recvcounts, indegree), list(rdispls, indegree), recvtype), indegree,
               list(src, indegree)},
              info, comm, exchange);
}

int commpass_alltoallv_init(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                            void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                            MPI_Info info, commpass_comm comm, commpass_exchange* exchange) {
  const int ranks = ranks_of(comm);
  return plan({CallSide::v(sendbuf, list(sendcounts, ranks), list(sdispls, ranks), sendtype), ranks},
              {CallSide::v(recvbuf, list(recvcounts, ranks), list(rdispls, ranks), recvtype), ranks}, info, comm,
              exchange);
}

int commpass_alltoallw_init(const void* sendbuf, const int* sendcounts, const int* sdispls,
                            const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts, const int* rdispls,
                            const MPI_Datatype* recvtypes, MPI_Info info, commpass_comm comm,
                            commpass_exchange* exchange) {
  const int ranks = ranks_of(comm);
  return plan({CallSide::w(sendbuf, list(sendcounts, ranks), list(sdispls, ranks), list(sendtypes, ranks)), ranks},
              {CallSide::w(recvbuf, list(recvcounts, ranks), list(rdispls, ranks), list(recvtypes, ranks)), ranks},
              info, comm, exchange);
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
  if (exchange) guarded([&] { exchange->refresh(); });
  return exchange ? exchange->strategy.c_str() : "";
}
const char* commpass_exchange_explanation(commpass_exchange exchange) {
  if (exchange) guarded([&] { exchange->refresh(); });
  return exchange ? exchange->explanation.c_str() : "";
}
double commpass_exchange_predicted_seconds(commpass_exchange exchange) {
  constexpr double none = -1;
  if (exchange) guarded([&] { exchange->refresh(); });
  return exchange ? exchange->predicted_s.value_or(none) : none;
}
