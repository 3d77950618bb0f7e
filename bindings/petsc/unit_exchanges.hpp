// The exchanges of a star forest in one direction with units of one size: counted, and planned if they recur.
#pragma once

#include <petscsys.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/petsc/forest_wiring.hpp"
#include "model/base/types.hpp"
#include "runtime/communicator.hpp"

namespace commpass {

/// sums_to_roots: to the roots, and units for the same root are combined where they meet.
enum class Direction { to_leaves, to_roots, sums_to_roots };

/// A planned exchange between buffers of contiguous units. Of sums the roots themselves are received.
struct BufferedExchange {
  std::unique_ptr<std::byte[]> sent, received;
  std::variant<Exchange, IndexedExchange> exchange;

  /// Not of sums.
  void start() { std::get<Exchange>(exchange).start(); }
  void start_sums(void* roots, Addition add) {
    std::get<IndexedExchange>(exchange).start_reverse_add(sent.get(), roots, std::move(add));
  }
  void wait() {
    std::visit([](auto& one) { one.wait(); }, exchange);
  }
};

class UnitExchanges {
 public:
  UnitExchanges(Direction direction, Bytes unit_bytes) : direction_(direction), unit_bytes_(unit_bytes) {}

  Direction direction() const { return direction_; }
  Bytes unit_bytes() const { return unit_bytes_; }
  /// Counts one exchange. @return the count
  PetscInt64 count() { return ++count_; }

  /// May another one begin? The number of overlapping ones is limited; that of type basic is not.
  bool has_room() const { return next_ < planned_max; }
  /// A planned exchange that no rank uses. Planning a further one is collective.
  ///
  /// Ranks may disagree which of several exchanges has ended: a rank without roots and leaves cannot distinguish them.
  /// So all of them end before one is used again.
  /// @param strategy  empty: the cheapest
  /// @throws Error, the same on every rank
  BufferedExchange& take(const ForestWiring& wiring, Communicator& communicator, const std::string& strategy);
  /// Ends the use of a taken one.
  void give_back();

  bool is_planned() const { return !planned_.empty(); }
  /// Lines for people: the exchange, its strategy and the reason.
  std::string description() const;

 private:
  static constexpr std::size_t planned_max = 8;

  Direction direction_;
  Bytes unit_bytes_;
  PetscInt64 count_ = 0;
  std::size_t in_flight_ = 0, next_ = 0;
  std::vector<std::unique_ptr<BufferedExchange>> planned_ = {};
};

}  // namespace commpass
