#include "runtime/probed_mail.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "runtime/mpi_error.hpp"

namespace commpass {

ProbedMail::~ProbedMail() {
  if (!mpi_is_usable()) return;
  // What was found is on its way and ends here; a send may never be found after an error.
  MPI_Waitall(static_cast<int>(receives_.size()), receives_.data(), MPI_STATUSES_IGNORE);
  for (auto& request : sends_)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

void ProbedMail::send(const Outgoing& parcel, Mode mode) {
  const auto begin_send = mode == Mode::synchronous ? MPI_Issend : MPI_Isend;
  const auto size = static_cast<Bytes>(parcel.bytes.size());
  for (Bytes sent = 0; sent <= size; sent += largest_piece_) {
    const auto count = static_cast<int>(std::min(largest_piece_, size - sent));
    check_mpi("MPI_Isend", begin_send(parcel.bytes.data() + sent, count, MPI_BYTE, parcel.peer, tag_, comm_, &sends_.emplace_back(MPI_REQUEST_NULL)));
  }
}

namespace {

bool all_done(std::vector<MPI_Request>& requests) {
  int done = 1;
  if (!requests.empty()) COMMPASS_MPI_CALL(MPI_Testall, static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
  if (done) requests.clear();
  return done != 0;
}

}  // namespace

bool ProbedMail::all_sent() { return all_done(sends_); }
bool ProbedMail::all_received() { return all_done(receives_); }

std::int64_t ProbedMail::receive() {
  for (;;) {
    int found = 0, count = 0;
    MPI_Status status;
    COMMPASS_MPI_CALL(MPI_Iprobe, MPI_ANY_SOURCE, tag_, comm_, &found, &status);
    if (!found) return static_cast<std::int64_t>(pieces_.size());
    COMMPASS_MPI_CALL(MPI_Get_count, &status, MPI_BYTE, &count);
    auto& piece = pieces_.emplace_back(Piece{status.MPI_SOURCE, memory_for(count), count});
    // It matches the message that was found: nobody else receives under this tag, and those of one sender stay in order.
    COMMPASS_MPI_CALL(MPI_Irecv, piece.memory.get(), count, MPI_BYTE, piece.peer, tag_, comm_, &receives_.emplace_back(MPI_REQUEST_NULL));
  }
}

std::vector<Parcel> ProbedMail::take() {
  std::map<Rank, std::vector<const Piece*>> begun;  // parcels of which more is to come
  std::vector<Parcel> result;
  for (const auto& piece : pieces_) {
    const auto entry = begun.find(piece.peer);
    const auto bytes = static_cast<std::size_t>(piece.bytes);
    if (piece.bytes == largest_piece_) {
      begun[piece.peer].push_back(&piece);
    } else if (entry == begun.end()) {
      result.push_back({piece.peer, piece.memory, {piece.memory.get(), bytes}});
    } else {
      const auto& parts = entry->second;
      const auto whole = static_cast<Bytes>(parts.size()) * largest_piece_;
      const auto memory = memory_for(whole + piece.bytes);
      std::byte* end = memory.get();
      for (const auto* part : parts) end = std::copy_n(part->memory.get(), largest_piece_, end);
      std::copy_n(piece.memory.get(), piece.bytes, end);
      result.push_back({piece.peer, memory, {memory.get(), static_cast<std::size_t>(whole + piece.bytes)}});
      begun.erase(entry);
    }
  }
  pieces_.clear();
  return result;
}

}  // namespace commpass
