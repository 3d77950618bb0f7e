// bench interposer: what does libcommpass-mpi add to a call that it leaves to the MPI library, and to a communicator
// with few calls? And how long do calls take after its trials, against the MPI library's own? On two ranks.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "bench/calls_in_turn.hpp"
#include "bench/statistics.hpp"
#include "bench/stopwatch.hpp"
#include "bench/two_ranks.hpp"
#include "model/base/json.hpp"

namespace commpass::bench {
namespace {

/// One rank's all-to-all, run by the MPI library only: by its own name, which the interposer has taken, and
/// by the other one.
Json single_calls(const OutputOptions& options, bool shown, Json& summary) {
  const int samples = options.quick ? 201 : 2001;
  constexpr int calls = 1000;  ///< in a sample, for the clock
  Json json;
  double most = 0;
  if (shown) fmt::print("{:>8} {:>12} {:>12} {:>12}\n", "bytes", "taken ns", "MPI's ns", "added ns");
  for (const int bytes : {0, 8, 4096}) {
    std::vector<char> send(static_cast<std::size_t>(bytes) + 1), receive(send.size());
    const auto nanoseconds_of = [&](auto call) {
      const auto seconds = seconds_of([&] {
        for (int i = 0; i < calls; ++i)
          call(send.data(), bytes, MPI_CHAR, receive.data(), bytes, MPI_CHAR, MPI_COMM_SELF);
      });
      constexpr double nano = 1e-9;
      return seconds / calls / nano;
    };
    std::vector<double> taken, library, added;
    for (int i = 0; i < samples; ++i) {
      taken.push_back(nanoseconds_of(MPI_Alltoall));
      library.push_back(nanoseconds_of(PMPI_Alltoall));
      added.push_back(taken.back() - library.back());
    }
    const double added_ns = median(added);
    most = std::max(most, added_ns);
    if (shown) fmt::print("{:>8} {:>12.0f} {:>12.0f} {:>12.0f}\n", bytes, median(taken), median(library), added_ns);
    json.push_back(
        {{"bytes", bytes}, {"taken_ns", median(taken)}, {"library_ns", median(library)}, {"added_ns", added_ns}});
  }
  summary["added_ns_max"] = most;
  return json;
}

/// A duplicate of all ranks, 8 all-to-alls and its end, by MPI's own names and by those for tools: microseconds. The
/// latter are duplicates of a communicator that the interposer has not met, since duplicates inherit what it carries.
Json short_lived_communicators(const OutputOptions& options, bool shown, Json& summary) {
  const int samples = options.quick ? 21 : 201;
  constexpr int communicators = 50, calls = 8;  // communicators in a sample, for the clock
  MPI_Comm unmet = MPI_COMM_NULL;
  PMPI_Comm_split(MPI_COMM_WORLD, 0, 0, &unmet);
  std::vector<int> send(2), receive(2);
  const auto microseconds_of = [&](MPI_Comm comm, auto call, auto free) {
    PMPI_Barrier(MPI_COMM_WORLD);
    const auto seconds = seconds_of([&] {
      for (int i = 0; i < communicators; ++i) {
        MPI_Comm copy = MPI_COMM_NULL;
        PMPI_Comm_dup(comm, &copy);
        for (int k = 0; k < calls; ++k) call(send.data(), 1, MPI_INT, receive.data(), 1, MPI_INT, copy);
        free(&copy);
      }
    });
    constexpr double micro = 1e-6;
    return seconds / communicators / micro;
  };
  std::vector<double> taken, library, ratios;
  for (int i = 0; i < samples; ++i) {
    taken.push_back(microseconds_of(MPI_COMM_WORLD, MPI_Alltoall, MPI_Comm_free));
    library.push_back(microseconds_of(unmet, PMPI_Alltoall, PMPI_Comm_free));
    ratios.push_back(taken.back() / library.back());
  }
  PMPI_Comm_free(&unmet);
  const double taken_us = median(taken), library_us = median(library), ratio = median(ratios);
  if (shown)
    fmt::print("\n{:>24} {:>12} {:>12} {:>8}\n{:>24} {:>12.1f} {:>12.1f} {:>8.2f}\n", "communicator of 8 calls",
               "taken us", "MPI's us", "ratio", "", taken_us, library_us, ratio);
  summary["short_lived_communicator_ratio"] = ratio;
  return {{"calls", calls}, {"taken_us", taken_us}, {"library_us", library_us}, {"ratio", ratio}};
}

/// On a communicator of its own for each case.
Json calls_after_trials(const OutputOptions& options, bool shown, Json& summary) {
  const auto alltoall_by = [](auto call) {
    return [call](int bytes, const char* out, char* in, MPI_Comm comm) {
      call(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, comm);
    };
  };
  const auto alltoallv_by = [](auto call) {
    return [call](const std::vector<int>& counts, const std::vector<int>& places, const char* out, char* in,
                  MPI_Comm comm) {
      call(out, counts.data(), places.data(), MPI_CHAR, in, counts.data(), places.data(), MPI_CHAR, comm);
    };
  };
  const auto open = [] {
    MPI_Comm comm = MPI_COMM_NULL;
    PMPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
    return comm;
  };
  return compare_calls_in_turn(
      options.quick ? 101 : 1001, shown, summary, open, [](MPI_Comm comm) { MPI_Comm_free(&comm); },
      alltoall_by(MPI_Alltoall), alltoall_by(PMPI_Alltoall), alltoallv_by(MPI_Alltoallv), alltoallv_by(PMPI_Alltoallv));
}

Json interposer(const OutputOptions& options, bool shown) {
  Json json, summary;
  json["cases"] = single_calls(options, shown, summary);
  json["communicators"] = short_lived_communicators(options, shown, summary);
  json["calls_after_trials"] = calls_after_trials(options, shown, summary);
  json["summary"] = summary;
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  using namespace commpass::bench;
  setenv("COMMPASS_MPI", "on", 1);                // before MPI_Init, when the interposer reads it
  setenv("COMMPASS_MPI_REPORT", "/dev/null", 1);  // ranks tell each other of their calls
  setenv("COMMPASS_MPI_LOSS", "1000", 1);         // trials begin at once
  return run_on_two_ranks(
      argc, argv, "interposer",
      "What libcommpass-mpi adds to a call that it leaves to the MPI library and to a "
      "communicator with few calls, and the time of calls after its trials, on two ranks.",
      [](const OutputOptions& options, commpass::Rank, bool shown) { return interposer(options, shown); });
}
