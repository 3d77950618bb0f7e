// Requests for data on a device: with addresses on the device, or staged through host memory. Private to the runtime.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "runtime/device/device_data.hpp"
#include "runtime/device/staged_bytes.hpp"
#include "runtime/execute/batch_requests.hpp"

namespace commpass {

/// Requests with addresses on a device. They begin after the present work of the user's stream; when they are complete,
/// so are their copies.
class DeviceRequests final : public RequestsAround {
 public:
  /// @throws DeviceError
  DeviceRequests(const DeviceSides& sides, DeviceBackend::Stream users)
      : queue_(sides.device(), users), memory_(queue_, sides.both_ends()) {}
  ~DeviceRequests() override { drop(); }
  /// For the requests.
  Memory& memory() { return memory_; }

 private:
  void before() override {
    queue_.follow_user();
    queue_.wait();
  }

  DeviceQueue queue_;
  DeviceMemory memory_;
};

/// Requests in host memory. Before the first messages, one batch of copies brings the bytes for other ranks to pinned
/// memory. After the last messages, one batch copies received bytes back, before later work of the user's stream. Bytes
/// to the rank itself stay on the device. A side in host memory is not staged.
class StagedRequests final : public RequestsAround {
 public:
  /// @param rank   of this process
  /// @param users  the user's stream
  /// @throws DeviceError, std::bad_alloc
  StagedRequests(const BuffersAndEdges& given, Rank rank, DeviceBackend::Stream users, const Plan& plan);
  ~StagedRequests() override { drop(); }

  /// The plan on the host, which they have to run.
  Plan host_plan(const Plan& plan) const {
    return staged_plan(plan, given_.sides.sends ? &sends_.ranges() : nullptr,
                       given_.sides.receives ? &receives_.ranges() : nullptr);
  }
  const void* host_send_buffer() const { return given_.sides.sends ? sends_.host() : given_.send_buffer; }
  void* host_receive_buffer() const { return given_.sides.receives ? receives_.host() : given_.receive_buffer; }
  /// Of our buffers.
  Bytes bytes() const { return sends_.ranges().bytes() + receives_.ranges().bytes(); }

 private:
  void before() override;
  void meanwhile() override { queue_.copy(self_, given_.sides.both_ends()); }
  void after() override;

  BuffersAndEdges given_;         ///< whose edges are not read after construction
  StagedBytes sends_, receives_;  ///< of nothing, where a side is in host memory
  std::vector<LocalCopy> self_;
  DeviceQueue queue_;  ///< waits for its copies before the buffers go
};

}  // namespace commpass
