#include "model/cost/sample.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "model/base/error.hpp"
#include "model/cost/models.hpp"

namespace commpass {

namespace {

constexpr Rank absent = -1;

/// A message with one end in the sample. Those that go together first are of one batch and level, then large ones of
/// one octave, then of one round (or of about as many bytes, where a stage has no rounds), then of the same local
/// ranks.
struct Cut {
  std::uint64_t key;      // batch, level, octave and round
  std::uint64_t ordered;  // local ranks, and its number in the stage

  /// @param usual_octave  of bytes; smaller messages are of the same one
  Cut(const Message& message, const Layout& layout, int usual_octave, std::uint32_t index)
      : key(field(message.batch) << batch_bit | field(layout.level(message.from, message.to)) << level_bit |
            field(std::max(octave(message.bytes) - usual_octave, 0)) << octave_bit |
            field(message.round > 0 ? message.round : std::min(message.bytes, round_max))),
        ordered((local(layout, message.from) << local_bits | local(layout, message.to)) << number_bits | index) {}

  static int octave(Bytes bytes) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes))); }

  std::uint64_t group() const { return key >> level_bit; }
  std::uint32_t number() const { return static_cast<std::uint32_t>(ordered); }
  bool operator<(const Cut& other) const { return key < other.key || (key == other.key && ordered < other.ordered); }

 private:
  // A layout has 2^26 ranks at most, so a stage has fewer rounds and batches.
  static constexpr int octave_bit = 27, level_bit = octave_bit + 6, batch_bit = level_bit + 4, local_bits = 16,
                       number_bits = 32;
  static constexpr Bytes round_max = (Bytes{1} << octave_bit) - 1;
  static std::uint64_t field(std::int64_t value) { return static_cast<std::uint64_t>(value); }
  static std::uint64_t local(const Layout& layout, Rank rank) {
    return field(layout.local(rank)) & ((std::uint64_t{1} << local_bits) - 1);
  }
};
using Cuts = std::span<const Cut>;

/// The receivers of the messages of a stage in a sample; absent: the message is not in it.
class Closing {
 public:
  Closing(const Stage& stage, const Layout& layout, const std::vector<bool>& is_sampled)
      : messages_(stage.messages), to_(stage.messages.size(), absent) {
    std::vector<Cut> leaving, arriving;
    double bytes = 0;
    for (const auto& message : messages_) bytes += static_cast<double>(message.bytes);
    const int usual_octave =
        Cut::octave(static_cast<Bytes>(2 * bytes / static_cast<double>(std::max(messages_.size(), std::size_t{1}))));
    for (std::uint32_t i = 0; i < messages_.size(); ++i) {
      const auto& message = messages_[i];
      const bool leaves = is_sampled[at(message.from)], arrives = is_sampled[at(message.to)];
      if (leaves && arrives) to_[i] = message.to;
      if (leaves == arrives) continue;
      (leaves ? leaving : arriving).emplace_back(message, layout, usual_octave, i);
    }
    std::sort(leaving.begin(), leaving.end());
    std::sort(arriving.begin(), arriving.end());
    for (Cuts l = leaving, a = arriving; !l.empty() || !a.empty();) {
      const auto group =
          l.empty() || (!a.empty() && a.front().group() < l.front().group()) ? a.front().group() : l.front().group();
      const auto own_leaving = take(l, group), own_arriving = take(a, group);
      join(own_leaving, own_arriving);
    }
  }

  std::vector<Rank> take_receivers() { return std::move(to_); }

 private:
  static Cuts take(Cuts& cuts, std::uint64_t group) {
    const auto end = std::ranges::find_if(cuts, [&](const Cut& cut) { return cut.group() != group; });
    const auto own = cuts.first(static_cast<std::size_t>(end - cuts.begin()));
    cuts = cuts.subspan(own.size());
    return own;
  }

  /// Of the longer list those that keep their peers are spread evenly.
  void join(Cuts leaving, Cuts arriving) {
    const auto both = std::min(leaving.size(), arriving.size());
    const auto receiver = [&](const Cut& cut) { return messages_[cut.number()].to; };
    for (std::size_t i = 0; i < std::max(leaving.size(), arriving.size()); ++i) {
      const auto joined = [&](std::size_t size) { return (i + 1) * both / size > i * both / size; };
      if (i < arriving.size() && !joined(arriving.size())) to_[arriving[i].number()] = receiver(arriving[i]);
      if (i < leaving.size() && !joined(leaving.size())) to_[leaving[i].number()] = receiver(leaving[i]);
    }
    const auto place = [&](Cuts cuts, std::size_t number) { return ((number + 1) * cuts.size() - 1) / both; };
    for (std::size_t j = 0; j < both; ++j)
      to_[leaving[place(leaving, j)].number()] = receiver(arriving[place(arriving, j)]);
  }

