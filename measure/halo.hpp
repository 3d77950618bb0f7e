// commpass measure --halo: the halo of an array, with the corners moving with the faces, beside a message for each
// direction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/cost/cost.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/pattern/halo.hpp"
#include "selector/report/call_report.hpp"

namespace commpass {

struct HaloMeasurement {
  Machine machine;
  std::optional<Layout> layout;
  CostModel model{};
  int repetitions = 0;  ///< see time_exchanges
  bool shown = false;   ///< progress
};

/// Reads the extent of an array, "100x100x100", and the depth of its halo, as many numbers or one for all dimensions.
/// @throws InputError
HaloArray parse_halo(const std::string& extent, const std::string& depth, Bytes cell_bytes, const Grid& grid);

/// Times the halo exchange in each way, the choice, and the plain loop of MPI libraries: a message for each direction,
/// by a derived datatype. Checks that each fills every cell of the halo. Collective on MPI_COMM_WORLD.
/// @param array  of every rank
/// @return on rank 0, all but the context's pattern
/// @throws Error, the same on every rank
CallReport measure_halo(const HaloMeasurement& measurement, const Grid& grid, const HaloArray& array);

}  // namespace commpass
