// Makes a profile of times from other benchmarks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/fit/benchmark_times.hpp"
#include "calibrate/fit/exchange_fit.hpp"
#include "model/machine/profile.hpp"

namespace commpass {

/// The user's description of a machine, for the provenance.
struct ImportedOrigin {
  std::string name{}, source{}, site{}, machine{}, processor{}, network{}, mpi_library{}, note{};
  int nodes = 2;               ///< of the benchmarks
  int ranks_per_node = 0;      ///< 0: unknown
  bool pairs_in_step = false;  ///< all pairs send, then all receive
  std::vector<std::string> files{};
};

/// Fits the parameters that the times determine, as the calibration does; other parameters stay absent. The lower
/// quartile of equal measurements counts.
///
/// - ping-pong: protocols of a level (segments, switches). In host memory, what the small messages of all pairs at once
///   (many-pairs) take longer is added, and sizes within a node are left out at which the rate of all pairs collapses.
/// - burst, else streams, else burst-one-peer: the next message of a burst.
/// - many-pairs: the rate that the messages of an instance share, within it or out of it; if `variant` begins with
///   "all-", that of a node. The largest rate of sizes from 4 KiB counts. Unless `pairs_in_step`, both directions of a
///   link are busy, and each has half of the rate.
/// - copy: copies between device and host memory, by number of processes that copy at once.
/// Messages from devices whose times do not grow with bytes are left out; "left_out" of the provenance tells.
/// @throws InputError if there are not enough ping-pongs between nodes
Profile import_profile(std::span<const BenchmarkTime> times, const ImportedOrigin& origin);

/// Imported times of exchanges.
struct ImportedExchanges {
  std::vector<MeasuredTime> times{};
  std::vector<std::string> files{};
  std::optional<int> sockets{};  ///< of a node; nothing: 2 where the profile has two levels within nodes, else 1
};

/// Corrects a profile by exchanges (fit_exchanges), and records the fit in its provenance.
/// @throws InputError as fit_exchanges, and if the times are of several machines
ExchangeFit correct_by_exchanges(Profile& profile, const ImportedExchanges& exchanges);

}  // namespace commpass
