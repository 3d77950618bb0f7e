// Exchanges on few nodes correct what microbenchmarks cannot identify: those on more nodes are then predicted better.
#include "calibrate/fit/exchange_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "calibrate/fit/measured_prices.hpp"
#include "model/base/error.hpp"

namespace commpass {
namespace {

Machine machine_of_microbenchmarks() {
  Machine machine;
  machine.name = "some";
  const auto channel = [](Seconds alpha_s, double beta_s_per_byte) {
    return Channel{{{.name = "eager",
                     .max_bytes = 8192,
                     .alpha_s = alpha_s,
                     .beta_s_per_byte = 2 * beta_s_per_byte,
                     .alpha_next_s = alpha_s / 2},
                    {.name = "rendezvous",
                     .alpha_s = 3 * alpha_s,
                     .beta_s_per_byte = beta_s_per_byte,
                     .alpha_next_s = 3 * alpha_s}}};
  };
  machine.host.by_level[standard_level::socket] = channel(3e-7, 8e-11);
  machine.host.by_level[standard_level::node] = channel(6e-7, 1e-10);
  machine.host.by_level[standard_level::network] = channel(1.5e-6, 1e-10);
  machine.levels[standard_level::node].up_rate_bytes_per_s = 2e10;
  machine.copy_rate_bytes_per_s = 1.2e10;
  machine.copy_block_s = 2e-8;
  return machine;
}

/// While all ranks are busy: slower copies, fewer bytes out of a node, and calls that take time.
Machine machine_of_exchanges() {
  auto machine = machine_of_microbenchmarks();
  machine.copy_rate_bytes_per_s = 2e9;
  machine.levels[standard_level::node].up_rate_bytes_per_s = 9e9;
  machine.operations.batch_s = machine.operations.batch_once_s = 2e-6;
  return machine;
}

std::vector<MeasuredTime> rows(std::initializer_list<int> nodes) {
  std::vector<MeasuredTime> times;
  for (const int count : nodes)
    for (const Bytes bytes : {8, 256, 8192})
      for (const auto* const algorithm : {"direct-pairwise", "node-aware-nonblocking", "hierarchical-nonblocking"})
        times.push_back({.of = {"some", "mpi", count, 16, "alltoall", bytes}, .algorithm = {algorithm, ""}, .runs = 1});
  return times;
}

std::vector<MeasuredTime> measured(const Machine& machine, std::initializer_list<int> nodes) {
  auto times = rows(nodes);
  const auto seconds = predicted_seconds(times, machine, 2);
  for (std::size_t i = 0; i < times.size(); ++i) times[i].fastest_s = times[i].median_s = seconds[i].value();
  return times;
}

double worst_factor(const std::vector<MeasuredTime>& times, const Machine& machine) {
  const auto predicted = predicted_seconds(times, machine, 2);
  double worst = 1;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double ratio = predicted[i].value() / times[i].fastest_s;
    worst = std::max({worst, ratio, 1 / ratio});
  }
  return worst;
}

std::string refusal(const std::vector<MeasuredTime>& times) {
  try {
    fit_exchanges(machine_of_microbenchmarks(), times, 2, "few.csv");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ExchangeFit, PredictsMoreNodesThanItWasFittedTo) {
  const auto fit = fit_exchanges(machine_of_microbenchmarks(), measured(machine_of_exchanges(), {2, 4}), 2, "few.csv");
  EXPECT_TRUE(fit.is_better());
  EXPECT_TRUE(fit.is_held_out);
  EXPECT_EQ(fit.nodes, (std::vector{2, 4}));
  EXPECT_EQ(fit.cases, 6);
  EXPECT_EQ(fit.times, 18);
  EXPECT_GT(fit.before, 1.3);
  EXPECT_LT(fit.after, 1.15);
  const auto many = measured(machine_of_exchanges(), {16});
  EXPECT_GT(worst_factor(many, machine_of_microbenchmarks()), 2);
  EXPECT_LT(worst_factor(many, fit.machine), 1.3);
}

TEST(ExchangeFit, LeavesAMachineThatPredictsItsExchanges) {
  const auto machine = machine_of_microbenchmarks();
  const auto fit = fit_exchanges(machine, measured(machine, {2, 4}), 2, "few.csv");
  EXPECT_FALSE(fit.is_better());
  EXPECT_TRUE(fit.corrected.empty());
  EXPECT_EQ(fit.machine, machine);
}

TEST(ExchangeFit, OfOneTimeStaysNearTheMicrobenchmarks) {
  auto times = measured(machine_of_microbenchmarks(), {2});
  times.resize(1);
  times[0].fastest_s *= 100;
  const auto fit = fit_exchanges(machine_of_microbenchmarks(), times, 2, "few.csv");
  EXPECT_FALSE(fit.is_held_out);
  const auto many = measured(machine_of_microbenchmarks(), {16});
  EXPECT_LT(worst_factor(many, fit.machine), 8) << "one time that is 100 times too long";
}

TEST(ExchangeFit, LeavesOutTimesThatStall) {
  auto times = measured(machine_of_exchanges(), {2, 4});
  const auto fit = fit_exchanges(machine_of_microbenchmarks(), times, 2, "few.csv");
  auto stalled = times.front();
  stalled.algorithm.name = "direct-nonblocking";
  stalled.fastest_s = 0.16;
  stalled.median_s = 0.17;
  stalled.runs = 3;
  times.push_back(stalled);
  EXPECT_EQ(fit_exchanges(machine_of_microbenchmarks(), times, 2, "few.csv").machine, fit.machine);
}

TEST(ExchangeFit, RefusesOtherUnitsAndTimesWithoutAPrice) {
  auto times = measured(machine_of_microbenchmarks(), {2, 4});
  auto in_microseconds = times;
  for (auto& time : in_microseconds) time.fastest_s *= 1e6;
  EXPECT_EQ(refusal(in_microseconds),
            "few.csv: its exchanges take 1000000 times as long as predicted; give seconds of one exchange, and "
            "bytes_per_pair in bytes.");
  for (auto& time : times) time.algorithm.name = "unheard-of";
  EXPECT_EQ(refusal(times).find("few.csv: no time of it has a price: no strategy does unheard-of; "), 0U);
  for (auto& time : times) time.of.pattern = "unheard-of";
  EXPECT_EQ(refusal(times).find("few.csv: no time of it has a price"), 0U);
  for (auto& time : times) time.algorithm.name = "standard";
  EXPECT_EQ(refusal(times).find("few.csv: pattern unheard-of: it has no rule by which it is priced"), 0U);
}

TEST(ExchangeFit, NamesAlgorithmsThatNoStrategyDoes) {
  auto times = measured(machine_of_exchanges(), {2, 4});
  times.push_back(times.back());
  times.back().algorithm.name = "pmpi";
  const auto fit = fit_exchanges(machine_of_microbenchmarks(), times, 2, "few.csv");
  EXPECT_EQ(fit.left_out, std::vector<std::string>{"pmpi"});
  EXPECT_EQ(fit.times, 18);
}

}  // namespace
}  // namespace commpass
