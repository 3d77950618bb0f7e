// What a StartedAlltoallv holds. Private to the runtime.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/alltoall/alltoall_exchange.hpp"
#include "runtime/alltoall/alltoallv_arguments.hpp"
#include "runtime/alltoall/alltoallv_engine.hpp"
#include "runtime/alltoall/alltoallw.hpp"
#include "runtime/alltoall/started_alltoallv.hpp"
#include "runtime/mpi/agreement.hpp"

namespace commpass {

/// The arguments of each function that starts one are those of the function of AlltoallvEngine or AlltoallwCall that
/// waits. Nothing of a rank's own that is wrong leaves it in flight.
struct StartedAlltoallv::State {
  explicit State(std::shared_ptr<AlltoallvEngine> its_engine) : engine(std::move(its_engine)) {}
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void start_alltoallv(const void* sendbuf, const Numbers& sendcounts, const Numbers& sdispls, MPI_Datatype sendtype,
                       void* recvbuf, const Numbers& recvcounts, const Numbers& rdispls, MPI_Datatype recvtype,
                       const AlltoallvOptions& options);
  void start_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, const AlltoallvOptions& options);
  void start_alltoallw(const void* sendbuf, const AlltoallwCall::Side& sends, void* recvbuf,
                       const AlltoallwCall::Side& receives, const AlltoallvOptions& options);

  bool test();
  void wait();

  std::shared_ptr<AlltoallvEngine> engine;
  AlltoallvEngine::Begun begun;

 private:
  /// Starts the same exchange by the MPI library, from and to these buffers.
  using ByLibrary = std::function<void(const DeviceCall::Buffers&, MPI_Comm, MPI_Request*)>;
  void start(const void* sendbuf, void* recvbuf, const AlltoallvOptions& options, const ByLibrary& by_library,
             std::optional<Bytes> block_bytes);
  template <class Action>
  void guarded(Action action);
  void conclude(const std::optional<AlltoallDamage>& damage);

  AlltoallvArguments arguments_;
  DeviceCall data_;  ///< the part of them that lies on a device
  DeviceCall::Buffers buffers_;
  LibraryNumbers library_numbers_;
  std::optional<AlltoallwCall> packing_;
  std::unique_ptr<AlltoallExchange> ours_;  ///< one of these two
  std::unique_ptr<Executor> by_library_;
  bool is_in_flight_ = false;
};

/// Starts an all-to-all. @param begin  calls one of the functions of a State that start it
template <class Begin>
StartedAlltoallv start_alltoall_by(const std::shared_ptr<AlltoallvEngine>& engine, Begin begin) {
  auto state = insist([&] { return std::make_unique<StartedAlltoallv::State>(engine); });
  begin(*state);
  return StartedAlltoallv(std::move(state));
}

}  // namespace commpass
