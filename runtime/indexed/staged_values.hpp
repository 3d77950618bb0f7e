// Arrays of values that lie on a device, in host memory as far as an indexed exchange touches them. Private to the
// runtime.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/device/staged_bytes.hpp"
#include "runtime/indexed/value_runs.hpp"

namespace commpass {

/// Which values of the user's arrays, from one of them to the other, and of the buffers of an exchange go where.
struct ValueWays {
  ValueRuns gather, gather_more;    ///< from the first array to the send buffer (ValueWiring)
  ValueRuns own, own_more;          ///< copied from the first array to the second one, and added there
  ValueRuns deliver, deliver_more;  ///< likewise, from the receive buffer to the second array
};

/// Values in pinned memory, which kernels put and add to an array on a device.
class ValuesToAdd {
 public:
  /// @param ways  of which those to the array are replaced by ways to host()
  /// @throws DeviceError, std::bad_alloc
  ValuesToAdd(const Device& device, DeviceBackend::Stream users, ValueWays& ways, Bytes value_bytes,
              NumberType numbers);
  std::byte* host() const { return host_.get(); }
  /// Makes the copies and the additions, each value's in the order of `ways`.
  void run(void* array);

 private:
  std::span<const LocalCopy> pieces_of(const ValueRuns& runs, void* array);

  Bytes value_bytes_;
  NumberType numbers_;
  ValueRuns copies_;
  std::vector<ValueRuns> additions_;  ///< in rounds, each of which adds to a value at most once
  std::vector<LocalCopy> pieces_;
  Memory::Buffer host_;
  DeviceQueue queue_;  ///< waits for its kernels before their memory goes
};

/// One direction of an exchange whose arrays, one of them or both, lie on devices. An array in host memory is used
/// where it is. Numbers are added on a device by its kernel, where it has one, others in host memory.
class StagedValues {
 public:
  struct Place {
    std::optional<Device> from, to;  ///< nothing: in host memory
    DeviceBackend::Stream users = nullptr;
    std::optional<NumberType> adds{};  ///< to the second array; nothing: values are put there
    bool operator==(const Place&) const = default;
  };

  /// @throws DeviceError, std::bad_alloc
  StagedValues(const ValueWays& ways, Bytes value_bytes, const Place& place);
  const Place& place() const { return place_; }
  /// The same as those given, for the arrays below.
  const ValueWays& ways() const { return ways_; }

  /// The arrays of an exchange that begins, in their places.
  void take(const void* from, void* to);
  const void* from() const { return from_ ? from_->host() : users_from_; }
  void* to() const { return adding_ ? adding_->host() : to_ ? to_->host() : users_to_; }
  /// The second array has got all.
  void give_back();

 private:
  Place place_;
  ValueWays ways_;
  std::unique_ptr<StagedBuffer> from_, to_;
  std::unique_ptr<ValuesToAdd> adding_;  ///< in place of `to_`
  const void* users_from_ = nullptr;
  void* users_to_ = nullptr;
};

}  // namespace commpass
