// The agreement of all ranks before they plan, in one reduction.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "runtime/mpi/agreement.hpp"

namespace commpass {

struct DeviceUse {
  bool is_used = false;     ///< does its data lie on a device?
  bool is_refused = false;  ///< and does the MPI library not take it there?
  bool operator==(const DeviceUse&) const = default;
};

struct Opening {
  bool has_failed = false;        ///< any rank
  bool is_same_strategy = true;   ///< do all ranks name the same strategy, or the same plan?
  bool are_edges_matched = true;  ///< is the sum of all mismatches 0?
  DeviceUse devices{};            ///< any rank
};

/// Waits for all ranks, and moves on the exchanges in flight, as assemble() does. Collective.
/// @param named     number_of() the strategy or plan that this rank wants to run
/// @param mismatch  of ExpectedHeaders; 0 if there are none
Opening open_planning(MPI_Comm comm, const Failure& failure, std::uint64_t named, std::uint64_t mismatch,
                      const DeviceUse& devices = {});

/// A hash of the name of a strategy. Different names have different numbers, but for one case in 2^64.
std::uint64_t number_of(const std::string& strategy);

}  // namespace commpass
