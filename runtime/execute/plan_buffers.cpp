#include "runtime/execute/plan_buffers.hpp"

namespace commpass {

PlanBuffers::PlanBuffers(const Plan& plan, Memory& memory, const void* send_buffer, void* receive_buffer)
    : send_(static_cast<const std::byte*>(send_buffer)),
      receive_(static_cast<std::byte*>(receive_buffer)),
      transit_(memory.allocate(plan.transit_bytes)),
      packing_(memory.allocate(plan.packing_bytes)) {}

std::byte* PlanBuffers::address(const Place& place) const {
  switch (place.buffer) {
    case Place::Buffer::send: return const_cast<std::byte*>(send_) + place.offset;  // NOLINT: only read
    case Place::Buffer::receive: return receive_ + place.offset;
    case Place::Buffer::transit: return transit_.get() + place.offset;
    case Place::Buffer::packing: return packing_.get() + place.offset;
  }
  return nullptr;
}

void PlanBuffers::add_copies(const std::vector<PlannedCopy>& planned, std::vector<LocalCopy>& copies) const {
  for (const auto& copy : planned)
    copies.push_back({address(copy.from), address(copy.to), static_cast<std::size_t>(copy.bytes)});
}

void PlanBuffers::add_gathering(const PlannedMessage& message, std::vector<LocalCopy>& copies) const {
  for (const auto& [offset, place, bytes] : message.pieces)
    copies.push_back({address(place), address(message.place) + offset, static_cast<std::size_t>(bytes)});
}

void PlanBuffers::add_scattering(const PlannedMessage& message, std::vector<LocalCopy>& copies) const {
  for (const auto& [offset, place, bytes] : message.pieces)
    copies.push_back({address(message.place) + offset, address(place), static_cast<std::size_t>(bytes)});
}

}  // namespace commpass
