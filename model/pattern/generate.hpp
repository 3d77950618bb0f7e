// Synthetic patterns, the same everywhere for the same text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/pattern/neighbor_bytes.hpp"
#include "model/pattern/pattern.hpp"

namespace commpass {

/// A key that a generator takes, with its default (empty: the key must be given).
struct GeneratorKey {
  const char* name;
  const char* default_value;
  const char* meaning;
};

/// One kind of synthetic pattern; the command line's help and errors read this table.
struct Generator {
  const char* name;
  const char* summary;
  std::vector<GeneratorKey> keys;
};

const std::vector<Generator>& generators();

/// An all-to-all with equal blocks.
struct Alltoall {
  int ranks = 0;
  Bytes bytes = 0;  ///< of every block
};

/// What "alltoall:…" asks for, without making its edges; nothing for texts of other kinds.
/// @throws InputError
std::optional<Alltoall> parse_alltoall(const std::string& text);

/// An all-to-all with blocks of different sizes, as far as closed forms know it.
struct RaggedAlltoall {
  int ranks = 0;
  double mean_bytes = 0;     ///< that the sizes are drawn around
  double size_variance = 0;  ///< in squares of the mean
};

/// What "alltoallv:…" asks for, without making its edges; nothing for texts of other kinds.
/// @throws InputError
std::optional<RaggedAlltoall> parse_alltoallv(const std::string& text);

/// What "cartesian:…" asks for, without making its edges; nothing for texts of other kinds.
/// @throws InputError
std::optional<CartesianPattern> parse_cartesian(const std::string& text);

}  // namespace commpass
