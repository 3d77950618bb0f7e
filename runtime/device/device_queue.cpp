#include "runtime/device/device_queue.hpp"

namespace commpass {

DeviceQueue::DeviceQueue(const Device& device, DeviceBackend::Stream users) : device_(device), users_(users) {
  auto& backend = *device_.backend;
  try {
    own_ = backend.make_stream(device_.number);
    users_work_ = backend.make_event(device_.number);
    own_work_ = backend.make_event(device_.number);
  } catch (...) {
    release();
    throw;
  }
}

DeviceQueue::~DeviceQueue() { release(); }

void DeviceQueue::release() noexcept {
  auto& backend = *device_.backend;
  if (own_) backend.free_stream(device_.number, own_);
  if (users_work_) backend.free_event(device_.number, users_work_);
  if (own_work_) backend.free_event(device_.number, own_work_);
}

void DeviceQueue::follow_user() {
  device_.backend->record(device_.number, users_work_, users_);
  device_.backend->wait_in_stream(device_.number, own_, users_work_);
}

void DeviceQueue::copy(std::span<const LocalCopy> copies) {
  if (!copies.empty()) device_.backend->copy(device_.number, copies, own_);
}

void DeviceQueue::let_user_follow() {
  device_.backend->record(device_.number, own_work_, own_);
  device_.backend->wait_in_stream(device_.number, users_, own_work_);
}

void DeviceQueue::wait() { device_.backend->synchronize(device_.number, own_); }

Memory::Buffer pinned_buffer(const Device& device, Bytes bytes) {
  if (bytes == 0) return nullptr;
  return {device.backend->allocate_pinned(device.number, bytes),
          [device](std::byte* memory) { device.backend->free_pinned(device.number, memory); }};
}

Memory::Buffer device_buffer(const Device& device, Bytes bytes) {
  if (bytes == 0) return nullptr;
  return {device.backend->allocate(device.number, bytes),
          [device](std::byte* memory) { device.backend->deallocate(device.number, memory); }};
}

}  // namespace commpass
