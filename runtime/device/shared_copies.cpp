#include "runtime/device/shared_copies.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>

#include "model/base/error.hpp"
#include "runtime/device/find_device.hpp"
#include "runtime/device/staged_bytes.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

/// One side of a rank.
struct SharedCopies::Half {
  std::vector<SendEdge> edges;   ///< of receives, too: from the "destination"
  std::optional<Device> device;  ///< on which it lies
  std::byte* buffer = nullptr;   ///< byte 0, as this process reaches it
  Ends ends = Ends::reached;     ///< of copies; opened memory is one allocation
};

/// A rank whose data this one copies: itself, or the one that it helps.
struct SharedCopies::Role {
  Rank owner = 0;
  Half sends, receives;
};

/// The part of an edge that this rank sends or receives.
struct SharedCopies::Part {
  std::array<std::int64_t, 4> order{};  ///< source, destination, number of the edge and of the part: as on all ranks
  Rank peer = 0;
  Bytes offset = 0, bytes = 0;  ///< in the buffer of the role
};

namespace {

constexpr const char* remedy_without_copies = "use @staged without copies";

/// One side of a rank, as it sends it to its helpers.
struct SentHalf {
  bool is_on_device = false;
  DeviceHandle handle;
  Bytes begin = 0;  ///< of the shared memory, in the user's buffer
  std::int64_t edges = 0;
};

struct SentRank {
  bool has_failed = false;
  std::array<char, 16> kind{};  ///< of devices
  int device = 0;
  SentHalf sends, receives;
};

/// An address that may lie before an allocation.
std::byte* moved(std::byte* address, Bytes by) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(address) +  // NOLINT
                                      static_cast<std::uintptr_t>(by));
}

std::vector<SendEdge> edges_of(std::span<const SendEdge> sends) { return {sends.begin(), sends.end()}; }

std::vector<SendEdge> edges_of(std::span<const ReceiveEdge> receives) {
  std::vector<SendEdge> result;
  for (const auto& [source, offset, bytes] : receives) result.push_back({source, offset, bytes});
  return result;
}

template <class Half>
SentHalf make_sent_half(const Half& half) {
  SentHalf sent{half.device.has_value(), {}, 0, std::ssize(half.edges)};
  if (!half.device) return sent;
  const StagedRanges ranges(ranges_of(half.edges), 0);
  const auto begin = ranges.extent().offset;
  const auto& device = *half.device;
  if (ranges.ends(device, half.buffer) == Ends::anywhere)
    throw InputError("exchange", "a buffer on a device reaches over several allocations, which no other process opens",
                     remedy_without_copies);
  sent.handle = device.backend->share(device.number, half.buffer + begin);
  sent.begin = begin;
  return sent;
}

void send_edges(const std::vector<SendEdge>& edges, Rank helper, const Context::Address& address) {
  COMMPASS_MPI_CALL(MPI_Send, edges.data(), static_cast<int>(edges.size() * sizeof(SendEdge)), MPI_BYTE, helper,
                    address.tag, address.comm);
}

std::vector<SendEdge> receive_edges(std::int64_t count, Rank owner, const Context::Address& address) {
  std::vector<SendEdge> edges(static_cast<std::size_t>(count));
  COMMPASS_MPI_CALL(MPI_Recv, edges.data(), static_cast<int>(edges.size() * sizeof(SendEdge)), MPI_BYTE, owner,
                    address.tag, address.comm, MPI_STATUS_IGNORE);
  return edges;
}

OnDevice data_of(const DeviceSides& sides) {
  if (sides.sends) return sides.receives ? OnDevice::both : OnDevice::sends;
  return sides.receives ? OnDevice::receives : OnDevice::nothing;
}

}  // namespace

