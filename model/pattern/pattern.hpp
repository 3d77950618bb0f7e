// The bytes that each rank sends to each other rank.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/base/types.hpp"
#include "model/pattern/matrix_file.hpp"

namespace commpass {

/// The ranks of a pattern that is read or made. Each strategy is priced rank by rank: on this number of ranks all take
/// about a minute and half a GiB, even for a pattern that is almost empty.
inline constexpr int most_pattern_ranks = 1 << 20;
/// Edges of a pattern, which take 6 GiB.
inline constexpr std::int64_t most_pattern_edges = std::int64_t{1} << 28;

/// One edge of a pattern: `source` sends `bytes` to `destination`. Several edges of one pair are told apart by
/// their order: the k-th edge at the source is the k-th edge at the destination.
struct Edge {
  Rank source = 0;
  Rank destination = 0;
  Bytes bytes = 0;
  Payload payload = no_payload;
  bool operator==(const Edge&) const = default;
};

/// A sparse P×P matrix of bytes. Self edges are copies; edges of 0 bytes move nothing.
struct Pattern {
  int ranks = 0;
  std::vector<Edge> edges;
  /// Of a value, where the edges are run backwards and values are added on the ranks where they meet (transposed()).
  Bytes added_value_bytes = 0;

  /// Are the edges run backwards?
  bool is_transposed() const { return added_value_bytes > 0; }

  /// @throws InputError if there are no ranks, an edge leaves 0 … P−1, a size is negative, all sizes overflow,
  /// or edges with the same payload have different sizes
  void validate(const std::string& origin = "pattern") const;

  /// Edges that move bytes from one rank to another.
  std::int64_t messages() const;
};

/// The same problem on fewer ranks: rank r of P becomes rank ⌊r·ranks / P⌋, and edges of one pair become one.
Pattern merge_ranks(const Pattern& pattern, int ranks);

/// Where the bytes of each edge begin in the buffer of its source and in that of its destination, by number of the
/// edge.
struct BufferPlaces {
  std::vector<Bytes> send, receive;
};

/// Reads a P×P matrix in any form of `read_matrix`: row i, column j is the bytes that rank i sends to rank j.
/// @param most_bytes   refuse files that hold more, counted unpacked
/// @param value_bytes  by which entries are multiplied; they are 1 where the file has none
/// @throws InputError
Pattern read_pattern(const std::string& path, Bytes most_bytes = most_matrix_bytes,
                     std::optional<Bytes> value_bytes = {});

/// Makes the pattern that a text names, "KIND:key=value,…", for example "random:ranks=64,bytes=1KiB,degree=8".
/// @param most_edges  refuse patterns that may have more
/// @throws InputError
Pattern generate_pattern(const std::string& text, std::int64_t most_edges = most_pattern_edges);

/// Writes the file that read_pattern reads, under a temporary name first.
/// @throws InputError, also if an edge has a payload, for which the file has no place
void write_pattern(const Pattern& pattern, const std::string& path);

}  // namespace commpass
