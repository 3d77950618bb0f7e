// What an exchange between all pairs of ranks costs that is run once.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "model/pattern/block_sizes.hpp"
#include "selector/choose/select.hpp"

namespace commpass {

/// As rank_alltoall, but not all pairs need have a block, and with the time in which ranks tell each other the sizes of
/// what they will forward: the stages of an all-to-all of one number a block, all but the last, at whose end blocks are
/// known (TuNA paper §III-B, two phases); nothing of that where all sizes are equal. `mpi` stands for MPI_Alltoallv, if
/// the machine has its price.
/// @param blocks      statistics of those that are not empty
/// @param strategies  those to rank; none: all that do not need the pattern
/// @param depth       matters only for many ranks, and where no strategies are given
/// @param paths       where the data is (offered_paths), if no strategies are given
/// @throws InputError, NotApplicable
std::vector<Candidate> rank_one_shot(const RandomPattern& blocks, const Layout& layout, const Machine& machine,
                                     CostModel model = CostModel::burst, std::span<const Strategy> strategies = {},
                                     BlockSizes sizes = BlockSizes::told, RankingDepth depth = RankingDepth::all,
                                     std::span<const DataPath> paths = host_paths);

/// One of them; of an automatic strategy the cheapest of its family. @throws as rank_one_shot
Candidate price_one_shot(const Strategy& strategy, const RandomPattern& blocks, const Layout& layout,
                         const Machine& machine, CostModel model = CostModel::burst,
                         BlockSizes sizes = BlockSizes::told);

constexpr int finer_sizes = 4;  ///< in a factor of two

/// Exchanges that are alike to a factor of two, in how far sizes are from their mean, too, and so are chosen once for
/// all: by the price of the first of them.
struct BlocksClass {
  int rarity_on_node = 0, rarity_off_node = 0;  ///< r: about one pair in 2^r has a block that is not empty
  int size_bits = 0;                            ///< binary digits of the mean size of these
  /// Where all sizes are equal, and so known for good: the two binary digits after the first (one of finer_sizes) of a
  /// byte less. Then blocks are alike to a fourth of their size or less, and the largest of a class is a round size, up
  /// to which protocols go.
  int finer_size = 0;
  BlockSizes sizes = BlockSizes::told;
  int size_spread = 0;   ///< 0: all are about equal; s: their variance is about 0.4·4^(s − 1) squares of their mean
  bool is_even = false;  ///< does every rank send to about as many others?
  auto operator<=>(const BlocksClass&) const = default;
};
BlocksClass class_of(const RandomPattern& blocks);
/// The same from the sums over all ranks, by integer arithmetic: equal on whatever processors and however compiled.
/// @param blocks  those that are not empty, with as many bytes as an integer holds
BlocksClass class_of(const MessageTotals& blocks, const Layout& layout);
/// Of blocks that all ranks know to be equal. @param block_bytes  0 or more
BlocksClass class_of_equal(Bytes block_bytes);
/// Blocks as they are priced while a call waits: of many ranks few are drawn, and sizes are bounded.
RandomPattern priced_in_call(RandomPattern blocks, int ranks);

}  // namespace commpass
