// Elements of an MPI datatype as plain bytes, and where these lie.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// A datatype, with or without gaps, and how its elements become a contiguous run of bytes. Contiguous data may have
/// any size; of other types the MPI library limits the number of elements: int, or with MPI 4 any.
class ElementType {
 public:
  /// @param type  committed, and alive as long as this
  /// @param comm  one that returns errors
  /// @throws InputError for no type, or one whose elements have more bytes than MPI packs at once (2^31 − 1); MpiError
  ElementType(MPI_Datatype type, MPI_Comm comm);

  /// Is that the same type, which cannot be freed?
  bool is_named(MPI_Datatype type) const { return contiguous_ && type == type_; }

  Bytes size() const { return size_; }      ///< of the data of one element
  Bytes extent() const { return extent_; }  ///< from one element to the next
  Bytes begin() const { return begin_; }    ///< of the data of an element, relative to its place; may be negative
  Bytes end() const { return end_; }        ///< likewise
  bool is_contiguous() const { return contiguous_; }  ///< consecutive elements have no gaps

  /// Copies the data of `count` elements out of, or into, a buffer of such elements.
  /// @throws MpiError
  void pack(const void* elements, Bytes count, std::byte* bytes) const;
  void unpack(const std::byte* bytes, Bytes count, void* elements) const;

  /// Begins to send elements. @throws MpiError
  /// @param is_synchronous  complete when it has arrived
  void send(const void* elements, Bytes count, Rank peer, int tag, MPI_Comm comm, MPI_Request* request,
            bool is_synchronous = false) const;

 private:
  template <class Action>
  void in_portions(Bytes count, Action action) const;
  void pack_as_unpacked(const std::byte* elements, Bytes count, std::byte* bytes) const;

  MPI_Datatype type_;
  Bytes size_ = 0, extent_ = 0, begin_ = 0, end_ = 0;
  bool contiguous_ = false;
};

/// Bytes of an element that lie together, relative to its place.
struct TypePiece {
  Bytes offset = 0;
  Bytes bytes = 0;
  bool operator==(const TypePiece&) const = default;
};

/// The pieces of one element, in the order in which MPI sends them. Packs a memory whose bytes are numbered, which
/// takes as much memory as the extent, and a pass for each digit of 8 bits.
/// @return nothing for elements that reach over more than 64 MiB. @throws MpiError, std::bad_alloc
std::optional<std::vector<TypePiece>> pieces_of(const ElementType& type);

}  // namespace commpass
