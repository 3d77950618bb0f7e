// Memory that the ranks of a node share, given away in ranges.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "model/base/types.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/mpi/shared_mapping.hpp"
#include "runtime/plan/arena.hpp"

namespace commpass {

/// Every rank has a part, of which it alone gives away ranges, and which the other ranks of its node may write to. It
/// grows by mappings, each twice the one before; ranges keep their places.
class NodeMemory {
 public:
  /// As all ranks of the node know it.
  struct Place {
    std::int64_t mapping = 0;
    Bytes offset = 0;
  };

  /// Bytes of this rank's part, from the begin of a cache line; given back with this. Move-only.
  class Range {
   public:
    Range(NodeMemory& memory, const Place& place, Bytes bytes) : memory_(&memory), place_(place), bytes_(bytes) {}
    Range(Range&& other) noexcept
        : memory_(std::exchange(other.memory_, nullptr)), place_(other.place_), bytes_(other.bytes_) {}
    Range& operator=(Range&& other) noexcept {
      std::swap(memory_, other.memory_);
      std::swap(place_, other.place_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Range() {
      if (memory_) memory_->give_back(*this);
    }
    /// Never gives it back, since other ranks may still write to it.
    void keep() noexcept { memory_ = nullptr; }
    /// Its first bytes, which are no part of it any more.
    Place split_off(Bytes bytes) {
      const auto first = place_;
      place_.offset += bytes;
      bytes_ -= bytes;
      return first;
    }
    const Place& place() const { return place_; }
    Bytes bytes() const { return bytes_; }

   private:
    NodeMemory* memory_;
    Place place_;
    Bytes bytes_;
  };

  /// Finds the ranks of this node, once. Collective over `comm`, the same in all calls. @throws MpiError
  void open(MPI_Comm comm);
  /// The ranks of this node that share memory with this one, if MPI is right.
  const OwnCommunicator& node() const { return *node_; }
  /// The number there of a rank of `comm`; negative: it is on another node.
  Rank rank_on_node(Rank rank) const { return ranks_on_node_[static_cast<std::size_t>(rank)]; }

  /// A range of zeros on every rank, or on none where a node has no memory left, or its ranks share none. Collective
  /// over `comm`, blocks. @param bytes  of this rank, at least 1. @throws MpiError
  std::optional<Range> take(MPI_Comm comm, Bytes bytes);
  /// A cache line of this rank for a number that only grows: a free one, or the first of the range. A line stays one
  /// for numbers, and keeps its number: when an exchange is over for its owner, other ranks may still wait for the
  /// last.
  Place take_number(Range& range);
  void give_back_number(const Place& place) noexcept;
  std::byte* address(const Place& place) const {
    return parts_[static_cast<std::size_t>(place.mapping)].mapping.all().data() + place.offset;
  }

 private:
  /// A mapping, and the free ranges of this rank's part.
  struct Part {
    SharedMapping mapping{};
    Bytes begin = 0, bytes = 0;
    Arena arena{};
  };
  bool grow(MPI_Comm comm, Bytes bytes);
  bool add_part(MPI_Comm comm, Bytes bytes);
  void give_back(const Range& range) noexcept;

  std::optional<OwnCommunicator> node_;
  std::vector<Rank> ranks_on_node_;
  std::vector<Part> parts_;
  std::vector<Place> numbers_;  ///< free lines
  bool is_exhausted_ = false;   ///< on all ranks: nothing grows any more
};

}  // namespace commpass
