#include "selector/choose/halo_choice.hpp"

#include <algorithm>
#include <numeric>

#include "model/base/format.hpp"
#include "model/cost/sample.hpp"
#include "selector/choose/ties.hpp"

namespace commpass {

namespace {

/// The dimensions with a halo, the last first.
std::vector<std::size_t> dimensions_of(const HaloArray& array) {
  std::vector<std::size_t> order;
  for (std::size_t k = array.depth.size(); k-- > 0;)
    if (array.depth[k] > 0) order.push_back(k);
  return order;
}

std::vector<int> stages_of(const HaloArray& array, unsigned joins) {
  const auto order = dimensions_of(array);
  std::vector<int> stages(array.depth.size(), 0);
  int stage = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && (joins >> (i - 1) & 1U) == 0) ++stage;
    stages[order[i]] = stage;
  }
  return stages;
}

std::uint32_t pieces_of(const HaloRegion& region, const HaloArray& array) {
  std::uint32_t pieces = 0;
  region.for_each_piece(array, [&](Bytes, Bytes) { ++pieces; });
  return pieces;
}

/// What the first `ranks` ranks send.
Schedule schedule_of(const Grid& grid, const HaloArray& array, const std::vector<int>& stages, int ranks) {
  Schedule schedule;
  schedule.ranks = ranks;
  schedule.self_bytes.resize(static_cast<std::size_t>(ranks));
  const int count = *std::ranges::max_element(stages) + 1;
  for (int s = 0; s < count; ++s) {
    auto& stage = schedule.stages.emplace_back();
    stage.info.label = "faces";
    // Ranks differ at the edges of the grid alone, and there they send less.
    std::vector<int> middle;
    for (const int size : grid.dims) middle.push_back(size / 2);
    const auto messages = halo_messages(grid, *grid.rank_at(middle), array, stages, s);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pieces;
    for (const auto& message : messages)
      pieces.emplace_back(pieces_of(message.sent, array), pieces_of(message.received, array));
    for (Rank rank = 0; rank < ranks; ++rank)
      for (std::size_t m = 0; m < messages.size(); ++m) {
        const auto target = grid.relative(rank, messages[m].direction);
        if (!target || *target == rank || *target >= ranks) continue;
        Message message{.from = rank, .to = *target, .bytes = messages[m].sent.bytes(array), .blocks = 1};
        message.packed_pieces = pieces[m].first > 1 ? pieces[m].first & most_pieces : 0;
        message.unpacked_pieces = pieces[m].second > 1 ? pieces[m].second & most_pieces : 0;
        message.is_all_from_sender = message.is_all_for_receiver = true;
        message.unpacked_bytes = message.unpacked_pieces > 0 ? message.bytes : 0;
        stage.messages.push_back(message);
      }
  }
  return schedule;
}

}  // namespace

std::string HaloCandidate::name() const {
  auto from_one = stages;
  for (auto& stage : from_one) ++stage;
  return "stages=" + join(from_one, "x") + to_string(path);
}

std::vector<int> stages_of_faces(const HaloArray& array) { return stages_of(array, 0); }

std::vector<HaloCandidate> rank_halos(const Grid& grid, const HaloArray& array, const Layout& layout,
                                      const Machine& machine, CostModel model, std::span<const DataPath> paths) {
  constexpr int most_ranks = 1 << 14;
  // As many whole planes of the grid as make that many ranks.
  auto part = grid;
  while (part.ranks() > most_ranks) {
    auto& size = *std::ranges::find_if(part.dims, [](int s) { return s > 1; });
    size = (size + 1) / 2;
  }
  std::vector<Rank> ranks(static_cast<std::size_t>(part.ranks()));
  std::iota(ranks.begin(), ranks.end(), 0);
  const auto placed = layout.on(machine);
  Sample sample{{}, layout_of_part(placed, ranks), part_of_ranks(placed, ranks, ranks.size())};
  const auto used = dimensions_of(array).size();
  const unsigned ways = used > 1 ? 1U << std::min<std::size_t>(used - 1, 6) : 1;
  std::vector<HaloCandidate> candidates;
  for (unsigned joins = 0; joins < ways; ++joins) {
    HaloCandidate candidate{.stages = stages_of(array, joins)};
    std::vector<int> in_stage(used, 0);
    for (std::size_t k = 0; k < array.depth.size(); ++k)
      if (array.depth[k] > 0) ++in_stage[static_cast<std::size_t>(candidate.stages[k])];
    for (const int dimensions : in_stage) {
      int directions = 1;
      for (int i = 0; i < dimensions; ++i) directions *= 3;
      candidate.messages += directions - 1;
    }
    sample.schedule = schedule_of(part, array, candidate.stages, part.ranks());
    for (const auto& path : paths) {
      require_parameters(layout, machine, path);
      candidate.path = path;
      candidate.predicted_s = evaluate(sample, machine, model, Usage::planned, path).seconds;
      candidates.push_back(candidate);
    }
  }
  constexpr double equal_alone = 0;  // no tie is preferred
  decide(
      candidates, equal_alone,
      [](const HaloCandidate& candidate) { return Evidence{.seconds = candidate.predicted_s}; },
      [](const HaloCandidate&) { return 0; });
  return candidates;
}

}  // namespace commpass
