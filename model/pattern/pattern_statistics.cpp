#include "model/pattern/pattern_statistics.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

namespace commpass {

const char* name_of(Symmetry symmetry) {
  switch (symmetry) {
    case Symmetry::sizes: return "sizes";
    case Symmetry::pairs: return "pairs";
    case Symmetry::none: return "none";
  }
  return "?";
}

namespace {

void add(Traffic& traffic, Bytes bytes) {
  ++traffic.messages;
  traffic.bytes += bytes;
}

Spread spread_of(const std::vector<std::int64_t>& of_ranks) {
  double sum = 0;
  for (const auto value : of_ranks) sum += static_cast<double>(value);
  return {std::ranges::min(of_ranks), std::ranges::max(of_ranks), sum / static_cast<double>(of_ranks.size())};
}

/// What two different ranks exchange in one direction.
struct Pair {
  Rank source, destination;
  Bytes bytes;
};

std::pair<Rank, Rank> ends(const Pair& pair) { return {pair.source, pair.destination}; }

/// @param pairs  in any order, some perhaps in several pieces
Symmetry symmetry_of(std::vector<Pair> pairs) {
  std::ranges::sort(pairs, {}, ends);
  std::size_t count = 0;
  for (const auto& pair : pairs) {
    if (count > 0 && ends(pairs[count - 1]) == ends(pair)) pairs[count - 1].bytes += pair.bytes;
    else pairs[count++] = pair;
  }
  pairs.resize(count);
  auto result = Symmetry::sizes;
  for (const auto& pair : pairs) {
    const auto back = std::ranges::lower_bound(pairs, std::pair(pair.destination, pair.source), {}, ends);
    if (back == pairs.end() || ends(*back) != std::pair(pair.destination, pair.source)) return Symmetry::none;
    if (back->bytes != pair.bytes) result = Symmetry::pairs;
  }
  return result;
}

std::vector<SizeClass> classes_of(const std::vector<Bytes>& sorted_sizes) {
  std::vector<SizeClass> classes;
  for (const auto bytes : sorted_sizes) {
    const auto least = static_cast<Bytes>(std::bit_floor(static_cast<std::uint64_t>(bytes)));
    // 2·least overflows for the largest class.
    if (classes.empty() || classes.back().least != least) classes.push_back({least, least + (least - 1), {}});
    add(classes.back().traffic, bytes);
  }
  return classes;
}

}  // namespace

PatternStatistics statistics(const Pattern& pattern, const Layout* layout) {
  PatternStatistics result;
  result.ranks = pattern.ranks;
  const auto ranks = static_cast<std::size_t>(pattern.ranks);
  std::vector<std::int64_t> sends(ranks), receives(ranks), send_bytes(ranks), receive_bytes(ranks);
  std::vector<Bytes> sizes;
  std::vector<Pair> pairs;
  std::array<Traffic, most_levels> by_level{};
  std::set<std::pair<Rank, Payload>> sent;
  for (const auto& [source, destination, bytes, payload] : pattern.edges) {
    if (source == destination) {
      result.self_bytes += bytes;
      continue;
    }
    if (bytes == 0) {
      ++result.empty_edges;
      continue;
    }
    const auto from = static_cast<std::size_t>(source), to = static_cast<std::size_t>(destination);
    ++sends[from];
    ++receives[to];
    send_bytes[from] += bytes;
    receive_bytes[to] += bytes;
    sizes.push_back(bytes);
    pairs.push_back({source, destination, bytes});
    add(result.total, bytes);
    if (payload != no_payload && !sent.emplace(source, payload).second) result.repeated_bytes += bytes;
    if (layout) add(by_level[layout->level(source, destination)], bytes);
  }
  if (layout)
    for (Level level = 0; const auto& name : layout->level_names()) {
      if (layout->instances(level) > 0) result.by_level.push_back({name, by_level[level]});
      ++level;
    }
  result.sends = spread_of(sends);
  result.receives = spread_of(receives);
  result.send_bytes = spread_of(send_bytes);
  result.receive_bytes = spread_of(receive_bytes);
  for (std::size_t rank = 0; rank < ranks; ++rank) result.idle_ranks += sends[rank] == 0 && receives[rank] == 0;
  std::ranges::sort(sizes);
  if (!sizes.empty()) {
    result.message_bytes_min = sizes.front();
    result.message_bytes_median = sizes[sizes.size() / 2];
    result.message_bytes_max = sizes.back();
  }
  result.sizes = classes_of(sizes);
  result.symmetry = symmetry_of(std::move(pairs));
  return result;
}

}  // namespace commpass
