// A pattern in a few numbers, and the random pattern with these.
#include <algorithm>
#include <bit>
#include <vector>

#include "model/cost/cost.hpp"

namespace commpass {

void MessageTotals::add(Rank source, Rank destination, Bytes size, const Layout& layout) {
  if (source == destination || size <= 0) return;
  ++(layout.node(source) == layout.node(destination) ? on_node : off_node);
  bytes += static_cast<double>(size);
  const auto octave = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(size)) - 1);
  ++of_octave[std::min(octave, octaves - 1)];
}

void MessageTotals::add_square() { squares += (on_node + off_node) * (on_node + off_node); }

MessageTotals::Counts MessageTotals::counts() const {
  Counts counts{on_node, off_node, squares};
  std::ranges::copy(of_octave, counts.begin() + 3);
  return counts;
}

MessageTotals MessageTotals::from(std::span<const std::int64_t, std::tuple_size_v<Counts>> counts, double bytes) {
  MessageTotals totals{counts[0], counts[1], bytes, counts[2]};
  std::ranges::copy(counts.last<octaves>(), totals.of_octave.begin());
  return totals;
}

bool is_even(const MessageTotals& totals, const Layout& layout) {
  // Fixed point: means of fourths, and their squares of sixteenths. Where pairs are drawn alone, the variance is the
  // mean times the part of pairs without a message; it is far less where the numbers are alike.
  constexpr std::int64_t fourths = 4, most = std::int64_t{1} << 58;
  const std::int64_t ranks = layout.ranks(), messages = totals.on_node + totals.off_node, pairs = ranks * (ranks - 1);
  if (messages <= 0 || messages >= pairs || totals.squares <= 0 || totals.squares >= most) return false;
  const auto mean = fourths * messages / ranks;
  const auto variance = fourths * fourths * totals.squares / ranks - mean * mean;
  const auto if_alone = fourths * mean * ((pairs - messages) / ranks) / (ranks - 1);
  return 2 * variance < if_alone;
}

double size_variance(const MessageTotals& totals) {
  double messages = 0, sum = 0, squares = 0;
  for (std::size_t i = 0; i < MessageTotals::octaves; ++i) {
    const auto number = static_cast<double>(totals.of_octave[i]), size = static_cast<double>(std::int64_t{1} << i);
    messages += number;
    sum += number * size;
    squares += number * size * size;
  }
  return sum > 0 ? messages * squares / (sum * sum) - 1 : 0;
}

MessageTotals totals_of(const Pattern& pattern, const Layout& layout) {
  std::vector<std::int64_t> sent(static_cast<std::size_t>(pattern.ranks));
  MessageTotals totals;
  for (const auto& edge : pattern.edges) {
    const auto before = totals.on_node + totals.off_node;
    totals.add(edge.source, edge.destination, edge.bytes, layout);
    sent[static_cast<std::size_t>(edge.source)] += totals.on_node + totals.off_node - before;
  }
  for (const auto messages : sent) totals.squares += messages * messages;
  return totals;
}

RandomPattern random_pattern(const MessageTotals& totals, const Layout& layout) {
  double pairs_on_node = 0;
  for (int node = 0; node < layout.nodes(); ++node)
    pairs_on_node += static_cast<double>(layout.ppn(node)) * (layout.ppn(node) - 1);
  const double pairs_off_node = static_cast<double>(layout.ranks()) * (layout.ranks() - 1) - pairs_on_node;
  const double on_node = std::min(pairs_on_node, static_cast<double>(totals.on_node)),
               off_node = std::min(pairs_off_node, static_cast<double>(totals.off_node));
  // Of no pairs all have a message.
  const auto density = [](double messages, double pairs) { return pairs > 0 ? messages / pairs : 1; };
  const double messages = on_node + off_node;
  return {.density_on_node = density(on_node, pairs_on_node),
          .density_off_node = density(off_node, pairs_off_node),
          .block_bytes = messages > 0 ? totals.bytes / messages : 0,
          .size_variance = size_variance(totals),
          .is_even = is_even(totals, layout)};
}

}  // namespace commpass
