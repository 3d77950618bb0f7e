#include "runtime/sparse/node_mail.hpp"

#include <algorithm>
#include <cstring>

#include "model/base/error.hpp"
#include "runtime/execute/memory.hpp"

namespace commpass {

namespace {

constexpr std::size_t behind_number = SharedNumber::bytes;
constexpr std::uint32_t failed_at_start = 1, failed_underway = 2;

}  // namespace

Bytes NodeMail::bytes_before(Bytes parcel) { return NodeRings::bytes_before(parcel, behind_number + sizeof(Header)); }

void NodeMail::prepare(std::span<const Rank> partners, std::span<const Outgoing> parcels, Failures failures) {
  sends_.assign(parcels.begin(), parcels.end());
  std::ranges::stable_sort(sends_, {}, &Outgoing::peer);
  partners_.clear();
  for (const Rank partner : partners) {
    const auto begin = std::ranges::lower_bound(sends_, partner, {}, &Outgoing::peer),
               end = std::ranges::upper_bound(sends_, partner, {}, &Outgoing::peer);
    partners_.push_back({.rank = partner,
                         .next = static_cast<std::size_t>(begin - sends_.begin()),
                         .end = static_cast<std::size_t>(end - sends_.begin())});
  }
  failures_ = failures;
  told_failures_ = (failures.any_at_start() ? failed_at_start : 0) | (failures.any_underway() ? failed_underway : 0);
}

bool NodeMail::progress() {
  if (stage_ == 0) {
    if (post_.rings->is_abandoned())
      throw Error("sparse exchange: one before it has failed; go on with a new Communicator.");
    stage_ = ++post_.stages;
  }
  bool is_complete = true;
  for (auto& partner : partners_) {
    if (!partner.is_told) partner.is_told = send(partner);
    if (!partner.is_heard) partner.is_heard = receive(partner);
    is_complete = is_complete && partner.is_told && partner.is_heard;
  }
  return is_complete;
}

/// @return are all parcels in the ring?
bool NodeMail::send(Partner& partner) const {
  auto& ring = post_.rings->outgoing(partner.rank);
  const bool has_none = partner.next == partner.end;
  while (auto* const to = post_.rings->room(ring)) {
    const auto bytes = has_none ? std::span<const std::byte>() : sends_[partner.next].bytes;
    const Header header{stage_, has_none ? -1 : std::ssize(bytes), has_none || partner.next + 1 == partner.end,
                        told_failures_};
    std::memcpy(to + behind_number, &header, sizeof header);
    const Bytes part = std::min(std::ssize(bytes) - partner.sent, post_.rings->part_bytes());
    push_bytes(bytes.data() + partner.sent, to + bytes_before(header.bytes), part);
    post_.rings->fill(ring);
    partner.sent += part;
    if (partner.sent < std::ssize(bytes)) continue;
    partner.sent = 0;
    if (has_none || ++partner.next == partner.end) return true;
  }
  return false;
}

/// @return has the last parcel come?
bool NodeMail::receive(Partner& partner) {
  auto& ring = post_.rings->incoming(partner.rank);
  while (const auto* const from = post_.rings->next(ring)) {
    if (!partner.is_coming) {
      Header header;
      std::memcpy(&header, from + behind_number, sizeof header);
      if (header.stage != stage_) throw Error("sparse exchange: ranks of a node are not in the same stage.");
      expect(partner, header);
    }
    const Bytes part = std::min(partner.rest, post_.rings->part_bytes());
    if (partner.to) {
      push_bytes(from + bytes_before(partner.bytes), partner.to, part);
      partner.to += part;
    }
    post_.rings->take_out(ring);
    partner.rest -= part;
    partner.is_coming = partner.rest > 0;
    if (partner.is_last && !partner.is_coming) return true;
  }
  return false;
}

/// Makes the parcel whose first chunk is here, if it is one. @throws std::bad_alloc, and nothing has changed
void NodeMail::expect(Partner& partner, const Header& header) {
  std::shared_ptr<std::byte[]> memory;
  if (header.bytes >= 0) {
    memory = memory_if_any(header.bytes);
    parcels_.push_back({partner.rank, memory, {memory.get(), memory ? static_cast<std::size_t>(header.bytes) : 0}});
  }
  partner.to = memory.get();
  partner.bytes = header.bytes;
  partner.rest = std::max<Bytes>(0, header.bytes);
  partner.is_coming = true;
  partner.is_last = header.is_last != 0;
  if (!partner.is_last) return;
  if ((header.failures & failed_at_start) != 0) failures_.add(Failures::at_start);
  if ((header.failures & failed_underway) != 0) failures_.add(Failures::underway);
}

}  // namespace commpass
