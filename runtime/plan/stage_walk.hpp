// The walk of one rank through the stages of a route: which blocks leave, which arrive, in which batch. A sink gives
// the blocks their meaning (offsets in buffers, numbers of blocks).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/mpi/agreement.hpp"
#include "runtime/plan/headers.hpp"

namespace commpass {

/// A block that is here and has to leave; the sink defines `where`.
struct Held {
  Block block;
  std::int64_t where = 0;
};

/// The blocks that are here before a stage, sorted as sort_blocks does.
struct HeldBlocks {
  std::vector<Block> blocks;
  std::vector<std::int64_t> where;

  HeldBlocks() = default;
  explicit HeldBlocks(std::vector<Held> held);
};

/// The messages of a stage that a rank sends and receives.
struct StageMessages {
  Departures departures;
  std::vector<Incoming> incoming;  ///< in the order of departures; of one sender in the order in which it sends
};

/// Departures follow from the held blocks, arrivals from the source. A rank that has failed has no departures, but
/// calls the source, because others may wait for its part.
StageMessages messages_of_stage(const RouteOfRank& own, int stage, std::span<const Block> held,
                                const HeaderSource& source, Failure& failure);

/// Takes a sink through the batches of a stage, in each sends before receives.
/// @return the blocks that are here after it
template <class Sink>
std::vector<Held> pass_stage(int stage, const StageMessages& messages, const HeldBlocks& here, Sink& sink) {
  std::vector<bool> is_gone(here.blocks.size(), false);
  std::vector<Held> arrived;
  auto sent = messages.departures.messages.begin();
  auto received = messages.incoming.begin();
  const auto last_sent = messages.departures.messages.end();
  const auto last_received = messages.incoming.end();
  while (sent != last_sent || received != last_received) {  // both are in the order of batches
    const bool sends_first = received == last_received || (sent != last_sent && sent->batch < received->batch);
    const int batch = sends_first ? sent->batch : received->batch;
    sink.begin_batch(stage);
    for (; sent != last_sent && sent->batch == batch; ++sent) {
      sink.send(*sent, messages.departures, here);
      for (const auto number : std::span(messages.departures.order).subspan(sent->first_block, sent->blocks))
        is_gone[number] = true;
    }
    for (; received != last_received && received->batch == batch; ++received) sink.receive(*received, arrived);
    sink.end_batch();
  }
  sink.end_stage();
  std::vector<Held> held;
  for (std::size_t i = 0; i < is_gone.size(); ++i)
    if (!is_gone[i]) held.push_back({here.blocks[i], here.where[i]});
  held.insert(held.end(), arrived.begin(), arrived.end());
  return held;
}

/// Takes a sink through all stages.
/// @param held     the blocks that are here before the first
/// @param failure  of this rank, before or during the walk: the rank goes on without its sink, and sends nothing
/// @return the blocks that are here after the last
template <class Sink>
std::vector<Held> walk_stages(const RouteOfRank& own, std::vector<Held> held, const HeaderSource& source, Sink& sink,
                              Failure& failure) {
  for (int stage = 0; stage < static_cast<int>(own.route.stages().size()); ++stage) {
    HeldBlocks here;
    attempt(failure, [&] { here = HeldBlocks(std::move(held)); });
    const auto messages = messages_of_stage(own, stage, here.blocks, source, failure);
    attempt(failure, [&] { held = pass_stage(stage, messages, here, sink); });
  }
  return held;
}

}  // namespace commpass
