#include "runtime/alltoall/alltoall_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "runtime/execute/local_copy.hpp"
#include "runtime/mpi/in_flight.hpp"
#include "runtime/mpi/lost_message.hpp"
#include "runtime/mpi/message_type.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

bool ends_here(std::int32_t block) { return block < 0; }
Rank source_of(std::int32_t block) { return -1 - block; }

std::span<const std::int32_t> blocks_of(const AlltoallStructure& structure, const AlltoallStructure::Message& message) {
  return std::span(structure.blocks).subspan(message.first, message.blocks);
}

/// Does the receiver know the sizes of all blocks? Then both ends know whether there is a message at all.
bool is_told(const AlltoallStructure::Message& message) { return message.announced == message.blocks; }

Bytes bytes_in(const MPI_Status& status) {
  MPI_Count bytes = 0;
  COMMPASS_MPI_CALL(MPI_Get_elements_x, const_cast<MPI_Status*>(&status), MPI_BYTE,
                    &bytes);  // NOLINT: some libraries' is not const
  return bytes;
}

}  // namespace

std::byte* GrowingMemory::reserve(Bytes bytes) {
  if (bytes > capacity_) {
    auto larger = std::make_unique_for_overwrite<std::byte[]>(at(std::max(bytes, 2 * capacity_)));
    capacity_ = std::max(bytes, 2 * capacity_);
    memory_ = std::move(larger);
  }
  return memory_.get();
}

