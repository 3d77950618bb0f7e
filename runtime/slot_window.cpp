#include "runtime/slot_window.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/mpi_error.hpp"
#include "runtime/probed_mail.hpp"
#include "runtime/ranks.hpp"

namespace commpass {

SlotWindow::SlotWindow(MPI_Comm comm, Bytes slot_bytes) : slot_bytes_(slot_bytes) {
  rank_ = rank_in(comm);
  ranks_ = ranks_in(comm);
  const auto size = 2 * ranks_ * slot_size();
  COMMPASS_MPI_CALL(MPI_Win_allocate, static_cast<MPI_Aint>(size), 1, MPI_INFO_NULL, comm, static_cast<void*>(&slots_), &window_);
  std::memset(slots_, 0, static_cast<std::size_t>(size));
  COMMPASS_MPI_CALL(MPI_Barrier, comm);  // nobody puts into what is still being set
  COMMPASS_MPI_CALL(MPI_Win_lock_all, MPI_MODE_NOCHECK, window_);
}

SlotWindow::~SlotWindow() {
  if (window_ == MPI_WIN_NULL || !mpi_is_usable()) return;
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

void SlotWindow::put(const Outgoing& message) {
  auto& stamped = stamped_.emplace_back(sizeof(Stamp) + message.bytes.size());
  std::memcpy(stamped.data(), &exchange_, sizeof(Stamp));
  std::ranges::copy(message.bytes, stamped.begin() + sizeof(Stamp));
  const auto count = static_cast<int>(stamped.size());
  COMMPASS_MPI_CALL(MPI_Put, stamped.data(), count, MPI_BYTE, message.peer, static_cast<MPI_Aint>(first_slot() + rank_ * slot_size()), count, MPI_BYTE, window_);
}

void SlotWindow::flush() {
  COMMPASS_MPI_CALL(MPI_Win_flush_all, window_);
  stamped_.clear();
}

std::vector<Parcel> SlotWindow::take(Bytes bytes) {
  COMMPASS_MPI_CALL(MPI_Win_sync, window_);
  std::vector<Parcel> result;
  for (Rank peer = 0; peer < ranks_; ++peer) {
    const std::byte* slot = slots_ + first_slot() + peer * slot_size();
    Stamp stamp = 0;
    std::memcpy(&stamp, slot, sizeof stamp);
    if (stamp != exchange_) continue;
    const auto memory = memory_for(bytes);
    std::copy_n(slot + sizeof stamp, bytes, memory.get());
    result.push_back({peer, memory, {memory.get(), static_cast<std::size_t>(bytes)}});
  }
  return result;
}

}  // namespace commpass
