// Data on a device that is exchanged in host memory: copied there before, and back afterwards. Private to the runtime.
#pragma once

#include <memory>
#include <vector>

#include "runtime/device/device_data.hpp"
#include "runtime/device/device_queue.hpp"
#include "runtime/device/staged_ranges.hpp"
#include "runtime/execute/requests_around.hpp"

namespace commpass {

/// The bytes that a rank sends to others are copied, in one batch, into pinned memory before the first messages. Those
/// that have come are copied back in one after the last ones, before what the user's stream gets to do then. What a
/// rank sends to itself stays on the device. A side in host memory is left where it is.
class StagedRequests final : public RequestsAround {
 public:
  /// @param rank   of this process
  /// @param users  the user's stream
  /// @throws DeviceError, std::bad_alloc
  StagedRequests(const BuffersAndEdges& given, Rank rank, DeviceBackend::Stream users, const Plan& plan);
  ~StagedRequests() override { drop(); }

  /// What is left to do on the host. To be followed by run_by().
  const Plan& host_plan() const { return host_plan_; }
  const void* host_send_buffer() const { return sends_.is_staged ? sends_.host.get() : given_.send_buffer; }
  void* host_receive_buffer() const { return receives_.is_staged ? receives_.host.get() : given_.receive_buffer; }
  /// How that is run.
  void run_by(std::unique_ptr<BatchRequests> on_host);
  /// Of our buffers.
  Bytes bytes() const { return sends_.ranges.bytes() + receives_.ranges.bytes(); }

  void begin(std::size_t batch) override;
  void end(std::size_t batch) override;

 private:
  struct Side {
    bool is_staged = false;
    Ends ends = Ends::anywhere;
    StagedRanges ranges{};
    Memory::Buffer host{};
    std::vector<LocalCopy> copies{};
  };

  BuffersAndEdges given_;  ///< whose edges are not read after construction
  Side sends_, receives_;
  std::vector<LocalCopy> self_;
  Ends self_ends_;
  Plan host_plan_;
  DeviceQueue queue_;  ///< waits for its copies before the buffers go
};

}  // namespace commpass
