// An exchange whose data on devices several processes copy: signals between them around its batches. Private to the
// runtime.
#pragma once

#include <memory>

#include "runtime/device/shared_copies.hpp"
#include "runtime/execute/batch_requests.hpp"
#include "runtime/mpi/own_requests.hpp"

namespace commpass {

/// Before the first batch a rank signals its helpers that its data may be copied; after the last one they signal that
/// its receives are complete. Signals are two more batches, so that waiting for them moves on other exchanges.
class SharedRequests final : public BatchRequests {
 public:
  /// @param on_host  the exchange in the buffers of `copies`
  /// @throws MpiError, std::bad_alloc
  SharedRequests(std::shared_ptr<SharedCopies> copies, const Context::Address& address,
                 std::unique_ptr<BatchRequests> on_host);

  std::size_t batches() const override { return on_host_->batches() + 2; }
  void begin(std::size_t batch) override;
  std::span<MPI_Request> requests() override;
  MPI_Status* statuses() override { return is_signal() ? BatchRequests::statuses() : on_host_->statuses(); }
  bool are_complete(const char* call, int code) override;
  void end(std::size_t batch) override;
  void abandon() noexcept override;

 private:
  bool is_signal() const { return current_ == 0 || current_ + 1 == batches(); }
  OwnRequests& signals() { return current_ == 0 ? ready_ : done_; }

  std::shared_ptr<SharedCopies> copies_;
  std::unique_ptr<BatchRequests> on_host_;  ///< which goes before its buffers
  OwnRequests ready_, done_;
  std::size_t current_ = 0;
};

}  // namespace commpass
