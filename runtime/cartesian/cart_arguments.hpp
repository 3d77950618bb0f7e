// The buffers of Cartesian collectives: a block for each neighbour, with the arguments of MPI's neighbourhood
// collectives.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/mpi/element_type.hpp"

namespace commpass {

/// One side of a call as the user gives it. Of a call without v or w blocks stand one after another; of v, counts and
/// displacements are in elements of one type; of w, displacements are in bytes, and each block has a type.
struct CartSide {
  const void* buffer = nullptr;
  int count = 0;  ///< of each block, where there are no counts
  std::span<const int> counts{};
  std::span<const int> displacements{};
  std::span<const MPI_Aint> byte_displacements{};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::span<const MPI_Datatype> types{};
  enum class Shape : std::uint8_t { one, regular, v, w } shape = Shape::regular;  ///< one: a single block, for all
};

/// The blocks of one side in the order of its slots, with their types.
class CartBlocks {
 public:
  struct Block {
    std::byte* at = nullptr;
    Bytes count = 0;
    std::size_t type = 0;
  };

  CartBlocks() = default;
  /// @param place  for errors: "alltoallv, send"
  /// @param slots  the number of blocks, including those beyond an edge
  /// @throws InputError, MpiError
  CartBlocks(const CartSide& side, std::size_t slots, const std::string& place, MPI_Comm comm);

  std::size_t size() const { return blocks_.size(); }
  const Block& operator[](std::size_t slot) const { return blocks_[slot]; }
  const ElementType& type(std::size_t slot) const { return types_[blocks_[slot].type]; }
  Bytes bytes(std::size_t slot) const { return blocks_[slot].count == 0 ? 0 : blocks_[slot].count * type(slot).size(); }
  /// Have all blocks their bytes in one piece?
  bool are_contiguous() const;
  /// The lowest address of a block with bytes; null if there is none.
  std::byte* lowest() const;
  /// Puts them into another order: block i becomes that of slot order[i]; where that is −1, one that is nowhere, as
  /// large as all others if all are.
  void arrange(std::span<const int> order);

 private:
  std::size_t type_number(MPI_Datatype type, MPI_Comm comm);

  std::vector<ElementType> types_;
  std::vector<MPI_Datatype> known_;  // of which these are
  std::vector<Block> blocks_;
  Bytes count_of_none_ = 0;
};

}  // namespace commpass
