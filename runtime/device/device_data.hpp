// The data of a planned exchange on one rank that lies on a device. Private to the runtime.
#pragma once

#include <optional>
#include <span>

#include "runtime/device/device_queue.hpp"
#include "runtime/plan/plan.hpp"

namespace commpass {

/// On which device each side of an exchange lies; nothing: in host memory.
struct DeviceSides {
  std::optional<Device> sends, receives;
  Ends send_ends = Ends::anywhere, receive_ends = Ends::anywhere;  ///< of copies between that side and ours

  bool any() const { return sends || receives; }
  /// That which copies. Only if there is any.
  const Device& device() const { return sends ? *sends : *receives; }
  /// Of copies from one side to the other.
  Ends both_ends() const { return send_ends == Ends::reached ? receive_ends : Ends::anywhere; }
};

/// What a rank gives to an exchange.
struct BuffersAndEdges {
  const void* send_buffer = nullptr;
  std::span<const SendEdge> sends;
  void* receive_buffer = nullptr;
  std::span<const ReceiveEdge> receives;
  DeviceSides sides{};      ///< where its data lies
  bool are_values = false;  ///< is it of small values, which loops copy (ExchangeOptions)?
};

/// Asks for the first byte of each side that has bytes; drivers take some µs to answer. @throws InputError if the sides
/// lie on two devices
DeviceSides find_device_sides(const void* send_buffer, std::span<const SendEdge> sends, void* receive_buffer,
                              std::span<const ReceiveEdge> receives);

}  // namespace commpass
