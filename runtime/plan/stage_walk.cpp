#include "runtime/plan/stage_walk.hpp"

#include <algorithm>
#include <tuple>

namespace commpass {

HeldBlocks::HeldBlocks(std::vector<Held> held) {
  std::ranges::sort(held, {}, [](const Held& h) {
    return std::tuple(h.block.destination, h.block.source, h.block.index, h.block.offset);
  });
  blocks.reserve(held.size());
  where.reserve(held.size());
  for (const auto& [block, its_where] : held) {
    blocks.push_back(block);
    where.push_back(its_where);
  }
}

namespace {

/// Makes one message of each block, as stagger() does at the sender.
std::vector<Incoming> staggered(const std::vector<Incoming>& coalesced, std::uint32_t most_blocks) {
  std::vector<Incoming> result;
  for (const auto& message : coalesced)
    for (std::uint32_t i = 0; i < message.blocks.size(); ++i)
      result.push_back({message.from, staggered_round(message.round, i, most_blocks), 0, {message.blocks[i]}});
  return result;
}

}  // namespace

StageMessages messages_of_stage(const RouteOfRank& own, int stage, std::span<const Block> held,
                                const HeaderSource& source, Failure& failure) {
  const auto& info = own.route.stages()[static_cast<std::size_t>(stage)];
  const auto window = window_of(info, own.window);
  StageMessages result;
  attempt(failure, [&] { result.departures = depart_from(own.rank, own.route, stage, window, held); });
  Headers headers;
  attempt_even_so(failure, [&] { headers = source(stage, result.departures, held); });
  attempt(failure, [&] {
    result.incoming = std::move(headers.incoming);
    for (auto& message : result.incoming) message.round = own.route.round(message.from, own.rank, stage);
    if (is_staggered(info, own.coalescing)) {
      stagger(own.route, result.departures, window, held, headers.most_blocks);
      result.incoming = staggered(result.incoming, headers.most_blocks);
    }
    for (auto& message : result.incoming) message.batch = window.batch(message.round);
    std::ranges::stable_sort(result.incoming, {}, [&](const Incoming& m) {
      return std::tuple(m.batch, window.unlimited() ? own.route.turn(m.from, own.rank) : 0, m.round, m.from);
    });
  });
  return result;
}

}  // namespace commpass
