#include "model/cost/discovery_cost.hpp"

#include <algorithm>
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

double sum_of(const ByLocality& counts) { return std::accumulate(counts.begin(), counts.end(), 0.0); }

/// What a reduction of so many bytes takes. What comes in a round is seen at the next look.
Seconds reduction_seconds(std::span<const ReductionRound> rounds, double bytes, bool is_scattered,
                          const Machine& machine) {
  Seconds seconds = 0;
  for (const auto& round : rounds) {
    const double moved = is_scattered ? bytes * round.scattered : bytes;
    seconds += host_channel(machine, static_cast<Locality>(round.locality))
                   .protocol(static_cast<Bytes>(moved))
                   .alone_seconds(moved) +
               probe_seconds(machine);
  }
  return seconds;
}

/// Until the sender of a synchronous message or a put has heard of the receiver, the farthest one.
Seconds answer_seconds(const BatchLoad& load, const Machine& machine) {
  for (std::size_t l = locality_count; l-- > 0;)
    if (load.sent[l] > 0) return host_channel(machine, static_cast<Locality>(l)).protocol(0).alpha_s;
  return 0;
}

/// A message that is probed for takes its receiver longer.
BatchTimes with_probes(BatchTimes times, const BatchLoad& load, const Machine& machine) {
  times.taking += sum_of(load.received) * probe_seconds(machine);
  return times;
}

/// Messages move while the numbers of those that each rank gets are reduced; who takes one in keeps the reduction
/// waiting.
Seconds reduced_seconds(const DiscoveryGroup& group, const BatchLoad& load, bool is_scattered, const Machine& machine) {
  const double counts_bytes = 2 * number_bytes * group.ranks;  // messages for each rank, and failures
  const auto times = batch_times(load, machine);
  const Seconds delaying = times.takes_after_sends ? times.taking : 0;
  return std::max(with_probes(times, load, machine).moving(),
                  times.launching + reduction_seconds(group.rounds, counts_bytes, is_scattered, machine) + delaying);
}

/// Puts, and a look at all slots when a reduction has ended.
Seconds put_seconds(const DiscoveryGroup& group, const BatchLoad& load, const Machine& machine) {
  const auto times = batch_times(load, machine);
  const Seconds putting = std::max(times.leaving, sum_of(load.sent) * machine.operations.put_s.value_or(0));
  const Seconds looking = group.ranks * (number_bytes + load.bytes) / machine.copy_rate_bytes_per_s;
  return std::max(putting, times.injecting) + times.flying + answer_seconds(load, machine) +
         reduction_seconds(group.rounds, tally_bytes, false, machine) + looking;
}

/// A size to and from every peer, then the messages, whose receives are posted when all sizes are known.
Seconds dense_seconds(const DiscoveryGroup& group, const BatchLoad& load, const Machine& machine) {
  const auto sizes = batch_times({group.peers, group.peers, header_bytes, 0}, machine);
  const auto data = batch_times(load, machine);
  auto both = data;
  both.launching += sizes.launching;
  both.leaving += sizes.leaving;
  both.taking += sizes.taking;
  both.takes_after_sends = data.takes_after_sends || sizes.takes_after_sends;
  if (!data.awaits_receives) return both.moving();
  both.taking = sizes.taking;
  return std::max({sizes.leaving + data.flying, both.taken_in(), data.injecting}) + data.first_arrival + data.taking;
}

}  // namespace

std::vector<ReductionRound> reduction_rounds(std::span<const Rank> members, const Layout& layout) {
  std::size_t count = 1;
  while (2 * count <= members.size()) count *= 2;
  const std::size_t pairs = members.size() - count;
  const auto farthest = [&](std::size_t steps, auto ends) {
    auto result = Locality::socket;
    for (std::size_t i = 0; i < steps && result != Locality::network; ++i)
      result = std::max(result, layout.locality(members[ends(i).first], members[ends(i).second]));
    return static_cast<std::size_t>(result);
  };
  std::vector<ReductionRound> rounds;
  if (pairs > 0) {
    const auto locality = farthest(pairs, [](std::size_t i) { return std::pair(2 * i, 2 * i + 1); });
    rounds = {{locality, 1}, {locality, 1 / static_cast<double>(members.size())}};
  }
  const auto member = [&](std::size_t number) { return number < pairs ? 2 * number + 1 : number + pairs; };
  for (std::size_t distance = 1; distance < count; distance *= 2)
    rounds.push_back({farthest(count, [&](std::size_t i) { return std::pair(member(i), member(i ^ distance)); }),
                      static_cast<double>(distance) / static_cast<double>(count)});
  return rounds;
}

double DiscoveryGroup::all_peers() const { return sum_of(peers); }

Seconds discovery_seconds(Discovery discovery, const DiscoveryGroup& group, const BatchLoad& load,
                          const Machine& machine) {
  switch (discovery) {
    // A synchronous send ends when its receiver has answered.
    case Discovery::nbx:
      return with_probes(batch_times(load, machine), load, machine).moving() + answer_seconds(load, machine) +
             reduction_seconds(group.rounds, tally_bytes, false, machine);
    case Discovery::reduce: return reduced_seconds(group, load, true, machine);
    case Discovery::allreduce: return reduced_seconds(group, load, false, machine);
    case Discovery::rma: return put_seconds(group, load, machine);
    case Discovery::dense: return dense_seconds(group, load, machine);
  }
  return 0;
}

}  // namespace commpass
