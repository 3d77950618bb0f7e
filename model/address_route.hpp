// Routes that correct the digits of an address, one stage a digit.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/layout.hpp"
#include "model/route.hpp"

namespace commpass {

/// One digit of an address.
struct Digit {
  std::string label;
  int radix = 1;
};

/// Mixed-radix addresses of ranks. An address need not be full: a *virtual rank* that does not exist is replaced by
/// its *host* (design §8).
struct Address {
  std::vector<Digit> digits;             ///< lowest first; a virtual rank is Σ digit·weight
  std::vector<std::int64_t> of_rank;     ///< the virtual rank of every rank
  std::vector<Rank> host;                ///< the rank that acts for every virtual rank
};

/// Addresses by rank number alone.
Address flat_address(int ranks, std::span<const int> radices);

/// Addresses (node, local): the local digits are the low ones.
/// @param local_radices, node_radices  lowest first; {} means one digit
Address node_address(const Layout& layout, std::span<const int> local_radices = {}, std::span<const int> node_radices = {});

/// The same address with ranks at other positions: rank r gets what rank positions[r] had.
/// @param positions  each rank once; empty: every rank keeps its own
Address placed(Address address, std::span<const Rank> positions);

/// The route that corrects the digits of `address` in the given order, from those of the source to those of the
/// destination. Digits are corrected on the virtual rank, never on its host's.
/// @param order  positions in address.digits, each once
class AddressRoute final : public Route {
 public:
  AddressRoute(Address address, std::span<const std::size_t> order);

  const std::vector<StageInfo>& stages() const override { return stages_; }
  Rank next(const Block& block, Rank at, int stage) const override;
  void next_of_each(std::span<const Block> blocks, std::span<const Rank> at, int stage, std::span<Rank> to) const override;
  int round(Rank from, Rank to, int stage) const override;
  std::vector<Rank> peers(Rank rank, int stage) const override;
  std::vector<Rank> groups(int stage) const override;
  std::vector<UniformMessage> uniform_messages(Rank rank, int stage) const override;

 private:
  /// What of the virtual ranks is known before and after the stages.
  struct StageTables {
    std::int64_t weight = 1;
    int radix = 1;
    std::vector<int> digit;                 ///< by rank
    std::vector<Rank> corrected;            ///< by rank: its part of the virtual rank when it is the destination
    std::vector<Rank> uncorrected;          ///< by rank: its part when it is the source
    std::vector<std::int64_t> sources;      ///< by virtual rank: ranks that share its digits not corrected before
    std::vector<std::int64_t> destinations; ///< by virtual rank: ranks that share its digits corrected until now
    std::int64_t pieces_sent = 1, final_blocks = 1, final_pieces = 0;  ///< of a message of a full all-to-all
  };

  void count_copies(std::span<const std::size_t> order);
  bool neighbours_touch(Rank rank, int stage) const;

  std::vector<Digit> digits_;
  std::vector<std::int64_t> of_rank_;
  std::vector<Rank> host_;
  std::vector<std::vector<std::int64_t>> virtuals_of_;  ///< by rank: the virtual ranks that it hosts
  std::vector<StageInfo> stages_;
  std::vector<StageTables> tables_;
};

}  // namespace commpass
