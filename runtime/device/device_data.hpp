// The devices that have the data of a planned exchange on one rank. Private to the runtime.
#pragma once

#include <optional>
#include <span>

#include "runtime/device/device_queue.hpp"
#include "runtime/edges.hpp"

namespace commpass {

struct Summation;

/// The device of each side of an exchange; nothing: host memory.
struct DeviceSides {
  std::optional<Device> sends, receives;
  Ends send_ends = Ends::anywhere, receive_ends = Ends::anywhere;  ///< of copies between that side and ours

  bool any() const { return sends || receives; }
  /// The device that copies. Only if any().
  const Device& device() const { return sends ? *sends : *receives; }
  /// Of copies from one side to the other.
  Ends both_ends() const { return send_ends == Ends::reached ? receive_ends : Ends::anywhere; }
};

/// The arguments of a rank for an exchange.
struct BuffersAndEdges {
  const void* send_buffer = nullptr;
  std::span<const SendEdge> sends;
  void* receive_buffer = nullptr;
  std::span<const ReceiveEdge> receives;
  DeviceSides sides{};
  bool are_values = false;    ///< of small values, which loops copy (ExchangeOptions)
  Summation* sums = nullptr;  ///< the edges are run backwards, with these sums (planned_exchanges.hpp)

  Bytes added_value_bytes() const;
};

/// Finds the device of the first byte of each side; a driver takes some µs. @throws InputError if the sides lie on two
/// devices
DeviceSides find_device_sides(const void* send_buffer, std::span<const SendEdge> sends, void* receive_buffer,
                              std::span<const ReceiveEdge> receives);

}  // namespace commpass
