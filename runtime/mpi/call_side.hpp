// The arguments of collectives with a block for each rank or neighbour, as MPI has them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// A list of int, or of wider integers: MPI_Aint, MPI_Count, Bytes. As long as what it was made of.
class Numbers {
 public:
  Numbers() = default;
  template <class List>
  requires std::ranges::contiguous_range<const List> Numbers(
      const List& list)  // NOLINT(google-explicit-constructor): a view, as std::span
      : numbers_(std::span(std::as_const(list))) {}

  std::size_t size() const {
    return std::visit([](auto list) { return list.size(); }, numbers_);
  }
  Bytes operator[](std::size_t i) const {
    return std::visit([&](auto list) { return static_cast<Bytes>(list[i]); }, numbers_);
  }
  /// Takes no memory where there is room.
  template <class Number>
  void copy_to(std::vector<Number>& copy) const {
    std::visit(
        [&](auto list) {
          copy.clear();
          for (const auto number : list) copy.push_back(static_cast<Number>(number));
        },
        numbers_);
  }
  bool are_int() const { return std::holds_alternative<std::span<const int>>(numbers_); }
  /// Of those that are; empty of others.
  std::span<const int> ints() const {
    const auto* const list = std::get_if<std::span<const int>>(&numbers_);
    return list ? *list : std::span<const int>();
  }

 private:
  std::variant<std::span<const int>, std::span<const long>, std::span<const long long>> numbers_;
};

/// One side of a call. Displacements count elements; of w, bytes.
struct CallSide {
  /// one: a single block, for all; equal: blocks of one count after one another; v: counts and displacements; w: types,
  /// too.
  enum class Shape : std::uint8_t { one, equal, v, w } shape = Shape::equal;
  const void* buffer = nullptr;  ///< written to, if it is the receiving side
  Bytes count = 0;               ///< of each block, where there are no counts
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Numbers counts{}, displacements{};
  std::span<const MPI_Datatype> types{};

  static CallSide one(const void* buffer, Bytes count, MPI_Datatype type) {
    return {Shape::one, buffer, count, type, {}, {}, {}};
  }
  static CallSide equal(const void* buffer, Bytes count, MPI_Datatype type) {
    return {Shape::equal, buffer, count, type, {}, {}, {}};
  }
  static CallSide v(const void* buffer, const Numbers& counts, const Numbers& displacements, MPI_Datatype type) {
    return {Shape::v, buffer, 0, type, counts, displacements, {}};
  }
  static CallSide w(const void* buffer, const Numbers& counts, const Numbers& displacements,
                    std::span<const MPI_Datatype> types) {
    return {Shape::w, buffer, 0, MPI_DATATYPE_NULL, counts, displacements, types};
  }

  bool has_counts() const { return shape == Shape::v || shape == Shape::w; }
  void* writable() const { return const_cast<void*>(buffer); }  // NOLINT: the user's, to write
};

/// The arguments of MPI_Alltoall, MPI_Alltoallv or MPI_Alltoallw.
struct AlltoallCall {
  CallSide sends;  ///< not used but for its buffer, if that is MPI_IN_PLACE
  CallSide receives;

  CallSide::Shape shape() const { return receives.shape; }
  bool is_in_place() const { return sends.buffer == MPI_IN_PLACE; }
  /// Are the counts and displacements of a v all int?
  bool are_int() const {
    return sends.counts.are_int() && sends.displacements.are_int() && receives.counts.are_int() &&
           receives.displacements.are_int();
  }
};

}  // namespace commpass
