// A window in which every rank has a slot at every rank, for messages of a constant size.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/sparse/parcel.hpp"

namespace commpass {

/// One-sided messages of up to `slot_bytes`, kept for many exchanges. There are two slots for each pair of ranks, used
/// by turns: a rank that is one exchange ahead does not touch what its receiver has not read yet. A slot holds the
/// number of the exchange that it belongs to, so nothing needs to be cleared, and the bytes of its message.
///
/// Exchanges have their numbers when they begin, and may be in flight together; but only one puts at a time, in the
/// order of the numbers, and after all ranks are known to have put in the one before it.
class SlotWindow {
 public:
  using Number = std::int64_t;

  /// Collective. @param slot_bytes  the same on every rank
  SlotWindow(MPI_Comm comm, Bytes slot_bytes);
  ~SlotWindow();
  SlotWindow(const SlotWindow&) = delete;
  SlotWindow& operator=(const SlotWindow&) = delete;

  Bytes slot_bytes() const { return slot_bytes_; }
  /// A size by which slots are aligned, in which messages of `bytes` and those that are a little larger find room.
  static Bytes slot_bytes_for(Bytes bytes);
  /// How much memory a window takes on each rank.
  static Bytes bytes_of_window(Rank ranks, Bytes slot_bytes);

  /// The number of the next exchange.
  Number begin() { return ++last_; }
  /// A message as it will lie in its slot.
  static std::vector<std::byte> stamp(Number exchange, std::span<const std::byte> message);
  /// Puts a stamped message into this rank's slot at a peer. It must stay until flush().
  void put(Number exchange, Rank peer, std::span<const std::byte> stamped);
  /// Everything that was put is in its slots.
  void flush();

  /// A message in a slot here, until the exchange after the next one.
  struct Found {
    Rank peer = 0;
    std::span<const std::byte> bytes;
  };
  /// The messages of an exchange that are here. All ranks must have flushed before.
  std::vector<Found> find(Number exchange);

 private:
  struct Stamp {
    Number exchange = 0;
    Bytes bytes = 0;
  };
  static Bytes slot_size(Bytes slot_bytes) { return static_cast<Bytes>(sizeof(Stamp)) + slot_bytes; }
  Bytes slot_size() const { return slot_size(slot_bytes_); }
  /// Where the slot of a sender begins.
  Bytes slot_of(Number exchange, Rank sender) const { return (exchange % 2 * ranks_ + sender) * slot_size(); }

  MPI_Comm comm_;
  Bytes slot_bytes_;
  int rank_ = 0, ranks_ = 0;
  Number last_ = 0;
  std::byte* slots_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace commpass
