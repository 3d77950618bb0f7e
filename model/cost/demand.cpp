#include "model/cost/demand.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "model/route/catalogue.hpp"

namespace commpass {

namespace {

/// Messages of one rank.
struct Count {
  std::int64_t off_node = 0, all = 0;

  void raise_to(const Count& other) {
    off_node = std::max(off_node, other.off_node);
    all = std::max(all, other.all);
  }
};

bool is_within(const Limits& limits, const Count& count) {
  return count.off_node <= messages_off_node(limits) &&
         count.all <= limits.messages.value_or(std::numeric_limits<int>::max());
}

/// The most messages of one batch that a rank sends in a stage.
Count most_at_once(const Stage& stage, const Layout& layout, Window window) {
  if (stage.info.by_library) return {};
  Count most;
  std::vector<Count> batches;
  std::vector<int> touched;
  for (std::size_t first = 0; first < stage.messages.size();) {
    const Rank from = stage.messages[first].from;
    for (; first < stage.messages.size() && stage.messages[first].from == from; ++first) {
      const auto& message = stage.messages[first];
      const int batch = window_of(stage.info, window).batch(message.round);
      if (std::ssize(batches) <= batch) batches.resize(static_cast<std::size_t>(batch) + 1);
      auto& count = batches[static_cast<std::size_t>(batch)];
      if (count.all++ == 0) touched.push_back(batch);
      if (layout.node(from) != layout.node(message.to)) ++count.off_node;
      most.raise_to(count);
    }
    for (const int batch : touched) batches[static_cast<std::size_t>(batch)] = {};
    touched.clear();
  }
  return most;
}

/// Of windows up to the wanted one, the largest that is within the limits.
/// @param most_rounds  of a stage
template <class IsWithin>
Window largest_within(const Limits& limits, Window wanted, int most_rounds, IsWithin is_window_within) {
  if (is_window_within(wanted)) return wanted;
  const int most = wanted.unlimited() ? most_rounds : std::min(most_rounds, wanted.rounds);
  std::set<int, std::greater<>> windows;
  for (int rounds = 1; rounds < most; rounds *= 2) windows.insert(rounds);
  for (const int limit : {messages_off_node(limits), limits.messages.value_or(1)})
    if (limit < most) windows.insert(limit);
  for (const int rounds : windows)
    if (is_window_within(Window{rounds})) return {rounds};
  return {1};
}

int most_rounds(const std::vector<Message>& messages) {
  int most = 1;
  for (const auto& message : messages) most = std::max(most, message.round);
  return most;
}

/// Those of a run that stay on the node of their sender.
int messages_to_mates(const UniformRun& run, Rank from, const Layout& layout) {
  const auto mates = layout.ranks_of(layout.node(from));
  int count = 0;
  if (run.messages < std::ssize(mates)) {
    for (int i = 0; i < run.messages; ++i) count += layout.node(run.message(i).to) == layout.node(from) ? 1 : 0;
    return count;
  }
  for (const Rank mate : mates) {
    const int place = run.ring.steps(run.first.to, mate);
    count += mate != from && place >= 0 && place < run.messages ? 1 : 0;
  }
  return count;
}

/// The messages that a rank has in flight in a stage of an all-to-all, and how many of these a random pattern has.
class LikelyCount {
 public:
  LikelyCount(const RandomPattern& pattern, const Route& route, int stage, Rank rank, const Layout& layout)
      : info_(route.stages()[static_cast<std::size_t>(stage)]) {
    if (info_.by_library) return;
    for (const auto& run : route.uniform_runs(rank, stage)) {
      const auto present = [&](double density) {
        return 1 -
               std::pow(1 - std::min(density, 1.0), static_cast<double>(std::max<std::int64_t>(run.first.blocks, 1)));
      };
      const auto mates = static_cast<double>(messages_to_mates(run, rank, layout)), others = run.messages - mates;
      on_node_ += mates;
      off_node_ += others;
      expected_off_node_ += others * present(pattern.density_off_node);
      expected_ += others * present(pattern.density_off_node) + mates * present(pattern.density_on_node);
    }
  }

  Count with(Window window) const {
    const double all = on_node_ + off_node_, rounds = window_of(info_, window).rounds;
    const auto part = [&](double of, double expected) {
      if (of == 0) return 0.0;
      const double density = expected / of, messages = rounds == 0 ? of : std::min(of, rounds);
      return std::min(messages, messages * density + spread * std::sqrt(messages * density * (1 - density)));
    };
    return {std::llround(part(off_node_, expected_off_node_)), std::llround(part(all, expected_))};
  }
  std::int64_t partners() const { return std::llround(std::ceil(expected_)); }

