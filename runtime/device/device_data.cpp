#include "runtime/device/device_data.hpp"

#include <algorithm>

#include "model/base/error.hpp"
#include "runtime/device/find_device.hpp"
#include "runtime/device/staged_bytes.hpp"

namespace commpass {

namespace {

template <class Edge>
std::optional<Device> device_of_side(const void* buffer, std::span<const Edge> edges) {
  const auto edge = std::ranges::find_if(edges, [](const Edge& its) { return its.bytes > 0; });
  if (!buffer || edge == edges.end()) return {};
  return device_of(static_cast<const std::byte*>(buffer) + edge->offset);
}

/// A side on a device may have several allocations, even in host memory.
template <class Edge>
Ends ends_of_side(const std::optional<Device>& device, const void* buffer, std::span<const Edge> edges) {
  return device ? StagedRanges(ranges_of(edges), 0).ends(*device, buffer) : Ends::anywhere;
}

}  // namespace

DeviceSides find_device_sides(const void* send_buffer, std::span<const SendEdge> sends, void* receive_buffer,
                              std::span<const ReceiveEdge> receives) {
  DeviceSides sides;
  sides.sends = device_of_side(send_buffer, sends);
  sides.receives = device_of_side<ReceiveEdge>(receive_buffer, receives);
  sides.send_ends = ends_of_side(sides.sends, send_buffer, sends);
  sides.receive_ends = ends_of_side<ReceiveEdge>(sides.receives, receive_buffer, receives);
  if (sides.sends && sides.receives && *sides.sends != *sides.receives)
    throw InputError("exchange", "the send buffer lies on another device than the receive buffer",
                     "let both of a rank lie on one device");
  return sides;
}

}  // namespace commpass
