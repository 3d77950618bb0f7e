#include "model/pattern/pattern.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/format.hpp"
#include "model/pattern/matrix_file.hpp"

namespace commpass {

void Pattern::validate(const std::string& origin) const {
  if (ranks < 1) throw InputError(origin, fmt::format("it has {} ranks", ranks), "use at least one");
  Bytes total = 0;
  std::map<std::pair<Rank, Payload>, Bytes> payload_bytes;
  for (const Edge& edge : edges) {
    const auto place = [&] { return fmt::format("{}, edge {} -> {}", origin, edge.source, edge.destination); };
    if (edge.source < 0 || edge.source >= ranks || edge.destination < 0 || edge.destination >= ranks)
      throw InputError(place(), "it names a rank out of range", fmt::format("use 0 to {}", ranks - 1));
    if (edge.bytes < 0) throw InputError(place(), fmt::format("it sends {} bytes", edge.bytes), "use 0 or more");
    if (edge.bytes > std::numeric_limits<Bytes>::max() - total)
      throw InputError(place(), "the sizes add up to more than 2^63 bytes", "use smaller sizes");
    total += edge.bytes;
    if (edge.payload == no_payload) continue;
    const auto expected = payload_bytes.try_emplace({edge.source, edge.payload}, edge.bytes).first->second;
    if (edge.bytes != expected)
      throw InputError(place(), fmt::format("it sends {} bytes of a payload that has {}", edge.bytes, expected),
                       "give edges of one payload the same size");
  }
}

std::int64_t Pattern::messages() const {
  return std::ranges::count_if(edges,
                               [](const Edge& edge) { return edge.source != edge.destination && edge.bytes > 0; });
}

namespace {

Pattern pattern_of(const CoordinateMatrix& matrix, std::optional<Bytes> value_bytes, const std::string& path) {
  if (matrix.rows != matrix.columns)
    throw InputError(
        path, fmt::format("it is {} x {}, and a pattern has as many rows as columns", matrix.rows, matrix.columns),
        "give a P x P matrix of bytes, or use --matrix for a sparse matrix");
  const bool has_sizes = matrix.field != CoordinateMatrix::Field::pattern;
  if (matrix.field == CoordinateMatrix::Field::complex || (!has_sizes && !value_bytes))
    throw InputError(path, "it has no sizes",
                     "a pattern needs integers: the bytes from each rank to each; or tell the bytes of each entry "
                     "(--value-bytes)");
  if (matrix.symmetry != CoordinateMatrix::Symmetry::general &&
      matrix.symmetry != CoordinateMatrix::Symmetry::symmetric)
    throw InputError(path, "a pattern of sizes is neither skew-symmetric nor hermitian",
                     "use 'general' or 'symmetric'");
  if (matrix.rows > most_pattern_ranks)
    throw InputError(path, fmt::format("it has {} ranks", matrix.rows),
                     fmt::format("use at most {}, or --matrix for a sparse matrix", most_pattern_ranks));

  Pattern pattern;
  pattern.ranks = static_cast<int>(matrix.rows);
  pattern.edges.reserve(matrix.row.size());
  constexpr double largest_exact = 9007199254740992.0;  // 2⁵³: above it a double is no exact count
  for (std::size_t i = 0; i < matrix.row.size(); ++i) {
    const double value = has_sizes ? matrix.value[i] : 1;
    const auto source = static_cast<Rank>(matrix.row[i]), destination = static_cast<Rank>(matrix.column[i]);
    const auto error = [&](const std::string& what, const char* remedy) {
      return InputError(fmt::format("{}, entry ({}, {})", path, source + 1, destination + 1), what, remedy);
    };
    if (!(value >= 0 && value <= largest_exact) || value != static_cast<double>(static_cast<Bytes>(value)))
      throw error(fmt::format("{} is no number of {}", value, value_bytes ? "values" : "bytes"),
                  "use an integer, 0 or more");
    Bytes bytes = 0;
    if (__builtin_mul_overflow(static_cast<Bytes>(value), value_bytes.value_or(1), &bytes))
      throw error(fmt::format("{} values of {} bytes are more than 2^63 bytes", value, *value_bytes),
                  "use smaller values");
    pattern.edges.push_back({source, destination, bytes});
    if (matrix.symmetry == CoordinateMatrix::Symmetry::symmetric && source != destination)
      pattern.edges.push_back({destination, source, bytes});
  }
  pattern.validate(path);
  return pattern;
}

}  // namespace

Pattern read_pattern(const std::string& path, Bytes most_bytes, std::optional<Bytes> value_bytes) {
  const auto matrix = read_matrix(path, most_bytes);
  return within_memory(path, [&] { return pattern_of(matrix, value_bytes, path); });
}

void write_pattern(const Pattern& pattern, const std::string& path) {
  if (std::ranges::any_of(pattern.edges, [](const Edge& e) { return e.payload != no_payload; }))
    throw InputError(path, "a pattern file cannot say which edges carry the same bytes",
                     "write the pattern without shared payloads");
  std::string text =
      "%%MatrixMarket matrix coordinate integer general\n"
      "% Commpass pattern: entry (i, j) is the bytes that rank i-1 sends to rank j-1\n";
  append(text, "{} {} {}\n", pattern.ranks, pattern.ranks, pattern.edges.size());
  for (const auto& edge : pattern.edges) append(text, "{} {} {}\n", edge.source + 1, edge.destination + 1, edge.bytes);
  write_file(path, text);
}

Pattern merge_ranks(const Pattern& pattern, int ranks) {
  std::map<std::pair<Rank, Rank>, Bytes> bytes;
  const auto merged = [&](Rank rank) { return static_cast<Rank>(std::int64_t{rank} * ranks / pattern.ranks); };
  for (const auto& edge : pattern.edges) bytes[{merged(edge.source), merged(edge.destination)}] += edge.bytes;
  Pattern result{ranks, {}};
  for (const auto& [pair, sum] : bytes) result.edges.push_back({pair.first, pair.second, sum});
  return result;
}

}  // namespace commpass
