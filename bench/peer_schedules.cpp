#include "bench/peer_schedules.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "bench/node_speakers.hpp"

namespace commpass::bench {

namespace {

/// One message for each edge between ranks, ordered by a number.
template <class Order>
PeerSchedule straight(const Pattern& pattern, Order order) {
  PeerSchedule messages;
  for (const auto& edge : pattern.edges)
    if (edge.source != edge.destination && edge.bytes > 0)
      messages.push_back({.from = edge.source, .to = edge.destination, .bytes = edge.bytes});
  std::ranges::stable_sort(messages, {}, [&](const PeerMessage& m) { return std::pair(m.from, order(m)); });
  return messages;
}

/// Sums up the messages of a stage, block by block.
class Stage {
 public:
  explicit Stage(int number) : number_(number) {}

  void add(Rank from, Rank to, Bytes bytes) {
    if (from == to) return;
    auto& message = messages_[{from, to}];
    message.bytes += bytes;
    ++message.packed;
  }

  /// @param is_final  do blocks end here, in buffers of the user?
  void append_to(PeerSchedule& schedule, bool is_final) const {
    for (const auto& [ends, sum] : messages_) {
      const int pieces = sum.packed > 1 ? sum.packed : 0;
      schedule.push_back({number_, ends.first, ends.second, sum.bytes, pieces, is_final ? pieces : 0});
    }
  }

 private:
  int number_;
  std::map<std::pair<Rank, Rank>, PeerMessage> messages_;
};

}  // namespace

PeerSchedule plain_loop(const Pattern& pattern, const Layout&) {
  return straight(pattern, [](const PeerMessage& m) { return m.to; });
}

PeerSchedule loop_by_distance(const Pattern& pattern, const Layout& layout) {
  const int ranks = layout.ranks();
  return straight(pattern, [ranks](const PeerMessage& m) { return (m.to - m.from + ranks) % ranks; });
}

PeerSchedule locality_aware(const Pattern& pattern, const Layout& layout) {
  const NodeSpeakers speakers(pattern, layout);
  Stage within(0), gather(0), between(1), scatter(2);
  for (const auto& [source, destination, bytes, payload] : pattern.edges) {
    if (source == destination || bytes == 0) continue;
    const int here = layout.node(source), there = layout.node(destination);
    if (here == there) {
      within.add(source, destination, bytes);
      continue;
    }
    const Rank sender = speakers.sender(here, there), receiver = speakers.receiver(here, there);
    gather.add(source, sender, bytes);
    between.add(sender, receiver, bytes);
    scatter.add(receiver, destination, bytes);
  }
  PeerSchedule schedule;
  within.append_to(schedule, true);
  gather.append_to(schedule, false);
  between.append_to(schedule, false);
  scatter.append_to(schedule, true);
  std::ranges::stable_sort(schedule, {}, [](const PeerMessage& m) { return std::tuple(m.stage, m.from); });
  return schedule;
}

std::string to_text(const PeerSchedule& schedule) {
  std::string text;
  for (const auto& m : schedule)
    text += fmt::format("{} {} {} {} {} {}\n", m.stage, m.from, m.to, m.bytes, m.packed, m.unpacked);
  return text;
}

}  // namespace commpass::bench
