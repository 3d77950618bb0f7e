#include "runtime/sparse/slot_window.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

SlotWindow::SlotWindow(MPI_Comm comm, Bytes slot_bytes) : comm_(comm), slot_bytes_(slot_bytes) {
  rank_ = rank_in(comm);
  ranks_ = ranks_in(comm);
  const auto size = bytes_of_window(ranks_, slot_bytes);
  COMMPASS_MPI_CALL(MPI_Win_allocate, static_cast<MPI_Aint>(size), 1, MPI_INFO_NULL, comm, static_cast<void*>(&slots_),
                    &window_);
  std::memset(slots_, 0, static_cast<std::size_t>(size));
  COMMPASS_MPI_CALL(MPI_Barrier, comm);  // no rank puts into slots that are still being set
  COMMPASS_MPI_CALL(MPI_Win_lock_all, MPI_MODE_NOCHECK, window_);
}

SlotWindow::~SlotWindow() {
  if (window_ == MPI_WIN_NULL || !mpi_is_usable()) return;
  try {
    assemble(comm_);  // freeing waits for all ranks
  } catch (...) {     // NOLINT: a destructor cannot throw
  }
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

Bytes SlotWindow::slot_bytes_for(Bytes bytes) {
  constexpr Bytes least = 8;  // as all powers of two above it, a size by which slots are aligned
  return static_cast<Bytes>(std::bit_ceil(static_cast<std::uint64_t>(std::max(bytes, least))));
}

Bytes SlotWindow::bytes_of_window(Rank ranks, Bytes slot_bytes) { return Bytes{2} * ranks * slot_size(slot_bytes); }

std::vector<std::byte> SlotWindow::stamp(Number exchange, std::span<const std::byte> message) {
  const Stamp stamp{exchange, std::ssize(message)};
  std::vector<std::byte> stamped(sizeof stamp + message.size());
  std::memcpy(stamped.data(), &stamp, sizeof stamp);
  std::ranges::copy(message, stamped.begin() + sizeof stamp);
  return stamped;
}

void SlotWindow::put(Number exchange, Rank peer, std::span<const std::byte> stamped) {
  const auto count = static_cast<int>(stamped.size());
  COMMPASS_MPI_CALL(MPI_Put, stamped.data(), count, MPI_BYTE, peer, static_cast<MPI_Aint>(slot_of(exchange, rank_)),
                    count, MPI_BYTE, window_);
}

void SlotWindow::flush() { COMMPASS_MPI_CALL(MPI_Win_flush_all, window_); }

std::vector<SlotWindow::Found> SlotWindow::find(Number exchange) {
  COMMPASS_MPI_CALL(MPI_Win_sync, window_);
  std::vector<Found> found;
  for (Rank peer = 0; peer < ranks_; ++peer) {
    const std::byte* const slot = slots_ + slot_of(exchange, peer);
    Stamp stamp;
    std::memcpy(&stamp, slot, sizeof stamp);
    if (stamp.exchange == exchange)
      found.push_back({peer, {slot + sizeof stamp, static_cast<std::size_t>(stamp.bytes)}});
  }
  return found;
}

}  // namespace commpass