bool GrowingMemory::try_reserve(Bytes bytes) noexcept {
  try {
    reserve(bytes);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

AlltoallExchange::AlltoallExchange(MPI_Comm comm) : comm_(comm) {
  rank_ = rank_in(comm);
  ranks_ = ranks_in(comm);
}

void AlltoallExchange::make_room(const AlltoallStructure& structure) {
  const auto blocks = at(ranks_) + structure.slot_of.size();
  std::size_t most = 0, receives = 0, sends = 0;
  const auto count = [&](const auto& end) {
    most = std::max(most, end.receives_end - receives + end.sends_end - sends);
    receives = end.receives_end;
    sends = end.sends_end;
  };
  for (const auto& stage : structure.stages) count(stage);  // in which all sizes go at once, and more than in any batch
  sizes_.reserve(blocks);
  lost_.reserve(blocks);
  told_.reserve(structure.announced.size());
  slot_offsets_.reserve(at(structure.slots) + 1);
  requests_.reserve(most);
  statuses_.reserve(most);
  got_.reserve(most);
}

std::optional<AlltoallDamage> AlltoallExchange::run(const AlltoallStructure& structure,
                                                    const AlltoallBlocks<const std::byte*>& sends,
                                                    const AlltoallBlocks<std::byte*>& receives, int tag) {
  make_room(structure);
  wrong_ = {};
  has_no_memory_ = !sends.is_there;
  has_mpi_failed_ = false;
  tell_sizes(structure, sends, tag);
  place_slots(structure);
  for (std::size_t batch = 0; batch < structure.batches.size(); ++batch)
    run_batch(structure, batch, sends, receives, tag + 1);
  if (sends.is_there) copy_self(sends, receives);
  return damage(structure);
}

std::optional<AlltoallDamage> AlltoallExchange::damage(const AlltoallStructure& structure) const {
  if (has_no_memory_) return AlltoallDamage{"there is not enough memory on this rank", has_mpi_failed_};
  if (wrong_.count == 0) return {};
  const auto& [message, expected, got, count] = wrong_;
  std::string sources;
  int ending = 0;
  for (const auto block : blocks_of(structure, *message)) {
    constexpr int most_named = 8;
    if (ends_here(block) && ++ending <= most_named)
      sources += fmt::format("{}{}", sources.empty() ? "" : ", ", source_of(block));
    else if (ends_here(block) && ending == most_named + 1) sources += ", …";
  }
  const auto what = ending == 0
                        ? std::string("blocks for others")
                        : fmt::format("what rank {} gets from rank{} {}", rank_, ending > 1 ? "s" : "", sources);
  const auto length = got == truncated ? std::string("more") : fmt::format("{} bytes", got);
  return AlltoallDamage{
      fmt::format("a message from rank {} with {} should have {} bytes and has {}{}", message->peer, what, expected,
                  length, count > 1 ? fmt::format(", and {} more are wrong", count - 1) : ""),
      has_mpi_failed_};
}

/// Waits for the requests, and tells of each how much has come.
void AlltoallExchange::wait_all() {
  statuses_.resize(requests_.size());
  got_.assign(requests_.size(), under_way);
  for (bool complete = requests_.empty(); !complete;) {
    for (auto& status : statuses_) status.MPI_ERROR = MPI_SUCCESS;
    const int code = wait_for_all(static_cast<int>(requests_.size()), requests_.data(), statuses_.data());
    complete = code == MPI_SUCCESS;
    int error_class = MPI_SUCCESS;
    if (!complete) MPI_Error_class(code, &error_class);
    if (!complete && error_class != MPI_ERR_IN_STATUS) check_mpi("MPI_Waitall", code);
    for (std::size_t i = 0; i < std::min(first_send_, requests_.size()); ++i) {
      if (got_[i] != under_way || requests_[i] != MPI_REQUEST_NULL) continue;
      MPI_Error_class(statuses_[i].MPI_ERROR, &error_class);
      if (error_class == MPI_SUCCESS) {
        got_[i] = bytes_in(statuses_[i]);
      } else if (error_class == MPI_ERR_TRUNCATE) {
        got_[i] = truncated;
        has_mpi_failed_ = true;
      } else {
        check_mpi("MPI_Waitall", statuses_[i].MPI_ERROR);
      }
    }
    if (!complete)
      complete = std::ranges::all_of(requests_, [](MPI_Request request) { return request == MPI_REQUEST_NULL; });
  }
  requests_.clear();
  first_send_ = no_send;
}

void AlltoallExchange::abandon() noexcept {
  for (std::size_t i = 0; i < requests_.size() && mpi_is_usable(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    if (i >= first_send_) {
      MPI_Request_free(&requests_[i]);  // a send that nobody may ever take
      continue;
    }
    MPI_Cancel(&requests_[i]);
    MPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
  }
  requests_.clear();
}

void AlltoallExchange::tell_sizes(const AlltoallStructure& structure, const AlltoallBlocks<const std::byte*>& sends,
                                  int tag) {
  sizes_.resize(at(ranks_) + structure.slot_of.size());
  lost_.assign(sizes_.size(), 0);
  for (Rank rank = 0; rank < ranks_; ++rank) {
    sizes_[at(rank)] = sends.bytes(rank);
    lost_[at(rank)] = !sends.is_there;
  }
  if (structure.announced.empty() && structure.slot_of.empty()) return;
  told_.resize(structure.announced.size());
  std::size_t receive = 0, send = 0;
  for (const auto& stage : structure.stages) {
    for (; receive < stage.receives_end; ++receive) {
      const auto& message = structure.receives[receive];
      if (message.announced > 0)
        COMMPASS_MPI_CALL(MPI_Irecv, &sizes_[message.first_announced], static_cast<int>(message.announced), MPI_INT64_T,
                          message.peer, tag, comm_, &requests_.emplace_back(MPI_REQUEST_NULL));
    }
    first_send_ = requests_.size();
    for (; send < stage.sends_end; ++send) {
      const auto& message = structure.sends[send];
      if (message.announced == 0) continue;
      const auto end = message.first_announced + message.announced;
      for (auto i = message.first_announced; i < end; ++i) told_[i] = sizes_[at(structure.announced[i])];
      COMMPASS_MPI_CALL(MPI_Isend, &told_[message.first_announced], static_cast<int>(message.announced), MPI_INT64_T,
                        message.peer, tag, comm_, &requests_.emplace_back(MPI_REQUEST_NULL));
    }
    wait_all();
  }
}

/// Each slot is as large as the largest of its blocks.
void AlltoallExchange::place_slots(const AlltoallStructure& structure) {
  slot_offsets_.assign(at(structure.slots) + 1, 0);
  for (std::size_t i = 0; i < structure.slot_of.size(); ++i) {
    auto& largest = slot_offsets_[at(structure.slot_of[i]) + 1];
    largest = std::max(largest, sizes_[at(ranks_) + i]);
  }
  for (std::size_t slot = 1; slot < slot_offsets_.size(); ++slot) slot_offsets_[slot] += slot_offsets_[slot - 1];
  has_slots_ = slots_.try_reserve(slot_offsets_.back());
  has_no_memory_ = has_no_memory_ || !has_slots_;
}

std::byte* AlltoallExchange::slot(const AlltoallStructure& structure, std::int32_t number) const {
  return slots_.data() + slot_offsets_[at(structure.slot_of[at(number - ranks_)])];
}

bool AlltoallExchange::is_sendable(const AlltoallStructure& structure, const Message& message) const {
  return std::ranges::none_of(blocks_of(structure, message),
                              [&](std::int32_t number) { return lost_[at(number)] != 0; });
}

/// A block that is alone lands where it belongs. But bytes land as bytes: MPICH 4.0 refuses large messages of MPI_BYTE
/// that are received as some derived types.
bool AlltoallExchange::lands_in_place(const AlltoallStructure& structure, const Message& message,
                                      const AlltoallBlocks<std::byte*>& receives) {
  return message.blocks == 1 && (!ends_here(structure.blocks[message.first]) || receives.type->is_contiguous());
}

Bytes AlltoallExchange::sent_bytes(const AlltoallStructure& structure, const Message& message) const {
  Bytes bytes = 0;
  for (const auto number : blocks_of(structure, message)) bytes += sizes_[at(number)];
  return bytes;
}

/// Of what comes, the bytes that this rank forwards.
Bytes AlltoallExchange::forwarded_bytes(const Message& message) const {
  Bytes bytes = 0;
  for (auto number = message.first_announced; number < message.first_announced + message.announced; ++number)
    bytes += sizes_[number];
  return bytes;
}

Bytes AlltoallExchange::received_bytes(const AlltoallStructure& structure, const Message& message,
                                       const AlltoallBlocks<std::byte*>& receives) const {
  Bytes bytes = forwarded_bytes(message);
  for (const auto block : blocks_of(structure, message))
    if (ends_here(block)) bytes += receives.bytes(source_of(block));
  return bytes;
}

void AlltoallExchange::run_batch(const AlltoallStructure& structure, std::size_t batch,
                                 const AlltoallBlocks<const std::byte*>& sends,
                                 const AlltoallBlocks<std::byte*>& receives, int tag) {
  const auto& end = structure.batches[batch];
  const auto begin = batch == 0 ? AlltoallStructure::Batch{} : structure.batches[batch - 1];
  const auto outgoing = std::span(structure.sends).subspan(begin.sends_end, end.sends_end - begin.sends_end);
  const auto incoming =
      std::span(structure.receives).subspan(begin.receives_end, end.receives_end - begin.receives_end);
  const auto first_block = [&](const Message& message) { return structure.blocks[message.first]; };
  // A block of this rank that is alone goes from where it lies; others are packed, so that their slots are free for
  // what comes.
  const auto goes_from_place = [&](const Message& message) {
    return message.blocks == 1 && first_block(message) < ranks_;
  };
  const auto comes_to_place = [&](const Message& message) { return lands_in_place(structure, message, receives); };
  // Where nothing is forwarded, an empty message is none, as the counts of both ends say. Elsewhere the receiver may
  // wait for one that had to be emptied.
  const bool is_direct = structure.stages.size() <= 1;
  const auto is_omitted = [&](const Message& message, Bytes bytes) {
    return bytes == 0 && (is_direct || is_told(message));
  };

  Bytes packed = 0, landed = 0;
  for (const auto& message : outgoing)
    if (!goes_from_place(message)) packed += sent_bytes(structure, message);
  for (const auto& message : incoming)
    if (!comes_to_place(message)) landed += received_bytes(structure, message, receives);
  const bool can_pack = packing_.try_reserve(packed), can_land = landing_.try_reserve(landed);
  has_no_memory_ = has_no_memory_ || !can_pack || !can_land;

  std::byte* place = packing_.data();
  for (const auto& message : outgoing) {
    if (goes_from_place(message) || !can_pack || !is_sendable(structure, message)) continue;
    for (const auto number : blocks_of(structure, message)) {
      const auto bytes = sizes_[at(number)];
      if (number < ranks_) sends.type->pack(sends.at(number), sends.counts[at(number)], place);
      else copy_bytes(slot(structure, number), place, bytes);
      place += bytes;
    }
  }

  place = landing_.data();
  for (const auto& message : incoming) {
    const auto bytes = received_bytes(structure, message, receives);
    if (is_omitted(message, bytes)) continue;
    auto& request = requests_.emplace_back(MPI_REQUEST_NULL);
    const auto block = first_block(message);
    if (comes_to_place(message) && ends_here(block)) {
      const Rank source = source_of(block);
      receives.type->receive(receives.at(source), receives.counts[at(source)], message.peer, tag, comm_, &request);
    } else if (comes_to_place(message) ? !has_slots_ : !can_land) {
      receive_and_forget(bytes, message.peer, tag, comm_, &request);
    } else {
      const MessageType type(bytes);
      COMMPASS_MPI_CALL(MPI_Irecv, comes_to_place(message) ? slot(structure, block) : place, type.count(), type.type(),
                        message.peer, tag, comm_, &request);
    }
    if (!comes_to_place(message) && can_land) place += bytes;
  }
  first_send_ = requests_.size();
  place = packing_.data();
  for (const auto& message : outgoing) {
    const auto bytes = sent_bytes(structure, message);
    if (is_omitted(message, bytes)) continue;
    auto& request = requests_.emplace_back(MPI_REQUEST_NULL);
    if (!is_sendable(structure, message) || (!goes_from_place(message) && !can_pack)) {
      COMMPASS_MPI_CALL(MPI_Isend, nullptr, 0, MPI_BYTE, message.peer, tag, comm_, &request);
    } else if (goes_from_place(message)) {
      const Rank destination = first_block(message);
      sends.type->send(sends.at(destination), sends.counts[at(destination)], message.peer, tag, comm_, &request);
    } else {
      const MessageType type(bytes);
      COMMPASS_MPI_CALL(MPI_Isend, place, type.count(), type.type(), message.peer, tag, comm_, &request);
      place += bytes;
    }
  }
  wait_all();

  place = landing_.data();
  std::size_t number = 0;
  for (const auto& message : incoming) {
    const auto bytes = received_bytes(structure, message, receives);
    if (is_omitted(message, bytes)) continue;
    const bool is_here = comes_to_place(message) ? has_slots_ || ends_here(first_block(message)) : can_land;
    take_in(structure, message, {bytes, got_[number++], is_here, place}, receives);
    if (!comes_to_place(message) && can_land) place += bytes;
  }
}

/// Brings the blocks of a message to their places, as far as it is what it should be.
void AlltoallExchange::take_in(const AlltoallStructure& structure, const Message& message, const Landed& landed,
                               const AlltoallBlocks<std::byte*>& receives) {
  const bool is_whole = landed.got == landed.expected,
             has_forwarded = has_slots_ && landed.is_here && landed.got >= forwarded_bytes(message);
  if (!is_whole && wrong_.count++ == 0) wrong_ = {&message, landed.expected, landed.got, 1};
  const bool came_to_place = lands_in_place(structure, message, receives);
  const std::byte* from = landed.from;
  for (const auto block : blocks_of(structure, message)) {
    if (!ends_here(block)) {
      lost_[at(block)] = !has_forwarded;
      if (!has_forwarded || came_to_place) continue;
      copy_bytes(from, slot(structure, block), sizes_[at(block)]);
      from += sizes_[at(block)];
    } else if (is_whole && landed.is_here && !came_to_place) {
      const auto source = source_of(block);
      receives.type->unpack(from, receives.counts[at(source)], receives.at(source));
      from += receives.bytes(source);
    }
  }
}

void AlltoallExchange::copy_self(const AlltoallBlocks<const std::byte*>& sends,
                                 const AlltoallBlocks<std::byte*>& receives) {
  const auto bytes = sends.bytes(rank_);
  if (bytes == 0) return;
  if (sends.type->is_contiguous() && receives.type->is_contiguous()) {
    copy_bytes(sends.at(rank_), receives.at(rank_), bytes);
    return;
  }
  if (!packing_.try_reserve(bytes)) {
    has_no_memory_ = true;
    return;
  }
  std::byte* const between = packing_.data();
  sends.type->pack(sends.at(rank_), sends.counts[at(rank_)], between);
  receives.type->unpack(between, receives.counts[at(rank_)], receives.at(rank_));
}

}  // namespace commpass