  std::span<const Message> messages_;
  std::vector<Rank> to_;
};

/// The machine of which a sample has a part: its part of what it shares with others, and the skew of all.
Machine machine_of(Machine machine, const SampledPart& part) {
  if (auto& skew = machine.operations.skew_s) *skew *= std::sqrt(part.all_ranks);
  for (std::size_t level = 0; level < machine.levels.size(); ++level) {
    machine.levels[level].up_rate_bytes_per_s *= part.of_level[level];
    machine.levels[level].down_rate_bytes_per_s *= part.of_level[level];
  }
  return machine;
}

/// The cost of the ranks that are run.
/// @param ends  gets when the last rank of each node is through, by place in the order; null: not needed
Cost run(const Sample& sample, const Machine& machine, CostModel model, Usage usage, const DataPath& path,
         std::vector<Seconds>* ends = nullptr) {
  std::vector<Seconds> of_rank;
  auto cost = evaluate_path(sample.schedule, sample.layout, machine_of(machine, sample.part), model, usage, path,
                            sample.foldings.empty() ? nullptr : &sample.foldings, nullptr, ends ? &of_rank : nullptr);
  if (!ends) return cost;
  ends->assign(static_cast<std::size_t>(std::ranges::max(sample.place)) + 1, 0);
  for (std::size_t rank = 0; rank < of_rank.size(); ++rank)
    if (const int place = sample.place[rank]; place != absent)
      (*ends)[at(place)] = std::max((*ends)[at(place)], of_rank[rank]);
  return cost;
}

/// An integer in place of another one, without a pattern (the finalizer of MurmurHash3).
std::uint32_t mix(std::uint32_t number) {
  auto x = number + 0x9e3779b9U;
  x = (x ^ (x >> 16)) * 0x85ebca6bU;
  x = (x ^ (x >> 13)) * 0xc2b2ae35U;
  return x ^ (x >> 16);
}

Seconds mean(std::span<const Seconds> ends) {
  return std::accumulate(ends.begin(), ends.end(), 0.0) / static_cast<double>(ends.size());
}

/// By how much the slowest nodes exceed the next slower one, on average.
/// @param ends  of two nodes at least
Seconds mean_excess(std::vector<Seconds> ends) {
  std::ranges::sort(ends, std::ranges::greater{});
  const auto slowest = static_cast<std::size_t>(std::sqrt(static_cast<double>(ends.size())));
  return mean(std::span(ends).first(slowest)) - ends[slowest];
}

/// The least standard deviation that joined messages cause, as a part of the price. With it 93 % of 1248 prices (13
/// strategies, 8 patterns, 3 profiles, samples of 20 to 99 %) are within the told error (docs/model.md).
constexpr double joining_error_min = 0.02;

}  // namespace

std::vector<bool> SamplingOrder::ranks_of_first(std::size_t count, const Layout& layout) const {
  std::vector<bool> result(at(layout.ranks()), false);
  for (const int node : std::span(nodes).first(count))
    for (const Rank rank : layout.ranks_of(node)) result[at(rank)] = true;
  return result;
}

SamplingOrder sampling_order(const Layout& layout, std::span<const Seconds> busy) {
  std::vector<Seconds> of_node(at(layout.nodes()), 0);
  for (Rank rank = 0; rank < layout.ranks(); ++rank) of_node[at(layout.node(rank))] += busy[at(rank)];
  const int of_rank = layout.node(static_cast<Rank>(std::ranges::max_element(busy) - busy.begin())),
            busiest = static_cast<int>(std::ranges::max_element(of_node) - of_node.begin());
  SamplingOrder order;
  order.nodes.resize(of_node.size());
  std::iota(order.nodes.begin(), order.nodes.end(), 0);
  order.busiest = of_rank == busiest ? 1 : 2;
  const auto key = [&](int node) {
    return std::pair(node != of_rank && node != busiest, mix(static_cast<std::uint32_t>(node)));
  };
  std::ranges::sort(order.nodes, {}, key);
  return order;
}

SampledPart part_of_ranks(const Layout& layout, std::span<const Rank> sampled, std::size_t run) {
  SampledPart part{{}, static_cast<double>(layout.ranks()) / static_cast<double>(run)};
  part.of_level.fill(1);
  for (Level level = layout.node_level() + 1; level <= layout.outermost(); ++level) {
    const auto ranks_of = layout.ranks_of_instances(level);
    if (ranks_of.empty()) continue;
    const auto* instance_of = layout.instance_of(level);
    std::set<int> instances;
    for (const Rank rank : sampled) instances.insert(instance_of ? instance_of[rank] : 0);
    double all = 0;
    for (const int instance : instances) all += ranks_of[at(instance)];
    part.of_level[level] = static_cast<double>(sampled.size()) / all;
  }
  return part;
}

