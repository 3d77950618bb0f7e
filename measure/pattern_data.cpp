#include "measure/pattern_data.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include "model/base/error.hpp"
#include "runtime/choose/gather_pattern.hpp"
#include "runtime/mpi/agreement.hpp"

namespace commpass {

namespace {

/// Hash of a content and a position: edges with other contents have other bytes here.
std::byte byte_of(std::size_t content, std::size_t position) {
  constexpr std::uint64_t a = 0x9E3779B97F4A7C15U, b = 0xBF58476D1CE4E5B9U;  // SplitMix64
  std::uint64_t mixed = (content * b + position) * a;
  mixed = (mixed ^ mixed >> 30) * b;
  return static_cast<std::byte>(mixed >> 56);
}

}  // namespace

Pattern read_together(const PatternArguments& arguments, Rank rank, int ranks) {
  Pattern pattern;
  all_or_none(MPI_COMM_WORLD, [&] {
    if (rank != 0) return;
    pattern = arguments.load(ranks);
    if (pattern.ranks != ranks)
      throw InputError("pattern", fmt::format("it has {} ranks but mpirun started {}", pattern.ranks, ranks),
                       fmt::format("run 'mpirun -n {} commpass measure …'", pattern.ranks));
  });
  share_pattern(MPI_COMM_WORLD, pattern);
  return pattern;
}

void fill(RankData& data) {
  for (std::size_t e = 0; e < data.sends.size(); ++e)
    for (std::size_t i = 0; i < at(data.sends[e].bytes); ++i)
      data.send_buffer[at(data.sends[e].offset) + i] = byte_of(data.sent[e], i);
}

std::string verify(const RankData& data, Rank rank, const std::string& strategy) {
  for (std::size_t e = 0; e < data.receives.size(); ++e) {
    const auto& edge = data.receives[e];
    for (std::size_t i = 0; i < at(edge.bytes); ++i)
      if (data.receive_buffer[at(edge.offset) + i] != byte_of(data.received[e], i))
        return fmt::format("strategy {}: byte {} of the {} that rank {} sends to rank {} is wrong; please report this.",
                           strategy, i, edge.bytes, edge.source, rank);
  }
  return {};
}

}  // namespace commpass
