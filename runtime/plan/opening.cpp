#include "runtime/plan/opening.hpp"

#include <array>

#include "model/mixed.hpp"
#include "runtime/mpi/nonblocking_reduction.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

// Sums modulo 2^64 are made of two that do not overflow.
constexpr unsigned half = 32;
constexpr std::uint64_t low_half = 0xFFFFFFFFU;
std::int64_t low(std::uint64_t number) { return static_cast<std::int64_t>(number & low_half); }
std::int64_t high(std::uint64_t number) { return static_cast<std::int64_t>(number >> half); }
bool is_zero(std::int64_t low_sum, std::int64_t high_sum) {
  return static_cast<std::uint64_t>(low_sum) + (static_cast<std::uint64_t>(high_sum) << half) == 0;
}

}  // namespace

std::uint64_t number_of(const std::string& strategy) {
  auto result = mixed({strategy.size()});
  for (const char letter : strategy) result = mixed({result, static_cast<unsigned char>(letter)});
  return result;
}

Opening open_planning(MPI_Comm comm, const Failure& failure, std::uint64_t named, std::uint64_t mismatch,
                      const DeviceUse& devices) {
  const auto ranks = static_cast<std::uint64_t>(ranks_in(comm));
  if (ranks == 1)
    return {.has_failed = static_cast<bool>(failure), .are_edges_matched = mismatch == 0, .devices = devices};
  // Rank 0 takes away what the others add, if all name the same.
  const auto name = rank_in(comm) == 0 ? named * (1 - ranks) : named;
  const std::array<std::int64_t, 7> mine{
      failure ? 1 : 0,           low(name), high(name), low(mismatch), high(mismatch), devices.is_used ? 1 : 0,
      devices.is_refused ? 1 : 0};
  NonblockingReduction sums;
  insist([&] { sums.start_sum(comm, mine); });
  sums.wait();
  const auto all = sums.result();
  return {all[0] > 0, is_zero(all[1], all[2]), is_zero(all[3], all[4]), {all[5] > 0, all[6] > 0}};
}

}  // namespace commpass
