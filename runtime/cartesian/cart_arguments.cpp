#include "runtime/cartesian/cart_arguments.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "model/base/error.hpp"
#include "runtime/device/find_device.hpp"

namespace commpass {

namespace {

void require_length(std::size_t given, std::size_t slots, const char* what, const std::string& place) {
  if (given < slots)
    throw InputError(place, fmt::format("there are {} neighbours and {} {}", slots, given, what),
                     "give one for each neighbour");
}

}  // namespace

CartBlocks::CartBlocks(const CartSide& side, std::size_t slots, const std::string& place, MPI_Comm comm) {
  using Shape = CartSide::Shape;
  if (side.buffer == MPI_IN_PLACE) throw InputError(place, "MPI_IN_PLACE is given", "use a buffer of its own");
  const bool has_counts = side.shape == Shape::v || side.shape == Shape::w;
  if (has_counts) require_length(side.counts.size(), slots, "counts", place);
  if (side.shape == Shape::v) require_length(side.displacements.size(), slots, "displacements", place);
  if (side.shape == Shape::w) {
    require_length(side.byte_displacements.size(), slots, "displacements", place);
    require_length(side.types.size(), slots, "types", place);
  }
  if (!has_counts) {
    count_of_none_ = side.count;
    type_number(side.type, comm);
  }
  auto* const buffer = static_cast<std::byte*>(const_cast<void*>(side.buffer));  // NOLINT: a send buffer is only read
  blocks_.reserve(slots);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    auto& block = blocks_.emplace_back();
    block.count = has_counts ? side.counts[slot] : side.count;
    if (block.count < 0)
      throw InputError(place, fmt::format("the count of block {} is {}", slot, block.count), "use 0 or more");
    block.type = type_number(side.shape == Shape::w ? side.types[slot] : side.type, comm);
    const Bytes extent = types_[block.type].extent();
    Bytes displacement = 0;
    switch (side.shape) {
      case Shape::one: break;
      case Shape::regular: displacement = static_cast<Bytes>(slot) * block.count * extent; break;
      case Shape::v: displacement = side.displacements[slot] * extent; break;
      case Shape::w: displacement = side.byte_displacements[slot]; break;
    }
    block.at = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(buffer) +  // NOLINT: MPI_BOTTOM is null
                                            static_cast<std::uintptr_t>(displacement));
    if (!buffer && bytes(slot) > 0 && side.shape != Shape::w)
      throw InputError(place, "the buffer is null but has blocks", "give the buffer");
  }
  require_host_memory(lowest(), place);
}

std::size_t CartBlocks::type_number(MPI_Datatype type, MPI_Comm comm) {
  const auto known = std::ranges::find(known_, type);
  if (known == known_.end()) {
    types_.emplace_back(type, comm);
    known_.push_back(type);
    return types_.size() - 1;
  }
  return static_cast<std::size_t>(known - known_.begin());
}

bool CartBlocks::are_contiguous() const {
  return std::ranges::all_of(blocks_, [&](const Block& block) {
    const auto& type = types_[block.type];
    return block.count * type.size() == 0 || type.is_contiguous();
  });
}

std::byte* CartBlocks::lowest() const {
  std::byte* lowest = nullptr;
  for (std::size_t slot = 0; slot < size(); ++slot)
    if (blocks_[slot].at && bytes(slot) > 0 && (!lowest || blocks_[slot].at < lowest)) lowest = blocks_[slot].at;
  return lowest;
}

void CartBlocks::arrange(std::span<const int> order) {
  std::vector<Block> arranged;
  arranged.reserve(order.size());
  for (const int slot : order)
    arranged.push_back(slot < 0 ? Block{nullptr, count_of_none_, 0} : blocks_[static_cast<std::size_t>(slot)]);
  blocks_ = std::move(arranged);
}

}  // namespace commpass
