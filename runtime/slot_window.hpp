// A window in which every rank has a slot at every rank, for messages of a constant size.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/parcel.hpp"

namespace commpass {

/// One-sided messages of up to `slot_bytes`, kept for many exchanges. There are two slots for each pair of ranks, used by
/// turns: a rank that is one exchange ahead does not touch what its receiver has not read yet. A slot holds the number of
/// the exchange that it belongs to, so nothing needs to be cleared.
class SlotWindow {
 public:
  /// Collective.
  SlotWindow(MPI_Comm comm, Bytes slot_bytes);
  ~SlotWindow();
  SlotWindow(const SlotWindow&) = delete;
  SlotWindow& operator=(const SlotWindow&) = delete;

  Bytes slot_bytes() const { return slot_bytes_; }

  /// Begins the next exchange.
  void begin() { ++exchange_; }
  void put(const Outgoing& message);
  /// Everything that was put is in its slots.
  void flush();
  /// The messages that are here. All ranks must have flushed before.
  /// @param bytes  of each
  std::vector<Parcel> take(Bytes bytes);

 private:
  using Stamp = std::int64_t;
  Bytes slot_size() const { return static_cast<Bytes>(sizeof(Stamp)) + slot_bytes_; }
  /// Where the slots of the current exchange begin.
  Bytes first_slot() const { return exchange_ % 2 * ranks_ * slot_size(); }

  Bytes slot_bytes_;
  int rank_ = 0, ranks_ = 0;
  Stamp exchange_ = 0;
  std::byte* slots_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<std::vector<std::byte>> stamped_;  // what is being put
};

}  // namespace commpass
