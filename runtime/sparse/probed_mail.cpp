#include "runtime/sparse/probed_mail.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>

#include "runtime/mpi/message_type.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

namespace {

template <class Send>
Rank peer_of(const Send& send) {
  return send.peer;
}

}  // namespace

void LimitedSends::reserve(std::size_t messages) {
  queue_.reserve(queue_.size() + messages);
  requests_.reserve(queue_.size() + messages);
  completed_.resize(queue_.size() + messages);
}

void LimitedSends::begin(Mode mode) {
  mode_ = limits_.posted_at_once(queue_, peer_of<Send>) < queue_.size() ? Mode::synchronous : mode;
  post();
}

void LimitedSends::post() {
  const auto waiting = std::span(queue_).subspan(requests_.size());
  for (const auto& [at, count, peer] :
       waiting.first(limits_.posted_at_once(waiting, peer_of<Send>, off_node_, in_flight_))) {
    const auto begin_send = mode_ == Mode::synchronous ? MPI_Issend : MPI_Isend;
    check_mpi("MPI_Isend",
              begin_send(at, count, MPI_BYTE, peer, tag_, comm_, &requests_.emplace_back(MPI_REQUEST_NULL)));
    ++in_flight_;
    off_node_ += limits_.is_off_node(peer) ? 1 : 0;
  }
}

bool LimitedSends::progress() {
  if (in_flight_ == 0) return true;
  int count = 0;
  COMMPASS_MPI_CALL(MPI_Testsome, static_cast<int>(requests_.size()), requests_.data(), &count, completed_.data(),
                    MPI_STATUSES_IGNORE);
  if (count == MPI_UNDEFINED) count = in_flight_ = off_node_ = 0;
  for (int i = 0; i < count; ++i) {
    --in_flight_;
    off_node_ -= limits_.is_off_node(queue_[static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)])].peer);
  }
  if (requests_.size() < queue_.size()) post();
  return in_flight_ == 0;
}

ProbedMail::~ProbedMail() {
  if (!mpi_is_usable()) return;
  // Found messages are on their way and end here.
  MPI_Waitall(static_cast<int>(receives_.size()), receives_.data(), MPI_STATUSES_IGNORE);
}

void ProbedMail::send(std::span<const Outgoing> parcels, Mode mode) {
  std::int64_t messages = 0;
  for (const auto& parcel : parcels) messages += pieces_of(parcel.bytes.size());
  sends_.reserve(static_cast<std::size_t>(messages));
  for (const auto& parcel : parcels) {
    const auto size = static_cast<Bytes>(parcel.bytes.size());
    for (Bytes sent = 0; sent <= size; sent += largest_piece_) {
      const auto count = static_cast<int>(std::min(largest_piece_, size - sent));
      sends_.add(parcel.bytes.data() + sent, count, parcel.peer);
    }
  }
  sends_.begin(mode);
}

namespace {

bool all_done(std::vector<MPI_Request>& requests) {
  int done = 1;
  if (!requests.empty())
    COMMPASS_MPI_CALL(MPI_Testall, static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
  if (done) requests.clear();
  return done != 0;
}

/// So that the next item is appended without taking memory.
template <class Item>
void make_room(std::vector<Item>& items) {
  if (items.size() == items.capacity()) items.reserve(2 * items.size() + 1);
}

}  // namespace

bool ProbedMail::all_received() { return all_done(receives_); }

std::int64_t ProbedMail::receive() {
  if (!sends_.all_have_begun()) sends_.progress();
  for (;;) {
    int found = 0, count = 0;
    MPI_Status status;
    COMMPASS_MPI_CALL(MPI_Iprobe, MPI_ANY_SOURCE, tag_, comm_, &found, &status);
    if (!found) return static_cast<std::int64_t>(pieces_.size());
    COMMPASS_MPI_CALL(MPI_Get_count, &status, MPI_BYTE, &count);
    make_room(pieces_);
    make_room(receives_);
    auto& piece = pieces_.emplace_back(Piece{status.MPI_SOURCE, memory_if_any(count), count});
    // It matches the message that was found: no other code receives under this tag, and those of one sender stay in
    // order.
    auto* const request = &receives_.emplace_back(MPI_REQUEST_NULL);
    if (piece.memory)
      COMMPASS_MPI_CALL(MPI_Irecv, piece.memory.get(), count, MPI_BYTE, piece.peer, tag_, comm_, request);
    else receive_and_discard(count, piece.peer, tag_, comm_, request);
  }
}

std::vector<Parcel> ProbedMail::take() {
  std::map<Rank, std::vector<const Piece*>> begun;  // parcels of which more is to come
  std::vector<Parcel> result;
  for (const auto& piece : pieces_) {
    const auto entry = begun.find(piece.peer);
    if (piece.bytes == largest_piece_) {
      begun[piece.peer].push_back(&piece);
    } else if (entry == begun.end()) {
      result.push_back(
          {piece.peer, piece.memory, {piece.memory.get(), piece.memory ? static_cast<std::size_t>(piece.bytes) : 0}});
    } else {
      entry->second.push_back(&piece);
      result.push_back(joined(entry->second));
      begun.erase(entry);
    }
  }
  return result;
}

Parcel ProbedMail::joined(std::span<const Piece* const> pieces) {
  const Rank peer = pieces.front()->peer;
  Bytes bytes = 0;
  for (const auto* piece : pieces) bytes += piece->bytes;
  const bool is_whole = std::ranges::all_of(pieces, [](const Piece* piece) { return piece->memory != nullptr; });
  const auto memory = is_whole ? memory_if_any(bytes) : nullptr;
  if (!memory) return {peer, nullptr, {}};
  std::byte* end = memory.get();
  for (const auto* piece : pieces) end = std::copy_n(piece->memory.get(), piece->bytes, end);
  return {peer, memory, {memory.get(), static_cast<std::size_t>(bytes)}};
}

}  // namespace commpass
