// commpass-indexed: indexed exchanges on simulated ranks.
#include <fmt/core.h>
#include <mpi.h>

#include "bench/value_needs.hpp"
#include "measure/mpi_program.hpp"
#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/json.hpp"
#include "model/machine/profile.hpp"
#include "model/route/strategy.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/mpi/timed_start.hpp"

namespace commpass {
namespace {

struct Arguments {
  std::string needs, layout, profile;
  std::vector<std::string> strategies{""};
  std::optional<bool> share;
  bool is_back = false;
};

double value_of(Index index) { return 1 + 0.5 * static_cast<double>(index); }  // NOLINT: any that tells indices apart

/// How often each own index is needed.
std::vector<double> needers_of(const bench::ValueNeeds& needs, const IndexRange& own) {
  std::vector<double> needers(static_cast<std::size_t>(own.end - own.begin), 0);
  for (const auto& needed : needs.needed)
    for (const auto index : needed)
      if (index >= own.begin && index < own.end) ++needers[static_cast<std::size_t>(index - own.begin)];
  return needers;
}

std::size_t at_rank() { return static_cast<std::size_t>(rank_in(MPI_COMM_WORLD)); }

/// What this rank owns and needs of all that ranks need, and where it exchanges that.
struct Setup {
  explicit Setup(const Arguments& arguments)
      : needs(bench::parse_needs(read_file(arguments.needs))),
        needed(needs.needed.at(at_rank())),
        own{needs.begin[at_rank()], needs.begin[at_rank() + 1]},
        communicator(MPI_COMM_WORLD, read_profile(arguments.profile).machine,
                     {parse_layout(arguments.layout, needs.ranks())}) {}

  bench::ValueNeeds needs;
  const std::vector<Index>& needed;
  IndexRange own;
  Communicator communicator;
};

/// The way back, with sums by the owner alone, with sums on the way, and as chosen. Each exchange is checked.
/// @throws Error, the same on every rank
Json run_back(const Arguments& arguments) {
  Setup setup(arguments);
  auto& [needs, needed, own, communicator] = setup;
  const auto needers = needers_of(needs, own);
  std::vector<double> ghosts;
  for (const auto index : needed) ghosts.push_back(value_of(index));
  Json results;
  for (const auto& [name, options] : {std::pair("owner", IndexedOptions{.reverse = true, .deterministic = true}),
                                      std::pair("way", IndexedOptions{.reverse = true, .share = true}),
                                      std::pair("chosen", IndexedOptions{.reverse = true})}) {
    auto exchange = communicator.indexed_exchange(own, needed, bench::value_bytes, options);
    std::vector<double> sums(needers.size(), 0);
    const auto back = [&] { exchange.reverse_add(ghosts.data(), sums.data()); };
    time_exchange(MPI_COMM_WORLD, back);  // warm
    const auto seconds = time_exchange(MPI_COMM_WORLD, back);
    std::string wrong;
    for (std::size_t i = 0; i < sums.size(); ++i)  // whole numbers and halves: exact
      if (sums[i] != 2 * needers[i] * value_of(own.begin + static_cast<Index>(i)))
        wrong = fmt::format("rank {} has a wrong sum {}.", at_rank(), i);
    agree(MPI_COMM_WORLD, wrong);
    Bytes bytes = exchange.reverse_bytes_to_other_nodes();
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    results[name] = {{"strategy", exchange.reverse_strategy()},
                     {"adds_on_the_way", exchange.adds_on_the_way()},
                     {"bytes_between_nodes", bytes},
                     {"seconds", seconds},
                     {"predicted_s", exchange.predicted_reverse_seconds().value()}};
  }
  return results;
}

/// Each exchange is checked. @throws Error, the same on every rank
Json run(const Arguments& arguments) {
  Setup setup(arguments);
  auto& [needs, needed, own, communicator] = setup;
  std::vector<double> owned, ghosts(needed.size());
  for (auto index = own.begin; index < own.end; ++index) owned.push_back(value_of(index));
  Json results;
  for (const auto& strategy : arguments.strategies) {
    IndexedOptions options;
    options.strategy = strategy;
    options.share = arguments.share;
    auto exchange = communicator.indexed_exchange(own, needed, bench::value_bytes, options);
    const auto forward = [&] { exchange.forward(owned.data(), ghosts.data()); };
    time_exchange(MPI_COMM_WORLD, forward);  // warm
    const auto seconds = time_exchange(MPI_COMM_WORLD, forward);
    std::string wrong;
    for (std::size_t i = 0; i < needed.size(); ++i)
      if (ghosts[i] != value_of(needed[i])) wrong = fmt::format("rank {} has a wrong value {}.", at_rank(), needed[i]);
    agree(MPI_COMM_WORLD, wrong);
    results.push_back(
        {{"strategy", exchange.strategy()}, {"shares_values", exchange.shares_values()}, {"seconds", seconds}});
    if (const auto predicted = exchange.predicted_seconds()) results.back()["predicted_s"] = *predicted;
  }
  return results;
}

}  // namespace
}  // namespace commpass

int main(int argc, char** argv) {
  commpass::Command command{"commpass-indexed", "Indexed exchanges on simulated ranks: prints JSON"};
  commpass::Arguments arguments;
  command.add(
      {{"needs", &arguments.needs, "which values ranks own and need (bench/value_needs.hpp)", {.required = true}},
       {"--profile", &arguments.profile, "of the cluster", {.required = true}},
       {"--layout", &arguments.layout, "a node for each rank", {.required = true}},
       {"--strategies", [&](const std::string& text) { arguments.strategies = commpass::split_strategies(text); },
        "run these in place of the choice"},
       {"--share",
        [&](const std::string& text) { arguments.share = text == "true"; },
        "send values that several ranks need once, or not, in place of the choice",
        {.one_of = {"true", "false"}}},
       {"--back", &arguments.is_back, "the way back, with sums by owners, on the way, and as chosen"}});
  command.run = [&] {
    const auto results = arguments.is_back ? commpass::run_back(arguments) : commpass::run(arguments);
    if (commpass::rank_in(MPI_COMM_WORLD) == 0) fmt::print("{}\n", results.dump());
  };
  return commpass::run_mpi_command(command, argc, argv);
}
