// Runs a plan by the MPI library's neighbourhood collective: one request moves all messages.
#pragma once

#include <mpi.h>

#include <memory>
#include <utility>
#include <vector>

#include "runtime/execute/batch_requests.hpp"
#include "runtime/execute/plan_buffers.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"

namespace commpass {

/// A plan of one batch, as the MPI library's collective. Commpass copies blocks to the rank itself, packs and unpacks.
/// Allocates nothing after construction, except in the library.
class LibraryRequests final : public BatchRequests {
 public:
  /// Local. @throws Error if the plan has several batches, or there is no memory; MpiError
  LibraryRequests(const Plan& plan, const void* send_buffer, void* receive_buffer, Memory& memory = host_memory());
  /// Collective over `comm`, before the first exchange: makes a communicator with the neighbours, of which libraries
  /// have a few thousand.
  /// @param graph  see NeighborhoodCollective::connect
  /// @throws MpiError
  void connect(MPI_Comm comm, std::shared_ptr<NeighborGraph> graph = nullptr) {
    collective_->connect(comm, std::move(graph));
  }
  const std::shared_ptr<NeighborGraph>& graph() const { return collective_->graph(); }

  const PlanBuffers& buffers() const { return buffers_; }
  std::size_t batches() const override { return 1; }
  void begin(std::size_t batch) override;
  std::span<MPI_Request> requests() override { return {collective_->request(), 1}; }
  void end(std::size_t batch) override;
  /// A collective cannot be cancelled, so no other one may use its communicator.
  void abandon() noexcept override { graph()->has_failed = true; }

 private:
  void copy(const std::vector<LocalCopy>& copies);

  Memory& memory_;
  PlanBuffers buffers_;
  std::vector<LocalCopy> self_, pack_, unpack_;
  std::unique_ptr<NeighborhoodCollective> collective_;
};

}  // namespace commpass
