// bench planning: what do a first and a second plan of a pattern take? On two ranks.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/options.hpp"
#include "bench/statistics.hpp"
#include "bench/summary.hpp"
#include "model/error.hpp"
#include "model/machine/profile_lookup.hpp"
#include "model/text.hpp"
#include "runtime/collectives.hpp"
#include "runtime/communicator.hpp"
#include "runtime/time_exchange.hpp"

namespace commpass::bench {
namespace {

using Json = nlohmann::ordered_json;
using test::Calls;
using test::counted;

/// As many edges of a size from each of the two ranks to the other, with gaps between them.
struct Edges {
  Edges(Rank rank, int count, Bytes bytes) : out(static_cast<std::size_t>(count * (bytes + gap))), in(out.size()) {
    for (int i = 0; i < count; ++i) {
      sends.push_back({1 - rank, i * (bytes + gap), bytes});
      receives.push_back({1 - rank, i * (bytes + gap), bytes});
    }
  }
  static constexpr Bytes gap = 8;
  std::vector<std::byte> out, in;
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
};

/// What plans of one pattern take.
struct Planned {
  std::string strategy;
  Seconds first_s = 0, second_s = 0;  ///< medians, from a common start until the last rank has its plan
  Calls first, further;               ///< of all further ones together
};

class Planning {
 public:
  Planning(Communicator& communicator, Edges& edges, const char* strategy)
      : communicator_(communicator), edges_(edges), options_{strategy} {}

  /// @param repetitions  of the first plan
  /// @param plans        of the pattern then, which are all there at once
  Planned run(int repetitions, int plans) {
    Planned planned;
    options_.anew = true;
    std::vector<Seconds> first, further;
    for (int i = 0; i < repetitions; ++i) {
      first.push_back(plan());
      planned.first = last_;
    }
    options_.anew = false;
    planned.strategy = exchanges_.front().strategy();
    exchanges_.clear();
    plan();
    for (int i = 1; i < plans; ++i) {
      further.push_back(plan());
      planned.further.add(last_);
    }
    planned.first_s = median(std::move(first));
    planned.second_s = median(std::move(further));
    return planned;
  }

 private:
  Seconds plan() {
    return time_exchange(MPI_COMM_WORLD, [&] {
      const auto before = counted;
      exchanges_.push_back(communicator_.neighbor_exchange(edges_.out.data(), edges_.sends, edges_.in.data(),
                                                           edges_.receives, options_));
      last_ = counted.since(before);
    });
  }

  Communicator& communicator_;
  Edges& edges_;
  ExchangeOptions options_;
  std::vector<Exchange> exchanges_;
  Calls last_;
};

Json plan_all(const OutputOptions& options, bool shown) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) throw InputError("bench planning", fmt::format("it has {} ranks", ranks), "run it on 2");
  Communicator communicator(MPI_COMM_WORLD, generic_profile().machine);
  const int repetitions = options.quick ? 11 : 101, plans = options.quick ? 100 : 1000;
  if (shown)
    fmt::print("{:>8} {:>20} {:>22} {:>11} {:>10} {:>11} {:>13}\n", "edges", "named", "runs", "first", "collectives",
               "further", "collectives");
  Json json;
  std::vector<double> ratios;
  double most = 0, communicators = 0;
  for (const char* strategy : {"", "standard", "standard,staggered", "tuna,radix=2"})
    for (const int edges_count : {1, 1000}) {
      constexpr Bytes bytes = 64;
      Edges edges(rank, edges_count, bytes);
      const auto planned = Planning(communicator, edges, strategy).run(repetitions, plans);
      const double each = static_cast<double>(planned.further.collectives()) / (plans - 1);
      ratios.push_back(planned.second_s / planned.first_s);
      most = std::max(most, each);
      communicators += planned.further.communicators;
      if (shown)
        fmt::print("{:>8} {:>20} {:>22} {:>11} {:>10} {:>11} {:>13}\n", edges_count, *strategy ? strategy : "-",
                   planned.strategy, format_seconds(planned.first_s), planned.first.collectives(),
                   format_seconds(planned.second_s), each);
      json["cases"].push_back({{"edges", edges_count},
                               {"named", strategy},
                               {"strategy", planned.strategy},
                               {"first_s", planned.first_s},
                               {"first_collectives", planned.first.collectives()},
                               {"further_plans", plans - 1},
                               {"further_s", planned.second_s},
                               {"further_collectives", planned.further.collectives()},
                               {"further_communicators", planned.further.communicators},
                               {"further_messages", planned.further.messages}});
    }
  json["summary"] = {{"further_over_first_gmean", geometric_mean(ratios)},
                     {"collectives_of_a_further_plan", most},
                     {"communicators_of_further_plans", communicators}};
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  using namespace commpass::bench;
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CLI::App app{"What a first and a further plan of a pattern take, on two ranks."};
  OutputOptions options;
  const bool speaks = rank == 0;
  const int code = run_benchmark(
      app, argc, argv, "planning", options, [&] { return plan_all(options, speaks && !options.json); }, speaks);
  MPI_Finalize();
  return code;
}
