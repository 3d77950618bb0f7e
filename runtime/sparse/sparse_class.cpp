#include "runtime/sparse/sparse_class.hpp"

#include <algorithm>
#include <bit>

namespace commpass {

namespace {

/// Of nothing: far from whatever there is.
constexpr int never = 62;

/// Binary digits of a ratio: 0 if it is less than 1.
int digits(std::int64_t number, std::int64_t of = 1) {
  if (of <= 0) return never;
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(0, number) / of)));
}

/// The nearest whole number up to `most`; 0 for NaN.
std::int64_t whole(double value, std::int64_t most) {
  return value > 0 ? static_cast<std::int64_t>(std::min(value, static_cast<double>(most)) + 0.5) : 0;
}

}  // namespace

ExchangeClass class_of(const SparseTraffic& all, int ranks) {
  return {digits(all.messages, ranks),
          digits(all.bytes, std::max<std::int64_t>(1, all.messages)),
          digits(all.messages, all.network_messages),
          digits(all.network_messages, std::max<std::int64_t>(1, all.nodes_reached)),
          digits(all.messages_max * ranks, std::max<std::int64_t>(1, all.messages)),
          digits(all.received_messages_max * ranks, std::max<std::int64_t>(1, all.messages))};
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