SharedCopies::SharedCopies(const Context& context, const Context::Address& address, const BuffersAndEdges& given,
                           int copies)
    : rank_(context.comm.rank()), helped_(rank_) {
  const MPI_Comm comm = context.comm.get();
  assemble(comm);
  std::vector<OnDevice> data;
  std::vector<Role> roles;
  const auto& sides = given.sides;
  all_or_none(comm, [&] {
    data.resize(static_cast<std::size_t>(context.layout.ranks()));
    roles.reserve(2);
    roles.push_back({rank_,
                     {edges_of(given.sends), sides.sends,
                      static_cast<std::byte*>(const_cast<void*>(given.send_buffer)),  // NOLINT: only read
                      sides.send_ends},
                     {edges_of(given.receives), sides.receives, static_cast<std::byte*>(given.receive_buffer),
                      sides.receive_ends}});
    self_ends_ = sides.both_ends();
  });
  const auto own = data_of(sides);
  COMMPASS_MPI_CALL(MPI_Allgather, &own, 1, MPI_BYTE, data.data(), 1, MPI_BYTE, comm);
  std::optional<CopyGroups> groups;
  all_or_none(comm, [&] {
    groups.emplace(context.layout, data, copies);
    helped_ = groups->helped(rank_);
    helpers_.assign(groups->helpers(rank_).begin(), groups->helpers(rank_).end());
    if (sides.any()) device_ = sides.device();
    if (helped_ != rank_) roles.push_back({helped_, {}, {}});
  });
  all_or_none(comm, [&] {
    if (!helpers_.empty()) inform_helpers(roles.front(), address);
    if (helped_ != rank_) learn_from_helped(roles.back(), address);
  });
  all_or_none(comm, [&] {
    add_self(roles.front());
    take_side(roles, &Role::sends, *groups, sends_);
    take_side(roles, &Role::receives, *groups, receives_);
    for (const auto& [source, offset, bytes] : receives_.edges) received_.push_back({source, offset, bytes});
    if (device_) queue_ = std::make_unique<DeviceQueue>(*device_, context.stream);
  });
}

/// A rank that fails sends its helpers the failure alone.
void SharedCopies::inform_helpers(const Role& own, const Context::Address& address) const {
  SentRank sent;
  Failure failure;
  attempt(failure, [&] {
    std::strncpy(sent.kind.data(), device_->backend->name(), sent.kind.size() - 1);
    sent.device = device_->number;
    sent.sends = make_sent_half(own.sends);
    sent.receives = make_sent_half(own.receives);
  });
  sent.has_failed = static_cast<bool>(failure);
  for (const Rank helper : helpers_) {
    COMMPASS_MPI_CALL(MPI_Send, &sent, static_cast<int>(sizeof sent), MPI_BYTE, helper, address.tag, address.comm);
    if (sent.has_failed) continue;
    send_edges(own.sends.edges, helper, address);
    send_edges(own.receives.edges, helper, address);
  }
  if (failure) throw Error(failure.sentence);
}

void SharedCopies::learn_from_helped(Role& other, const Context::Address& address) {
  SentRank sent;
  COMMPASS_MPI_CALL(MPI_Recv, &sent, static_cast<int>(sizeof sent), MPI_BYTE, helped_, address.tag, address.comm,
                    MPI_STATUS_IGNORE);
  if (sent.has_failed) return;  // and reports the failure
  other.sends.edges = receive_edges(sent.sends.edges, helped_, address);
  other.receives.edges = receive_edges(sent.receives.edges, helped_, address);
  const Device device{device_backend(sent.kind.data()), sent.device};
  if (!device.backend)
    throw InputError("exchange, rank " + std::to_string(rank_),
                     std::string("it has no driver of ") + sent.kind.data() + " to help a rank of its node with copies",
                     remedy_without_copies);
  device_ = device;
  const auto open = [&](const SentHalf& half, Half& opened) {
    if (!half.is_on_device) return;
    opened_.push_back({device.backend->open(device.number, half.handle),
                       [device](std::byte* memory) { device.backend->close(device.number, memory); }});
    opened.device = device;
    opened.buffer = moved(opened_.back().get(), half.handle.offset - half.begin);
  };
  open(sent.sends, other.sends);
  open(sent.receives, other.receives);
}

