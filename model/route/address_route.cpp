#include "model/route/address_route.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "model/grouping.hpp"
#include "model/route/dimensions.hpp"

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
    address.digits.push_back(
        {radices.size() == 1 ? label : fmt::format("{} {} of {}", label, i + 1, radices.size()), radices[i]});
}

}  // namespace

Address flat_address(int ranks, std::span<const int> radices) {
  const auto trimmed = trim_radices(radices, ranks);
  Address address;
  append_digits(address, trimmed, "dimension");
  address.of_rank.resize(at(ranks));
  std::iota(address.of_rank.begin(), address.of_rank.end(), std::int64_t{0});
  address.host.resize(at(product(trimmed)));
  std::iota(address.host.begin(), address.host.end(), Rank{0});
  for (auto v = at(ranks); v < address.host.size(); ++v)
    address.host[v] = static_cast<Rank>(existing(static_cast<std::int64_t>(v), ranks, trimmed));
  return address;
}

Address node_address(const Layout& layout, std::span<const int> local_radices, std::span<const int> node_radices) {
  const auto local_default = one_digit(layout.max_ppn()), node_default = one_digit(layout.nodes());
  const auto local =
      trim_radices(local_radices.empty() ? std::span<const int>(local_default) : local_radices, layout.max_ppn());
  const auto node =
      trim_radices(node_radices.empty() ? std::span<const int>(node_default) : node_radices, layout.nodes());
  const auto locals = product(local), nodes = product(node);

  Address address;
  append_digits(address, local, "local digit");
  append_digits(address, node, "node digit");
  address.of_rank.resize(at(layout.ranks()));
  for (Rank rank = 0; rank < layout.ranks(); ++rank)
    address.of_rank[at(rank)] = layout.local(rank) + locals * layout.node(rank);
  std::vector<std::size_t> local_of(at(locals));
  for (std::int64_t l = 0; l < locals; ++l) local_of[at(l)] = at(existing(l, layout.max_ppn(), local));
  address.host.reserve(at(nodes * locals));
  for (std::int64_t n = 0; n < nodes; ++n) {
    const auto mates = layout.ranks_of(static_cast<int>(existing(n, layout.nodes(), node)));
    for (const auto l : local_of) address.host.push_back(mates[l < mates.size() ? l : l % mates.size()]);
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
  is_plain_ = host_.size() == of_rank_.size();
  for (std::size_t v = 0; is_plain_ && v < host_.size(); ++v) is_plain_ = host_[v] == static_cast<Rank>(v);
  std::vector<int> weights;
  int weight = 1;
  for (const auto& digit : digits_) {
    weights.push_back(weight);
    weight *= digit.radix;
  }
  for (const std::size_t d : order) {
    stages_.push_back({digits_[d].label, digits_[d].radix - 1});
    steps_.push_back({.weight = weights[d], .radix = digits_[d].radix});
  }
  count_blocks(order);
}

std::vector<AddressRoute::Parts> AddressRoute::find_parts() const {
  std::vector<Parts> result;
  Parts parts{std::vector<Rank>(of_rank_.size(), 0), {of_rank_.begin(), of_rank_.end()}};
  for (const auto& step : steps_) {
    for (std::size_t rank = 0; rank < of_rank_.size(); ++rank) {
      const int part = digit(of_rank_[rank], step) * step.weight;
      parts.of_destination[rank] += part;
      parts.of_source[rank] -= part;
    }
    result.push_back(parts);
  }
  return result;
}

AddressRoute::Hosting AddressRoute::find_hosting() const {
  Hosting result;
  result.virtuals.resize(host_.size());
  std::iota(result.virtuals.begin(), result.virtuals.end(), std::int64_t{0});
  result.first = stable_counting_sort(result.virtuals, static_cast<int>(of_rank_.size()),
                                      [&](std::int64_t v) { return host_[at(v)]; });
  std::vector<Rank> uncorrected(of_rank_.begin(), of_rank_.end());
  for (const auto& step : steps_) {
    auto& sources = result.sources.emplace_back(host_.size(), 0);
    auto& destinations = result.destinations.emplace_back(host_.size(), 0);
    for (std::size_t rank = 0; rank < of_rank_.size(); ++rank) {
      ++sources[at(uncorrected[rank])];
      uncorrected[rank] -= digit(uncorrected[rank], step) * step.weight;
      ++destinations[at(of_rank_[rank] - uncorrected[rank])];
    }
  }
  return result;
}

std::span<const std::int64_t> AddressRoute::Hosting::virtuals_of(Rank rank) const {
  return std::span(virtuals).subspan(first[at(rank)], first[at(rank) + 1] - first[at(rank)]);
}

const AddressRoute::Parts& AddressRoute::parts(int stage) const {
  return parts_.get([&] { return find_parts(); })[at(stage)];
}

const AddressRoute::Hosting& AddressRoute::hosting() const {
  return hosting_.get([&] { return find_hosting(); });
}

Rank AddressRoute::next(const Block& block, Rank holder, int stage) const {
  if (holder == block.destination) return holder;
  const auto& table = parts(stage);
  return host_[at(table.of_destination[at(block.destination)] + table.of_source[at(block.source)])];
}

void AddressRoute::next_of_each(std::span<const Block> blocks, std::span<const Rank> holders, int stage,
                                std::span<Rank> to) const {
  const auto& table = parts(stage);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto& block = blocks[i];
    const Rank host = host_[at(table.of_destination[at(block.destination)] + table.of_source[at(block.source)])];
    to[i] = holders[i] == block.destination ? holders[i] : host;
  }
}

