#include "runtime/alltoall/mirrored_blocks.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "model/base/error.hpp"
#include "runtime/device/find_device.hpp"

namespace commpass {

namespace {

/// Of the first block that is not empty.
std::optional<Device> device_of_blocks(const AlltoallBlocks<const std::byte*>& blocks) {
  for (Rank rank = 0; rank < std::ssize(blocks.counts); ++rank)
    if (blocks.bytes(rank) > 0) return device_of(blocks.at(rank) + blocks.type->begin());
  return {};
}

}  // namespace

void MirroredBlocks::add_range(std::byte* at, Bytes bytes) {
  if (!copies_.empty() && copies_.back().from + copies_.back().bytes == at)
    copies_.back().bytes += static_cast<std::size_t>(bytes);
  else copies_.push_back({at, nullptr, static_cast<std::size_t>(bytes)});
}

void MirroredBlocks::assign(Side side, const void* buffer, const BlocksArgument& argument,
                            DeviceBackend::Stream users) {
  users_ = static_cast<std::byte*>(const_cast<void*>(buffer));  // NOLINT: a send buffer is only read
  const auto blocks = argument.blocks<const std::byte*>(users_);
  device_ = device_of_blocks(blocks);
  if (!device_) return;
  if (!blocks.type->is_contiguous())
    throw InputError(side == Side::send ? "alltoallv, send side" : "alltoallv, receive side",
                     "elements of a datatype with gaps lie in device memory",
                     "pack them there, or give a buffer in host memory");
  stream_ = users;
  copies_.clear();
  for (Rank rank = 0; rank < std::ssize(blocks.counts); ++rank)
    if (blocks.bytes(rank) > 0) add_range(const_cast<std::byte*>(blocks.at(rank)), blocks.bytes(rank));  // NOLINT
  const auto end_of = [](const LocalCopy& copy) { return copy.from + copy.bytes; };
  begin_ = const_cast<std::byte*>(std::ranges::min(copies_, std::less<>(), &LocalCopy::from).from);  // NOLINT
  bytes_ = end_of(std::ranges::max(copies_, std::less<>(), end_of)) - begin_;
  ends_ = device_->backend->is_one_allocation(begin_, bytes_) ? Ends::reached : Ends::anywhere;
}

void* MirroredBlocks::stage() {
  if (!device_) return users_;
  if (!queue_ || queue_->device() != *device_ || streams_of_queue_ != stream_) {
    host_ = nullptr;
    room_ = 0;
    queue_ = std::make_unique<DeviceQueue>(*device_, stream_);
    streams_of_queue_ = stream_;
  }
  queue_->wait();  // which may still copy from there, of the call before
  if (bytes_ > room_) {
    host_ = pinned_buffer(*device_, bytes_);
    room_ = bytes_;
  }
  for (auto& copy : copies_) copy.to = host_.get() + (copy.from - begin_);
  // Displacements count from the buffer, which may lie before the first block.
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(host_.get()) -  // NOLINT
                                 (reinterpret_cast<std::uintptr_t>(begin_) - reinterpret_cast<std::uintptr_t>(users_)));
}

void MirroredBlocks::copy_out() {
  if (!device_) return;
  queue_->follow_user();
  queue_->copy(copies_, ends_);
  queue_->wait();
}

void MirroredBlocks::copy_in() {
  if (!device_) return;
  queue_->follow_user();  // which may still read or write there
  for (auto& copy : copies_) copy = {copy.to, const_cast<std::byte*>(copy.from), copy.bytes};  // NOLINT: the user's
  queue_->copy(copies_, ends_);
  queue_->let_user_follow();
}

}  // namespace commpass
