#include "runtime/execute/persistent_requests.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace commpass {

bool stays_in_pieces(const PlannedMessage& message, const Machine& machine, Bytes largest_count) {
  return message.may_stay_in_pieces() &&
         std::ranges::all_of(message.pieces, [&](const Piece& piece) { return piece.bytes <= largest_count; }) &&
         is_datatype_cheaper(machine, static_cast<double>(message.bytes), static_cast<double>(message.pieces.size()));
}

PersistentRequests::PersistentRequests(const Plan& plan, MPI_Comm comm, int tag, const void* send_buffer,
                                       void* receive_buffer, const Machine& machine, Bytes largest_count,
                                       Memory& memory, RequestLife life)
    : memory_(memory), comm_(comm), buffers_(plan, memory, send_buffer, receive_buffer) {
  buffers_.add_copies(plan.self, copies_);
  ends_.push_back({.pack = copies_.size(), .unpack = copies_.size()});
  std::size_t request_total = 0;
  for (const auto& batch : plan.batches) request_total += batch.receives.size() + batch.sends.size();
  requests_.reserve(request_total);
  constexpr Bytes none = -1;
  const bool are_immediate = life == RequestLife::immediate;
  const Bytes most_received = are_immediate ? std::numeric_limits<Bytes>::max() : none;
  const Bytes most_sent = are_immediate ? most_received : machine.operations.new_send_bytes.value_or(none);
  const auto stays = [&](const PlannedMessage& message) { return stays_in_pieces(message, machine, largest_count); };
  try {
    for (const auto& batch : plan.batches) {
      auto& ends = ends_.emplace_back();
      for (const auto& message : batch.sends)
        if (!stays(message)) buffers_.add_gathering(message, copies_);
      ends.pack = copies_.size();
      for (const auto& message : batch.receives)
        if (!stays(message)) buffers_.add_scattering(message, copies_);
      ends.unpack = copies_.size();
      // Receives first: what arrives then finds its place.
      add_requests(batch.receives, tag, largest_count, stays, most_received,
                   [&](void* at, const MessageType& type, Rank peer, int its_tag, MPI_Request* request) {
                     COMMPASS_MPI_CALL(MPI_Recv_init, at, type.count(), type.type(), peer, its_tag, comm, request);
                   });
      ends.receive = requests_.size();
      add_requests(batch.sends, tag, largest_count, stays, most_sent,
                   [&](const void* at, const MessageType& type, Rank peer, int its_tag, MPI_Request* request) {
                     COMMPASS_MPI_CALL(MPI_Send_init, at, type.count(), type.type(), peer, its_tag, comm, request);
                   });
      ends.start = starts_.size();
      ends.request = requests_.size();
    }
    if (plan.batches.empty()) ends_.push_back(ends_.front());
  } catch (...) {
    free_requests();
    throw;
  }
}

PersistentRequests::~PersistentRequests() {
  if (mpi_is_usable()) free_requests();
}

void PersistentRequests::free_requests() noexcept {
  for (auto& request : requests_)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

// MPI_Startall may start its requests in any order, and messages of one pair with the same tag match in the order of
// their start. So those of a batch get one tag after another, and where the first tag comes again, so does a call of
// its own.
template <class Stays, class Init>
void PersistentRequests::add_requests(const std::vector<PlannedMessage>& messages, int first_tag, Bytes largest_count,
                                      Stays stays, Bytes most_immediate, Init init) {
  std::map<Rank, int> count;
  for (const auto& message : messages) {
    const int tag_number = count[message.peer]++ % tags_per_exchange;
    const int tag = first_tag + tag_number;
    const bool is_immediate = message.bytes <= most_immediate, is_in_pieces = stays(message);
    begin_start(is_immediate, tag_number == 0 && count[message.peer] > 1);
    auto type = is_in_pieces ? type_of_pieces(message) : MessageType(message.bytes, largest_count);
    void* const at = is_in_pieces ? MPI_BOTTOM : buffers_.address(message.place);
    MPI_Request request = MPI_REQUEST_NULL;
    if (is_immediate) {
      arguments_.push_back({at, type.count(), type.type(), message.peer, tag});
      types_.push_back(std::move(type));
    } else {
      init(at, type, message.peer, tag, &request);
    }
    requests_.push_back(request);
    starts_.back().end = requests_.size();
  }
}

void PersistentRequests::begin_start(bool is_immediate, bool is_first) {
  const bool is_new_batch = starts_.size() == ends_[ends_.size() - 2].start;
  if (is_first || is_new_batch || starts_.back().is_immediate != is_immediate)
    starts_.push_back({is_immediate, arguments_.size(), requests_.size()});
}

MessageType PersistentRequests::type_of_pieces(const PlannedMessage& message) const {
  std::vector<MemoryPiece> pieces;
  for (const auto& piece : message.pieces)
    pieces.push_back({buffers_.address(piece.place), static_cast<int>(piece.bytes)});
  return MessageType(pieces);
}

void PersistentRequests::copy(std::size_t first, std::size_t last) {
  if (first == last) return;
  memory_.copy(std::span(copies_).subspan(first, last - first));
  memory_.order();
}

std::span<MPI_Request> PersistentRequests::requests() {
  return std::span(requests_).subspan(ends_[current_].request, ends_[current_ + 1].request - ends_[current_].request);
}

void PersistentRequests::start_batch(const Ends& before, const Ends& ends) {
  auto first = before.request;
  for (const auto& start : std::span(starts_).subspan(before.start, ends.start - before.start)) {
    if (!start.is_immediate)
      COMMPASS_MPI_CALL(MPI_Startall, static_cast<int>(start.end - first), requests_.data() + first);
    for (auto i = first; start.is_immediate && i < start.end; ++i) {
      const auto& [at, count, type, peer, tag] = arguments_[start.arguments + i - first];
      if (i < ends.receive) COMMPASS_MPI_CALL(MPI_Irecv, at, count, type, peer, tag, comm_, &requests_[i]);
      else COMMPASS_MPI_CALL(MPI_Isend, at, count, type, peer, tag, comm_, &requests_[i]);
    }
    first = start.end;
  }
}

void PersistentRequests::begin(std::size_t batch) {
  current_ = batch;
  const auto &before = ends_[batch], &ends = ends_[batch + 1];
  // Packing first: it frees places in the transit buffer that the receives of this batch may use.
  copy(before.unpack, ends.pack);
  start_batch(before, ends);
  if (batch == 0) copy(0, before.unpack);  // to self, while the first messages travel
}

void PersistentRequests::end(std::size_t batch) { copy(ends_[batch + 1].pack, ends_[batch + 1].unpack); }

void PersistentRequests::abandon() noexcept {
  for (auto i = ends_[current_].request; i < ends_[current_ + 1].receive; ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&requests_[i]);
    MPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
  }
}

}  // namespace commpass
