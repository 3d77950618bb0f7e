#include "runtime/alltoall/alltoall_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

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

/// The messages of a batch.
struct Range {
  std::size_t begin, end;
};
Range sends_of(const AlltoallStructure& structure, std::size_t batch) {
  return {batch == 0 ? 0 : structure.batches[batch - 1].sends_end, structure.batches[batch].sends_end};
}
Range receives_of(const AlltoallStructure& structure, std::size_t batch) {
  return {batch == 0 ? 0 : structure.batches[batch - 1].receives_end, structure.batches[batch].receives_end};
}

Bytes bytes_in(const MPI_Status& status) {
  MPI_Count bytes = 0;
  COMMPASS_MPI_CALL(MPI_Get_elements_x, const_cast<MPI_Status*>(&status), MPI_BYTE,
                    &bytes);  // NOLINT: some libraries' is not const
  return bytes;
}

}  // namespace

AlltoallExchange::AlltoallExchange(MPI_Comm comm) : comm_(comm) {
  rank_ = rank_in(comm);
  ranks_ = ranks_in(comm);
}

std::span<const std::int32_t> AlltoallExchange::blocks_of(const Message& message) const {
  return std::span(structure_->blocks).subspan(message.first, message.blocks);
}

void AlltoallExchange::make_room(const AlltoallStructure& structure) {
  std::size_t most = 0, receives = 0, sends = 0;
  for (const auto& stage : structure.stages) {  // in which all sizes go at once, and more than in any batch
    most = std::max(most, stage.receives_end - receives + stage.sends_end - sends);
    receives = stage.receives_end;
    sends = stage.sends_end;
  }
  const auto numbers = at(ranks_) + structure.forwarded;
  sizes_.reserve(numbers);
  where_.reserve(numbers);
  lost_.reserve(numbers);
  told_.reserve(structure.announced.size());
  incoming_.reserve(structure.receives.size());
  outgoing_.reserve(most);
  copies_.reserve(structure.blocks.size() + 1);
  slot_offsets_.reserve(structure.slots + 2);
  requests_.reserve(most);
  statuses_.reserve(most);
  got_.reserve(most);
}

std::optional<AlltoallDamage> AlltoallExchange::run(const AlltoallStructure& structure,
                                                    const AlltoallBlocks<const std::byte*>& sends,
                                                    const AlltoallBlocks<std::byte*>& receives, BlockSizes sizes,
                                                    int tag) {
  make_room(structure);
  structure_ = &structure;
  sends_ = sends;
  receives_ = receives;
  known_ = sizes;
  wrong_ = {};
  has_no_memory_ = !sends.is_there;
  has_mpi_failed_ = false;
  tell_sizes(tag);
  lay_out();
  for (std::size_t batch = 0; batch < structure.batches.size(); ++batch) {
    start_batch(batch, tag + 1);
    if (batch == 0) copy_self();  // while the first messages travel
    finish_batch(batch);
  }
  if (structure.batches.empty()) copy_self();
  return damage();
}

