// A route whose paths a caller lists, pair by pair.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/route/route.hpp"

namespace commpass {

/// The path of the blocks of one pair of ranks: by stage, the rank that holds them then.
struct ListedPath {
  Rank source = 0, destination = 0;
  std::vector<Rank> after;
};

/// Forwards blocks as a list says. Its stages have no rounds: all messages of a stage are in flight at once.
class ListedRoute final : public Route {
 public:
  /// @param paths   one for each pair; shorter ones wait at their destination
  /// @param labels  of the stages, for people; the others are called "stage 3"
  /// @throws InputError unless all ranks are below `ranks`, each path ends at its destination and no pair has two
  ListedRoute(int ranks, const std::vector<ListedPath>& paths, const std::vector<std::string>& labels = {});

  const std::vector<StageInfo>& stages() const override { return stages_; }
  /// @throws InputError if the list lacks the pair of the block
  Rank next(const Block& block, Rank at, int stage) const override;
  int round(Rank, Rank, int) const override { return 0; }
  /// @throws NotApplicable
  std::vector<UniformRun> uniform_runs(Rank rank, int stage) const override;

 private:
  std::int64_t key(Rank source, Rank destination) const { return std::int64_t{source} * ranks_ + destination; }

  int ranks_;
  std::vector<StageInfo> stages_;
  std::vector<Rank> after_;                              ///< by path and stage
  std::unordered_map<std::int64_t, std::size_t> first_;  ///< by key, into after_
};

}  // namespace commpass
