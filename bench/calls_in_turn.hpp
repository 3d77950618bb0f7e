// All-to-alls after their trials, and the MPI library's own calls, measured in turn.
#pragma once

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/in_turn.hpp"
#include "bench/statistics.hpp"
#include "bench/stopwatch.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "selector/choose/median_interval.hpp"

namespace commpass::bench {

struct ComparedInTurn {
  Seconds own_s = 0;     ///< median of the library's call
  MedianInterval ratio;  ///< of the other's time to it
};

/// Several calls of each in a sample, whose time is that of the slower rank. Collective over MPI_COMM_WORLD.
template <class Run, class Own>
ComparedInTurn compare_in_turn(int pairs, const Run& run, const Own& own) {
  constexpr Seconds sample_s = 100e-6;
  constexpr int calls_to_warm_up = 20;
  const auto seconds_of_one = [](int calls, const auto& call) {
    PMPI_Barrier(MPI_COMM_WORLD);
    Seconds seconds = seconds_of([&] {
                        for (int i = 0; i < calls; ++i) call();
                      }) /
                      calls;
    PMPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
  };
  seconds_of_one(calls_to_warm_up, run);
  const int calls = std::max(1, static_cast<int>(sample_s / seconds_of_one(calls_to_warm_up, own)));
  std::vector<Seconds> run_s, own_s;
  run_in_turn(
      pairs, [&] { run_s.push_back(seconds_of_one(calls, run)); },
      [&] { own_s.push_back(seconds_of_one(calls, own)); });
  std::vector<double> ratios;
  for (std::size_t i = 0; i < own_s.size(); ++i) ratios.push_back(run_s[i] / own_s[i]);
  return {median(own_s), exact_median_interval(ratios)};
}

constexpr int sizes_of_calls[] = {8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20};

/// The table of compare_after_trials(). @param what  the heading above the names
inline void head_calls(const char* what, const char* own, bool shown) {
  if (shown) fmt::print("\n{:>23} {:>10} {:>20} {:>7} {:>16}\n", what, "bytes", own, "ratio", "95 %");
}

/// Compares after 400 to 10 000 calls: then trials are over, and few calls are watched.
/// @param cases    gets the case
/// @param low_max  becomes the lower end of the ratio's interval, if that is higher
template <class Run, class Own>
void compare_after_trials(const char* name, int bytes, int pairs, bool shown, const Run& run, const Own& own,
                          Json& cases, double& low_max) {
  constexpr int calls_min = 400, calls_max = 10'000, bytes_max = 1 << 28;
  for (int i = std::clamp(bytes_max / bytes, calls_min, calls_max); i > 0; --i) run();
  const auto [own_s, ratio] = compare_in_turn(pairs, run, own);
  low_max = std::max(low_max, ratio.low);
  if (shown)
    fmt::print("{:>23} {:>10} {:>20} {:>7.3f} {:>7.3f} … {:.3f}\n", name, format_bytes(bytes), format_seconds(own_s),
               ratio.median, ratio.low, ratio.high);
  cases.push_back({{"call", name},
                   {"bytes", bytes},
                   {"own_call_s", own_s},
                   {"ratio", ratio.median},
                   {"ratio_low", ratio.low},
                   {"ratio_high", ratio.high}});
}

/// Alltoalls and alltoallvs of 8 B to 4 MiB a block between two ranks, after their trials.
/// @param summary  gets the highest lower end of the ratios' intervals
/// @param open      begins a case and returns its communicator; @param close  ends it
/// @param alltoall  (bytes, out, in, comm), and by the MPI library; @param alltoallv  (counts, places, out, in, comm)
template <class Open, class Close, class Alltoall, class OwnAlltoall, class Alltoallv, class OwnAlltoallv>
Json compare_calls_in_turn(int pairs, bool shown, Json& summary, const Open& open, const Close& close,
                           const Alltoall& alltoall, const OwnAlltoall& own_alltoall, const Alltoallv& alltoallv,
                           const OwnAlltoallv& own_alltoallv) {
  Json cases;
  double low_max = 0;
  head_calls("call", "the library's call", shown);
  for (const bool is_equal : {true, false})
    for (const int bytes : sizes_of_calls) {
      std::vector<char> out(2 * static_cast<std::size_t>(bytes)), in(out.size());
      const std::vector<int> counts{bytes, bytes}, places{0, bytes};
      auto&& on = open();
      const auto run = [&] {
        if (is_equal) alltoall(bytes, out.data(), in.data(), on);
        else alltoallv(counts, places, out.data(), in.data(), on);
      };
      const auto own = [&] {
        if (is_equal) own_alltoall(bytes, out.data(), in.data(), on);
        else own_alltoallv(counts, places, out.data(), in.data(), on);
      };
      compare_after_trials(is_equal ? "alltoall" : "alltoallv", bytes, pairs, shown, run, own, cases, low_max);
      close(on);
    }
  summary["calls_over_own_call_low_max"] = low_max;
  return cases;
}

}  // namespace commpass::bench