std::optional<AlltoallDamage> AlltoallExchange::damage() const {
  if (has_no_memory_) return AlltoallDamage{"there is not enough memory on this rank", has_mpi_failed_};
  if (wrong_.count == 0) return {};
  const auto& [message, expected, got, count] = wrong_;
  std::string sources;
  int ending = 0;
  for (const auto block : blocks_of(*message)) {
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

void AlltoallExchange::tell_sizes(int tag) {
  const auto& structure = *structure_;
  sizes_.assign(at(ranks_) + structure.forwarded, receives_.bytes(rank_));
  lost_.assign(sizes_.size(), 0);
  for (Rank rank = 0; rank < ranks_; ++rank) {
    sizes_[at(rank)] = sends_.bytes(rank);
    lost_[at(rank)] = !sends_.is_there;
  }
  if (known_ == BlockSizes::equal) return;
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
    if (!requests_.empty()) wait_all();
  }
}

/// Is there no message, because both ends know that it has no bytes? Where something is forwarded, a receiver may wait
/// for one that its sender believes to be empty, or had to empty; so it is sent unless its sizes were told.
bool AlltoallExchange::is_omitted(const Message& message, Bytes bytes) const {
  const bool is_direct = structure_->stages.size() <= 1,
             is_told = known_ == BlockSizes::told && message.announced == message.blocks;
  return bytes == 0 && (is_direct || is_told);
}

/// What should come, and whether all of it belongs where it can land at once: in one place of the user's buffer. But
/// bytes land as bytes: MPICH 4.0 refuses large messages of MPI_BYTE that are received as some derived types.
AlltoallExchange::Incoming AlltoallExchange::expect(const Message& message) const {
  Incoming incoming;
  incoming.is_in_place = receives_.type->is_contiguous();
  for (const auto block : blocks_of(message)) {
    const auto bytes = ends_here(block) ? receives_.bytes(source_of(block)) : sizes_[at(block)];
    if (bytes == 0) continue;
    if (!ends_here(block)) {
      incoming.forwarded += bytes;
      incoming.is_in_place = false;
    } else if (incoming.bytes == 0) {
      incoming.place = receives_.at(source_of(block));
    } else {
      incoming.is_in_place = incoming.is_in_place && receives_.at(source_of(block)) == incoming.place + incoming.bytes;
    }
    incoming.bytes += bytes;
  }
  return incoming;
}

/// Now that all sizes are known: where everything lands. Each slot is as large as the largest message that lands in it.
void AlltoallExchange::lay_out() {
  const auto& structure = *structure_;
  incoming_.clear();
  slot_offsets_.assign(structure.slots + 2, 0);
  for (const auto& message : structure.receives) {
    const auto& incoming = incoming_.emplace_back(expect(message));
    if (incoming.is_in_place) continue;
    auto& largest = slot_offsets_[message.slot + 1];
    largest = std::max(largest, incoming.bytes);
  }
  // The last is for what this rank sends to itself, if it has to be packed.
  const bool is_plain = sends_.type->is_contiguous() && receives_.type->is_contiguous();
  slot_offsets_.back() = is_plain ? 0 : sends_.bytes(rank_);
  for (std::size_t slot = 1; slot < slot_offsets_.size(); ++slot) slot_offsets_[slot] += slot_offsets_[slot - 1];
  has_slots_ = slots_.try_reserve(slot_offsets_.back());
  has_no_memory_ = has_no_memory_ || !has_slots_;

  where_.resize(sizes_.size());
  if (sends_.type->is_contiguous())
    for (Rank rank = 0; rank < ranks_; ++rank) where_[at(rank)] = sends_.at(rank);
  if (!has_slots_) return;
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    if (incoming_[i].is_in_place) continue;
    const auto& message = structure.receives[i];
    auto* place = incoming_[i].place = slots_.data() + slot_offsets_[message.slot];
    for (const auto block : blocks_of(message)) {
      if (!ends_here(block)) where_[at(block)] = place;
      place += ends_here(block) ? receives_.bytes(source_of(block)) : sizes_[at(block)];
    }
  }
}

/// How a message leaves, and from where, unless it is packed.
AlltoallExchange::Outgoing AlltoallExchange::gather(const Message& message) const {
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
    is_plain = is_plain && is_here && (!is_own(number) || sends_.type->is_contiguous());
    is_together = is_together && is_plain && where_[at(number)] == outgoing.place + outgoing.bytes;
    outgoing.bytes += bytes;
  }
  using Form = Outgoing::Form;
  if (is_omitted(message, outgoing.bytes)) outgoing.form = Form::none;
  else if (!is_here) outgoing.form = Form::lost;
  else if (is_together) outgoing.form = Form::in_place;
  else if (blocks == 1) outgoing.form = Form::elements;
  else outgoing.form = Form::packed;
  return outgoing;
}

void AlltoallExchange::pack(const Message& message, std::byte* to) {
  for (const auto number : blocks_of(message)) {
    if (is_own(number) && !sends_.type->is_contiguous())
      sends_.type->pack(sends_.at(number), sends_.counts[at(number)], to);
    else add_copy(where_[at(number)], to, sizes_[at(number)]);
    to += sizes_[at(number)];
  }
}

void AlltoallExchange::start_batch(std::size_t batch, int tag) {
  using Form = Outgoing::Form;
  const auto& structure = *structure_;
  const auto outgoing = sends_of(structure, batch), incoming = receives_of(structure, batch);
  outgoing_.clear();
  Bytes packed = 0;
  for (auto i = outgoing.begin; i < outgoing.end; ++i)
    if (const auto& message = outgoing_.emplace_back(gather(structure.sends[i])); message.form == Form::packed)
      packed += message.bytes;
  const bool can_pack = packing_.try_reserve(packed);
  has_no_memory_ = has_no_memory_ || !can_pack;
  std::byte* place = packing_.data();
  for (auto i = outgoing.begin; i < outgoing.end; ++i) {
    auto& message = outgoing_[i - outgoing.begin];
    if (message.form != Form::packed) continue;
    if (!can_pack) message.form = Form::lost;
    else pack(structure.sends[i], place);
    message.place = place;
    place += can_pack ? message.bytes : 0;
  }
  copy_all();

  for (auto i = incoming.begin; i < incoming.end; ++i) {
    const auto& [peer, first, blocks, first_announced, announced, slot] = structure.receives[i];
    const auto& [bytes, forwarded, to, is_in_place] = incoming_[i];
    if (is_omitted(structure.receives[i], bytes)) continue;
    auto& request = requests_.emplace_back(MPI_REQUEST_NULL);
    if (!is_in_place && !has_slots_) {
      receive_and_forget(bytes, peer, tag, comm_, &request);
      continue;
    }
    const MessageType type(bytes);
    COMMPASS_MPI_CALL(MPI_Irecv, to, type.count(), type.type(), peer, tag, comm_, &request);
  }
  first_send_ = requests_.size();
  for (auto i = outgoing.begin; i < outgoing.end; ++i) {
    const auto& message = outgoing_[i - outgoing.begin];
    const Rank peer = structure.sends[i].peer;
    if (message.form == Form::none) continue;
    auto& request = requests_.emplace_back(MPI_REQUEST_NULL);
    if (message.form == Form::elements) {
      sends_.type->send(sends_.at(message.to), sends_.counts[at(message.to)], peer, tag, comm_, &request);
      continue;
    }
    const MessageType type(message.form == Form::lost ? 0 : message.bytes);
    COMMPASS_MPI_CALL(MPI_Isend, message.place, type.count(), type.type(), peer, tag, comm_, &request);
  }
}

