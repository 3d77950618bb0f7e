// bench interposer: what does libcommpass-mpi add to a call that it leaves to the MPI library, and to a communicator
// with few calls? And how long do calls and exchanges of persistent collectives take after its trials, against the MPI
// library's own? On two ranks.
#include <fmt/core.h>
#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <array>
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

/// Two messages of a rank to itself, completed by MPI's own names and by those for tools.
/// @param summary  gets the higher of the medians, in nanoseconds
Json completed_messages(const OutputOptions& options, bool shown, const char* plans, Json& summary) {
  const int samples = options.quick ? 201 : 2001;
  constexpr int calls = 1000;
  int out = 0, in = 0;
  std::vector<double> added;
  const auto nanoseconds_of = [&](auto wait) {
    const auto seconds = seconds_of([&] {
      for (int i = 0; i < calls; ++i) {
        std::array requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        PMPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, requests.data());
        PMPI_Isend(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[1]);
        wait(2, requests.data(), MPI_STATUSES_IGNORE);
      }
    });
    constexpr double nano = 1e-9;
    return seconds / calls / nano;
  };
  for (int i = 0; i < samples; ++i) {
    const double library = nanoseconds_of(PMPI_Waitall);
    added.push_back(nanoseconds_of(MPI_Waitall) - library);
  }
  const double added_ns = median(added);
  if (shown) fmt::print("MPI_Waitall of two messages, {}: {:.0f} ns added\n", plans, added_ns);
  summary["waitall_added_ns_max"] = std::max(summary.value("waitall_added_ns_max", 0.0), added_ns);
  return {{"plans", plans}, {"added_ns", added_ns}};
}

#if MPI_VERSION >= 4
#define COMMPASS_TAKEN_INIT(name) MPI_##name##_init
#define COMMPASS_LIBRARY_INIT(name) PMPI_##name##_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define COMMPASS_TAKEN_INIT(name) MPIX_##name##_init
#define COMMPASS_LIBRARY_INIT(name) PMPIX_##name##_init
#endif
#ifdef COMMPASS_TAKEN_INIT

/// Exchanges of persistent collectives of 8 B to 4 MiB a block between two ranks, after their trials. Blocks of pieces
/// are of a datatype with gaps.
Json persistent_exchanges(const OutputOptions& options, bool shown, Json& summary) {
  const int pairs = options.quick ? 101 : 1001, neighbor = 1 - [] {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
  }();
  MPI_Comm graph = MPI_COMM_NULL;
  const int weight = 1;
  PMPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &neighbor, &weight, 1, &neighbor, &weight, MPI_INFO_NULL, 0,
                                  &graph);
  Json cases;
  double low_max = 0;
  head_calls("start and wait of", "the library's", shown);
  enum class Kind { alltoallv, neighbor_alltoallv, pieces };
  for (const auto kind : {Kind::alltoallv, Kind::neighbor_alltoallv, Kind::pieces})
    for (const int bytes : sizes_of_calls) {
      constexpr int piece = 8, gap = 2;  // bytes of a piece; bytes from one to the next, in pieces
      const bool is_in_pieces = kind == Kind::pieces;
      std::vector<char> out(2 * gap * static_cast<std::size_t>(bytes)), in(out.size());
      MPI_Datatype type = MPI_CHAR;
      if (is_in_pieces) {
        PMPI_Type_vector(bytes / piece, piece, gap * piece, MPI_CHAR, &type);
        PMPI_Type_commit(&type);
      }
      const std::array counts{is_in_pieces ? 1 : bytes, is_in_pieces ? 1 : bytes}, places{0, is_in_pieces ? 1 : bytes};
      const auto make = [&](auto all, auto neighbors) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (kind == Kind::alltoallv)
          all(out.data(), counts.data(), places.data(), type, in.data(), counts.data(), places.data(), type,
              MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        else
          neighbors(out.data(), counts.data(), places.data(), type, in.data(), counts.data(), places.data(), type,
                    graph, MPI_INFO_NULL, &request);
        return request;
      };
      auto taken = make(COMMPASS_TAKEN_INIT(Alltoallv), COMMPASS_TAKEN_INIT(Neighbor_alltoallv));
      auto library = make(COMMPASS_LIBRARY_INIT(Alltoallv), COMMPASS_LIBRARY_INIT(Neighbor_alltoallv));
      const auto run = [&] {
        MPI_Start(&taken);
        MPI_Wait(&taken, MPI_STATUS_IGNORE);
      };
      const auto own = [&] {
        PMPI_Start(&library);
        PMPI_Wait(&library, MPI_STATUS_IGNORE);
      };
      const char* const name = kind == Kind::alltoallv            ? "alltoallv_init"
                               : kind == Kind::neighbor_alltoallv ? "neighbor_alltoallv_init"
                                                                  : "the same, in pieces";
      compare_after_trials(name, bytes, pairs, shown, run, own, cases, low_max);
      MPI_Request_free(&taken);
      PMPI_Request_free(&library);
      if (is_in_pieces) PMPI_Type_free(&type);
    }
  PMPI_Comm_free(&graph);
  summary["persistent_over_own_call_low_max"] = low_max;
  return cases;
}

/// With a request that has a plan beside them.
Json completed_messages_beside_plan(const OutputOptions& options, bool shown, Json& summary) {
  std::array<int, 2> out{}, in{};
  MPI_Request request = MPI_REQUEST_NULL;
  COMMPASS_TAKEN_INIT(Alltoall)
  (out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  auto json = completed_messages(options, shown, "one plan", summary);
  MPI_Request_free(&request);
  return json;
}

#endif

Json interposer(const OutputOptions& options, bool shown) {
  Json json, summary;
  json["cases"] = single_calls(options, shown, summary);
  json["communicators"] = short_lived_communicators(options, shown, summary);
  json["calls_after_trials"] = calls_after_trials(options, shown, summary);
  json["requests"].push_back(completed_messages(options, shown, "no plans", summary));
#ifdef COMMPASS_TAKEN_INIT
  json["requests"].push_back(completed_messages_beside_plan(options, shown, summary));
  json["persistent_after_trials"] = persistent_exchanges(options, shown, summary);
#endif
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
      "communicator with few calls, and the time of calls and persistent exchanges after its trials, on two ranks.",
      [](const OutputOptions& options, commpass::Rank, bool shown) { return interposer(options, shown); });
}
