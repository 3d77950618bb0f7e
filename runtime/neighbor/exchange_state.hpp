// The state of an Exchange, and exchanges of plans that are made without other ranks. Private to the runtime.
#pragma once

#include <memory>
#include <utility>

#include "runtime/choose/selection.hpp"
#include "runtime/context.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/execute/packed_requests.hpp"
#include "runtime/neighbor/neighbor_exchange.hpp"

namespace commpass {

struct Exchange::State {
  std::shared_ptr<Context> context;  ///< keeps the MPI communicator alive, and
  Context::Address address;          ///< that on which it sends, if it is another
  Decision decision;
  Bytes buffer_bytes = 0;
  std::unique_ptr<Executor> executor;  ///< last, so that it goes first

  /// Packs and unpacks in each exchange.
  void surround(std::unique_ptr<PackedRequests> packed) {
    buffer_bytes += packed->packed_bytes();
    executor->surround(std::move(packed));
  }
};

/// Runs a plan of this rank, in host memory. Local. @throws MpiError, std::bad_alloc
Exchange exchange_of_plan(const std::shared_ptr<Context>& context, const Context::Address& address, const Plan& plan,
                          const void* send_buffer, void* receive_buffer, Decision decision);

}  // namespace commpass
