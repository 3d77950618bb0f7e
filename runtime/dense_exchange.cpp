#include "runtime/dense_exchange.hpp"

#include <algorithm>

#include "runtime/local_copy.hpp"
#include "runtime/message_type.hpp"
#include "runtime/mpi_error.hpp"
#include "runtime/ranks.hpp"

namespace commpass {

namespace {

constexpr int size_tag = 1, data_tag = 2;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

bool ends_here(std::int32_t block) { return block < 0; }
Rank source_of(std::int32_t block) { return -1 - block; }

}  // namespace

std::byte* GrowingMemory::reserve(Bytes bytes) {
  if (bytes > capacity_) {
    auto larger = std::make_unique_for_overwrite<std::byte[]>(at(std::max(bytes, 2 * capacity_)));
    capacity_ = std::max(bytes, 2 * capacity_);
    memory_ = std::move(larger);
  }
  return memory_.get();
}

DenseExchange::DenseExchange(MPI_Comm comm) : comm_(comm) {
  rank_ = rank_in(comm);
  ranks_ = ranks_in(comm);
}

void DenseExchange::run(const DenseStructure& structure, const DenseBlocks<const std::byte*>& sends, const DenseBlocks<std::byte*>& receives) {
  tell_sizes(structure, sends);
  place_slots(structure);
  for (std::size_t batch = 0; batch < structure.batches.size(); ++batch) run_batch(structure, batch, sends, receives);
  copy_self(sends, receives);
}

void DenseExchange::wait_all() {
  COMMPASS_MPI_CALL(MPI_Waitall, static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
  first_send_ = no_send;
}

void DenseExchange::abandon() noexcept {
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

void DenseExchange::tell_sizes(const DenseStructure& structure, const DenseBlocks<const std::byte*>& sends) {
  sizes_.resize(at(ranks_) + structure.slot_of.size());
  for (Rank rank = 0; rank < ranks_; ++rank) sizes_[at(rank)] = sends.bytes(rank);
  if (structure.announced.empty() && structure.slot_of.empty()) return;
  told_.resize(structure.announced.size());
  std::size_t receive = 0, send = 0;
  for (const auto& stage : structure.stages) {
    for (; receive < stage.receives_end; ++receive) {
      const auto& message = structure.receives[receive];
      if (message.announced > 0)
        COMMPASS_MPI_CALL(MPI_Irecv, &sizes_[message.first_announced], static_cast<int>(message.announced), MPI_INT64_T, message.peer, size_tag, comm_, &requests_.emplace_back(MPI_REQUEST_NULL));
    }
    first_send_ = requests_.size();
    for (; send < stage.sends_end; ++send) {
      const auto& message = structure.sends[send];
      if (message.announced == 0) continue;
      const auto end = message.first_announced + message.announced;
      for (auto i = message.first_announced; i < end; ++i) told_[i] = sizes_[at(structure.announced[i])];
      COMMPASS_MPI_CALL(MPI_Isend, &told_[message.first_announced], static_cast<int>(message.announced), MPI_INT64_T, message.peer, size_tag, comm_, &requests_.emplace_back(MPI_REQUEST_NULL));
    }
    wait_all();
  }
}

/// Each slot is as large as the largest of its blocks.
void DenseExchange::place_slots(const DenseStructure& structure) {
  slot_offsets_.assign(at(structure.slots) + 1, 0);
  for (std::size_t i = 0; i < structure.slot_of.size(); ++i) {
    auto& largest = slot_offsets_[at(structure.slot_of[i]) + 1];
    largest = std::max(largest, sizes_[at(ranks_) + i]);
  }
  for (std::size_t slot = 1; slot < slot_offsets_.size(); ++slot) slot_offsets_[slot] += slot_offsets_[slot - 1];
  slots_.reserve(slot_offsets_.back());
}

std::byte* DenseExchange::slot(const DenseStructure& structure, std::int32_t number) const {
  return slots_.data() + slot_offsets_[at(structure.slot_of[at(number - ranks_)])];
}

Bytes DenseExchange::sent_bytes(const DenseStructure& structure, const Message& message) const {
  Bytes bytes = 0;
  for (const auto number : std::span(structure.blocks).subspan(message.first, message.blocks)) bytes += sizes_[at(number)];
  return bytes;
}

Bytes DenseExchange::received_bytes(const DenseStructure& structure, const Message& message, const DenseBlocks<std::byte*>& receives) const {
  Bytes bytes = 0;
  for (const auto block : std::span(structure.blocks).subspan(message.first, message.blocks)) bytes += ends_here(block) ? receives.bytes(source_of(block)) : sizes_[at(block)];
  return bytes;
}

void DenseExchange::run_batch(const DenseStructure& structure, std::size_t batch, const DenseBlocks<const std::byte*>& sends, const DenseBlocks<std::byte*>& receives) {
  const auto& end = structure.batches[batch];
  const auto begin = batch == 0 ? DenseStructure::Batch{} : structure.batches[batch - 1];
  const auto outgoing = std::span(structure.sends).subspan(begin.sends_end, end.sends_end - begin.sends_end);
  const auto incoming = std::span(structure.receives).subspan(begin.receives_end, end.receives_end - begin.receives_end);
  const auto first_block = [&](const Message& message) { return structure.blocks[message.first]; };
  // A block of this rank that is alone goes from where it lies; others are packed, so that their slots are free for what comes.
  const auto goes_from_place = [&](const Message& message) { return message.blocks == 1 && first_block(message) < ranks_; };
  const auto comes_to_place = [](const Message& message) { return message.blocks == 1; };

  Bytes packed = 0, landed = 0;
  for (const auto& message : outgoing)
    if (!goes_from_place(message)) packed += sent_bytes(structure, message);
  for (const auto& message : incoming)
    if (!comes_to_place(message)) landed += received_bytes(structure, message, receives);

  std::byte* place = packing_.reserve(packed);
  for (const auto& message : outgoing) {
    if (goes_from_place(message)) continue;
    for (const auto number : std::span(structure.blocks).subspan(message.first, message.blocks)) {
      const auto bytes = sizes_[at(number)];
      if (number < ranks_) sends.type->pack(sends.at(number), sends.counts[at(number)], place);
      else copy_bytes(slot(structure, number), place, bytes);
      place += bytes;
    }
  }

  place = landing_.reserve(landed);
  for (const auto& message : incoming) {
    const auto bytes = received_bytes(structure, message, receives);
    if (bytes == 0) continue;
    auto& request = requests_.emplace_back(MPI_REQUEST_NULL);
    const auto block = first_block(message);
    if (comes_to_place(message) && ends_here(block)) {
      const Rank source = source_of(block);
      receives.type->receive(receives.at(source), receives.counts[at(source)], message.peer, data_tag, comm_, &request);
      continue;
    }
    const MessageType type(bytes);
    COMMPASS_MPI_CALL(MPI_Irecv, comes_to_place(message) ? slot(structure, block) : place, type.count(), type.type(), message.peer, data_tag, comm_, &request);
    if (!comes_to_place(message)) place += bytes;
  }
  first_send_ = requests_.size();
  place = packing_.data();
  for (const auto& message : outgoing) {
    const auto bytes = sent_bytes(structure, message);
    if (bytes == 0) continue;
    auto& request = requests_.emplace_back(MPI_REQUEST_NULL);
    if (goes_from_place(message)) {
      const Rank destination = first_block(message);
      sends.type->send(sends.at(destination), sends.counts[at(destination)], message.peer, data_tag, comm_, &request);
      continue;
    }
    const MessageType type(bytes);
    COMMPASS_MPI_CALL(MPI_Isend, place, type.count(), type.type(), message.peer, data_tag, comm_, &request);
    place += bytes;
  }
  wait_all();

  place = landing_.data();
  for (const auto& message : incoming) {
    if (comes_to_place(message)) continue;
    for (const auto block : std::span(structure.blocks).subspan(message.first, message.blocks)) {
      const auto bytes = ends_here(block) ? receives.bytes(source_of(block)) : sizes_[at(block)];
      if (ends_here(block)) receives.type->unpack(place, receives.counts[at(source_of(block))], receives.at(source_of(block)));
      else copy_bytes(place, slot(structure, block), bytes);
      place += bytes;
    }
  }
}

void DenseExchange::copy_self(const DenseBlocks<const std::byte*>& sends, const DenseBlocks<std::byte*>& receives) {
  const auto bytes = sends.bytes(rank_);
  if (bytes == 0) return;
  if (sends.type->is_contiguous() && receives.type->is_contiguous()) {
    copy_bytes(sends.at(rank_), receives.at(rank_), bytes);
    return;
  }
  std::byte* const between = packing_.reserve(bytes);
  sends.type->pack(sends.at(rank_), sends.counts[at(rank_)], between);
  receives.type->unpack(between, receives.counts[at(rank_)], receives.at(rank_));
}

}  // namespace commpass
