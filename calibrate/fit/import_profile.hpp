// A profile from times that other benchmarks have printed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/fit/benchmark_times.hpp"
#include "calibrate/fit/exchange_fit.hpp"
#include "model/machine/profile.hpp"

namespace commpass {

/// What people tell of a machine; kept in the provenance.
struct ImportedOrigin {
  std::string name{}, source{}, site{}, machine{}, processor{}, network{}, mpi_library{}, note{};
  int ranks_per_node = 0;      ///< 0: not told
  bool pairs_in_step = false;  ///< pairs at once all send, then all receive
  std::vector<std::string> files{};
};

/// Fits the parameters that the times tell, as the calibration does; what they do not tell stays absent. Of times of
/// one thing the lower quartile counts.
///
/// - ping-pong: protocols of a level (segments, switches).
/// - burst, streams, burst-one-peer: the next message of a burst, what is there first.
/// - many-pairs: the rate that the messages of an instance share, within it or out of it; where `variant` says
///   "all-…", that of a node. The largest that any size of 4 KiB or more reaches. Pairs do not keep in step, so that
///   both directions of a link are busy and each has half, unless `pairs_in_step`.
/// - copy: copies between device and host memory by as many processes as copy at once.
/// @throws InputError if there are not enough ping-pongs between nodes
Profile import_profile(std::span<const BenchmarkTime> times, const ImportedOrigin& origin);

/// Measured exchanges that are imported, too.
struct ImportedExchanges {
  std::vector<MeasuredTime> times{};
  std::vector<std::string> files{};
  std::optional<int> sockets{};  ///< of a node; nothing: 2 where the profile has two levels within nodes, else 1
};

/// Corrects a profile by them (fit_exchanges), and tells in its provenance what was fitted to what.
/// @throws InputError as fit_exchanges, and if the times are of several machines
ExchangeFit correct_by_exchanges(Profile& profile, const ImportedExchanges& exchanges);

}  // namespace commpass
