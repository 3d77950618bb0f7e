#include "runtime/device/device_data.hpp"

#include <algorithm>

#include "model/error.hpp"
#include "runtime/device/find_device.hpp"

namespace commpass {

namespace {

template <class Edge>
std::optional<Device> device_of_side(const void* buffer, std::span<const Edge> edges) {
  const auto edge = std::ranges::find_if(edges, [](const Edge& its) { return its.bytes > 0; });
  if (!buffer || edge == edges.end()) return {};
  return device_of(static_cast<const std::byte*>(buffer) + edge->offset);
}

}  // namespace

DeviceSides find_device_sides(const BuffersAndEdges& given) {
  DeviceSides sides{device_of_side(given.send_buffer, given.sends),
                    device_of_side<ReceiveEdge>(given.receive_buffer, given.receives)};
  if (sides.sends && sides.receives && *sides.sends != *sides.receives)
    throw InputError("exchange", "the send buffer lies on another device than the receive buffer",
                     "let both of a rank lie on one device");
  return sides;
}

}  // namespace commpass
