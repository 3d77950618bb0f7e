// A stream of the user, for tests.
#pragma once

#include "runtime/device/emulated_device.hpp"

namespace commpass::test {

class UsersStream {
 public:
  UsersStream() : stream_(EmulatedDevices::get().make_stream(0)) {}
  ~UsersStream() { EmulatedDevices::get().free_stream(0, stream_); }
  UsersStream(const UsersStream&) = delete;
  UsersStream& operator=(const UsersStream&) = delete;
  DeviceBackend::Stream get() const { return stream_; }

 private:
  DeviceBackend::Stream stream_;
};

}  // namespace commpass::test
