// Where the messages of a plan land that stay on a node. Private to the runtime.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/context.hpp"
#include "runtime/execute/landing_slot.hpp"
#include "runtime/mpi/node_memory.hpp"
#include "runtime/plan/plan.hpp"

namespace commpass {

/// Slots of a plan's messages whose two ends share memory. They lie with the receiver, for each sender two sets, which
/// exchanges use by turns. Only their sender writes to them, so nothing is written to a plan that is gone: before that
/// its last messages have been taken in.
class Landings {
 public:
  /// Collective, blocks.
  /// @return null on all ranks if they share no memory, or none is left: rank 0 says so once. Then MPI sends all
  /// @throws Error, the same on every rank
  static std::unique_ptr<Landings> share(const Context& context, const Plan& plan);

  Landings(const Landings&) = delete;
  Landings& operator=(const Landings&) = delete;
  ~Landings() {
    if (number_) memory_.give_back_number(*number_);
  }

  bool is_pushed(const PlannedMessage& message) const {
    return message.bytes <= shared_bytes_max && numbers_[static_cast<std::size_t>(message.peer)] >= 0;
  }
  /// Finds the slots. Local. @throws Error, std::bad_alloc
  void place(const Plan& plan);
  /// The plan without pushed messages, with as many batches.
  Plan rest_of(const Plan& plan) const;

  /// The first of two sets, of which the second has the same at `second` bytes behind it.
  struct Slot {
    LandingSlot first;
    Bytes second = 0;
  };
  const std::vector<Slot>& sends() const { return sends_; }        ///< pushed ones in the order of the plan
  const std::vector<Slot>& receives() const { return receives_; }  ///< likewise
  SharedNumber taken() const { return *taken_; }                   ///< the exchanges that this rank has taken in
  /// The `taken` numbers of receivers that push no messages to this rank. The messages of other receivers acknowledge
  /// an exchange; these ranks acknowledge it by their numbers alone.
  const std::vector<SharedNumber>& silent_receivers() const { return silent_receivers_; }

  /// Of this rank, above 0.
  Bytes bytes() const { return range_->bytes() + LandingSlot::line; }
  /// Never gives them back: after a failure other ranks may still push.
  void keep() noexcept {
    range_->keep();
    number_.reset();
  }

 private:
  /// The places that a receiver tells a sender of its node.
  struct Told {
    NodeMemory::Place slots;  ///< both sets
    NodeMemory::Place taken;  ///< that number
    std::uint64_t from = 0;   ///< from which it counts
    Bytes bytes = 0;          ///< of a set
  };
  Landings(const Context& context, const Plan& plan);
  /// Of the peer of a message that is pushed, on the node.
  std::size_t number_of(const PlannedMessage& message) const {
    return static_cast<std::size_t>(numbers_[static_cast<std::size_t>(message.peer)]);
  }

  NodeMemory& memory_;
  std::vector<Rank> numbers_;      ///< on the node, by rank of the communicator; negative: no message to it is pushed
  std::vector<Bytes> sent_;        ///< of a set, by rank of the node
  std::vector<Told> mine_, told_;  ///< to and by each rank of the node
  std::optional<NodeMemory::Range> range_;
  std::optional<NodeMemory::Place> number_;  ///< of the exchanges that are taken in; given back as it is
  std::optional<SharedNumber> taken_;
  std::vector<Slot> sends_, receives_;
  std::vector<SharedNumber> silent_receivers_;
};

}  // namespace commpass
