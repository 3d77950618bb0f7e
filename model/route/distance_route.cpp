#include "model/route/distance_route.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace commpass {

DistanceRoute::DistanceRoute(int ranks, int radix) : ranks_(ranks), radix_(radix) {
  for (std::int64_t weight = 1; weight < ranks; weight *= radix) {
    // Rounds z with z·rˣ < P; in the top digit there may be fewer than r − 1.
    const auto rounds = std::min<std::int64_t>(radix - 1, (ranks - 1) / weight);
    weights_.push_back(static_cast<int>(weight));
    stages_.push_back({fmt::format("distance digit {}", stages_.size() + 1), static_cast<int>(rounds)});
  }
}

Rank DistanceRoute::next(const Block& block, Rank at, int stage) const {
  const auto weight = weights_[static_cast<std::size_t>(stage)];
  const auto digit = distance(block.source, block.destination) / weight % radix_;
  const auto behind = ranks_ - digit * weight;  // the digit's part of a distance is less than P
  return at < behind ? at + digit * weight : at - behind;
}

// How far a stage takes a block depends on its distance alone, of which there are fewer than blocks: no division for
// each.
bool DistanceRoute::next_of_ends(std::span<const BlockEnds> ends, std::span<const Rank> at, int stage,
                                 std::span<Rank> to) const {
  const auto weight = weights_[static_cast<std::size_t>(stage)];
  if (ends.size() < static_cast<std::size_t>(ranks_)) return false;
  std::vector<int> step(static_cast<std::size_t>(ranks_));
  for (int d = 0; d < ranks_; ++d) step[static_cast<std::size_t>(d)] = d / weight % radix_ * weight;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const int next = at[i] + step[static_cast<std::size_t>(distance(ends[i].source, ends[i].destination))];
    to[i] = next < ranks_ ? next : next - ranks_;
  }
  return true;
}

int DistanceRoute::round(Rank from, Rank to, int stage) const {
  return static_cast<int>(distance(from, to) / weights_[static_cast<std::size_t>(stage)]);
}

std::vector<UniformRun> DistanceRoute::uniform_runs(Rank rank, int stage) const {
  const auto s = static_cast<std::size_t>(stage);
  const std::int64_t weight = weights_[s], above = weight * radix_;
  // Blocks of one destination sit in the user's buffer or in one of the messages of the stages before.
  const std::int64_t origins = 1 + std::int64_t{stage} * (radix_ - 1);
  const Ring ring{0, ranks_, weights_[s]};
  const auto run = [&](std::int64_t z, std::int64_t messages) {
    // Distances i < P with digit z: z·w + low + high·above. All but the last of them are there with every low.
    const auto first = z * weight, destinations = (ranks_ - first + above - 1) / above;
    const auto blocks = (destinations - 1) * weight + std::min(weight, ranks_ - first - (destinations - 1) * above);
    const auto finals = std::min(weight, ranks_ - first);
    const bool lands = finals == blocks;
    return UniformRun({ring.after(rank, static_cast<int>(z)), blocks, std::min(blocks, destinations * origins),
                       lands ? 0 : finals, lands ? 0 : 1},
                      static_cast<int>(messages), ring);
  };
  // In the last, incomplete multiple of `above`, digits up to `whole` have every low, the one after perhaps some, the
  // others none.
  const std::int64_t rounds = stages_[s].rounds, rest = ranks_ % above, whole = std::min(rounds, rest / weight - 1);
  std::vector<UniformRun> runs;
  for (std::int64_t z = 1; z <= rounds;) {
    const bool has_some = z == rest / weight && rest % weight != 0;
    const auto messages = z <= whole ? whole - z + 1 : has_some ? 1 : rounds - z + 1;
    runs.push_back(run(z, messages));
    z += messages;
  }
  return runs;
}

int tuna_rounds(int ranks, int radix) {
  int rounds = 0;
  const DistanceRoute route(ranks, radix);
  for (const auto& stage : route.stages()) rounds += stage.rounds;
  return rounds;
}

int tuna_buffer_blocks(int ranks, int radix) { return ranks - (tuna_rounds(ranks, radix) + 1); }

}  // namespace commpass
