// Batches of requests, which the executor runs.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

/// The batches of an exchange on one rank: persistent requests of a plan (PersistentRequests), immediate ones that are
/// made batch by batch (AlltoallRequests), or the MPI library's collective (LibraryRequests). None allocates in a run.
class BatchRequests {
 public:
  virtual ~BatchRequests() = default;
  BatchRequests(const BatchRequests&) = delete;
  BatchRequests& operator=(const BatchRequests&) = delete;

  /// At least one.
  virtual std::size_t batches() const = 0;
  /// The number of the batch of the plan, of which a batch is all or a group.
  virtual std::size_t planned_batch(std::size_t batch) const { return batch; }
  /// Packs sends, starts the requests, and does the work that needs no other rank. @throws MpiError
  virtual void begin(std::size_t batch) = 0;
  /// Of the batch that has begun, those that may not be complete.
  virtual std::span<MPI_Request> requests() = 0;
  /// As many, or MPI_STATUSES_IGNORE.
  virtual MPI_Status* statuses() { return MPI_STATUSES_IGNORE; }
  /// Moves on messages that are no requests of MPI. @return are any under way, so that a rank may not block for
  /// requests?
  virtual bool move_on() { return false; }
  /// Is the batch complete, after an MPI call that waits for or tests all requests? @throws MpiError for its code
  virtual bool are_complete(const char* call, int code) {
    check_mpi(call, code);
    return true;
  }
  /// Unpacks receives. @throws MpiError
  virtual void end(std::size_t batch) = 0;
  /// After an error of MPI: cancels the receives into the user's buffers.
  virtual void abandon() noexcept = 0;

 protected:
  BatchRequests() = default;
};

/// Other requests with work of this rank around them, and memory that holds their data.
class RequestsAround : public BatchRequests {
 public:
  /// Once, before any other call.
  void surround(std::unique_ptr<BatchRequests> inner) { inner_ = std::move(inner); }

  std::size_t batches() const override { return inner_->batches(); }
  std::size_t planned_batch(std::size_t batch) const override { return inner_->planned_batch(batch); }
  void begin(std::size_t batch) override {
    if (batch == 0) before();
    inner_->begin(batch);
    if (batch == 0) meanwhile();
  }
  std::span<MPI_Request> requests() override { return inner_->requests(); }
  MPI_Status* statuses() override { return inner_->statuses(); }
  bool move_on() override { return inner_->move_on(); }
  bool are_complete(const char* call, int code) override { return inner_->are_complete(call, code); }
  void end(std::size_t batch) override {
    inner_->end(batch);
    if (batch + 1 == batches()) after();
  }
  void abandon() noexcept override { inner_->abandon(); }

 protected:
  RequestsAround() = default;
  /// Destroys the other requests before a derived class frees their memory.
  void drop() { inner_.reset(); }
  virtual void before() {}     ///< the first batch
  virtual void meanwhile() {}  ///< while its messages travel
  virtual void after() {}      ///< the last batch

 private:
  std::unique_ptr<BatchRequests> inner_;
};

}  // namespace commpass
