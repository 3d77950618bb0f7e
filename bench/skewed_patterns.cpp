#include "bench/skewed_patterns.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace commpass::bench {

namespace {

/// Draws in its own way: the distributions of the standard library differ between libraries.
class Draw {
 public:
  int below(int end) { return static_cast<int>(random_() % static_cast<std::uint64_t>(end)); }
  /// In [0, 1).
  double uniform() {
    constexpr int mantissa_bits = 53, unused_bits = 64 - mantissa_bits;
    return std::ldexp(static_cast<double>(random_() >> unused_bits), -mantissa_bits);
  }
  /// Other ranks than `rank`, each once.
  std::set<Rank> others(Rank rank, int count, int ranks) {
    std::set<Rank> result;
    while (std::ssize(result) < std::min(count, ranks - 1))
      if (const Rank other = below(ranks); other != rank) result.insert(other);
    return result;
  }

 private:
  std::mt19937_64 random_{1};
};

constexpr Rank hot = 1;  // not 0, which many algorithms treat on its own

/// What all ranks do beside the hot one.
void add_background(Pattern& pattern) {
  constexpr int degree = 4;
  constexpr Bytes bytes = 1024;
  Draw draw;
  for (Rank rank = 0; rank < pattern.ranks; ++rank)
    for (const Rank other : draw.others(rank, degree, pattern.ranks)) pattern.edges.push_back({rank, other, bytes});
}

constexpr Bytes hot_bytes = 32 * 1024;

/// A matrix has one entry for each pair.
void merge_pairs(Pattern& pattern) {
  const auto pair = [](const Edge& edge) { return std::pair(edge.source, edge.destination); };
  std::ranges::stable_sort(pattern.edges, {}, pair);
  std::vector<Edge> merged;
  for (const auto& edge : pattern.edges)
    if (!merged.empty() && pair(merged.back()) == pair(edge)) merged.back().bytes += edge.bytes;
    else merged.push_back(edge);
  pattern.edges = std::move(merged);
}

}  // namespace

Pattern hot_receiver(int ranks) {
  Pattern pattern{ranks, {}};
  add_background(pattern);
  for (Rank rank = 0; rank < ranks; ++rank)
    if (rank != hot) pattern.edges.push_back({rank, hot, hot_bytes});
  merge_pairs(pattern);
  return pattern;
}

Pattern hot_sender(int ranks) {
  Pattern pattern{ranks, {}};
  add_background(pattern);
  for (Rank rank = 0; rank < ranks; ++rank)
    if (rank != hot) pattern.edges.push_back({hot, rank, hot_bytes});
  merge_pairs(pattern);
  return pattern;
}

Pattern power_law_of_partners(int ranks) {
  constexpr Bytes bytes = 2048;
  constexpr int apart = 7;  // ranks with many partners are not neighbours
  Pattern pattern{ranks, {}};
  Draw draw;
  std::set<Rank> left;
  for (Rank rank = 0; rank < ranks; ++rank) left.insert(rank);
  Rank rank = 0;
  for (int k = 1; k <= ranks; ++k) {
    for (const Rank other : draw.others(rank, std::max(1, ranks / k), ranks))
      pattern.edges.push_back({rank, other, bytes});
    left.erase(rank);
    if (left.empty()) break;
    const auto next = left.lower_bound((rank + apart) % ranks);
    rank = next == left.end() ? *left.begin() : *next;
  }
  return pattern;
}

Pattern wide_sizes(int ranks) {
  constexpr int degree = 8;
  constexpr double least = 3, most = 200 * 1024;
  Pattern pattern{ranks, {}};
  Draw draw;
  for (Rank rank = 0; rank < ranks; ++rank)
    for (const Rank other : draw.others(rank, degree, ranks))
      pattern.edges.push_back({rank, other, std::llround(least * std::pow(most / least, draw.uniform()))});
  return pattern;
}

namespace {

constexpr Rank first_hot = 8, end_hot = 16;

Pattern hot_ranks(int ranks, bool send) {
  constexpr int degree = 3;
  constexpr Bytes hot_bytes_each = 4096, other_bytes = 512;
  Pattern pattern{ranks, {}};
  Draw draw;
  for (Rank rank = 0; rank < ranks; ++rank)
    for (const Rank other : draw.others(rank, degree, ranks)) pattern.edges.push_back({rank, other, other_bytes});
  for (Rank one = first_hot; one < std::min(end_hot, ranks); ++one)
    for (Rank rank = 0; rank < ranks; ++rank)
      if (rank != one) pattern.edges.push_back({send ? one : rank, send ? rank : one, hot_bytes_each});
  merge_pairs(pattern);
  return pattern;
}

}  // namespace

Pattern hot_ranks_receive(int ranks) { return hot_ranks(ranks, false); }
Pattern hot_ranks_send(int ranks) { return hot_ranks(ranks, true); }

Pattern transposes(int ranks) {
  constexpr Bytes bytes = 3000;
  int rows = static_cast<int>(std::sqrt(ranks));
  while (ranks % rows != 0) --rows;
  const int columns = ranks / rows;
  Pattern pattern{ranks, {}};
  for (Rank rank = 0; rank < ranks; ++rank)
    for (Rank other = rank % columns; other < ranks; other += columns)
      if (other != rank) pattern.edges.push_back({rank, other, bytes});
  return pattern;
}

Pattern adaptive_mesh(int ranks) {
  constexpr int most_far = 7;
  constexpr double neighbours_bytes = 3000, far_bytes = 150;
  Pattern pattern{ranks, {}};
  Draw draw;
  // Up to 8 times as much, or as little.
  const auto about = [&](double bytes) { return std::llround(bytes * std::pow(8, 2 * draw.uniform() - 1)); };
  for (Rank rank = 0; rank < ranks; ++rank) {
    for (const int step : {1, 4, 16})
      for (const int way : {-1, 1}) {
        const Rank other = ((rank + way * step) % ranks + ranks) % ranks;
        if (other != rank) pattern.edges.push_back({rank, other, about(neighbours_bytes)});
      }
    for (const Rank other : draw.others(rank, draw.below(most_far + 1), ranks))
      pattern.edges.push_back({rank, other, about(far_bytes)});
  }
  merge_pairs(pattern);
  return pattern;
}

Pattern half_to_half(int ranks) {
  constexpr int degree = 8;
  constexpr Bytes bytes = 16 * 1024;
  Pattern pattern{ranks, {}};
  Draw draw;
  const Rank half = ranks / 2;
  for (Rank rank = 0; rank < half; ++rank)
    for (const Rank other : draw.others(-1, degree, ranks - half)) pattern.edges.push_back({rank, half + other, bytes});
  return pattern;
}

}  // namespace commpass::bench
