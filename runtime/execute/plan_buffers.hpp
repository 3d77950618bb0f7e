// The four buffers of a plan: the user's two, and two of our own, for transit and packing.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "runtime/execute/memory.hpp"
#include "runtime/plan/plan.hpp"

namespace commpass {

class PlanBuffers {
 public:
  /// @throws std::bad_alloc
  PlanBuffers(const Plan& plan, Memory& memory, const void* send_buffer, void* receive_buffer)
      : starts_{static_cast<std::byte*>(const_cast<void*>(send_buffer)),  // NOLINT: only read
                static_cast<std::byte*>(receive_buffer)},
        transit_(memory.allocate(plan.transit_bytes)),
        packing_(memory.allocate(plan.packing_bytes)) {
    starts_[static_cast<std::size_t>(Place::Buffer::transit)] = transit_.get();
    starts_[static_cast<std::size_t>(Place::Buffer::packing)] = packing_.get();
  }

  std::byte* address(const Place& place) const {
    return starts_[static_cast<std::size_t>(place.buffer)] + place.offset;
  }
  /// Appends copies with the addresses of their places.
  void add_copies(const std::vector<PlannedCopy>& planned, std::vector<LocalCopy>& copies) const {
    for (const auto& [from, to, bytes] : planned)
      copies.push_back({address(from), address(to), static_cast<std::size_t>(bytes)});
  }
  /// Appends those that gather or scatter the pieces of a message.
  void add_gathering(const PlannedMessage& message, std::vector<LocalCopy>& copies) const {
    for (const auto& [offset, place, bytes] : message.pieces)
      copies.push_back({address(place), address(message.place) + offset, static_cast<std::size_t>(bytes)});
  }
  void add_scattering(const PlannedMessage& message, std::vector<LocalCopy>& copies) const {
    for (const auto& [offset, place, bytes] : message.pieces)
      copies.push_back({address(message.place) + offset, address(place), static_cast<std::size_t>(bytes)});
  }

 private:
  std::array<std::byte*, 4> starts_;  ///< by Place::Buffer
  Memory::Buffer transit_, packing_;
};

}  // namespace commpass
