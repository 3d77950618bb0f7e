#include "model/address_route.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "model/dimensions.hpp"

namespace commpass {

namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// The virtual number that stands in for `number` below `count`: the same lower digits, one slab down.
std::int64_t existing(std::int64_t number, std::int64_t count, std::span<const int> radices) {
  std::int64_t slab = 1;
  for (std::size_t i = 0; i + 1 < radices.size(); ++i) slab *= radices[i];
  return number < count ? number : number - slab;
}

std::int64_t product(std::span<const int> radices) {
  std::int64_t result = 1;
  for (const int radix : radices) result *= radix;
  return result;
}

std::vector<int> one_digit(int count) { return {std::max(count, 2)}; }

void append_digits(Address& address, std::span<const int> radices, const std::string& label) {
  for (std::size_t i = 0; i < radices.size(); ++i)
    address.digits.push_back({radices.size() == 1 ? label : fmt::format("{} {} of {}", label, i + 1, radices.size()), radices[i]});
}

}  // namespace

Address flat_address(int ranks, std::span<const int> radices) {
  const auto trimmed = trim_radices(radices, ranks);
  Address address;
  append_digits(address, trimmed, "dimension");
  for (Rank rank = 0; rank < ranks; ++rank) address.of_rank.push_back(rank);
  const auto virtuals = product(trimmed);
  for (std::int64_t v = 0; v < virtuals; ++v) address.host.push_back(static_cast<Rank>(existing(v, ranks, trimmed)));
  return address;
}

Address node_address(const Layout& layout, std::span<const int> local_radices, std::span<const int> node_radices) {
  const auto local_default = one_digit(layout.max_ppn()), node_default = one_digit(layout.nodes());
  const auto local = trim_radices(local_radices.empty() ? std::span<const int>(local_default) : local_radices, layout.max_ppn());
  const auto node = trim_radices(node_radices.empty() ? std::span<const int>(node_default) : node_radices, layout.nodes());
  const auto locals = product(local), nodes = product(node);

  Address address;
  append_digits(address, local, "local digit");
  append_digits(address, node, "node digit");
  for (Rank rank = 0; rank < layout.ranks(); ++rank)
    address.of_rank.push_back(layout.local(rank) + locals * layout.node(rank));
  for (std::int64_t n = 0; n < nodes; ++n) {
    const auto mates = layout.ranks_of(static_cast<int>(existing(n, layout.nodes(), node)));
    for (std::int64_t l = 0; l < locals; ++l)
      address.host.push_back(mates[at(existing(l, layout.max_ppn(), local)) % mates.size()]);
  }
  return address;
}

Address placed(Address address, std::span<const Rank> positions) {
  if (positions.empty()) return address;
  std::vector<Rank> rank_at(positions.size());
  const auto of_position = address.of_rank;
  for (std::size_t rank = 0; rank < positions.size(); ++rank) {
    rank_at[at(positions[rank])] = static_cast<Rank>(rank);
    address.of_rank[rank] = of_position[at(positions[rank])];
  }
  for (auto& host : address.host) host = rank_at[at(host)];
  return address;
}

AddressRoute::AddressRoute(Address address, std::span<const std::size_t> order)
    : digits_(std::move(address.digits)), of_rank_(std::move(address.of_rank)), host_(std::move(address.host)) {
  const auto ranks = of_rank_.size();
  virtuals_of_.resize(ranks);
  for (std::size_t v = 0; v < host_.size(); ++v) virtuals_of_[at(host_[v])].push_back(static_cast<std::int64_t>(v));

  std::vector<std::int64_t> weights;
  std::int64_t weight = 1;
  for (const auto& digit : digits_) {
    weights.push_back(weight);
    weight *= digit.radix;
  }
  std::vector<std::int64_t> corrected(ranks, 0), uncorrected = of_rank_;
  for (const std::size_t d : order) {
    StageTables stage;
    stage.weight = weights[d];
    stage.radix = digits_[d].radix;
    stage.sources.resize(host_.size());
    stage.destinations.resize(host_.size());
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      ++stage.sources[at(uncorrected[rank])];
      const auto digit = of_rank_[rank] / weights[d] % digits_[d].radix, part = digit * weights[d];
      stage.digit.push_back(static_cast<int>(digit));
      corrected[rank] += part;
      uncorrected[rank] -= part;
      ++stage.destinations[at(corrected[rank])];
    }
    stage.corrected.assign(corrected.begin(), corrected.end());
    stage.uncorrected.assign(uncorrected.begin(), uncorrected.end());
    stages_.push_back({digits_[d].label, digits_[d].radix - 1});
    tables_.push_back(std::move(stage));
  }
  count_copies(order);
}

Rank AddressRoute::next(const Block& block, Rank holder, int stage) const {
  if (holder == block.destination) return holder;
  const auto& tables = tables_[at(stage)];
  return host_[at(tables.corrected[at(block.destination)] + tables.uncorrected[at(block.source)])];
}

void AddressRoute::next_of_each(std::span<const Block> blocks, std::span<const Rank> holders, int stage, std::span<Rank> to) const {
  const auto& tables = tables_[at(stage)];
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto& block = blocks[i];
    const Rank host = host_[at(tables.corrected[at(block.destination)] + tables.uncorrected[at(block.source)])];
    to[i] = holders[i] == block.destination ? holders[i] : host;
  }
}

int AddressRoute::round(Rank from, Rank to, int stage) const {
  const auto& tables = tables_[at(stage)];
  const int distance = tables.digit[at(to)] - tables.digit[at(from)];
  return distance < 0 ? distance + tables.radix : distance;
}