Sample sample_of_nodes(const Schedule& part, const Layout& layout, const SamplingOrder& order, std::size_t count) {
  const auto is_sampled = order.ranks_of_first(count, layout);
  std::vector<std::vector<Rank>> receivers;
  auto is_there = is_sampled;
  for (const auto& stage : part.stages) {
    const auto& to = receivers.emplace_back(Closing(stage, layout, is_sampled).take_receivers());
    for (std::size_t i = 0; i < to.size(); ++i)
      if (to[i] != absent) is_there[at(stage.messages[i].from)] = is_there[at(to[i])] = true;
  }
  std::vector<Rank> ranks, sampled, number(is_there.size(), absent);
  for (Rank rank = 0; rank < layout.ranks(); ++rank) {
    if (is_sampled[at(rank)]) sampled.push_back(rank);
    if (!is_there[at(rank)]) continue;
    number[at(rank)] = static_cast<Rank>(ranks.size());
    ranks.push_back(rank);
  }
  Sample sample{{}, layout_of_part(layout, ranks), part_of_ranks(layout, sampled, ranks.size())};
  sample.nodes = order.nodes.size();
  sample.busiest = order.busiest;
  sample.place.resize(ranks.size(), absent);
  for (std::size_t place = 0; place < count; ++place)
    for (const Rank rank : layout.ranks_of(order.nodes[place]))
      sample.place[at(number[at(rank)])] = static_cast<int>(place);
  auto& schedule = sample.schedule;
  schedule.ranks = static_cast<int>(ranks.size());
  const auto bytes_of = [&](std::span<const Bytes> all) {
    std::vector<Bytes> bytes;
    for (const Rank rank : ranks)
      if (!all.empty()) bytes.push_back(is_sampled[at(rank)] ? all[at(rank)] : 0);
    return bytes;
  };
  schedule.self_bytes = bytes_of(part.self_bytes);
  schedule.send_bytes = bytes_of(part.send_bytes);
  schedule.receive_bytes = bytes_of(part.receive_bytes);
  for (std::size_t s = 0; s < part.stages.size(); ++s) {
    auto& stage = schedule.stages.emplace_back(Stage{part.stages[s].info, {}});
    auto& foldings = sample.foldings.emplace_back();
    const auto& to = receivers[s];
    stage.messages.reserve(to.size() - static_cast<std::size_t>(std::ranges::count(to, absent)));
    foldings.reserve(stage.messages.capacity());
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (to[i] == absent) continue;
      auto message = part.stages[s].messages[i];
      foldings.push_back({layout.level(message.from, message.to)});
      message.from = number[at(message.from)];
      message.to = number[at(to[i])];
      stage.messages.push_back(message);
    }
  }
  return sample;
}

Sample sample_with_error(const Schedule& part, const Layout& layout, const SamplingOrder& order, std::size_t count) {
  constexpr std::size_t fewer_nodes_ratio = 4;
  auto sample = sample_of_nodes(part, layout, order, count);
  const auto fewer = std::max(count / fewer_nodes_ratio, order.busiest + 2);
  sample.fewer = std::make_shared<const Sample>(sample_of_nodes(part, layout, order, fewer));
  return sample;
}

Cost evaluate(const Sample& sample, const Machine& machine, CostModel model, Usage usage, const DataPath& path) {
  if (!sample.fewer) return run(sample, machine, model, usage, path);
  std::vector<Seconds> ends, before;
  auto cost = run(sample, machine, model, usage, path, &ends);
  if (cost.seconds <= 0) return cost;
  run(*sample.fewer, machine, model, usage, path, &before);
  const auto drawn = [&](std::span<const Seconds> of) { return of.subspan(sample.busiest); };
  const auto first = std::span<const Seconds>(ends).first(before.size());
  const auto all = static_cast<double>(sample.nodes), sampled = static_cast<double>(ends.size());
  const auto steps = std::log(all / sampled) / std::log(sampled / static_cast<double>(before.size()));
  const auto drift = std::max(0.0, steps * (mean(drawn(first)) - mean(drawn(before))));
  const auto seconds = cost.seconds + drift;
  const auto joining = std::ranges::max(before) - std::ranges::max(first);
  const auto slowest = mean_excess({drawn(ends).begin(), drawn(ends).end()}) * std::numbers::pi / std::sqrt(6);
  const auto deviation = std::hypot(slowest, joining, joining_error_min * seconds) * std::sqrt(1 - sampled / all);
  cost.sampling_error = (2 * deviation + drift / 2) / seconds;
  for (auto& stage : cost.stages) {
    stage.seconds *= seconds / cost.seconds;
    for (auto& of_part : stage.parts) of_part *= seconds / cost.seconds;
  }
  cost.seconds = seconds;
  return cost;
}

}  // namespace commpass