 private:
  static constexpr double spread = 3;  ///< standard deviations by which the busiest rank exceeds the mean
  StageInfo info_;
  double on_node_ = 0, off_node_ = 0, expected_off_node_ = 0, expected_ = 0;
};

/// By rank and stage, of one node: of the largest ones the median by number, as estimate() takes it.
std::vector<std::vector<LikelyCount>> likely_counts(const RandomPattern& pattern, const Route& route,
                                                    const Layout& layout) {
  std::vector<int> largest;
  for (int node = 0; node < layout.nodes(); ++node)
    if (layout.ppn(node) == layout.max_ppn()) largest.push_back(node);
  std::vector<std::vector<LikelyCount>> counts;
  for (const Rank rank : layout.ranks_of(largest[largest.size() / 2])) {
    auto& of_rank = counts.emplace_back();
    for (int s = 0; s < std::ssize(route.stages()); ++s) of_rank.emplace_back(pattern, route, s, rank, layout);
  }
  return counts;
}

}  // namespace

Demand demand_of(const Schedule& schedule, const Layout& layout) {
  Demand demand;
  std::vector<std::int64_t> partners(static_cast<std::size_t>(schedule.ranks), 0);
  for (const auto& stage : schedule.stages) {
    Count most;
    std::int64_t in_batch = 0, off_node = 0;
    for (std::size_t i = 0; i < stage.messages.size(); ++i) {
      const auto& message = stage.messages[i];
      const bool begins = i == 0 || stage.messages[i - 1].from != message.from;
      if (begins || stage.messages[i - 1].batch != message.batch) in_batch = off_node = 0;
      if (begins || stage.messages[i - 1].to != message.to) ++partners[static_cast<std::size_t>(message.from)];
      ++in_batch;
      off_node += layout.node(message.from) == layout.node(message.to) ? 0 : 1;
      most.raise_to({off_node, in_batch});
    }
    if (stage.info.by_library) continue;
    demand.messages_off_node = std::max(demand.messages_off_node, most.off_node);
    demand.messages = std::max(demand.messages, most.all);
  }
  if (!partners.empty()) demand.partners = std::ranges::max(partners);
  return demand;
}

Window window_within(const Limits& limits, const Schedule& schedule, const Layout& layout, const Strategy& wanted) {
  if (!takes_window(wanted)) return wanted.window;
  std::vector<const Stage*> stages;
  int rounds = 1;
  for (const auto& stage : schedule.stages) {
    if (is_within(limits, most_at_once(stage, layout, wanted.window))) continue;
    stages.push_back(&stage);
    rounds = std::max(rounds, most_rounds(stage.messages));
  }
  if (stages.empty()) return wanted.window;
  return largest_within(limits, wanted.window, rounds, [&](Window window) {
    return std::ranges::all_of(
        stages, [&](const Stage* stage) { return is_within(limits, most_at_once(*stage, layout, window)); });
  });
}

Fitted fit(const Limits& limits, const RandomPattern& pattern, const Route& route, const Layout& layout,
           const Strategy& wanted) {
  const auto counts = likely_counts(pattern, route, layout);
  int rounds = 1;
  for (const auto& stage : route.stages()) rounds = std::max(rounds, stage.rounds);
  Fitted fitted{wanted.window, {}};
  if (takes_window(wanted))
    fitted.window = largest_within(limits, wanted.window, rounds, [&](Window window) {
      return std::ranges::all_of(counts, [&](const auto& of_rank) {
        return std::ranges::all_of(of_rank, [&](const auto& count) { return is_within(limits, count.with(window)); });
      });
    });
  auto& demand = fitted.demand;
  for (const auto& of_rank : counts) {
    std::int64_t partners = 0;
    for (const auto& count : of_rank) {
      const auto at_once = count.with(fitted.window);
      demand.messages_off_node = std::max(demand.messages_off_node, at_once.off_node);
      demand.messages = std::max(demand.messages, at_once.all);
      partners += count.partners();
    }
    demand.partners = std::max(demand.partners, partners);
  }
  return fitted;
}

const char* exceeded_limit(const Limits& limits, const Demand& demand, std::optional<Bytes> buffer_bytes) {
  if (demand.messages_off_node > messages_off_node(limits)) return "messages_off_node";
  if (limits.messages && demand.messages > *limits.messages) return "messages";
  if (limits.partners && demand.partners > *limits.partners) return "partners";
  if (limits.buffer_bytes && buffer_bytes && *buffer_bytes > *limits.buffer_bytes) return "buffer_bytes";
  return nullptr;
}

}  // namespace commpass
