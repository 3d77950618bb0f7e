// Plans an exchange: from a strategy to requests. Private to the runtime.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "model/route/catalogue.hpp"
#include "runtime/context.hpp"
#include "runtime/device/device_data.hpp"
#include "runtime/device/shared_copies.hpp"
#include "runtime/execute/batch_requests.hpp"
#include "runtime/execute/landings.hpp"
#include "runtime/execute/library_requests.hpp"
#include "runtime/neighbor/plan_cache.hpp"
#include "runtime/plan/planning.hpp"
#include "runtime/plan/transposed_plan.hpp"

namespace commpass {

class ExchangeDraft {
 public:
  /// @param context,address  alive as long as this; planning takes place on the context's communicator
  ExchangeDraft(const Context& context, const Context::Address& address, BuffersAndEdges given)
      : context_(context), address_(address), given_(given) {}

  /// The life of requests of later begin() calls.
  void use(RequestLife life) { life_ = life; }
  /// Does the part of this rank alone, perhaps all (Planning). Local. @throws Error, std::bad_alloc
  void begin(const Strategy& strategy, const PatternTables& tables = {});
  /// Likewise, by a known plan of these edges.
  /// @param graph  of its exchange, if it is free on all ranks
  void begin_again(const KnownWay& known, std::shared_ptr<NeighborGraph> graph);
  /// Begins on all ranks, with the tables that the strategy needs. Collective.
  /// @param failure  of this rank before
  /// @return do the edges match (Opening)? @throws Error, the same on every rank
  bool begin_with_all(const Strategy& strategy, Failure& failure);
  /// All steps. Collective. @throws Error, the same on every rank
  std::unique_ptr<BatchRequests> make(const Strategy& strategy);
  /// Several processes copy the data of each rank on a device from now on. Collective, before begin(). @throws Error,
  /// the same on every rank
  void share_copies(int copies);
  /// Undoes begin().
  void reset();
  bool is_begun() const { return planning_ || plan_; }
  /// See ExpectedHeaders.
  std::uint64_t mismatch() const { return planning_ ? planning_->mismatch() : 0; }

  /// Does the rest. Collective, if all ranks have begun. @throws Error, the same on every rank
  std::unique_ptr<BatchRequests> finish(bool are_edges_matched);
  Bytes buffer_bytes() const { return run().transit_bytes + run().packing_bytes + staging_bytes_ + landing_bytes_; }

  // After that, for exchanges to come:
  KnownWay way() const { return {plan_, by_library_ != nullptr, path_}; }
  /// The plan that runs: its, or its transposition.
  const Plan& run() const { return back_ ? back_->plan : *plan_; }
  bool has_landings() const { return landing_bytes_ > 0; }
  std::shared_ptr<NeighborGraph> graph() const { return by_library_ ? by_library_->graph() : nullptr; }

 private:
  void take_plan();
  void transpose();
  void share_memory();
  void make_all_requests(bool by_library);
  std::unique_ptr<BatchRequests> requests_on_device(bool by_library);
  std::unique_ptr<BatchRequests> make_requests(const Plan& plan, const void* send_buffer, void* receive_buffer,
                                               Memory& memory, bool by_library);
  MPI_Comm comm() const { return context_.comm.get(); }

  const Context& context_;
  const Context::Address& address_;
  BuffersAndEdges given_;
  RequestLife life_ = RequestLife::persistent;
  DataPath path_;
  std::shared_ptr<SharedCopies> shared_;  ///< in whose buffers the exchange is, if several processes copy
  Bytes staging_bytes_ = 0, landing_bytes_ = 0;
  std::unique_ptr<Landings> landings_;  ///< if messages within nodes are pushed, until the requests have them
  std::unique_ptr<Route> route_;
  std::optional<Planning> planning_;
  std::shared_ptr<const Plan> plan_;
  std::optional<TransposedPlan> back_;     ///< the plan backwards, if that is run
  std::shared_ptr<NeighborGraph> graph_;   ///< of an earlier exchange
  LibraryRequests* by_library_ = nullptr;  ///< among the requests, if the MPI library runs the exchange
  std::unique_ptr<BatchRequests> requests_;
};

}  // namespace commpass
