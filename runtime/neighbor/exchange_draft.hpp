// An exchange on its way from a strategy to an executor. Private to the runtime.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>

#include "model/route/catalogue.hpp"
#include "runtime/context.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/execute/library_executor.hpp"
#include "runtime/plan/planning.hpp"

namespace commpass {

using AnyExecutor = std::variant<std::unique_ptr<Executor>, std::unique_ptr<LibraryExecutor>>;

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
  AnyExecutor finish(bool are_edges_matched);
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
  AnyExecutor executor_;
};

}  // namespace commpass
