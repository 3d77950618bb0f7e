// Elements of an MPI datatype as plain bytes.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "model/base/types.hpp"

namespace commpass {

/// A datatype, with or without gaps, and how its elements become a contiguous run of bytes. What is contiguous may be
/// of any size; of other types as many elements as the MPI library counts: int, or with MPI 4 any.
class ElementType {
 public:
  /// @param type  committed, and alive as long as this
  /// @param comm  one that returns errors
  /// @throws InputError for no type, or one whose elements have more bytes than MPI packs at once (2^31 − 1); MpiError
  ElementType(MPI_Datatype type, MPI_Comm comm);

  Bytes size() const { return size_; }      ///< of the data of one element
  Bytes extent() const { return extent_; }  ///< from one element to the next
  Bytes begin() const { return begin_; }    ///< where the data of an element begin, from where it lies: may be negative
  Bytes end() const { return end_; }        ///< and end
  bool is_contiguous() const { return contiguous_; }  ///< elements in a row are their data, and nothing else

  /// Copies the data of `count` elements out of, or into, a buffer of such elements.
  /// @throws MpiError
  void pack(const void* elements, Bytes count, std::byte* bytes) const;
  void unpack(const std::byte* bytes, Bytes count, void* elements) const;

  /// Begins to send or receive elements. @throws MpiError
  /// @param is_synchronous  complete when it has arrived
  void send(const void* elements, Bytes count, Rank peer, int tag, MPI_Comm comm, MPI_Request* request,
            bool is_synchronous = false) const;
  void receive(void* elements, Bytes count, Rank peer, int tag, MPI_Comm comm, MPI_Request* request) const;

 private:
  template <class Action>
  void in_portions(Bytes count, Action action) const;
  void pack_as_unpacked(const std::byte* elements, Bytes count, std::byte* bytes) const;

  MPI_Datatype type_;
  Bytes size_ = 0, extent_ = 0, begin_ = 0, end_ = 0;
  bool contiguous_ = false;
};

}  // namespace commpass
