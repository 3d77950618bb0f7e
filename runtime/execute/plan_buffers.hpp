// The four buffers of a plan: the user's two, and two of our own, for transit and packing.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/execute/memory.hpp"
#include "runtime/plan/plan.hpp"

namespace commpass {

class PlanBuffers {
 public:
  /// @throws std::bad_alloc
  PlanBuffers(const Plan& plan, Memory& memory, const void* send_buffer, void* receive_buffer);

  std::byte* address(const Place& place) const;
  /// Appends copies with the addresses of their places.
  void add_copies(const std::vector<PlannedCopy>& planned, std::vector<LocalCopy>& copies) const;
  /// Appends those that gather or scatter the pieces of a message.
  void add_gathering(const PlannedMessage& message, std::vector<LocalCopy>& copies) const;
  void add_scattering(const PlannedMessage& message, std::vector<LocalCopy>& copies) const;

 private:
  const std::byte* send_;
  std::byte* receive_;
  Memory::Buffer transit_, packing_;
};

}  // namespace commpass
