#include "runtime/alltoall/alltoall_data.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "model/base/error.hpp"
#include "runtime/alltoall/library_alltoallv.hpp"
#include "runtime/device/find_device.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

void AlltoallData::make_room(int ranks) {
  const auto size = static_cast<std::size_t>(ranks);
  for (auto* half : {&sends_, &receives_}) half->blocks.reserve(size);
  copies_.reserve(size);
}

void AlltoallData::Half::assign(const char* name, const CallSide& side, MPI_Comm comm) {
  if (side.count < 0) throw CallError(MPI_ERR_COUNT, name, fmt::format("the count is {}", side.count), "use 0 or more");
  blocks.assign(name, side, ranks_in(comm), comm);
  users = static_cast<std::byte*>(side.writable());
  device = device_of(blocks.first_byte(users));
  if (!device) return;
  if (!blocks.are_contiguous())
    throw InputError(name, "elements of a datatype with gaps lie in device memory",
                     "pack them there, or give a buffer in host memory");
  ranges.clear();
  for (std::size_t i = 0; i < blocks.size(); ++i) ranges.add(blocks[i].offset, blocks.bytes(i));
  ranges.mirror();
  ends = ranges.ends(*device, users);
}

void* AlltoallData::Half::stage(DeviceBackend::Stream stream) {
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

void AlltoallData::assign(const AlltoallCall& call, MPI_Comm comm, DeviceBackend::Stream users) {
  const bool is_w = call.shape() == CallSide::Shape::w;
  call_ = call;
  comm_ = comm;
  stream_ = users;
  receives_.assign(is_w ? "alltoallw, receive side" : "alltoallv, receive side", call.receives, comm);
  sends_.device.reset();
  if (!call.is_in_place()) sends_.assign(is_w ? "alltoallw, send side" : "alltoallv, send side", call.sends, comm);
}

std::optional<Bytes> AlltoallData::block_bytes() const {
  return call_.shape() == CallSide::Shape::equal ? std::optional(receives_.blocks.bytes(0)) : std::nullopt;
}

bool AlltoallData::is_countable() const {
  if (call_.shape() != CallSide::Shape::w) return are_countable(call_);
  for (const auto* blocks : {&sent(), &receives_.blocks}) {
    Bytes total = 0;
    for (std::size_t i = 0; i < blocks->size(); ++i) total += blocks->bytes(i);
    if (total > largest_library_number) return false;
  }
  return true;
}

AlltoallData::Obstacle AlltoallData::obstacle() const {
  if (sends_.device && receives_.device && *sends_.device != *receives_.device) return Obstacle::two_devices;
  if (!receives_.blocks.are_contiguous() || !sent().are_contiguous()) return Obstacle::gaps_in_host_memory;
  return device().backend->is_known_to_mpi() ? Obstacle::none : Obstacle::mpi;
}

DeviceUse AlltoallData::use() const {
  if (!is_used()) return {};
  return {true, obstacle() != Obstacle::none};
}

void AlltoallData::require_for_mpi(const std::string& place) const {
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
Ends AlltoallData::ends() const {
  const bool are_sends_reached = is_in_place() || (sends_.device && sends_.ends == Ends::reached);
  return are_sends_reached && receives_.device ? receives_.ends : Ends::anywhere;
}

void AlltoallData::open_device() {
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

void AlltoallData::begin(const DataPath& path) {
  from_ = sends_.users;
  to_ = receives_.users;
  space_ = &on_host_;
  is_there_ = true;
  is_in_bytes_ = false;
  const bool is_on_device = is_used() && path.kind == DataPath::Kind::device && obstacle() == Obstacle::none;
  is_staged_ = is_used() && !is_on_device;
  if (is_on_device) {
    open_device();
    space_ = &on_device_;
  }
  if (is_staged_) {
    auto& sent = is_in_place() ? receives_ : sends_;
    to_ = receives_.stage(stream_);
    if (!is_in_place()) from_ = sends_.stage(stream_);
    if (sent.device) sent.staged->read(sent.users, sent.ends);
  }
  if (is_in_place()) send_in_place();
}

/// Copies the contents of the receive buffer, if there is memory.
void AlltoallData::send_in_place() {
  auto& blocks = sends_.blocks;
  blocks.clear();
  const auto bytes = blocks.number_of(MPI_BYTE, comm_);
  const auto received = receives();
  Bytes total = 0;
  for (Rank rank = 0; rank < static_cast<Rank>(receives_.blocks.size()); ++rank) {
    blocks.add({rank, total, received.bytes(rank), bytes});
    total += received.bytes(rank);
  }
  is_there_ = space_->try_reserve(space_->in_place, total);
  auto* const copy = space_->in_place.data();
  from_ = copy;
  if (!is_there_) return;
  for (Rank rank = 0; rank < static_cast<Rank>(blocks.size()); ++rank) {
    auto* const to = copy + blocks[static_cast<std::size_t>(rank)].offset;
    if (received.is_plain(rank)) copies_.add(received.at(rank), to, received.bytes(rank));
    else received.pack(rank, to);
  }
  copies_.run(*space_->memory);
}

CallSide AlltoallData::Half::as_bytes(const void* buffer) {
  blocks.lay_out(TypedBlocks::Places::users);
  bool is_packed = !buffer || !blocks.are_contiguous();
  for (std::size_t i = 0; i < blocks.size(); ++i) is_packed = is_packed || blocks[i].place > largest_library_number;
  if (is_packed) blocks.lay_out(TypedBlocks::Places::packed);
  counts.clear();
  displacements.clear();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    counts.push_back(blocks.bytes(i));
    displacements.push_back(blocks[i].place);
  }
  return CallSide::v(blocks.buffer(buffer), counts, displacements, MPI_BYTE);
}

AlltoallCall AlltoallData::library_call() {
  auto result = call_;
  result.sends.buffer = from_;
  result.receives.buffer = to_;
  is_in_bytes_ = call_.shape() == CallSide::Shape::w;
  if (!is_in_bytes_) return result;
  result = {sends_.as_bytes(from_), receives_.as_bytes(to_)};
  sends_.blocks.pack(from_);
  return result;
}

void AlltoallData::end() {
  if (is_in_bytes_) receives_.blocks.unpack(to_);
  if (is_staged_ && receives_.device) receives_.staged->write(receives_.users, receives_.ends);
}

}  // namespace commpass
