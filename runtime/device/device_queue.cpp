#include "runtime/device/device_queue.hpp"

#include <algorithm>

#include "runtime/device/piece_kernels.hpp"
#include "runtime/device/staged_bytes.hpp"

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

bool DeviceQueue::has_kernel() {
  if (!has_kernel_) has_kernel_ = device_.backend->why_no_kernel(device_.number).empty();
  return *has_kernel_;
}

bool DeviceQueue::packs(std::size_t pieces, Bytes bytes) {
  return pieces >= worth_a_kernel && bytes / static_cast<Bytes>(pieces) < worth_a_copy && has_kernel();
}

void DeviceQueue::copy(std::span<const LocalCopy> copies, Ends ends) {
  if (copies.empty()) return;
  const auto is_small = [](const LocalCopy& copy) { return copy.bytes < static_cast<std::size_t>(worth_a_copy); };
  const auto small = static_cast<std::size_t>(std::ranges::count_if(copies, is_small));
  if (ends == Ends::anywhere || small < worth_a_kernel || !has_kernel())
    return device_.backend->copy(device_.number, copies, own_);
  auto* const table = make_room(small);
  auto* next = table;
  for (const auto& each : copies) {
    if (is_small(each)) *next++ = each;
    else device_.backend->copy(device_.number, {&each, 1}, own_);
  }
  device_.backend->copy_by_kernel(device_.number, {table, small}, own_);
}

void DeviceQueue::copy_by_kernel(std::span<const LocalCopy> copies) {
  device_.backend->copy_by_kernel(device_.number, table_of(copies), own_);
}

void DeviceQueue::add_by_kernel(std::span<const LocalCopy> pieces, NumberType numbers) {
  if (!pieces.empty()) device_.backend->add_by_kernel(device_.number, table_of(pieces), numbers, own_);
}

std::span<const LocalCopy> DeviceQueue::table_of(std::span<const LocalCopy> pieces) {
  auto* const table = make_room(pieces.size());
  std::ranges::copy(pieces, table);
  return {table, pieces.size()};
}

/// After the part of the table that kernels may still read.
LocalCopy* DeviceQueue::make_room(std::size_t pieces) {
  if (used_ + pieces > room_) wait();
  if (pieces > room_) {
    table_ = pinned_buffer(device_, static_cast<Bytes>(2 * pieces * sizeof(LocalCopy)));
    room_ = 2 * pieces;
  }
  auto* const begin = reinterpret_cast<LocalCopy*>(table_.get()) + used_;  // NOLINT: as aligned as memory can be
  used_ += pieces;
  return begin;
}

void DeviceQueue::let_user_follow() {
  device_.backend->record(device_.number, own_work_, own_);
  device_.backend->wait_in_stream(device_.number, users_, own_work_);
}

void DeviceQueue::wait() {
  device_.backend->synchronize(device_.number, own_);
  used_ = 0;
}

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
