// Which blocks have the same bytes, so that a message carries these once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/route/route.hpp"

namespace commpass {

/// For each block the number of the first one with the same bytes, its own if there is none before: blocks of one
/// source, payload, offset and size have the same bytes. Fragments of a payload that is cut differently on two ways do
/// not count.
/// @return empty if no block has a payload, as in most patterns
std::vector<std::uint32_t> first_alike(std::span<const Block> blocks);

/// Finds, message after message, the block of a message that brings the bytes of another one.
class Carriers {
 public:
  /// @param first_alike  of the blocks; must outlive this
  explicit Carriers(std::span<const std::uint32_t> first_alike)
      : first_alike_(first_alike), last_(first_alike.size()) {}

  void begin_message() { ++message_; }

  /// The place in the message of the block that brings the bytes of block `number`: `place` if that is the first of its
  /// kind.
  std::uint32_t carrier(std::uint32_t number, std::uint32_t place) {
    auto& last = last_[first_alike_[number]];
    if (last.message != message_) last = {message_, place};
    return last.place;
  }

 private:
  struct Carrier {
    std::uint64_t message = 0;
    std::uint32_t place = 0;
  };
  std::span<const std::uint32_t> first_alike_;
  std::vector<Carrier> last_;  // by the first block with the same bytes
  std::uint64_t message_ = 0;
};

}  // namespace commpass
