#include "runtime/execute/node_streams.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/execute/immediate_requests.hpp"
#include "runtime/execute/memory.hpp"
#include "runtime/mpi/agreement.hpp"

namespace commpass {

NodeStreams::NodeStreams(std::unique_ptr<NodeRings> rings)
    : rings_(std::move(rings)), outgoing_(rings_->ranks_of_node()), incoming_(rings_->ranks_of_node()) {
  for (const Rank peer : rings_->reached()) {
    outgoing_[rings_->number_of(peer)].ring = &rings_->outgoing(peer);
    incoming_[rings_->number_of(peer)].ring = &rings_->incoming(peer);
  }
}

std::unique_ptr<NodeStreams> NodeStreams::share(const Context& context) {
  auto rings = NodeRings::share(context);
  std::unique_ptr<NodeStreams> result;
  if (!rings) return result;
  all_or_none(context.comm.get(), [&] {
    result.reset(new NodeStreams(std::move(rings)));  // NOLINT: the constructor is private
  });
  return result;
}

void NodeStreams::make_room(std::size_t messages) {
  sends_.reserve(messages);
  receives_.reserve(messages);
}

void NodeStreams::send(Rank to, const std::byte* from, Bytes bytes) {
  auto& end = outgoing_[rings_->number_of(to)];
  Sending message{&end, end.begun++, from, bytes, bytes};
  if (!push(message)) sends_.push_back(message);
}

void NodeStreams::receive(Rank from, std::byte* to, Bytes bytes, Bytes& got) {
  auto& end = incoming_[rings_->number_of(from)];
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
  rings_->abandon();
}

/// @return is all of it in the ring?
bool NodeStreams::push(Sending& message) const {
  auto& end = *message.end;
  if (message.turn != end.ended) return false;
  do {
    auto* const to = rings_->room(*end.ring);
    if (!to) return false;
    const Header header{0, exchange_, message.bytes};
    constexpr auto behind_number = sizeof header.number;
    std::memcpy(to + behind_number, &header.exchange, sizeof header - behind_number);
    const auto bytes = std::min(message.rest, rings_->part_bytes());
    push_bytes(message.from, to + Header::bytes_before(message.bytes), bytes);
    message.from += bytes;
    message.rest -= bytes;
    rings_->fill(*end.ring);
  } while (message.rest > 0);
  ++end.ended;
  return true;
}

/// @return has it come, or will it never?
bool NodeStreams::take(Receiving& message) const {
  auto& end = *message.end;
  if (message.turn != end.ended) return false;
  while (const auto* const from = rings_->next(*end.ring)) {
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
    const auto bytes = std::min(end.rest, rings_->part_bytes());
    if (end.to) {
      push_bytes(from + end.before, end.to, bytes);
      end.to += bytes;
    }
    end.rest -= bytes;
    rings_->take_out(*end.ring);
    if (end.rest == 0 && end.is_expected) {
      ++end.ended;
      return true;
    }
  }
  return false;
}

}  // namespace commpass
