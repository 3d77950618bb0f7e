#include "runtime/alltoall/alltoall_places.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace commpass {

namespace {

bool ends_here(std::int32_t block) { return block < 0; }
Rank source_of(std::int32_t block) { return -1 - block; }

}  // namespace

std::span<const std::int32_t> AlltoallPlaces::blocks_of(const Message& message) const {
  return std::span(structure_->blocks).subspan(message.first, message.blocks);
}

void AlltoallPlaces::make_room(const AlltoallStructure& structure, std::size_t most) {
  const auto numbers = at(ranks_) + structure.forwarded;
  sizes_.reserve(numbers);
  where_.reserve(numbers);
  lost_.reserve(numbers);
  told_.reserve(structure.announced.size());
  incoming_.reserve(structure.receives.size());
  outgoing_.reserve(most);
  copies_.reserve(structure.blocks.size() + 1);
  slot_offsets_.reserve(structure.slots + 2);
}

void AlltoallPlaces::assign(const AlltoallStructure& structure, const AlltoallSide& sends, const AlltoallSide& receives,
                            BlockSizes sizes, AlltoallSpace& space, const NodeStreams* streams) {
  structure_ = &structure;
  space_ = &space;
  streams_ = streams;
  sends_ = sends;
  receives_ = receives;
  known_ = sizes;
  has_no_memory_ = !sends.is_there;
  sizes_.assign(at(ranks_) + structure.forwarded, receives_.bytes(rank_));
  lost_.assign(sizes_.size(), 0);
  for (Rank rank = 0; rank < ranks_; ++rank) {
    sizes_[at(rank)] = sends_.bytes(rank);
    lost_[at(rank)] = !sends_.is_there;
  }
  told_.resize(structure.announced.size());
}

const Bytes* AlltoallPlaces::sizes_to_tell(const Message& outgoing) {
  const auto end = outgoing.first_announced + outgoing.announced;
  for (auto i = outgoing.first_announced; i < end; ++i) told_[i] = sizes_[at(structure_->announced[i])];
  return &told_[outgoing.first_announced];
}

/// Both ends know it where sizes were told: of messages that end at the receiver by its counts. Sizes that are not
/// told, but that all should know, may differ; so messages with forwarded blocks are sent.
bool AlltoallPlaces::is_omitted(Bytes bytes) const {
  return bytes == 0 && (known_ == BlockSizes::told || structure_->stages.size() <= 1);
}

/// The expected bytes, and whether all of them can land in their places at once: in one place of the user's buffer. But
/// bytes land as bytes: MPICH 4.0 refuses large messages of MPI_BYTE that are received as some derived types.
AlltoallPlaces::Incoming AlltoallPlaces::expect(const Message& message) const {
  Incoming incoming;
  incoming.is_in_place = true;
  for (const auto block : blocks_of(message)) {
    const auto bytes = ends_here(block) ? receives_.bytes(source_of(block)) : sizes_[at(block)];
    if (bytes == 0) continue;
    if (!ends_here(block)) {
      incoming.forwarded += bytes;
      incoming.is_in_place = false;
    } else {
      const auto source = source_of(block);
      if (incoming.bytes == 0) incoming.place = receives_.at(source);
      incoming.is_in_place =
          incoming.is_in_place && receives_.is_plain(source) && receives_.at(source) == incoming.place + incoming.bytes;
    }
    incoming.bytes += bytes;
  }
  return incoming;
}

void AlltoallPlaces::lay_out() {
  incoming_.clear();
  for (const auto& message : structure_->receives) incoming_.push_back(expect(message));
  size_slots();
  has_slots_ = space_->try_reserve(space_->slots, slot_bytes());
  has_no_memory_ = has_no_memory_ || !has_slots_;
  where_.resize(sizes_.size());
  for (Rank rank = 0; rank < ranks_; ++rank) where_[at(rank)] = sends_.at(rank);
  if (has_slots_) place_forwarded();
}

/// Each slot is as large as the largest message that lands in it.
void AlltoallPlaces::size_slots() {
  slot_offsets_.assign(structure_->slots + 2, 0);
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    auto& largest = slot_offsets_[structure_->receives[i].slot + 1];
    if (!incoming_[i].is_in_place) largest = std::max(largest, incoming_[i].bytes);
  }
  // The last is for what this rank sends to itself, if it has to be packed.
  slot_offsets_.back() = is_self_plain() ? 0 : sends_.bytes(rank_);
  for (std::size_t slot = 1; slot < slot_offsets_.size(); ++slot) slot_offsets_[slot] += slot_offsets_[slot - 1];
}

void AlltoallPlaces::place_forwarded() {
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    if (incoming_[i].is_in_place) continue;
    const auto& message = structure_->receives[i];
    auto* place = incoming_[i].place = space_->slots.data() + slot_offsets_[message.slot];
    for (const auto block : blocks_of(message)) {
      if (!ends_here(block)) where_[at(block)] = place;
      place += ends_here(block) ? receives_.bytes(source_of(block)) : sizes_[at(block)];
    }
  }
}

