// Ranking, and reports about it.
#include "selector/choose/select.hpp"
#include "model/base/json.hpp"

#include <gtest/gtest.h>

#include <set>

#include "model/base/text.hpp"
#include "model/pattern/generate.hpp"
#include "model/support.hpp"
#include "selector/choose/explain.hpp"
#include "selector/choose/offer.hpp"
#include "selector/report/report.hpp"

namespace commpass {
namespace {

using test::error_of;

const Layout layout = Layout::regular(4, 1, 4);
const Pattern pattern = generate_pattern("random:ranks=16,bytes=64,degree=12");

TEST(Ranking, HoldsEverySuggestionAndNothingTwiceFromTheCheapestOn) {
  for (const auto model : {CostModel::postal, CostModel::max_rate, CostModel::burst}) {
    const auto ranking = rank_strategies(pattern, layout, test::small_cluster(), model);
    std::set<std::string> ranked;
    for (const auto& candidate : ranking)
      EXPECT_TRUE(ranked.insert(to_string(candidate.strategy)).second) << to_string(candidate.strategy);
    for (const auto& strategy : offered_strategies(layout, test::small_cluster(), model))
      EXPECT_TRUE(ranked.contains(to_string(strategy))) << to_string(strategy);
    for (std::size_t i = 1; i < ranking.size(); ++i)
      EXPECT_LE(ranking[i - 1].cost.seconds, ranking[i].cost.seconds * (1 + 1e-8));
  }
}

TEST(Ranking, PricesAsEvaluateDoes) {
  for (const auto& candidate : rank_strategies(pattern, layout, test::small_cluster())) {
    const auto schedule = test::schedule_of(to_string(candidate.strategy), layout, pattern);
    const auto seconds = evaluate(schedule, layout, test::small_cluster()).seconds;
    EXPECT_NEAR(candidate.cost.seconds, seconds, 1e-8 * seconds) << "to nine digits";
    EXPECT_EQ(candidate.buffered_blocks_max, schedule.buffered_blocks_max);
    EXPECT_EQ(candidate.buffered_bytes_max, schedule.buffered_bytes_max);
  }
}

// Large patterns are priced on several cores, and strategies that differ in their window from one schedule.
TEST(Ranking, OfALargePatternIsWhatEachPriceAloneSays) {
  const auto large = Layout::regular(16, 1, 16);
  const auto edges = generate_pattern("random:ranks=256,bytes=500,degree=50");
  const auto ranking = rank_strategies(edges, large, test::small_cluster());
  EXPECT_GE(ranking.size(), offered_strategies(large, test::small_cluster(), CostModel::burst).size());
  for (const auto& candidate : ranking)
    EXPECT_EQ(price(candidate.strategy, edges, large, test::small_cluster()).cost.seconds, candidate.cost.seconds)
        << to_string(candidate.strategy);
}

TEST(Ranking, BreaksTiesInTheOrderOfTheCatalogue) {
  // Nothing to send: everything costs nothing.
  const auto ranking = rank_strategies({16, {}}, layout, test::small_cluster());
  const auto suggested = offered_strategies(layout, test::small_cluster(), CostModel::burst);
  ASSERT_EQ(ranking.size(), suggested.size());
  for (std::size_t i = 0; i < ranking.size(); ++i) EXPECT_EQ(ranking[i].strategy, suggested[i]);
  // One message a rank: with any window, standard is the same.
  const std::vector<Strategy> same{parse_strategy("standard,window=8"), parse_strategy("standard"),
                                   parse_strategy("tuna,radix=16,window=unlimited")};
  const auto one = rank_strategies({16, {{0, 5, 100}}}, layout, test::small_cluster(), CostModel::burst, same);
  EXPECT_EQ(one[0].strategy, same[1]) << "the simplest first";
  EXPECT_EQ(one[1].strategy, same[0]) << "the others in the given order";
  EXPECT_EQ(one[2].strategy, same[2]);
}

TEST(Ranking, FollowsWhatTheMachineIsGoodAt) {
  Machine latency = test::small_cluster();
  for (auto& channel : latency.host.by_level)
    if (channel)
      for (auto& protocol : channel->protocols) protocol.alpha_next_s = protocol.alpha_s = 1e-3;
  const auto all = test::alltoall(16, 1);
  EXPECT_NE(rank_strategies(all, layout, latency).front().strategy.route, "standard")
      << "fewer messages win where a message is expensive";
  Machine bandwidth = test::small_cluster();
  for (auto& channel : bandwidth.host.by_level)
    if (channel)
      for (auto& protocol : channel->protocols) protocol = {protocol.name, protocol.max_bytes, 1e-12, 1e-6, 1e-12};
  EXPECT_EQ(to_string(rank_strategies(test::alltoall(16, 1000), layout, bandwidth).front().strategy), "standard")
      << "moving every byte once wins where a byte is expensive";
}

TEST(Ranking, OfGivenStrategiesHoldsJustThese) {
  const std::vector<Strategy> given{parse_strategy("stfw,n=2"), parse_strategy("standard")};
  const auto ranking = rank_strategies(pattern, layout, test::small_cluster(), CostModel::burst, given);
  EXPECT_EQ(ranking.size(), 2U);
  const std::vector<Strategy> impossible{parse_strategy("tuna,radix=17")};
  EXPECT_NE(error_of([&] {
              rank_strategies(pattern, layout, test::small_cluster(), CostModel::burst, impossible);
            }).find("does not apply"),
            std::string::npos);
}

Machine machine_with_collective() {
  auto m = test::small_cluster();
  m.operations.neighbor_alltoall_s = 3e-6;
  m.operations.neighbor_alltoall_message_s = 1e-8;
  return m;
}

bool is_ranked(const std::vector<Candidate>& ranking, const char* strategy) {
  return std::ranges::count(ranking, parse_strategy(strategy), &Candidate::strategy) == 1;
}

TEST(TheLibrarysCollective, IsOfferedWhereItsPriceIsKnown) {
  const auto with = rank_strategies(pattern, layout, machine_with_collective());
  EXPECT_TRUE(is_ranked(with, "mpi"));
  EXPECT_EQ(std::ranges::count(with, "mpi", [](const Candidate& c) { return c.strategy.route; }), 1)
      << "it has no windows to search";
  EXPECT_FALSE(is_ranked(rank_strategies(pattern, layout, test::small_cluster()), "mpi"));
  EXPECT_TRUE(is_ranked(rank_alltoall(64, layout, machine_with_collective()), "mpi"));
  EXPECT_FALSE(is_ranked(rank_alltoall(64, layout, test::small_cluster()), "mpi"));
  EXPECT_FALSE(is_ranked(rank_strategies(pattern, layout, machine_with_collective(), CostModel::postal), "mpi"))
      << "postal cannot tell it from standard";
}

TEST(TheLibrarysCollective, CostsTheDirectExchangeAndItsCall) {
  const std::vector<Strategy> both{parse_strategy("standard"), parse_strategy("mpi")};
  auto m = machine_with_collective();
  m.operations.neighbor_alltoall_message_s = std::nullopt;
  const auto burst = rank_strategies(pattern, layout, m, CostModel::burst, both);
  ASSERT_EQ(to_string(burst[0].strategy), "standard");
  EXPECT_NEAR(burst[1].cost.seconds, burst[0].cost.seconds + 3e-6, 1e-13);
  EXPECT_NE(explain(burst, 1).find("what the MPI library's collective adds"), std::string::npos) << explain(burst, 1);
  const auto postal = rank_strategies(pattern, layout, test::small_cluster(), CostModel::postal, both);
  EXPECT_EQ(postal[0].cost.seconds, postal[1].cost.seconds) << "named, it is priced as the papers' models would";
}

TEST(TheLibrarysCollective, OfAPlanIsRefusedWithTheReasonWhereItsPriceIsNotKnown) {
  const auto mpi = parse_strategy("mpi");
  const std::string reason =
      "strategy mpi does not apply: profile test has no operations.neighbor_alltoall_s: calibrate.";
  EXPECT_EQ(error_of([&] { price(mpi, pattern, layout, test::small_cluster()); }), reason);
}

// To compare with: an all-to-all is one of MPI_Alltoall, anything else one of neighbours.
TEST(TheLibrarysCollective, IsPricedByItsAlgorithmWhereItWasNotMeasured) {
  auto machine = test::small_cluster();
  machine.mpi_library = "MPICH 4.0.2";
  const auto seconds = [&](const char* strategy, const Pattern& of) {
    const auto given = parse_strategy(strategy);
    return rank_strategies(of, layout, machine, CostModel::burst, std::span(&given, 1)).front().cost.seconds;
  };
  const auto all = test::alltoall(layout.ranks(), 64);
  const Seconds turning = copying_seconds(machine, 64.0 * layout.ranks(), 2) +
                          copying_seconds(machine, 64.0 * layout.ranks(), layout.ranks());
  EXPECT_NEAR(seconds("mpi", all), seconds("tuna,radix=2", all) + turning, 1e-12);
  EXPECT_EQ(price_alltoall(parse_strategy("mpi"), 64, layout, machine).library->name, "modified Bruck");
  const auto large = test::alltoall(layout.ranks(), 32769);
  EXPECT_EQ(seconds("mpi", large), seconds("standard,window=1", large));
  machine.mpi_library = "Open MPI v4.1.4";
  EXPECT_EQ(seconds("mpi", large), seconds("standard", large));
  machine.limits.messages_off_node = 1;
  const auto mpi = parse_strategy("mpi");
  const auto beyond = price_alltoall(mpi, 32769, layout, machine);
  EXPECT_STREQ(beyond.exceeded_limit, "messages_off_node") << "the library knows no limits";
  EXPECT_FALSE(beyond.limited_window);
  const auto neighbors = rank_strategies(pattern, layout, machine, CostModel::burst, std::span(&mpi, 1)).front();
  EXPECT_EQ(neighbors.library->function, LibraryFunction::neighbor_alltoallv);
  for (const auto& candidate : rank_alltoall(64, layout, machine)) EXPECT_NE(candidate.strategy, mpi) << "no choice";
}

TEST(Ranking, WeighsThePlanAgainstTheCalls) {
  auto slow_to_plan = test::small_cluster();
  slow_to_plan.operations.allreduce_s = 1e-3;
  const auto all = test::alltoall(16, 1);
  const auto once = rank_strategies(all, layout, slow_to_plan, CostModel::burst, {}, 1);
  EXPECT_EQ(once.front().cost.stages.size(), 1U)
      << "a stage more costs more than it can save: " << to_string(once.front().strategy);
  const auto often = rank_strategies(all, layout, slow_to_plan, CostModel::burst, {}, 1e9),
             always = rank_strategies(all, layout, slow_to_plan);
  EXPECT_EQ(often.front().cost.seconds, always.front().cost.seconds);
  EXPECT_GT(always.front().cost.stages.size(), 1U);
  for (const auto& candidate : once) EXPECT_TRUE(candidate.plan_seconds.has_value());
  for (const auto& candidate : always) EXPECT_FALSE(candidate.plan_seconds.has_value());
  EXPECT_TRUE(std::ranges::is_sorted(once, {}, [](const Candidate& c) { return ranked_seconds(c, 1); }));
}

// Differences beyond nine digits come from the order of additions.
TEST(Ranking, TakesPricesThatAgreeToNineDigitsAsEqual) {
  const std::vector<Strategy> both{parse_strategy("standard"), parse_strategy("mpi")};
  const Pattern lone{16, {{0, 5, 100}}};
  auto m = test::small_cluster();
  const auto first = [&](Seconds library_s) {
    m.operations.neighbor_alltoall_s = library_s;
    return to_string(rank_strategies(lone, layout, m, CostModel::burst, both).front().strategy);
  };
  EXPECT_NEAR(price(both[0], lone, layout, m).cost.seconds, 2.1e-6, 1e-15);
  EXPECT_EQ(first(-4e-15), "standard") << "2.099999996 us is 2.10000000 us, and the order that was given stays";
  EXPECT_EQ(first(-6e-15), "mpi") << "2.099999994 us is not";
}

// Its headers travel in the messages of the coalesced strategy; in each stage the sizes of messages are told, too.
TEST(Ranking, PlansAStaggeredStrategyAsACoalescedOneWithMoreNumbersInAStage) {
  auto m = test::small_cluster();
  m.operations.allreduce_s = 5e-6;
  for (const std::string name : {"two-step", "stfw,n=4"}) {
    const auto alone = price(parse_strategy(name), pattern, layout, m, CostModel::burst, 10),
               staggered = price(parse_strategy(name + ",staggered"), pattern, layout, m, CostModel::burst, 10);
    const auto
        more_bytes = static_cast<double>(sizeof(int)) * layout.ranks(),
        beta = m.host.by_level[standard_level::network]->protocol(static_cast<Bytes>(2 * more_bytes)).beta_s_per_byte;
    const auto more = static_cast<double>(alone.cost.stages.size()) * more_bytes * beta;
    EXPECT_NEAR(staggered.plan_seconds.value(), alone.plan_seconds.value() + more, 1e-8 * alone.plan_seconds.value())
        << name;
    EXPECT_EQ(alone.plan_seconds, price(parse_strategy(name), pattern, layout, m, CostModel::burst, 1).plan_seconds)
        << "however often it runs";
  }
}

TEST(Explanation, TellsThePlanWhereCallsAreCounted) {
  const auto ranking = rank_strategies(pattern, layout, test::small_cluster(), CostModel::burst, {}, 3);
  const auto text = explain(ranking, 0, 3);
  for (const std::size_t i : {0, 1}) {
    const auto sum = "plan " + format_seconds(ranking[i].plan_seconds.value()) + " + 3 x " +
                     format_seconds(ranking[i].cost.seconds) + " = " + format_seconds(ranked_seconds(ranking[i], 3));
    EXPECT_NE(text.find(sum), std::string::npos) << text;
  }
}

TEST(JsonReport, HasThePlanWhereCallsAreCounted) {
  Report r;
  for (auto& candidate : rank_strategies(pattern, layout, test::small_cluster(), CostModel::burst, {}, 3))
    r.rows.push_back({std::move(candidate), {}});
  const auto json = Json::parse(document_of(r).write(Form::json));
  for (std::size_t i = 0; i < r.rows.size(); ++i)
    EXPECT_EQ(json["ranking"][i]["plan_s"].get<double>(), r.rows[i].candidate.plan_seconds);
  EXPECT_NE(document_of(r).write(Form::text).find(format_seconds(r.rows[0].candidate.plan_seconds.value())),
            std::string::npos);
}

TEST(Explanation, TellsStagesAndTheRunnerUp) {
  const auto ranking = rank_strategies(pattern, layout, test::small_cluster());
  const auto text = explain(ranking, 0);
  EXPECT_EQ(text.find(to_string(ranking[0].strategy) + ": " + format_seconds(ranking[0].cost.seconds)), 0U) << text;
  EXPECT_NE(text.find("Runner-up: " + to_string(ranking[1].strategy) + " is "), std::string::npos) << text;
  for (std::size_t s = 0; s < ranking[0].cost.stages.size(); ++s) {
    const auto& stage = ranking[0].cost.stages[s];
    EXPECT_NE(text.find("stage " + std::to_string(s + 1) + " (" + stage.label + "): up to " +
                        std::to_string(stage.messages_max) + " messages"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find(describe(stage.dominant())), std::string::npos) << text;
  }
  EXPECT_NE(text.find("holds up to " + std::to_string(ranking[0].buffered_blocks_max.value()) + " blocks"),
            std::string::npos)
      << text;
}

TEST(Explanation, TellsWhyAnotherWasNotChosen) {
  const auto ranking = rank_strategies(pattern, layout, test::small_cluster());
  const auto last = ranking.size() - 1;
  const auto text = explain(ranking, last);
  EXPECT_EQ(text.find(to_string(ranking[last].strategy) + ": "), 0U) << text;
  EXPECT_NE(text.find("Not chosen: " + to_string(ranking[last].strategy)), std::string::npos) << text;
}

TEST(Explanation, TellsWhatAFlagBrings) {
  const Pattern pairs{16, {{0, 15, 1000}, {15, 0, 1000}}};
  const std::vector<Strategy> given{parse_strategy("stfw,n=4"), parse_strategy("stfw,n=4,placed")};
  const auto one_node = Layout::regular(1, 1, 16);
  const auto ranking = rank_strategies(pairs, one_node, test::small_cluster(), CostModel::burst, given);
  ASSERT_EQ(to_string(ranking[0].strategy), "stfw,n=4,placed");
  const auto text = explain(ranking, 0);
  EXPECT_NE(text.find("without placed: " + format_seconds(ranking[1].cost.seconds) + " predicted"), std::string::npos)
      << text;
  EXPECT_NE(text.find("would send 7.81 KiB, not 1.95 KiB"), std::string::npos) << text;
  EXPECT_EQ(explain(ranking, 1).find("without"), std::string::npos) << "it has no flag";
}

TEST(Explanation, OfALoneCandidateComparesNothing) {
  const std::vector<Strategy> given{parse_strategy("standard")};
  const auto text = explain(rank_strategies(pattern, layout, test::small_cluster(), CostModel::burst, given), 0);
  EXPECT_EQ(text.find("Runner-up"), std::string::npos) << text;
}

Report report(bool measured) {
  Report r;
  r.context = {{"profile", "test"}, {"ranks", "16"}};
  for (auto& candidate : rank_strategies(pattern, layout, test::small_cluster()))
    r.rows.push_back({std::move(candidate), measured ? std::optional(1e-3) : std::nullopt});
  r.chosen = to_string(r.rows.front().candidate.strategy);
  return r;
}

std::set<std::string> keys(const Json& json) {
  std::set<std::string> result;
  for (const auto& [key, value] : json.items()) result.insert(key);
  return result;
}

TEST(JsonReport, HasTheKeysOfTheContract) {
  for (const bool measured : {false, true}) {
    const auto r = report(measured);
    const auto json = Json::parse(document_of(r).write(Form::json));
    const std::set<std::string> top{"schema_version", "context", "chosen", "ranking"},
        row{"strategy", "predicted_s", "stages", "messages_in_flight", "messages_in_flight_off_node",
            "partners", "buffer_bytes"};
    auto top_measured = top, row_measured = row;
    top_measured.insert({"fastest", "regret"});
    row_measured.insert("measured_s");
    EXPECT_TRUE(std::ranges::includes(keys(json), measured ? top_measured : top));
    EXPECT_EQ(keys(json).contains("regret"), measured) << "regret and measured_s appear in measure only";
    if (measured) {
      EXPECT_EQ(json["fastest"], r.chosen) << "all are equally fast";
    }
    EXPECT_EQ(json["schema_version"], 1);
    EXPECT_EQ(json["chosen"], r.chosen);
    EXPECT_EQ(json["context"]["profile"], "test");
    ASSERT_EQ(json["ranking"].size(), r.rows.size());
    for (std::size_t i = 0; i < r.rows.size(); ++i) {
      const auto& entry = json["ranking"][i];
      const auto& cost = r.rows[i].candidate.cost;
      EXPECT_EQ(keys(entry), measured ? row_measured : row);
      EXPECT_EQ(entry["strategy"], to_string(r.rows[i].candidate.strategy));
      EXPECT_EQ(entry["predicted_s"].get<double>(), cost.seconds) << "to the last digit";
      ASSERT_EQ(entry["stages"].size(), cost.stages.size());
      for (std::size_t s = 0; s < cost.stages.size(); ++s) {
        EXPECT_EQ(keys(entry["stages"][s]), (std::set<std::string>{"messages_max", "bytes_max", "seconds"}));
        EXPECT_EQ(entry["stages"][s]["messages_max"], cost.stages[s].messages_max);
        EXPECT_EQ(entry["stages"][s]["bytes_max"], cost.stages[s].bytes_max);
        EXPECT_EQ(entry["stages"][s]["seconds"].get<double>(), cost.stages[s].seconds);
      }
    }
    EXPECT_TRUE(std::ranges::is_sorted(r.rows, {}, [](const ReportRow& x) { return x.candidate.cost.seconds; }));
  }
}

TEST(JsonReport, TellsOfBaselinesOnlyKnownTimes) {
  auto r = report(true);
  r.baselines.push_back({{.strategy = parse_strategy("mpi"), .cost = {}}, 2e-3, false, 3e-3});
  const auto baselines = Json::parse(document_of(r).write(Form::json))["baselines"];
  EXPECT_EQ(baselines, Json::parse(R"([{"strategy": "mpi", "measured_plan_s": 3e-3, "measured_s": 2e-3}])"))
      << "it has no price, which is not a price of nothing";
}

TEST(JsonReport, ShowsTheTop) {
  EXPECT_EQ(Json::parse(document_of(report(false), 3).write(Form::json))["ranking"].size(), 3U);
  EXPECT_EQ(Json::parse(document_of(report(false), 1000).write(Form::json))["ranking"].size(),
            report(false).rows.size());
}

TEST(TableReport, ShowsTheTopAndMarksTheChosen) {
  const auto r = report(false);
  const auto text = document_of(r, 2).write(Form::text);
  EXPECT_NE(text.find("* " + r.chosen), std::string::npos) << text;
  EXPECT_NE(text.find(to_string(r.rows[1].candidate.strategy)), std::string::npos);
  EXPECT_NE(text.find("\n= standard "), std::string::npos) << text;
  EXPECT_NE(text.find("\n  " + std::to_string(r.rows.size() - 3) + " more points are not shown"), std::string::npos)
      << text;
  EXPECT_NE(text.find("Chosen: " + r.chosen), std::string::npos);
  EXPECT_EQ(text.find("measured"), std::string::npos);
  auto slower = report(true);
  slower.rows.front().measured_s = 1.25e-3;
  EXPECT_NE(document_of(slower).write(Form::text).find("regret 1.25"), std::string::npos);
}

}  // namespace
}  // namespace commpass
