// Where in memory the bytes of an MPI datatype lie.
#pragma once

#include <optional>
#include <vector>

#include "runtime/mpi/element_type.hpp"

namespace commpass {

/// Bytes of an element that lie together, from where the element lies.
struct TypePiece {
  Bytes offset = 0;
  Bytes bytes = 0;
  bool operator==(const TypePiece&) const = default;
};

/// Those of one element, in the order in which MPI sends them. MPI tells it by packing a memory whose bytes are
/// numbered, which takes as much memory as the extent, and some passes over it.
/// @return nothing for elements that reach over more than 64 MiB. @throws MpiError, std::bad_alloc
std::optional<std::vector<TypePiece>> pieces_of(const ElementType& type);

}  // namespace commpass
