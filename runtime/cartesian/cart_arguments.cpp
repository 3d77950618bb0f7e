#include "runtime/cartesian/cart_arguments.hpp"

#include <fmt/core.h>

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

CartBlocks::CartBlocks(const CartSide& side, std::size_t slots, const std::string& place, MPI_Comm comm)
    : buffer(const_cast<void*>(side.buffer)) {  // NOLINT: a send buffer is only read
  using Shape = CartSide::Shape;
  if (side.buffer == MPI_IN_PLACE) throw InputError(place, "MPI_IN_PLACE is given", "use a buffer of its own");
  const bool has_counts = side.shape == Shape::v || side.shape == Shape::w;
  if (has_counts) require_length(side.counts.size(), slots, "counts", place);
  if (side.shape == Shape::v) require_length(side.displacements.size(), slots, "displacements", place);
  if (side.shape == Shape::w) {
    require_length(side.byte_displacements.size(), slots, "displacements", place);
    require_length(side.types.size(), slots, "types", place);
  }
  if (!has_counts) none = {-1, 0, side.count, blocks.number_of(side.type, comm)};
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const Bytes count = has_counts ? side.counts[slot] : side.count;
    if (count < 0) throw InputError(place, fmt::format("the count of block {} is {}", slot, count), "use 0 or more");
    const auto type = blocks.number_of(side.shape == Shape::w ? side.types[slot] : side.type, comm);
    const auto extent = blocks.types()[type].extent();
    Bytes offset = 0;
    switch (side.shape) {
      case Shape::one: break;
      case Shape::regular: offset = static_cast<Bytes>(slot) * count * extent; break;
      case Shape::v: offset = side.displacements[slot] * extent; break;
      case Shape::w: offset = side.byte_displacements[slot]; break;
    }
    blocks.add({static_cast<Rank>(slot), offset, count, type});
    if (!buffer && blocks.bytes(slot) > 0 && side.shape != Shape::w)
      throw InputError(place, "the buffer is null but has blocks", "give the buffer");
  }
  require_host_memory(blocks.first_byte(buffer), place);
}

std::vector<Bytes> CartBlocks::bytes() const {
  std::vector<Bytes> result;
  result.reserve(blocks.size());
  for (std::size_t slot = 0; slot < blocks.size(); ++slot) result.push_back(blocks.bytes(slot));
  return result;
}

}  // namespace commpass
