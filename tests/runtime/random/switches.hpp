// The command line of random_exchanges.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace commpass::random_test {

/// A kind of exchange.
enum class Kind {
  neighbor,
  indexed,
  alltoallv_init,
  alltoallv,
  alltoall,
  c_alltoallv,
  c_alltoall,
  start_alltoallv,
  start_alltoall,
  start_alltoallw,
  c_ialltoallv,
  c_ialltoall,
  sparse_alltoallv,
  sparse_alltoall,
  start_sparse_alltoallv,
  start_sparse_alltoall,
  c_alltoallv_crs,
  c_alltoall_crs,
  cartesian,
  cartesian_init,
  reduction
};

const char* name_of(Kind kind);

struct Switches {
  std::uint64_t seed = 1;
  std::int64_t first = 0, cases = 100;
  unsigned seconds_a_case = 60;  ///< then it hangs
  bool verbose = false;
  std::vector<Kind> kinds;        ///< that may be drawn
  std::set<std::string> without;  ///< features that are left out
  std::string program;

  bool with(const std::string& feature) const { return !without.contains(feature); }
  /// What repeats a case on as many ranks.
  std::string command(int ranks, std::int64_t number) const;
};

/// @throws InputError that names the switch
Switches parse_switches(int argc, char** argv);

std::string help();

}  // namespace commpass::random_test