void AlltoallExchange::finish_batch(std::size_t batch) {
  wait_all();
  const auto incoming = receives_of(*structure_, batch);
  std::size_t request = 0;
  for (auto i = incoming.begin; i < incoming.end; ++i)
    if (const auto& message = structure_->receives[i]; !is_omitted(message, incoming_[i].bytes))
      take_in(message, incoming_[i], got_[request++]);
  copy_all();
}

/// Brings the blocks of a message to their places, as far as it is what it should be.
void AlltoallExchange::take_in(const Message& message, const Incoming& incoming, Bytes got) {
  const bool is_whole = got == incoming.bytes, is_here = incoming.is_in_place || has_slots_;
  if (!is_whole && wrong_.count++ == 0) wrong_ = {&message, incoming.bytes, got, 1};
  // Where sizes were not told, a message of another length has nothing that could be found in it.
  const bool has_forwarded =
      is_here && (is_whole || (known_ == BlockSizes::told && got >= incoming.forwarded && message.announced > 0));
  std::fill_n(lost_.begin() + static_cast<std::ptrdiff_t>(message.first_announced), message.announced, !has_forwarded);
  if (is_whole && is_here && !incoming.is_in_place) unpack(message, incoming);
  if (is_whole || !has_forwarded) return;
  // What is forwarded and comes after what ends here has moved with the end of the message.
  const auto blocks = blocks_of(message);
  const auto last_end = std::ranges::find_if(blocks.rbegin(), blocks.rend(), ends_here).base();
  Bytes behind = 0;
  for (auto block = last_end; block != blocks.end(); ++block) behind += sizes_[at(*block)];
  if (behind > 0) std::memmove(incoming.place + incoming.bytes - behind, incoming.place + got - behind, at(behind));
}

void AlltoallExchange::unpack(const Message& message, const Incoming& incoming) {
  const std::byte* from = incoming.place;
  for (const auto block : blocks_of(message)) {
    if (!ends_here(block)) {
      from += sizes_[at(block)];
      continue;
    }
    const auto source = source_of(block);
    if (receives_.type->is_contiguous()) add_copy(from, receives_.at(source), receives_.bytes(source));
    else receives_.type->unpack(from, receives_.counts[at(source)], receives_.at(source));
    from += receives_.bytes(source);
  }
}

/// Later, with what lies before it as one copy, if both ends follow each other.
void AlltoallExchange::add_copy(const std::byte* from, std::byte* to, Bytes bytes) {
  if (bytes == 0) return;
  if (!copies_.empty()) {
    auto& before = copies_.back();
    if (before.from + before.bytes == from && before.to + before.bytes == to) {
      before.bytes += at(bytes);
      return;
    }
  }
  copies_.push_back({from, to, at(bytes)});
}

void AlltoallExchange::copy_all() {
  if (!copies_.empty()) local_copy(copies_);
  copies_.clear();
}

void AlltoallExchange::copy_self() {
  const auto bytes = sends_.bytes(rank_);
  if (bytes == 0 || !sends_.is_there) return;
  if (sends_.type->is_contiguous() && receives_.type->is_contiguous()) {
    copy_bytes(sends_.at(rank_), receives_.at(rank_), bytes);
  } else if (has_slots_) {
    std::byte* const between = slots_.data() + *(slot_offsets_.end() - 2);
    sends_.type->pack(sends_.at(rank_), sends_.counts[at(rank_)], between);
    receives_.type->unpack(between, receives_.counts[at(rank_)], receives_.at(rank_));
  }
}

}  // namespace commpass
