#include "model/cost/discovery_cost.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>

#include "model/pattern/sparse_traffic.hpp"

namespace commpass {

namespace {

/// A number in a reduction.
constexpr double number_bytes = 8;
/// What ranks tell each other in the reduction that ends a stage.
constexpr double tally_bytes =
    number_bytes *
    static_cast<double>(SparseTraffic::told_besides + SparseTraffic::sum_count + SparseTraffic::maximum_count);

double sum_of(const ByLevel& counts) { return std::accumulate(counts.begin(), counts.end(), 0.0); }

bool is_far(const ReductionRound& round, const Machine& machine) { return round.level == machine.outermost(); }

/// What a look for something takes, whether it is there or not. A lone message is found half a look late on average,
/// and the measurement has that.
Seconds look_seconds(const Machine& machine) { return 2 * probe_seconds(machine); }

/// What a rank does until it looks for the same again.
enum class Looks { alone = 1, with_mail = 2 };

/// Time of a reduction of `bytes` bytes. A round waits for the later one of two ranks, each of which sees a message
/// at its next look: 2/3 of the time between looks on average.
/// Messages that leave a node share its rate; of those ranks that are no power of two some rest.
Seconds reduction_seconds(const DiscoveryGroup& group, double bytes, bool is_scattered, Looks looks,
                          const Machine& machine) {
  constexpr double later_of_two = 2.0 / 3;
  const Seconds late = later_of_two * static_cast<double>(looks) * look_seconds(machine);
  const double senders =
      group.ranks_on_node * static_cast<double>(std::bit_floor(static_cast<std::uint64_t>(group.ranks))) / group.ranks;
  Seconds seconds = 0;
  for (const auto& round : group.rounds) {
    const double moved = is_scattered ? bytes * round.scattered : bytes;
    const auto& protocol = host_channel(machine, round.level).protocol(static_cast<Bytes>(moved));
    const Seconds injecting = is_far(round, machine) ? senders * moved / injection_rate_bytes_per_s(machine) : 0;
    seconds += protocol.alpha_s + std::max(protocol.beta_s_per_byte * moved, injecting) + late;
  }
  return seconds;
}

/// To the farthest receivers of a load; null if nothing is sent.
const Channel* farthest_channel(const BatchLoad& load, const Machine& machine) {
  for (auto l = machine.levels.size(); l-- > 0;)
    if (load.sent[l] > 0) return &host_channel(machine, static_cast<Level>(l));
  return nullptr;
}

/// Until the sender of a synchronous message or a put has heard of the receiver, the farthest one.
Seconds answer_seconds(const BatchLoad& load, const Machine& machine) {
  const auto* const channel = farthest_channel(load, machine);
  return channel ? channel->protocol(0).alpha_s : 0;
}

/// When all messages are there and taken in that receivers look for, a look for each. Those that wait for their
/// receiver begin when it has found them, which it does when its own have left it.
Seconds found_seconds(const BatchLoad& load, const Machine& machine) {
  auto times = batch_times(load, machine);
  times.taking += sum_of(load.received) * look_seconds(machine);
  return times.awaits_receives ? times.launching + times.moving_when_posted() : times.moving();
}

/// Synchronous sends have no shorter way for few bytes (`new_send_bytes`): they take what the least message takes that
/// has none.
BatchLoad synchronous(BatchLoad load, const Machine& machine) {
  if (const auto shortened = machine.operations.new_send_bytes)
    load.bytes = std::max(load.bytes, static_cast<double>(*shortened) + 1);
  return load;
}

/// Numbers that are scattered go far first, and share the rate of their node with messages that have been found by
/// then.
Seconds sharing_seconds(const DiscoveryGroup& group, const BatchLoad& load, double bytes, const Machine& machine) {
  double moved = 0;
  for (const auto& round : group.rounds)
    if (is_far(round, machine)) moved = std::max(moved, bytes * round.scattered);
  if (load.bytes <= 0) return 0;
  const Seconds injecting = load.node_bytes / injection_rate_bytes_per_s(machine);
  return std::max(0.0, injecting * std::min(1.0, moved / load.bytes) - sum_of(load.received) * look_seconds(machine));
}

/// Messages move while the numbers of those that each rank gets are reduced; a rank that takes one in delays the
/// reduction meanwhile. Looking for them does not: it fills the time until the next round. When all are counted, a look
/// finds that none is missing, or that the last one is there.
Seconds reduced_seconds(const DiscoveryGroup& group, const BatchLoad& load, bool is_scattered, const Machine& machine) {
  const double counts_bytes = 2 * number_bytes * group.ranks;  // messages for each rank, and failures
  const auto times = batch_times(load, machine);
  const Seconds delaying = (times.takes_after_sends ? times.taking : 0) +
                           (is_scattered ? sharing_seconds(group, load, counts_bytes, machine) : 0);
  return std::max(found_seconds(load, machine) + look_seconds(machine),
                  times.launching + reduction_seconds(group, counts_bytes, is_scattered, Looks::with_mail, machine) +
                      delaying) +
         look_seconds(machine);
}

/// A put flies as a message does, but no processor takes it in, which is part of a message's latency.
Seconds put_flying_seconds(const BatchLoad& load, const BatchTimes& times, const Machine& machine) {
  const auto* const channel = farthest_channel(load, machine);
  if (!channel) return 0;
  const auto bytes = static_cast<Bytes>(load.bytes);
  const auto& protocol = channel->protocol(bytes);
  const Seconds taking = protocol.alpha_receive_s ? protocol.receive_seconds(bytes) : 0;
  return std::max(0.0, times.flying - taking);
}

/// Puts, and a look at all slots when a reduction has ended.
Seconds put_seconds(const DiscoveryGroup& group, const BatchLoad& load, const Machine& machine) {
  const auto times = batch_times(load, machine);
  const Seconds putting = std::max(times.leaving, sum_of(load.sent) * machine.operations.put_s.value_or(0));
  const Seconds looking = group.ranks * (number_bytes + load.bytes) / machine.copy_rate_bytes_per_s;
  return std::max(putting, times.injecting) + put_flying_seconds(load, times, machine) + answer_seconds(load, machine) +
         reduction_seconds(group, tally_bytes, false, Looks::alone, machine) + looking;
}

/// A size to and from every peer, some of which have more to tell, then the messages. Those that wait for their receive
/// begin when all sizes are known, and all have been launched by then; that the last has come is seen at the next look.
Seconds dense_seconds(const DiscoveryGroup& group, const BatchLoad& load, const Machine& machine) {
  const auto sizes = batch_times({group.peers, group.peers, header_bytes, 0}, machine);
  const auto data = batch_times(load, machine);
  auto both = data;
  both.launching += sizes.launching;
  both.leaving += sizes.leaving;
  both.taking += sizes.taking;
  both.takes_after_sends = data.takes_after_sends || sizes.takes_after_sends;
  const auto tellers = batch_times({group.tellers_peers, group.tellers_peers, header_bytes, 0}, machine);
  const Seconds told = std::max(sizes.leaving + sizes.flying, tellers.leaving + tellers.flying);
  if (!data.awaits_receives) return std::max(both.moving(), told);
  both.first_arrival = sizes.first_arrival;
  both.taking = sizes.taking;
  const Seconds known = std::max({both.launching, told, both.taken_in()});
  // The last size and the last message are each found half a look late on average.
  return known + data.moving_when_posted() + look_seconds(machine);
}

/// The part of `counts` within nodes, or the part that leaves them.
ByLevel part_of(ByLevel counts, bool within_node, const Machine& machine) {
  for (std::size_t l = 0; l < most_levels; ++l)
    if ((static_cast<Level>(l) <= machine.node_level()) != within_node) counts[l] = 0;
  return counts;
}

/// A message at least to and from every peer on the node: an empty one from a rank that has none.
Seconds node_memory_seconds(const DiscoveryGroup& group, const BatchLoad& load, const Machine& node_memory) {
  auto data = load;
  data.sent = part_of(load.sent, true, node_memory);
  data.received = part_of(load.received, true, node_memory);
  data.node_bytes = 0;
  if (sum_of(data.sent) < sum_of(load.sent)) data.last_bytes = 0;  // the last one leaves the node
  BatchLoad empty;
  for (std::size_t l = 0; l <= node_memory.node_level(); ++l) {
    empty.sent[l] = std::max(0.0, group.peers[l] - data.sent[l]);
    empty.received[l] = std::max(0.0, group.peers[l] - data.received[l]);
  }
  const auto told = batch_times(empty, node_memory);
  auto both = batch_times(data, node_memory);
  both.launching += told.launching;
  both.leaving += told.leaving;
  both.taking += told.taking;
  both.flying = std::max(both.flying, told.flying);
  both.first_arrival = std::max(both.first_arrival, told.first_arrival);
  return both.moving();
}

}  // namespace

std::vector<ReductionRound> reduction_rounds(std::span<const Rank> members, const Layout& layout,
                                             const ByLevel& round_seconds) {
  std::size_t count = 1;
  while (2 * count <= members.size()) count *= 2;
  const std::size_t pairs = members.size() - count;
  const auto level = [&](std::size_t a, std::size_t b) { return level_or_outermost(layout, members[a], members[b]); };
  // Those that go on have numbers 0 … count − 1; the first ones have a neighbour that rests.
  const auto to_resting = [&](std::size_t number) { return level(2 * number, 2 * number + 1); };
  const auto member = [&](std::size_t number) { return number < pairs ? 2 * number + 1 : number + pairs; };
  const auto to_partner = [&](std::size_t number, std::size_t distance) {
    return level(member(number), member(number ^ distance));
  };

  std::vector<Seconds> done(count, 0), later(count);  // by number, so far
  std::vector<std::vector<bool>> waited;              // by round and number: was its partner later?
  for (std::size_t i = 0; i < pairs; ++i) done[i] = round_seconds[to_resting(i)];
  for (std::size_t distance = 1; distance < count; distance *= 2) {
    waited.emplace_back(count);
    for (std::size_t i = 0; i < count; ++i) {
      waited.back()[i] = done[i ^ distance] > done[i];
      later[i] = std::max(done[i], done[i ^ distance]) + round_seconds[to_partner(i, distance)];
    }
    std::swap(done, later);
  }
  for (std::size_t i = 0; i < pairs; ++i) done[i] += round_seconds[to_resting(i)];

  std::vector<ReductionRound> rounds;  // the last one first
  auto last = static_cast<std::size_t>(std::ranges::max_element(done) - done.begin());
  if (last < pairs) rounds.push_back({to_resting(last), 1 / static_cast<double>(members.size())});
  for (auto distance = count / 2; distance > 0; distance /= 2) {
    rounds.push_back({to_partner(last, distance), static_cast<double>(distance) / static_cast<double>(count)});
    if (waited.back()[last]) last ^= distance;
    waited.pop_back();
  }
  if (last < pairs) rounds.push_back({to_resting(last), 1});
  std::ranges::reverse(rounds);
  return rounds;
}

double DiscoveryGroup::all_peers() const { return sum_of(peers); }

Seconds discovery_seconds(Discovery discovery, const DiscoveryGroup& group, const BatchLoad& load,
                          const Machine& machine) {
  switch (discovery) {
    // A synchronous send ends when its receiver has answered.
    case Discovery::nbx:
      return found_seconds(synchronous(load, machine), machine) + answer_seconds(load, machine) +
             reduction_seconds(group, tally_bytes, false, Looks::with_mail, machine);
    case Discovery::reduce: return reduced_seconds(group, load, true, machine);
    case Discovery::allreduce: return reduced_seconds(group, load, false, machine);
    case Discovery::rma: return put_seconds(group, load, machine);
    case Discovery::dense: return dense_seconds(group, load, machine);
  }
  return 0;
}

Seconds discovery_seconds(Discovery discovery, const DiscoveryGroup& group, const BatchLoad& load,
                          const Machine& machine, const Machine& node_memory) {
  // A processor that fills and empties memory of the node does not probe meanwhile: one time after the other.
  const Seconds near_s = node_memory_seconds(group, load, node_memory);
  auto far_group = group;
  far_group.peers = part_of(group.peers, false, machine);
  far_group.tellers_peers = part_of(group.tellers_peers, false, machine);
  const auto leaves_node = [&](const ReductionRound& round) { return round.level > machine.node_level(); };
  if (far_group.all_peers() == 0 && (discovery == Discovery::dense || std::ranges::none_of(group.rounds, leaves_node)))
    return near_s;
  auto far = load;
  far.sent = part_of(load.sent, false, machine);
  far.received = part_of(load.received, false, machine);
  return near_s + discovery_seconds(discovery, far_group, far, machine);
}

}  // namespace commpass
