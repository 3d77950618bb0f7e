// The buffers of Cartesian collectives: a block for each neighbour, with the arguments of MPI's neighbourhood
// collectives.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/mpi/typed_blocks.hpp"

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

  static CartSide one(const void* buffer, int count, MPI_Datatype type) {
    return {buffer, count, {}, {}, {}, type, {}, Shape::one};
  }
  static CartSide regular(const void* buffer, int count, MPI_Datatype type) {
    return {buffer, count, {}, {}, {}, type, {}, Shape::regular};
  }
  static CartSide v(const void* buffer, std::span<const int> counts, std::span<const int> displacements,
                    MPI_Datatype type) {
    return {buffer, 0, counts, displacements, {}, type, {}, Shape::v};
  }
  static CartSide w(const void* buffer, std::span<const int> counts, std::span<const MPI_Aint> displacements,
                    std::span<const MPI_Datatype> types) {
    return {buffer, 0, counts, {}, displacements, MPI_DATATYPE_NULL, types, Shape::w};
  }
};

/// The blocks of one side in the order of its slots.
struct CartBlocks {
  void* buffer = nullptr;  ///< the user's; a send buffer is only read
  TypedBlocks blocks{};
  TypedBlocks::Block none{};  ///< one that is nowhere, as large as all others if all are

  /// @param place  for errors: "alltoallv, send"
  /// @param slots  the number of blocks, including those beyond an edge
  /// @throws InputError, MpiError
  CartBlocks(const CartSide& side, std::size_t slots, const std::string& place, MPI_Comm comm);
  /// By slot.
  std::vector<Bytes> bytes() const;
};

}  // namespace commpass