/// The k-th send of a rank to itself is its k-th receive from itself.
void SharedCopies::add_self(const Role& own) {
  const auto is_own = [&](const SendEdge& edge) { return edge.destination == own.owner && edge.bytes > 0; };
  auto next = own.receives.edges.begin();
  const auto end = own.receives.edges.end();
  const auto refuse = [&] {
    throw InputError("exchange, rank " + std::to_string(rank_), "it does not send to itself what it expects",
                     "make the edges match");
  };
  for (const auto& send : own.sends.edges) {
    if (!is_own(send)) continue;
    next = std::find_if(next, end, is_own);
    if (next == end || next->bytes != send.bytes) refuse();
    self_.push_back(
        {own.sends.buffer + send.offset, own.receives.buffer + next->offset, static_cast<std::size_t>(send.bytes)});
    ++next;
  }
  if (std::find_if(next, end, is_own) != end) refuse();
}

std::vector<SharedCopies::Part> SharedCopies::parts_of(const Role& role, Half Role::*half,
                                                       const CopyGroups& groups) const {
  const bool is_sent = half == &Role::sends;
  std::vector<Part> result;
  std::map<Rank, std::int64_t> count;
  for (const auto& [peer, offset, bytes] : (role.*half).edges) {
    const auto index = count[peer]++;
    if (bytes <= 0 || peer == role.owner) continue;
    const Rank source = is_sent ? role.owner : peer, destination = is_sent ? peer : role.owner;
    std::int64_t number = 0;
    for (const auto& share : groups.shares(source, destination, index, bytes)) {
      if ((is_sent ? share.sender : share.receiver) == rank_)
        result.push_back({{source, destination, index, number},
                          is_sent ? share.receiver : share.sender,
                          offset + share.offset,
                          share.bytes});
      ++number;
    }
  }
  return result;
}

/// Makes the edges of this rank, and the copies between the user's buffers and ours.
void SharedCopies::take_side(const std::vector<Role>& roles, Half Role::*half, const CopyGroups& groups, Side& side) {
  const bool is_sent = half == &Role::sends;
  struct Placed {
    Part part;
    Bytes place;
  };
  std::vector<Placed> placed;
  std::vector<std::vector<StagedRanges::Range>> staged(roles.size());
  for (std::size_t r = 0; r < roles.size(); ++r) {
    const auto parts = parts_of(roles[r], half, groups);
    const StagedRanges ranges(ranges_of(parts), 0);
    for (const auto& part : parts) placed.push_back({part, side.bytes + ranges.place_of(part.offset)});
    for (auto range : ranges.ranges()) {
      range.place += side.bytes;
      staged[r].push_back(range);
    }
    side.bytes += ranges.bytes();
  }
  side.host = device_ ? pinned_buffer(*device_, side.bytes) : host_memory().allocate(side.bytes);
  for (std::size_t r = 0; r < roles.size(); ++r) {
    const auto& [edges, device, buffer, ends] = roles[r].*half;
    if (device && ends == Ends::anywhere) side.ends = Ends::anywhere;
    for (const auto& [offset, bytes, place] : staged[r]) {
      std::byte *const users = moved(buffer, offset), *const ours = side.host.get() + place;
      (device ? side.on_device : side.on_host)
          .push_back({is_sent ? users : ours, is_sent ? ours : users, static_cast<std::size_t>(bytes)});
    }
  }
  // Several edges between two ranks match by their order.
  std::ranges::sort(placed, {}, [](const Placed& its) { return its.part.order; });
  for (const auto& [part, place] : placed) side.edges.push_back({part.peer, place, part.bytes});
}

void SharedCopies::wait_for_user() {
  if (!queue_) return;
  queue_->follow_user();
  queue_->wait();
}

void SharedCopies::copy(const Side& side) {
  if (queue_) queue_->copy(side.on_device, side.ends);
  local_copy(side.on_host);
  if (queue_) queue_->wait();
}

void SharedCopies::copy_self() {
  if (queue_) queue_->copy(self_, self_ends_);
  else local_copy(self_);
}

}  // namespace commpass
