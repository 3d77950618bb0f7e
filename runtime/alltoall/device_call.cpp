#include "runtime/alltoall/device_call.hpp"

#include <cstdint>
#include <iterator>

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

void DeviceCall::Blocks::find(Side side, const void* buffer, const BlocksArgument& argument) {
  users = static_cast<std::byte*>(const_cast<void*>(buffer));  // NOLINT: a send buffer is only read
  const auto blocks = argument.blocks<const std::byte*>(users);
  device = device_of_blocks(blocks);
  if (!device) return;
  if (!blocks.type->is_contiguous())
    throw InputError(side == Side::send ? "alltoallv, send side" : "alltoallv, receive side",
                     "elements of a datatype with gaps lie in device memory",
                     "pack them there, or give a buffer in host memory");
  ranges.clear();
  for (Rank rank = 0; rank < std::ssize(blocks.counts); ++rank) ranges.add(blocks.at(rank) - users, blocks.bytes(rank));
  ranges.mirror();
  ends = ranges.ends(*device, users);
}

void* DeviceCall::Blocks::stage(DeviceBackend::Stream stream) {
  if (!device) return users;
  if (!staged || !staged->queue().serves(*device, stream)) {
    staged.reset();
    staged = std::make_unique<StagedBuffer>(*device, stream);
  }
  staged->assign(ranges);
  // Displacements count from the buffer, which may lie before the first block.
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(staged->host()) -  // NOLINT
                                 static_cast<std::uintptr_t>(ranges.extent().offset));
}

void DeviceCall::find(const AlltoallCall& call, const AlltoallvArguments& arguments, DeviceBackend::Stream users) {
  sendbuf_ = call.sends.buffer;
  recvbuf_ = call.receive_buffer();
  stream_ = users;
  is_in_place_ = call.is_in_place();
  receives_.find(Side::receive, recvbuf_, arguments.receives);
  sends_.device.reset();
  if (!is_in_place_) sends_.find(Side::send, sendbuf_, arguments.sends);
  has_gaps_ = !arguments.receives.type->is_contiguous() || (!is_in_place_ && !arguments.sends.type->is_contiguous());
}

DeviceCall::Obstacle DeviceCall::obstacle() const {
  if (sends_.device && receives_.device && *sends_.device != *receives_.device) return Obstacle::two_devices;
  if (has_gaps_) return Obstacle::gaps_in_host_memory;
  return device().backend->is_known_to_mpi() ? Obstacle::none : Obstacle::mpi;
}

DeviceUse DeviceCall::use() const {
  if (!is_used()) return {};
  return {true, obstacle() != Obstacle::none};
}

void DeviceCall::require_for_mpi(const std::string& place) const {
  if (!is_used()) return;
  const auto refuse = [&](const std::string& what, const std::string& otherwise) {
    throw InputError(place, what, "use @staged in place of @device, or " + otherwise);
  };
  const auto why = obstacle();
  if (why == Obstacle::two_devices)
    refuse("the send buffer lies on another device than the receive buffer", "let both lie on one device");
  if (why == Obstacle::gaps_in_host_memory)
    refuse("one side lies on a device and the other one has elements of a datatype with gaps", "pack these");
  if (why == Obstacle::mpi)
    refuse(std::string("the MPI library does not take ") + device().backend->name() +
               " memory, or does not say that it does",
           "an MPI library that is device-aware");
}

/// Of copies between one of the user's buffers and memory of the device, or between both.
Ends DeviceCall::ends() const {
  const bool are_sends_reached = is_in_place_ || (sends_.device && sends_.ends == Ends::reached);
  return are_sends_reached && receives_.device ? receives_.ends : Ends::anywhere;
}

void DeviceCall::open_device() {
  if (!queue_ || !queue_->serves(device(), stream_)) {
    queue_ = nullptr;
    on_device_ = {};
    queue_ = std::make_unique<DeviceQueue>(device(), stream_);
  }
  memory_.emplace(*queue_, ends());
  on_device_.memory = &*memory_;
  queue_->follow_user();
  queue_->wait();
}

DeviceCall::Buffers DeviceCall::begin(const DataPath& path) {
  is_staged_ = is_used();
  if (!is_staged_) return {sendbuf_, recvbuf_, &on_host_};
  if (path.kind == DataPath::Kind::device && obstacle() == Obstacle::none) {
    is_staged_ = false;
    open_device();
    return {sendbuf_, recvbuf_, &on_device_};
  }
  void* const to = receives_.stage(stream_);
  if (is_in_place_) {
    receives_.copy_out();
    return {MPI_IN_PLACE, to, &on_host_};
  }
  const void* const from = sends_.stage(stream_);
  sends_.copy_out();
  return {from, to, &on_host_};
}

void DeviceCall::end() {
  if (is_staged_) receives_.copy_in();
}

}  // namespace commpass
