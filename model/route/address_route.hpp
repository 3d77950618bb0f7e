// Routes that correct the digits of an address, one stage a digit.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/lazy.hpp"
#include "model/machine/layout.hpp"
#include "model/route/route.hpp"

namespace commpass {

/// One digit of an address.
struct Digit {
  std::string label;
  int radix = 1;
};

/// Mixed-radix addresses of ranks. An address need not be full: a *virtual rank* that does not exist is replaced by
/// its *host*, an existing rank with the same lower digits, or, on a node with fewer ranks, with that local rank modulo
/// theirs.
struct Address {
  std::vector<Digit> digits;          ///< lowest first; a virtual rank is Σ digit·weight
  std::vector<std::int64_t> of_rank;  ///< the virtual rank of every rank
  std::vector<Rank> host;             ///< the rank that acts for every virtual rank
};

/// Addresses by rank number alone.
Address flat_address(int ranks, std::span<const int> radices);

/// Addresses (node, local): the local digits are the low ones.
/// @param local_radices, node_radices  lowest first; {} means one digit
Address node_address(const Layout& layout, std::span<const int> local_radices = {},
                     std::span<const int> node_radices = {});

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
  void next_of_each(std::span<const Block> blocks, std::span<const Rank> at, int stage,
                    std::span<Rank> to) const override;
  int round(Rank from, Rank to, int stage) const override;
  std::vector<Rank> peers(Rank rank, int stage) const override;
  std::vector<Rank> groups(int stage) const override;
  std::vector<UniformRun> uniform_runs(Rank rank, int stage) const override;

 private:
  /// The digit of a stage, and what a message of a full all-to-all holds.
  struct Step {
    int weight = 1;
    int radix = 1;
    std::int64_t blocks = 1, pieces_sent = 1, final_blocks = 1, final_pieces = 0;
  };
  /// By rank: its part of the virtual rank after a stage.
  struct Parts {
    std::vector<Rank> of_destination, of_source;
  };
  /// What differs from rank to rank where an address is not full.
  struct Hosting {
    std::vector<std::size_t> first;      ///< by rank, into `virtuals`
    std::vector<std::int64_t> virtuals;  ///< that a rank hosts, rank after rank
    std::vector<std::vector<std::int32_t>>
        sources;  ///< by stage and virtual rank: ranks that share its digits not corrected before
    std::vector<std::vector<std::int32_t>>
        destinations;  ///< by stage and virtual rank: ranks that share its digits corrected until now
    std::span<const std::int64_t> virtuals_of(Rank rank) const;
  };

  static int digit(std::int64_t number, const Step& step) {
    return static_cast<int>(number) / step.weight % step.radix;
  }
  void count_blocks(std::span<const std::size_t> order);
  std::vector<Parts> find_parts() const;
  Hosting find_hosting() const;
  const Parts& parts(int stage) const;
  const Hosting& hosting() const;
  bool neighbours_touch(Rank rank, int stage) const;
  std::vector<UniformMessage> hosted_messages(Rank rank, int stage) const;
  void join_neighbours(UniformMessage& message, Rank from, int stage) const;

  std::vector<Digit> digits_;
  std::vector<std::int64_t> of_rank_;
  std::vector<Rank> host_;
  bool is_plain_ = false;  ///< full, and every rank's number is its virtual rank
  std::vector<StageInfo> stages_;
  std::vector<Step> steps_;
  Lazy<std::vector<Parts>> parts_;  // tables, which closed forms of plain addresses do without
  Lazy<Hosting> hosting_;
};

}  // namespace commpass
