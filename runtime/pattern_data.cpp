#include "runtime/pattern_data.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <limits>
#include <map>

#include "model/error.hpp"
#include "runtime/agreement.hpp"
#include "runtime/mpi_error.hpp"

namespace commpass {

namespace {

/// A byte that nobody else sends to nobody else at this place: a counter, scrambled with the pair and the edge.
std::byte byte_of(Rank source, Rank destination, int edge, std::size_t position) {
  constexpr std::uint64_t a = 0x9E3779B97F4A7C15U, b = 0xBF58476D1CE4E5B9U;  // SplitMix64
  const auto pair = static_cast<std::uint64_t>(source) << 32 | static_cast<std::uint64_t>(destination);
  std::uint64_t mixed = (pair + static_cast<std::uint64_t>(edge) * b) * a + position * a;
  mixed = (mixed ^ mixed >> 30) * b;
  return static_cast<std::byte>(mixed >> 56);
}

void fill(Data& data, Rank rank) {
  std::map<Rank, int> count;
  for (const auto& edge : data.sends) {
    const int index = count[edge.destination]++;
    for (std::size_t i = 0; i < static_cast<std::size_t>(edge.bytes); ++i)
      data.send_buffer[static_cast<std::size_t>(edge.offset) + i] = byte_of(rank, edge.destination, index, i);
  }
}

}  // namespace

Data data_of(const Pattern& pattern, Rank rank) {
  Data data;
  for (const auto& edge : pattern.edges) {
    if (edge.source == rank) data.sends.push_back({edge.destination, 0, edge.bytes});
    if (edge.destination == rank) data.receives.push_back({edge.source, 0, edge.bytes});
  }
  std::ranges::stable_sort(data.sends, {}, &SendEdge::destination);
  std::ranges::stable_sort(data.receives, {}, &ReceiveEdge::source);
  const auto place = [](auto& edges) {
    Bytes end = 0;
    for (auto& edge : edges) {
      edge.offset = end;
      end += edge.bytes;
    }
    return static_cast<std::size_t>(end);
  };
  data.send_buffer.resize(place(data.sends));
  data.receive_buffer.resize(place(data.receives));
  fill(data, rank);
  return data;
}

std::string verify(const Data& data, Rank rank, const std::string& strategy) {
  std::map<Rank, int> count;
  for (const auto& edge : data.receives) {
    const int index = count[edge.source]++;
    for (std::size_t i = 0; i < static_cast<std::size_t>(edge.bytes); ++i)
      if (data.receive_buffer[static_cast<std::size_t>(edge.offset) + i] != byte_of(edge.source, rank, index, i))
        return fmt::format("strategy {}: byte {} of the {} that rank {} sends to rank {} is wrong; please report this.", strategy, i, edge.bytes, edge.source, rank);
  }
  return {};
}

Pattern share_pattern(const PatternArguments& arguments, Rank rank, int ranks) {
  Pattern pattern;
  together(MPI_COMM_WORLD, [&] {
    if (rank != 0) return;
    pattern = arguments.load(ranks);
    if (pattern.ranks != ranks)
      throw InputError("pattern", fmt::format("it has {} ranks but mpirun started {}", pattern.ranks, ranks), fmt::format("run 'mpirun -n {} commpass measure …'", pattern.ranks));
    if (std::ssize(pattern.edges) > std::numeric_limits<int>::max() / 2)
      throw InputError("pattern", "it has more than 2^30 edges", "use a sparser one");
  });
  std::vector<int> ends;
  std::vector<std::int64_t> sizes;
  for (const auto& edge : pattern.edges) {
    ends.push_back(edge.source);
    ends.push_back(edge.destination);
    sizes.push_back(edge.bytes);
  }
  int count = static_cast<int>(sizes.size());
  COMMPASS_MPI_CALL(MPI_Bcast, &count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  ends.resize(2 * static_cast<std::size_t>(count));
  sizes.resize(static_cast<std::size_t>(count));
  COMMPASS_MPI_CALL(MPI_Bcast, ends.data(), 2 * count, MPI_INT, 0, MPI_COMM_WORLD);
  COMMPASS_MPI_CALL(MPI_Bcast, sizes.data(), count, MPI_INT64_T, 0, MPI_COMM_WORLD);
  pattern = {ranks, {}};
  for (std::size_t i = 0; i < sizes.size(); ++i) pattern.edges.push_back({ends[2 * i], ends[2 * i + 1], sizes[i]});
  return pattern;
}

}  // namespace commpass
