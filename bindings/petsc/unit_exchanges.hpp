// The exchanges of a star forest in one direction, of units of one size: counted, and planned when they have come
// often.
#pragma once

#include <petscsys.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "bindings/petsc/forest_wiring.hpp"
#include "model/base/types.hpp"
#include "runtime/communicator.hpp"

namespace commpass {

enum class Direction { to_leaves, to_roots };

/// An exchange that is planned, between buffers in which units lie one after the other.
struct BufferedExchange {
  std::unique_ptr<std::byte[]> sent, received;
  Exchange exchange;
};

class UnitExchanges {
 public:
  UnitExchanges(Direction direction, Bytes unit_bytes) : direction_(direction), unit_bytes_(unit_bytes) {}

  Direction direction() const { return direction_; }
  Bytes unit_bytes() const { return unit_bytes_; }
  /// @return how many there have been, with this one
  PetscInt64 count() { return ++count_; }

  /// May another one be begun? Not where many overlap without end; type basic has no such limit.
  bool has_room() const { return next_ < most_planned; }
  /// One that no rank uses. Where there is none yet, it is planned, which is collective.
  ///
  /// Ranks need not agree which of several in flight has ended: one without roots and leaves cannot tell them apart. So
  /// none is used again before all have ended.
  /// @param strategy  empty: what is cheapest
  /// @throws Error, the same on every rank
  BufferedExchange& take(const ForestWiring& wiring, Communicator& communicator, const std::string& strategy);
  /// To be called when one that was taken has ended.
  void give_back();

  bool is_planned() const { return !planned_.empty(); }
  /// For people, line after line: what was exchanged, and which strategy runs, and why.
  std::string description() const;

 private:
  static constexpr std::size_t most_planned = 8;

  Direction direction_;
  Bytes unit_bytes_;
  PetscInt64 count_ = 0;
  std::size_t in_flight_ = 0, next_ = 0;
  std::vector<std::unique_ptr<BufferedExchange>> planned_ = {};
};

}  // namespace commpass
