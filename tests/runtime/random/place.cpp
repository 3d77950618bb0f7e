#include "runtime/random/place.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"

namespace commpass::random_test {

namespace {

/// One node, one rank a node, in order, round-robin, or anyhow; up to three sockets.
std::string draw_layout(Draw& draw, int ranks) {
  const int kind = draw.small(6), nodes = 1 + draw.small(ranks), sockets = 1 + draw.small(3);
  std::string text;
  for (Rank rank = 0; rank < ranks; ++rank) {
    int node = 0;
    switch (kind) {
      case 0: break;
      case 1: node = rank; break;
      case 2: node = rank / nodes; break;
      case 3: node = rank % nodes; break;
      default: node = draw.small(nodes);
    }
    text += fmt::format("{}{}.{}", rank == 0 ? "" : ",", node, draw.small(sockets));
  }
  return text;
}

/// least … most, its logarithm equally distributed.
double draw_between(Draw& draw, double least, double most) {
  constexpr std::int64_t steps = 1 << 20;
  return least * std::pow(most / least, static_cast<double>(draw.below(steps)) / static_cast<double>(steps));
}

// NOLINTBEGIN: any numbers will do
Channel draw_channel(Draw& draw, bool all) {
  Channel channel;
  Protocol last{"rendezvous", std::numeric_limits<Bytes>::max(), draw_between(draw, 1e-7, 1e-4),
                draw_between(draw, 1e-12, 1e-8), draw_between(draw, 1e-8, 1e-5)};
  if (all) {
    Protocol first{"eager", draw.below(2000), draw_between(draw, 1e-7, 1e-5), draw_between(draw, 1e-12, 1e-8),
                   draw_between(draw, 1e-8, 1e-6)};
    first.beta_next_s_per_byte = draw_between(draw, 1e-12, 1e-8);
    first.alpha_receive_s = draw_between(draw, 1e-8, 1e-6);
    first.beta_receive_s_per_byte = draw_between(draw, 1e-12, 1e-8);
    channel.protocols.push_back(first);
    channel.gamma_s = draw_between(draw, 1e-10, 1e-7);
    channel.aggregate_rate_bytes_per_s = draw_between(draw, 1e8, 1e11);
    channel.rendezvous_from_bytes = first.max_bytes + 1;
  }
  channel.protocols.push_back(last);
  return channel;
}

/// Where there are few ranks, only low limits are ever reached.
Limits draw_limits(Draw& draw) {
  Limits limits;
  if (draw.one_in(2)) limits.messages_off_node = 1 + draw.small(3);
  if (draw.one_in(3)) limits.messages = 1 + draw.small(4);
  if (draw.one_in(6)) limits.partners = 1 + draw.small(3);
  if (draw.one_in(6)) limits.buffer_bytes = draw.small(100);
  return limits;
}

/// With few parameters, or with all that there are.
Machine draw_machine(Draw& draw) {
  Machine machine;
  machine.name = "drawn";
  const bool all = draw.one_in(2);
  machine.limits = draw_limits(draw);
  for (const auto level : {standard_level::socket, standard_level::node, standard_level::network})
    if (all || level == standard_level::network || draw.one_in(2))
      machine.host.by_level[level] = draw_channel(draw, all);
  if (!all) return machine;
  machine.levels[standard_level::node].up_rate_bytes_per_s = draw_between(draw, 1e8, 1e11);
  machine.levels[standard_level::node].down_rate_bytes_per_s = draw_between(draw, 1e8, 1e11);
  machine.copy_rate_bytes_per_s = draw_between(draw, 1e8, 1e11);
  machine.copy_block_s = draw_between(draw, 1e-9, 1e-6);
  machine.datatype_rate_bytes_per_s = draw_between(draw, 1e8, 1e11);
  machine.datatype_block_s = draw_between(draw, 1e-9, 1e-6);
  auto& operations = machine.operations;
  for (auto* seconds :
       {&operations.barrier_s, &operations.allreduce_s, &operations.probe_s, &operations.put_s, &operations.fence_s,
        &operations.window_s, &operations.neighbor_alltoall_s, &operations.neighbor_alltoall_message_s,
        &operations.alltoallv_s, &operations.alltoallv_message_s, &operations.alltoallv_rank_s, &operations.batch_s,
        &operations.batch_once_s, &operations.discovery_s, &operations.skew_s})
    *seconds = draw_between(draw, 1e-8, 1e-3);
  operations.ranks = 2 + draw.small(30);
  if (draw.small(2) == 0) operations.new_send_bytes = 1 + draw.small(300);
  return machine;
}
// NOLINTEND

}  // namespace

Place::~Place() {
  communicator.reset();
  if (parent != MPI_COMM_NULL) MPI_Comm_free(&parent);
}

void make_place(Place& place, const Switches& switches, std::uint64_t key) {
  Draw draw(key);
  int world_rank = 0, world_ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  const int kind = switches.with("parts") ? draw.small(5) : 0, parts = 1 + draw.small(3);
  const auto order = draw.order(world_ranks);
  std::vector<int> part_of;
  for (int i = 0; i < world_ranks; ++i) part_of.push_back(draw.small(parts));
  const auto w = static_cast<std::size_t>(world_rank);
  const int color = kind < 2                                    ? 0
                    : kind == 2                                 ? part_of[w]
                    : kind == 3 && parts > 1 && part_of[w] == 0 ? MPI_UNDEFINED
                                                                : 0;
  MPI_Comm_split(MPI_COMM_WORLD, color, kind == 0 ? world_rank : order[w], &place.parent);
  place.switches = &switches;
  if (place.parent == MPI_COMM_NULL) return;
  MPI_Comm_rank(place.parent, &place.rank);
  MPI_Comm_size(place.parent, &place.ranks);
  place.key = key_of(key, color);
  Draw ours(place.key);
  place.layout_text = draw_layout(ours, place.ranks);
  place.layout = parse_layout(place.layout_text, place.ranks);
  const std::vector<std::string> profiles{"lassen", "tioga", "", "", ""};
  place.profile = ours.pick(profiles);
  const CommunicatorOptions options{place.layout_text};
  place.tries = switches.with("trials") && ours.one_in(3);
  if (place.tries) setenv("COMMPASS_PLANNER", "adaptive", 1);  // NOLINT(concurrency-mt-unsafe): there are no threads
  if (place.profile.empty()) place.communicator.emplace(place.parent, draw_machine(ours), options);
  else place.communicator.emplace(place.parent, place.profile, options);
  if (place.tries) unsetenv("COMMPASS_PLANNER");  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace commpass::random_test