/// How a message leaves, and from where, unless it is packed.
AlltoallPlaces::Outgoing AlltoallPlaces::outgoing_of(const Message& message) const {
  Outgoing outgoing;
  int blocks = 0;
  bool is_together = true, is_plain = true, is_here = true;
  for (const auto number : blocks_of(message)) {
    const auto bytes = sizes_[at(number)];
    is_here = is_here && lost_[at(number)] == 0;
    if (bytes == 0) continue;
    if (blocks++ == 0) {
      outgoing.place = where_[at(number)];
      outgoing.to = number;
    }
    is_plain = is_plain && is_here && !must_be_packed(number);
    is_together = is_together && is_plain && where_[at(number)] == outgoing.place + outgoing.bytes;
    outgoing.bytes += bytes;
  }
  using Form = Outgoing::Form;
  if (is_omitted(outgoing.bytes)) outgoing.form = Form::none;
  else if (!is_here) outgoing.form = Form::lost;
  else if (is_together) outgoing.form = Form::in_place;
  else if (blocks == 1 && !is_streamed(message)) outgoing.form = Form::elements;
  else outgoing.form = Form::packed;
  return outgoing;
}

void AlltoallPlaces::pack(const Message& message, std::byte* to) {
  for (const auto number : blocks_of(message)) {
    if (must_be_packed(number)) sends_.pack(number, to);
    else copies_.add(where_[at(number)], to, sizes_[at(number)]);
    to += sizes_[at(number)];
  }
}

std::span<const AlltoallPlaces::Outgoing> AlltoallPlaces::gather(std::span<const Message> messages) {
  using Form = Outgoing::Form;
  outgoing_.clear();
  Bytes packed = 0;
  for (const auto& message : messages)
    if (const auto& leaving = outgoing_.emplace_back(outgoing_of(message)); leaving.form == Form::packed)
      packed += leaving.bytes;
  const bool can_pack = space_->try_reserve(space_->packing, packed);
  has_no_memory_ = has_no_memory_ || !can_pack;
  std::byte* place = space_->packing.data();
  for (std::size_t i = 0; i < messages.size(); ++i) {
    auto& message = outgoing_[i];
    if (message.form != Form::packed) continue;
    if (!can_pack) message.form = Form::lost;
    else pack(messages[i], place);
    message.place = place;
    place += can_pack ? message.bytes : 0;
  }
  copies_.run(*space_->memory);
  return outgoing_;
}

void AlltoallPlaces::take_in(const Message& message, Bytes got) {
  const auto& incoming = this->incoming(message);
  const bool is_whole = got == incoming.bytes, is_here = has_room_for(incoming);
  // Where sizes were not told, a message of another length has nothing that could be found in it.
  const bool has_forwarded = is_here && (is_whole || (known_ == BlockSizes::told && got >= incoming.forwarded &&
                                                      message.announced > 0 && move_behind(message, incoming, got)));
  std::fill_n(lost_.begin() + static_cast<std::ptrdiff_t>(message.first_announced), message.announced, !has_forwarded);
  if (is_whole && is_here && !incoming.is_in_place) unpack(message, incoming);
}

/// Forwarded blocks behind those that end here have moved with the end of the message. They go back by way of the
/// memory for packing, which is free when messages have come: a device copies nothing that overlaps itself.
/// @return false if there is no memory
bool AlltoallPlaces::move_behind(const Message& message, const Incoming& incoming, Bytes got) {
  const auto blocks = blocks_of(message);
  const auto last_end = std::ranges::find_if(blocks.rbegin(), blocks.rend(), ends_here).base();
  Bytes behind = 0;
  for (auto block = last_end; block != blocks.end(); ++block) behind += sizes_[at(*block)];
  if (behind == 0) return true;
  if (!space_->try_reserve(space_->packing, behind)) {
    has_no_memory_ = true;
    return false;
  }
  std::byte* const between = space_->packing.data();
  const std::array away{LocalCopy{incoming.place + got - behind, between, at(behind)}};
  const std::array back{LocalCopy{between, incoming.place + incoming.bytes - behind, at(behind)}};
  space_->memory->copy(away);
  space_->memory->copy(back);
  return true;
}

void AlltoallPlaces::unpack(const Message& message, const Incoming& incoming) {
  const std::byte* from = incoming.place;
  for (const auto block : blocks_of(message)) {
    if (!ends_here(block)) {
      from += sizes_[at(block)];
      continue;
    }
    const auto source = source_of(block);
    if (receives_.is_plain(source)) copies_.add(from, receives_.at(source), receives_.bytes(source));
    else receives_.unpack(from, source);
    from += receives_.bytes(source);
  }
}

void AlltoallPlaces::copy_self() {
  const auto bytes = sent_to_self();
  if (bytes == 0 || !sends_.is_there || bytes != expected_from_self()) return;
  if (is_self_plain()) {
    const std::array copy{LocalCopy{sends_.at(rank_), receives_.at(rank_), at(bytes)}};
    space_->memory->copy(copy);
  } else if (has_slots_) {
    std::byte* const between = space_->slots.data() + *(slot_offsets_.end() - 2);
    sends_.pack(rank_, between);
    receives_.unpack(between, rank_);
  }
}

std::string AlltoallPlaces::describe(const Message& incoming) const {
  std::string sources;
  int ending = 0;
  for (const auto block : blocks_of(incoming)) {
    constexpr int most_named = 8;
    if (ends_here(block) && ++ending <= most_named)
      sources += fmt::format("{}{}", sources.empty() ? "" : ", ", source_of(block));
    else if (ends_here(block) && ending == most_named + 1) sources += ", …";
  }
  if (ending == 0) return "blocks for others";
  return fmt::format("what rank {} gets from rank{} {}", rank_, ending > 1 ? "s" : "", sources);
}

}  // namespace commpass
