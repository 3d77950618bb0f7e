// Measured times of exchanges on real clusters: the tables of bench/world/ and of users.
#pragma once

#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// One exchange on one machine. Algorithms that were measured for the same case are compared.
struct MeasuredCase {
  std::string machine, library;
  int nodes = 0, ppn = 0;
  std::string pattern;  ///< "alltoall", "burst:…", "spmv:…", "sdde-constant:…"
  Bytes bytes = 0;      ///< from one rank to another
  int sockets = 0;      ///< of a node; 0: unknown
  auto operator<=>(const MeasuredCase&) const = default;
  int ranks() const { return nodes * ppn; }
};

/// The algorithm, as its source calls it.
struct MeasuredAlgorithm {
  std::string name, parameter;
  auto operator<=>(const MeasuredAlgorithm&) const = default;
  std::string text() const { return parameter.empty() ? name : name + " " + parameter; }
};

/// The algorithm with pairwise messages in place of non-blocking ones; any other algorithm itself.
MeasuredAlgorithm pairwise_form(MeasuredAlgorithm algorithm);

/// All runs of an algorithm for a case.
struct MeasuredTime {
  MeasuredCase of;
  MeasuredAlgorithm algorithm;
  std::string date{};  ///< of the runs, "FIRST..LAST" where they differ
  Seconds fastest_s = 0, median_s = 0;
  int runs = 0;
  double stalled_share = 0;  ///< of the runs: see stall_ratio
};

/// A stalled run takes `stall_ratio` times as long as the fastest run, and `stall_s` longer. Non-blocking messages are
/// compared with the fastest run of the same algorithm with pairwise messages, if that was measured.
inline constexpr double stall_ratio = 1.5;
inline constexpr Seconds stall_s = 0.010;

/// Reads a table with a row for each run ("seconds"), or for all runs of an algorithm ("fastest_s,median_s,runs,
/// stalled_share"). It may lack machine, library, date, kind and parameter, and may have "layout" (NODESxRANKS or
/// NODESxSOCKETSxRANKS) in place of nodes and ppn. Lines that begin with '#' are comments. From tables of
/// microbenchmarks ("test") it reads bursts only. Rows without bytes, or of a kind other than "full", are left out.
/// @return in the order of first occurrence
/// @throws InputError that names file and line
std::vector<MeasuredTime> read_measured_times(const std::string& path);
std::vector<MeasuredTime> parse_measured_times(const std::string& text, const std::string& origin);

/// Times of non-blocking messages whose median run takes 2.5 times as long as the fastest run of the same algorithm
/// with either form of messages. Prices do not model stalls.
std::set<std::pair<MeasuredCase, MeasuredAlgorithm>> stalled_times(std::span<const MeasuredTime> times);

/// The table with one row for all runs of an algorithm.
std::string condensed_table(const std::vector<MeasuredTime>& times);

}  // namespace commpass
