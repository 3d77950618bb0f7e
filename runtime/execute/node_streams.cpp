#include "runtime/execute/node_streams.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/choose/warn_once.hpp"
#include "runtime/execute/immediate_requests.hpp"
#include "runtime/execute/memory.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/oversubscription.hpp"

namespace commpass {

namespace {

constexpr std::uint64_t chunks_of_ring = 8;
constexpr Bytes part_bytes_max = Bytes{8} << 10;  // beyond, longer ones are hardly faster
constexpr Bytes bytes_of_rank =
    Bytes{1} << 20;  // for the parts in the rings of a rank, unless these would be less than:
constexpr Bytes part_bytes_min = Bytes{512};

/// The bytes of a message that a chunk takes.
Bytes part_bytes_for(int ranks_of_node) {
  const Bytes share = bytes_of_rank / ranks_of_node / static_cast<Bytes>(chunks_of_ring);
  return std::clamp(share / LandingSlot::line * LandingSlot::line, part_bytes_min, part_bytes_max);
}

/// The number of chunks that were taken out is the begin of the ring, in a line of its own.
SharedNumber taken_of(std::byte* ring) { return SharedNumber(ring); }

}  // namespace

NodeStreams::NodeStreams(const Context& context) {
  const auto& layout = context.layout;
  const auto& memory = *context.node_memory;
  const Rank rank = context.comm.rank();
  for (Rank peer = 0; peer < layout.ranks(); ++peer)
    numbers_.push_back(peer != rank && layout.node(peer) == layout.node(rank) ? memory.rank_on_node(peer) : -1);
  reached_ = static_cast<std::size_t>(std::ranges::count_if(numbers_, [](Rank number) { return number >= 0; }));
  const int ranks = memory.node().size();
  part_bytes_ = part_bytes_for(ranks);
  chunk_bytes_ = LandingSlot::line + part_bytes_;
  ring_bytes_ = LandingSlot::line + static_cast<Bytes>(chunks_of_ring) * chunk_bytes_;
  outgoing_.resize(static_cast<std::size_t>(ranks));
  incoming_.resize(outgoing_.size());
}

std::unique_ptr<NodeStreams> NodeStreams::share(const Context& context) {
  if (context.layout.max_ppn() == 1) return nullptr;
  const MPI_Comm comm = context.comm.get();
  auto& memory = *context.node_memory;
  std::unique_ptr<NodeStreams> result;
  std::vector<NodeMemory::Place> places;
  std::optional<NodeMemory::Range> range;
  if (may_share_memory()) {
    memory.open(comm);
    const auto ranks = static_cast<std::size_t>(memory.node().size());
    all_or_none(comm, [&] {
      result.reset(new NodeStreams(context));  // NOLINT: the constructor is private
      places.resize(ranks);
    });
    range = memory.take(comm, static_cast<Bytes>(ranks) * result->ring_bytes_);
  }
  if (!range) {
    warn_once("ranks of a node share no memory, or too little is left; their messages go by MPI.", context.comm.rank());
    return nullptr;
  }
  const auto mine = range->place();
  result->range_.emplace(std::move(*range));
  COMMPASS_MPI_CALL(MPI_Allgather, &mine, sizeof mine, MPI_BYTE, places.data(), sizeof mine, MPI_BYTE,
                    memory.node().get());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto ring_of = [&](NodeMemory::Place place, std::size_t sender) {
      place.offset += static_cast<Bytes>(sender) * result->ring_bytes_;
      return memory.address(place);
    };
    result->outgoing_[i].ring = ring_of(places[i], static_cast<std::size_t>(memory.node().rank()));
    result->incoming_[i].ring = ring_of(mine, i);
  }
  return result;
}

void NodeStreams::make_room(std::size_t messages) {
  sends_.reserve(messages);
  receives_.reserve(messages);
}

void NodeStreams::send(Rank to, const std::byte* from, Bytes bytes) {
  auto& end = outgoing_[static_cast<std::size_t>(numbers_[static_cast<std::size_t>(to)])];
  Sending message{&end, end.begun++, from, bytes, bytes};
  if (!push(message)) sends_.push_back(message);
}

void NodeStreams::receive(Rank from, std::byte* to, Bytes bytes, Bytes& got) {
  auto& end = incoming_[static_cast<std::size_t>(numbers_[static_cast<std::size_t>(from)])];
  receives_.push_back({&end, end.begun++, to, bytes, &got});
}

bool NodeStreams::move_on() {
  std::erase_if(sends_, [&](Sending& message) { return push(message); });
  std::erase_if(receives_, [&](Receiving& message) { return take(message); });
  return sends_.empty() && receives_.empty();
}

void NodeStreams::wait(MPI_Comm comm) {
  const auto are_complete = [&] {
    if (move_on()) return true;
    probe_.poll(comm);
    return false;
  };
  try {
    if (must_poll()) return wait_until(are_complete);
    while (!are_complete()) continue;
  } catch (...) {
    abandon();
    throw;
  }
}

void NodeStreams::abandon() noexcept {
  sends_.clear();
  receives_.clear();
  range_->keep();
}

std::byte* NodeStreams::chunk(const End& end) const {
  return end.ring + LandingSlot::line + static_cast<Bytes>(end.chunks % chunks_of_ring) * chunk_bytes_;
}

/// @return is all of it in the ring?
bool NodeStreams::push(Sending& message) const {
  auto& end = *message.end;
  if (message.turn != end.ended) return false;
  do {
    if (end.chunks - end.taken == chunks_of_ring) {
      end.taken = taken_of(end.ring).value();
      if (end.chunks - end.taken == chunks_of_ring) return false;
    }
    auto* const to = chunk(end);
    const Header header{0, exchange_, message.bytes};
    constexpr auto behind_number = sizeof header.number;
    std::memcpy(to + behind_number, &header.exchange, sizeof header - behind_number);
    const auto bytes = std::min(message.rest, part_bytes_);
    copy_bytes(message.from, to + Header::bytes_before(message.bytes), bytes);
    message.from += bytes;
    message.rest -= bytes;
    SharedNumber(to).raise(++end.chunks);
  } while (message.rest > 0);
  ++end.ended;
  return true;
}

/// @return has it come, or will it never?
bool NodeStreams::take(Receiving& message) const {
  auto& end = *message.end;
  if (message.turn != end.ended) return false;
  for (auto* from = chunk(end); SharedNumber(from).has_reached(end.chunks + 1); from = chunk(end)) {
    if (end.rest == 0) {  // a message begins
      Header header{};
      std::memcpy(&header, from, sizeof header);
      if (header.exchange > exchange_) {
        *message.got = 0;
        ++end.ended;
        return true;
      }
      end.is_expected = header.exchange == exchange_;
      end.rest = header.bytes;
      end.before = Header::bytes_before(header.bytes);
      const bool fits = header.bytes <= message.bytes;
      if (end.is_expected) *message.got = fits ? header.bytes : ImmediateRequests::truncated;
      end.to = end.is_expected && fits ? message.to : nullptr;
    }
    const auto bytes = std::min(end.rest, part_bytes_);
    if (end.to) {
      copy_bytes(from + end.before, end.to, bytes);
      end.to += bytes;
    }
    end.rest -= bytes;
    taken_of(end.ring).raise(++end.chunks);
    if (end.rest == 0 && end.is_expected) {
      ++end.ended;
      return true;
    }
  }
  return false;
}

}  // namespace commpass
