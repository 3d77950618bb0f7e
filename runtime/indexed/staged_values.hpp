// Arrays of values that lie on a device, in host memory as far as an indexed exchange touches them. Private to the
// runtime.
#pragma once

#include <memory>
#include <optional>

#include "runtime/device/staged_bytes.hpp"
#include "runtime/indexed/value_runs.hpp"

namespace commpass {

/// Which values of the user's arrays, from one of them to the other, and of the buffers of an exchange go where.
struct ValueWays {
  ValueRuns gather, gather_more;    ///< from the first array to the send buffer (ValueWiring)
  ValueRuns own, own_more;          ///< copied from the first array to the second one, and added there
  ValueRuns deliver, deliver_more;  ///< likewise, from the receive buffer to the second array
};

/// One direction of an exchange whose arrays, one of them or both, lie on devices. An array in host memory is used
/// where it is.
class StagedValues {
 public:
  struct Place {
    std::optional<Device> from, to;  ///< nothing: in host memory
    DeviceBackend::Stream users = nullptr;
    bool operator==(const Place&) const = default;
  };

  /// @param adds  are received values added to the second array, and not put there?
  /// @throws DeviceError, std::bad_alloc
  StagedValues(const ValueWays& ways, Bytes value_bytes, const Place& place, bool adds);
  const Place& place() const { return place_; }
  /// The same as those given, for the arrays below.
  const ValueWays& ways() const { return ways_; }

  /// The arrays of an exchange that begins, in their places.
  void take(const void* from, void* to);
  const void* from() const { return from_ ? from_->host() : users_from_; }
  void* to() const { return to_ ? to_->host() : users_to_; }
  /// The second array has got all.
  void give_back();

 private:
  Place place_;
  ValueWays ways_;
  bool adds_;
  std::unique_ptr<StagedBuffer> from_, to_;
  const void* users_from_ = nullptr;
  void* users_to_ = nullptr;
};

}  // namespace commpass
