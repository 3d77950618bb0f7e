// Routes that correct the digits of an address, one stage a digit.
#pragma once

#include <span>
#include <vector>

#include "model/lazy.hpp"
#include "model/route/address.hpp"
#include "model/route/route.hpp"

namespace commpass {

/// The route that corrects the digits of `address` in the given order, from those of the source to those of the
/// destination. Digits are corrected on the virtual rank, never on that of the rank that stands in for it.
/// @param order  positions in address.digits, each once
class AddressRoute final : public Route {
 public:
  AddressRoute(Address address, std::span<const std::size_t> order);

  const std::vector<StageInfo>& stages() const override { return stages_; }
  Rank next(const Block& block, Rank at, int stage) const override;
  bool next_of_ends(std::span<const BlockEnds> ends, std::span<const Rank> at, int stage,
                    std::span<Rank> to) const override;
  void way(Rank source, Rank destination, std::span<Rank> after) const override;
  int round(Rank from, Rank to, int stage) const override;
  std::vector<Rank> peers(Rank rank, int stage) const override;
  std::vector<Rank> group(Rank rank, int stage) const override;
  std::vector<UniformRun> uniform_runs(Rank rank, int stage) const override;

 private:
  /// The digit of a stage, and what a message of a full all-to-all holds.
  struct Step {
    int weight = 1;
    int radix = 1;
    std::vector<DigitRange> undecided;  ///< the digits that are those of the source before this stage
    std::vector<DigitRange> decided;    ///< those that are the destination's after it
    std::int64_t blocks = 1, pieces_sent = 1, final_blocks = 1, final_pieces = 0;
  };
  /// How many ranks share digits of a virtual rank. By the number that these digits make.
  struct Alike {
    std::vector<std::int32_t> undecided, decided;
  };

  static int digit(int virtual_rank, const Step& step) { return virtual_rank / step.weight % step.radix; }
  void count_blocks(std::span<const std::size_t> order);
  std::vector<Alike> find_alike() const;
  int count_undecided(int virtual_rank, int stage) const;
  int count_decided(int virtual_rank, int stage) const;
  /// Calls `action` with the ranks at the virtual ranks that differ from this one in the digit of a step alone.
  template <class Action>
  void for_each_in_line(int virtual_rank, const Step& step, Action action) const;
  bool neighbours_touch(Rank rank, int stage) const;
  std::vector<UniformMessage> messages_of_virtual_ranks(Rank rank, int stage) const;
  void join_neighbours(UniformMessage& message, Rank from, int stage) const;

  Address address_;
  bool is_plain_ = false;
  std::vector<StageInfo> stages_;
  std::vector<Step> steps_;
  Lazy<std::vector<int>> decided_;  // by rank, then by stage: what the digits decided after it make of its virtual rank
  Lazy<std::vector<Alike>> alike_;  // by stage; closed forms of addresses that are neither full nor flat ask for it
};

}  // namespace commpass
