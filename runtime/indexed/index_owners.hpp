// Who owns which global index.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/indexed/indexed_exchange.hpp"

namespace commpass {

class SparseEngine;

/// The indices of this rank, a range or a list. Each has a position: that of its value among the values of this rank.
class OwnedIndices {
 public:
  /// @throws InputError if the range has no size or an index is negative
  explicit OwnedIndices(IndexRange range);
  /// @throws InputError if an index is there twice or negative
  explicit OwnedIndices(std::span<const Index> list);

  bool is_range() const { return sorted_.empty(); }
  IndexRange range() const { return range_; }
  std::int64_t count() const { return is_range() ? range_.end - range_.begin : std::ssize(sorted_); }
  std::optional<std::int64_t> position(Index index) const;
  /// In ascending order.
  std::vector<Index> indices() const;

 private:
  IndexRange range_;                                    ///< of 0 indices if they are listed
  std::vector<std::pair<Index, std::int64_t>> sorted_;  ///< listed ones and their positions
};

/// The owner of each needed index. If all ranks own ranges, every rank gathers these, two numbers from each. Otherwise
/// the ranks keep a directory together: an index has a rank that knows its owner, to which owners tell what they own
/// and which others then ask, so a rank needs memory for about as many indices as it owns and needs. Collective.
/// @param needed  ascending, each once
/// @throws Error, the same on every rank, if no rank or two ranks own an index
std::vector<Rank> find_owners(SparseEngine& engine, const OwnedIndices& owned, std::span<const Index> needed,
                              const SparseOptions& options);

/// Of each index the lowest rank that has it. Collective.
/// @param indices  ascending, each once
/// @throws Error, the same on every rank
std::vector<Rank> elect_owners(SparseEngine& engine, std::span<const Index> indices, const SparseOptions& options);

}  // namespace commpass