int AddressRoute::round(Rank from, Rank to, int stage) const {
  const auto& step = steps_[at(stage)];
  const int distance = digit(of_rank_[at(to)], step) - digit(of_rank_[at(from)], step);
  return distance < 0 ? distance + step.radix : distance;
}

// A block moves from the host of one virtual rank to that of another with one digit changed, or stays.
std::vector<Rank> AddressRoute::peers(Rank rank, int stage) const {
  const auto& step = steps_[at(stage)];
  std::vector<Rank> result;
  for (const auto v : hosting().virtuals_of(rank)) {
    const auto first = v - digit(v, step) * step.weight;
    for (int value = 0; value < step.radix; ++value) result.push_back(host_[at(first + value * step.weight)]);
  }
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  std::erase(result, rank);
  return result;
}

std::vector<Rank> AddressRoute::groups(int stage) const {
  const auto& step = steps_[at(stage)];
  std::vector<Rank> lowest(of_rank_.size());  // a forest: a rank of the same group that is not above it
  std::iota(lowest.begin(), lowest.end(), 0);
  const auto root = [&](Rank rank) {
    while (lowest[at(rank)] != rank) rank = lowest[at(rank)] = lowest[at(lowest[at(rank)])];
    return rank;
  };
  for (std::size_t v = 0; v < host_.size(); ++v) {
    const auto number = static_cast<std::int64_t>(v);
    const Rank one = root(host_[v]), other = root(host_[at(number - digit(number, step) * step.weight)]);
    lowest[at(std::max(one, other))] = std::min(one, other);
  }
  for (Rank rank = 0; at(rank) < lowest.size(); ++rank) lowest[at(rank)] = root(rank);
  return lowest;
}

// What the messages of a full all-to-all hold and how many copies they need, from the digits alone. A set of ranks in
// which some digits are fixed and the others free is made of as many intervals as there are values of the free digits
// above the lowest fixed one.
void AddressRoute::count_blocks(std::span<const std::size_t> order) {
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
  std::int64_t origins = 1;  // places where blocks of one destination sit
  std::int64_t destinations = static_cast<std::int64_t>(host_.size()), sources = 1;
  for (std::size_t stage = 0; stage < order.size(); ++stage) {
    const std::size_t d = order[stage];
    auto& step = steps_[stage];
    destination_free[d] = false;
    destinations /= digits_[d].radix;
    step.blocks = sources * destinations;
    step.pieces_sent = stage == 0 ? intervals(destination_free) : destinations * origins;
    step.final_blocks = sources;
    // The last message of all holds nothing but final blocks and lands where it belongs if its sources are adjacent.
    const auto source_intervals = intervals(source_free);
    step.final_pieces = destinations == 1 && source_intervals == 1 ? 0 : source_intervals;
    origins += digits_[d].radix - 1;
    source_free[d] = true;
    sources *= digits_[d].radix;
  }
}