// A block moves from the host of one virtual rank to that of another with one digit changed, or stays.
std::vector<Rank> AddressRoute::peers(Rank rank, int stage) const {
  const auto& tables = tables_[at(stage)];
  std::vector<Rank> result;
  for (const auto v : virtuals_of_[at(rank)]) {
    const auto first = v - v / tables.weight % tables.radix * tables.weight;
    for (int digit = 0; digit < tables.radix; ++digit) result.push_back(host_[at(first + digit * tables.weight)]);
  }
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  std::erase(result, rank);
  return result;
}

std::vector<Rank> AddressRoute::groups(int stage) const {
  const auto& tables = tables_[at(stage)];
  std::vector<Rank> lowest(of_rank_.size());  // a forest: a rank of the same group that is not above it
  std::iota(lowest.begin(), lowest.end(), 0);
  const auto root = [&](Rank rank) {
    while (lowest[at(rank)] != rank) rank = lowest[at(rank)] = lowest[at(lowest[at(rank)])];
    return rank;
  };
  for (std::size_t v = 0; v < host_.size(); ++v) {
    const auto number = static_cast<std::int64_t>(v);
    const Rank one = root(host_[v]), other = root(host_[at(number - number / tables.weight % tables.radix * tables.weight)]);
    lowest[at(std::max(one, other))] = std::min(one, other);
  }
  for (Rank rank = 0; at(rank) < lowest.size(); ++rank) lowest[at(rank)] = root(rank);
  return lowest;
}

// How many copies the messages of a full all-to-all need, from the digits alone. A set of ranks in which some digits
// are fixed and the others free is made of as many intervals as there are values of the free digits above the lowest
// fixed one.
void AddressRoute::count_copies(std::span<const std::size_t> order) {
  const auto count = digits_.size();
  const auto intervals = [&](const std::vector<bool>& is_free) {
    std::int64_t result = 1;
    bool below_is_fixed = false;
    for (std::size_t d = 0; d < count; ++d) {
      if (!is_free[d]) below_is_fixed = true;
      else if (below_is_fixed) result *= digits_[d].radix;
    }
    return result;
  };

  std::vector<bool> destination_free(count, true), source_free(count, false);
  std::int64_t origins = 1;                                       // places where blocks of one destination sit
  std::int64_t destinations = static_cast<std::int64_t>(host_.size()), sources = 1;
  for (std::size_t stage = 0; stage < order.size(); ++stage) {
    const std::size_t d = order[stage];
    auto& tables = tables_[stage];
    destination_free[d] = false;
    destinations /= digits_[d].radix;
    tables.pieces_sent = stage == 0 ? intervals(destination_free) : destinations * origins;
    tables.final_blocks = sources;
    // The last message of all holds nothing but final blocks and lands where it belongs if its sources are adjacent.
    const auto source_intervals = intervals(source_free);
    tables.final_pieces = destinations == 1 && source_intervals == 1 ? 0 : source_intervals;
    origins += digits_[d].radix - 1;
    source_free[d] = true;
    sources *= digits_[d].radix;
  }
}

// Where the lowest digit has two values, what rank r sends to or gets from the others includes r−1 and r+1, which are
// adjacent in its buffers: r sends itself nothing.
bool AddressRoute::neighbours_touch(Rank rank, int stage) const {
  const auto& tables = tables_[at(stage)];
  return tables.weight == 1 && tables.radix == 2 && of_rank_[at(rank)] == rank && rank > 0 && at(rank) + 1 < of_rank_.size();
}

std::vector<UniformMessage> AddressRoute::uniform_messages(Rank rank, int stage) const {
  const auto& tables = tables_[at(stage)];
  const bool last = at(stage) + 1 == tables_.size();
  std::vector<UniformMessage> messages;
  for (const auto v : virtuals_of_[at(rank)]) {
    const auto before = static_cast<int>(v / tables.weight % tables.radix);
    // Of v, the digits that the source still decides, and those that the destination has decided.
    std::int64_t decided = 0, undecided = v;
    for (int s = 0; s < stage; ++s) {
      const auto part = v / tables_[at(s)].weight % tables_[at(s)].radix * tables_[at(s)].weight;
      decided += part;
      undecided -= part;
    }
    const auto sources = tables.sources[at(undecided)];
    messages.reserve(messages.size() + at(tables.radix));
    for (int round = 1; round < tables.radix; ++round) {
      const auto digit = before + round < tables.radix ? before + round : before + round - tables.radix;
      const auto blocks = sources * tables.destinations[at(decided + digit * tables.weight)];
      const auto to = host_[at(v + (digit - before) * tables.weight)];
      if (blocks == 0 || to == rank) continue;
      const auto same = virtuals_of_[at(rank)].size() == 1 ? messages.end()
                                                            : std::ranges::find(messages, to, &UniformMessage::to);
      auto& message = same != messages.end() ? *same : messages.emplace_back(UniformMessage{to, 0, 0, 0, 0});
      message.blocks += blocks;
      message.pieces += std::min(blocks, tables.pieces_sent);
      if (tables.final_pieces > 0) message.final_blocks += std::min(blocks, tables.final_blocks);
      message.final_pieces += tables.final_pieces;
    }
  }
  for (auto& message : messages) {
    if (stage == 0 && message.pieces > 1 && neighbours_touch(rank, stage)) --message.pieces;
    if (!last || message.final_pieces < 2 || !neighbours_touch(message.to, stage)) continue;
    if (--message.final_pieces == 1) message.final_pieces = message.final_blocks = 0;  // lands where it belongs
  }
  return messages;
}

}  // namespace commpass
