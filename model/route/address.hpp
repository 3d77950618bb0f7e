// Addresses of ranks: numbers of a mixed radix, of which routes correct one digit after another.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/base/types.hpp"
#include "model/machine/layout.hpp"

namespace commpass {

/// One digit of an address.
struct Digit {
  std::string label;
  int radix = 1;
};

/// The digits of weight `low` to below `high`.
struct DigitRange {
  int low = 1, high = 1;

  /// What they are of a virtual rank, in their places.
  int part_of(int virtual_rank) const { return virtual_rank % high - virtual_rank % low; }
};

/// What several of them are together.
inline int part_of(int virtual_rank, std::span<const DigitRange> ranges) {
  int part = 0;
  for (const auto& range : ranges) part += range.part_of(virtual_rank);
  return part;
}

/// Mixed-radix addresses of ranks. An address need not be full: for a *virtual rank* that does not exist a rank with
/// the same lower digits stands in, or, on a node with fewer ranks, one with that local rank modulo theirs. Computed,
/// not kept: ranks need nothing each.
class Address {
 public:
  /// Addresses by rank number alone.
  /// @param radices  lowest first
  static Address flat(int ranks, std::span<const int> radices);

  /// Addresses (node, local): the local digits are the low ones.
  /// @param local_radices, node_radices  lowest first; {} means one digit
  static Address of_nodes(const Layout& layout, std::span<const int> local_radices = {},
                          std::span<const int> node_radices = {});

  /// Puts ranks at other positions: rank r gets what rank positions[r] had.
  /// @param positions  each rank once; empty: every rank keeps its own
  void place(std::span<const Rank> positions);

  std::vector<Digit> digits;  ///< lowest first; a virtual rank is Σ digit·weight

  int ranks() const { return ranks_; }
  int virtual_ranks() const { return locals_.limit * uppers_.limit; }
  /// Is there a rank for every virtual rank?
  bool is_full() const { return virtual_ranks() == ranks_; }
  /// Full, and is every rank's number its virtual rank?
  bool is_plain() const { return is_full() && !moved_ && (!layout_ || layout_->is_in_order_of_nodes()); }

  /// The virtual rank of a rank.
  int of_rank(Rank rank) const {
    if (moved_) rank = moved_->position_of[static_cast<std::size_t>(rank)];
    return layout_ ? layout_->local(rank) + locals_.limit * layout_->node(rank) : rank;
  }
  /// The rank that is, or stands in for, a virtual rank.
  Rank rank_at(int virtual_rank) const {
    const Rank rank = layout_ ? on_node(virtual_rank) : uppers_.existing(virtual_rank);
    return moved_ ? moved_->rank_at[static_cast<std::size_t>(rank)] : rank;
  }
  /// The virtual ranks that a rank is or stands in for, ascending.
  std::vector<int> virtual_ranks_of(Rank rank) const;

  /// How many ranks have these digits of a virtual rank? Told of a full address, and of the lowest or highest digits of
  /// a flat one.
  std::optional<int> count_alike(int virtual_rank, const DigitRange& digits) const;

 private:
  /// The numbers 0 … limit − 1 of some digits, of which the first `count` exist. Another one is replaced by the one
  /// with the same lower digits, one slab down.
  struct Numbers {
    int count = 1, limit = 1, slab = 1;

    int existing(int number) const { return number < count ? number : number - slab; }
    /// Calls `action` with all numbers in whose place `number` is.
    template <class Action>
    void for_each_in_place_of(int number, Action action) const {
      action(number);
      if (number + slab >= count && number + slab < limit) action(number + slab);
    }
  };
  struct Moved {
    std::vector<Rank> position_of, rank_at;
  };

  Numbers append(std::span<const int> radices, int count, const std::string& label);
  Rank on_node(int virtual_rank) const;

  int ranks_ = 0;
  std::optional<Layout> layout_;  ///< none: a flat address
  Numbers locals_, uppers_;       ///< of the local rank, and of the node; of a flat address, of the rank: all upper
  std::shared_ptr<const Moved> moved_;
};

}  // namespace commpass
