// bench interposer: what does libcommpass-mpi add to a call that it leaves to the MPI library?
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "bench/options.hpp"
#include "bench/statistics.hpp"
#include "bench/stopwatch.hpp"
#include "model/base/json.hpp"

namespace commpass::bench {
namespace {

/// One rank's all-to-all, which nobody but the MPI library runs: by its own name, which the interposer has taken, and
/// by the other one.
Json interposer(const OutputOptions& options) {
  const int samples = options.quick ? 201 : 2001;
  constexpr int calls = 1000;  ///< in a sample, for the clock
  Json json;
  double most = 0;
  if (!options.json) fmt::print("{:>8} {:>12} {:>12} {:>12}\n", "bytes", "taken ns", "MPI's ns", "added ns");
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
    if (!options.json)
      fmt::print("{:>8} {:>12.0f} {:>12.0f} {:>12.0f}\n", bytes, median(taken), median(library), added_ns);
    json["cases"].push_back(
        {{"bytes", bytes}, {"taken_ns", median(taken)}, {"library_ns", median(library)}, {"added_ns", added_ns}});
  }
  json["summary"] = {{"added_ns_max", most}};
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  using namespace commpass::bench;
  setenv("COMMPASS_MPI", "on", 1);  // before MPI_Init, when the interposer reads it
  MPI_Init(&argc, &argv);
  commpass::Command command{"bench-interposer",
                            "What libcommpass-mpi adds to a call that it leaves to the MPI library."};
  OutputOptions options;
  const int code = run_benchmark(command, argc, argv, "interposer", options, [&] { return interposer(options); });
  MPI_Finalize();
  return code;
}
