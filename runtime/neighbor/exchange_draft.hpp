// An exchange on its way from a strategy to an executor. Private to the runtime.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "model/route/catalogue.hpp"
#include "runtime/context.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/execute/library_requests.hpp"
#include "runtime/plan/planning.hpp"

namespace commpass {

/// What a rank gives to an exchange.
struct BuffersAndEdges {
  const void* send_buffer = nullptr;
  std::span<const SendEdge> sends;
  void* receive_buffer = nullptr;
  std::span<const ReceiveEdge> receives;
};

class ExchangeDraft {
 public:
  /// @param context,address  alive as long as this; planning takes place on the context's communicator
  ExchangeDraft(const Context& context, const Context::Address& address, BuffersAndEdges given)
      : context_(context), address_(address), given_(given) {}

  /// Does what this rank can do alone, perhaps all (Planning). Not collective. @throws Error, std::bad_alloc
  void begin(const Strategy& strategy, const PatternTables& tables = {});
  /// Forgets what begin() has done.
  void reset();
  bool is_begun() const { return planning_.has_value(); }
  /// See ExpectedHeaders.
  std::uint64_t mismatch() const { return is_begun() ? planning_->mismatch() : 0; }

  /// Does the rest. Collective, if all ranks have begun. @throws Error, the same on every rank
  std::unique_ptr<Executor> finish(bool are_edges_matched);
  Bytes buffer_bytes() const { return plan_.transit_bytes + plan_.packing_bytes; }

 private:
  void make_executor();
  MPI_Comm comm() const { return context_.comm.get(); }

  const Context& context_;
  const Context::Address& address_;
  BuffersAndEdges given_;
  std::unique_ptr<Route> route_;
  std::optional<Planning> planning_;
  Plan plan_;
  LibraryRequests* by_library_ = nullptr;  ///< those of the executor, if the MPI library runs them
  std::unique_ptr<Executor> executor_;
};

}  // namespace commpass