// Where the lowest digit has two values, what rank r sends to or gets from the others includes r−1 and r+1, which are
// adjacent in its buffers: r sends itself nothing.
bool AddressRoute::neighbours_touch(Rank rank, int stage) const {
  const auto& step = steps_[at(stage)];
  return step.weight == 1 && step.radix == 2 && of_rank_[at(rank)] == rank && rank > 0 &&
         at(rank) + 1 < of_rank_.size();
}

void AddressRoute::join_neighbours(UniformMessage& message, Rank from, int stage) const {
  if (stage == 0 && message.pieces > 1 && neighbours_touch(from, stage)) --message.pieces;
  const bool last = at(stage) + 1 == steps_.size();
  if (!last || message.final_pieces < 2 || !neighbours_touch(message.to, stage)) return;
  if (--message.final_pieces == 1) message.final_pieces = message.final_blocks = 0;  // lands where it belongs
}

std::vector<UniformMessage> AddressRoute::hosted_messages(Rank rank, int stage) const {
  const auto& step = steps_[at(stage)];
  const auto& hosts = hosting();
  const auto own = hosts.virtuals_of(rank);
  std::vector<UniformMessage> messages;
  for (const auto v : own) {
    const auto before = digit(v, step);
    // Of v, the digits that the source still decides, and those that the destination has decided.
    std::int64_t decided = 0, undecided = v;
    for (int s = 0; s < stage; ++s) {
      const auto part = digit(v, steps_[at(s)]) * steps_[at(s)].weight;
      decided += part;
      undecided -= part;
    }
    const std::int64_t sources = hosts.sources[at(stage)][at(undecided)];
    messages.reserve(messages.size() + at(step.radix));
    for (int round = 1; round < step.radix; ++round) {
      const auto after = before + round < step.radix ? before + round : before + round - step.radix;
      const auto blocks = sources * hosts.destinations[at(stage)][at(decided + after * step.weight)];
      const auto to = host_[at(v + (after - before) * step.weight)];
      if (blocks == 0 || to == rank) continue;
      const auto same = own.size() == 1 ? messages.end() : std::ranges::find(messages, to, &UniformMessage::to);
      auto& message = same != messages.end() ? *same : messages.emplace_back(UniformMessage{to, 0, 0, 0, 0});
      message.blocks += blocks;
      message.pieces += std::min(blocks, step.pieces_sent);
      if (step.final_pieces > 0) message.final_blocks += std::min(blocks, step.final_blocks);
      message.final_pieces += step.final_pieces;
    }
  }
  return messages;
}

std::vector<UniformRun> AddressRoute::uniform_runs(Rank rank, int stage) const {
  if (is_plain_) {
    // All alike; where the radix is 2, and so neighbours may touch, there is one.
    const auto& step = steps_[at(stage)];
    const Ring ring{rank - digit(rank, step) * step.weight, step.radix * step.weight, step.weight};
    UniformMessage message{ring.after(rank, 1), step.blocks, std::min(step.blocks, step.pieces_sent), 0,
                           step.final_pieces};
    if (step.final_pieces > 0) message.final_blocks = std::min(step.blocks, step.final_blocks);
    join_neighbours(message, rank, stage);
    return {{message, step.radix - 1, ring}};
  }
  std::vector<UniformRun> runs;
  for (auto& message : hosted_messages(rank, stage)) {
    join_neighbours(message, rank, stage);
    runs.push_back(message);
  }
  return runs;
}

}  // namespace commpass
