#include "selector/choose/exchange_class.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>

namespace commpass {

int distance(const ExchangeClass& a, const ExchangeClass& b) {
  int most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

namespace {

/// Of nothing: far from any class of something.
constexpr int never = 62;
constexpr ExchangeClass no_blocks{never, never, 0};

/// Binary digits of a ratio: 0 if it is less than 1.
int digits(std::int64_t number, std::int64_t of = 1) {
  if (of <= 0) return never;
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(0, number) / of)));
}

/// The rarity of `messages` messages between `pairs` pairs; of no pairs all have one.
int rarity_of(std::int64_t messages, std::int64_t pairs) {
  constexpr std::int64_t nearest_to_one = 7071, scale = 10000;  // 2^-½
  if (messages <= 0 && pairs > 0) return never;
  int rarity = 0;
  for (; messages * scale < pairs * nearest_to_one; messages *= 2) ++rarity;
  return rarity;
}

/// Of sizes that are uniform down to 0, whose variance is a third, 1.
int spread_of(double variance) {
  // Up to a fifth sizes count as equal: those around the edge of an octave look as if they varied by a ninth.
  constexpr double least_variance = 0.2;
  constexpr int largest_spread = 6;
  int spread = 0;
  for (double least = least_variance; variance > least && spread < largest_spread; least *= 4) ++spread;
  return spread;
}

/// The nearest whole number up to `most`; 0 for NaN.
std::int64_t whole(double value, std::int64_t most) {
  return value > 0 ? static_cast<std::int64_t>(std::min(value, static_cast<double>(most)) + 0.5) : 0;
}

}  // namespace

ExchangeClass class_of(const MessageTotals& blocks, const Layout& layout) {
  const auto on_node = blocks.on_node, off_node = blocks.off_node;
  const auto bytes = static_cast<Bytes>(blocks.bytes);
  if (bytes <= 0 || on_node + off_node <= 0) return no_blocks;
  std::int64_t pairs_on_node = 0;
  for (int node = 0; node < layout.nodes(); ++node)
    pairs_on_node += std::int64_t{layout.ppn(node)} * (layout.ppn(node) - 1);
  const auto pairs_off_node = std::int64_t{layout.ranks()} * (layout.ranks() - 1) - pairs_on_node;
  return {rarity_of(on_node, pairs_on_node), rarity_of(off_node, pairs_off_node),
          digits(std::clamp<Bytes>(bytes / (on_node + off_node), 1, class_bytes_max)), spread_of(size_variance(blocks)),
          is_even(blocks, layout) ? 1 : 0};
}

ExchangeClass class_of_full(double block_bytes) {
  if (!(block_bytes > 0)) return no_blocks;
  return {0, 0, digits(static_cast<Bytes>(std::clamp(block_bytes, 1.0, static_cast<double>(class_bytes_max))))};
}

ExchangeClass class_of_equal(Bytes block_bytes) {
  constexpr int finer_sizes = 4;  // in a factor of two
  auto result = class_of_full(static_cast<double>(block_bytes));
  auto& size = result[2];
  size *= finer_sizes;
  // By the binary digits of a byte less, and the two digits after the first one.
  if (const auto below = std::min(block_bytes, class_bytes_max) - 1; below > 0)
    size = finer_sizes * digits(below) + static_cast<int>(finer_sizes * below >> (digits(below) - 1));
  return result;
}

ExchangeClass class_of(const SparseTraffic& all, int ranks) {
  const auto messages = std::max<std::int64_t>(1, all.messages);
  return {digits(all.messages, ranks),
          digits(all.bytes, messages),
          digits(all.messages, all.network_messages),
          digits(all.network_messages, std::max<std::int64_t>(1, all.nodes_reached)),
          digits(all.messages_max * ranks, messages),
          digits(all.received_messages_max * ranks, messages)};
}

ExchangeClass class_of_expected(double messages, double bytes, const Layout& layout) {
  constexpr Bytes most_bytes = Bytes{1} << 30, most_of_all = Bytes{1} << 62;
  const std::int64_t ranks = layout.ranks(), others = std::max<std::int64_t>(1, ranks - 1);
  SparseTraffic all;
  all.messages_max = all.received_messages_max = whole(messages, others);
  all.messages = all.messages_max * ranks;
  all.bytes = all.messages * whole(bytes, std::min(most_bytes, most_of_all / (all.messages + 1)));
  all.network_messages = all.messages * (ranks - layout.max_ppn()) / others;
  all.nodes_reached = std::min(all.network_messages, ranks * (layout.nodes() - 1));
  return class_of(all, layout.ranks());
}

}  // namespace commpass
