// What a StartedAlltoallv holds. Private to the runtime.
#pragma once

#include <mpi.h>

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

/// Nothing of a rank's own that is wrong leaves it in flight.
struct StartedAlltoallv::State {
  explicit State(std::shared_ptr<AlltoallvEngine> its_engine) : engine(std::move(its_engine)) {}
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// @throws as AlltoallvEngine::begin, AlltoallwCall::begin
  void start(const AlltoallCall& call, const AlltoallvOptions& options);
  bool test();
  void wait();

  std::shared_ptr<AlltoallvEngine> engine;
  AlltoallvEngine::Begun begun;

 private:
  template <class Action>
  void guarded(Action action);
  void conclude(const std::optional<AlltoallDamage>& damage);

  AlltoallvArguments arguments_;
  DeviceCall data_;  ///< the part of them that lies on a device
  DeviceCall::Buffers buffers_;
  LibraryAlltoall library_;
  std::optional<AlltoallwCall> packing_;
  std::unique_ptr<AlltoallExchange> ours_;  ///< one of these two
  std::unique_ptr<Executor> by_library_;
  bool is_in_flight_ = false;
};

inline StartedAlltoallv start_alltoall(const std::shared_ptr<AlltoallvEngine>& engine, const AlltoallCall& call,
                                       const AlltoallvOptions& options) {
  auto state = insist([&] { return std::make_unique<StartedAlltoallv::State>(engine); });
  state->start(call, options);
  return StartedAlltoallv(std::move(state));
}

}  // namespace commpass
