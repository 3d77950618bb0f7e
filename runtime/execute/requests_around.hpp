// Requests with something to do before them and after them. Private to the runtime.
#pragma once

#include <memory>
#include <utility>

#include "runtime/execute/batch_requests.hpp"

namespace commpass {

/// Hands everything on to other requests; what derives from it adds what it has to do.
class RequestsAround : public BatchRequests {
 public:
  std::size_t batches() const override { return inner_->batches(); }
  void begin(std::size_t batch) override { inner_->begin(batch); }
  std::span<MPI_Request> requests() override { return inner_->requests(); }
  MPI_Status* statuses() override { return inner_->statuses(); }
  bool are_complete(const char* call, int code) override { return inner_->are_complete(call, code); }
  void end(std::size_t batch) override { inner_->end(batch); }
  void abandon() noexcept override { inner_->abandon(); }

 protected:
  RequestsAround() = default;
  /// Once, before anything else.
  void surround(std::unique_ptr<BatchRequests> inner) { inner_ = std::move(inner); }
  /// Before the memory goes in which they take place.
  void drop() { inner_.reset(); }

 private:
  std::unique_ptr<BatchRequests> inner_;
};

}  // namespace commpass
