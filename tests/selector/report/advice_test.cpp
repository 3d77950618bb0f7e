#include "selector/report/advice.hpp"
#include "model/base/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/machine/profile.hpp"
#include "model/support.hpp"
#include "selector/choose/select.hpp"

namespace commpass {
namespace {

Machine lassen() { return read_profile(COMMPASS_TEST_PROFILES "/lassen.json").machine; }

RecordedExchange exchange(const std::string& call, std::size_t communicator, std::int64_t calls, Seconds seconds) {
  RecordedExchange made{call, "main"};
  made.communicator = communicator;
  made.calls = calls;
  made.exchange_s = made.in_call_s = seconds;
  return made;
}

/// 64 ranks, of which two halves exchange at the same time.
Record two_halves() {
  Record record{"a.out", "MPI", "1x64", 10, {{}, {}, {}}, {}, {}};
  for (Rank rank = 0; rank < 64; ++rank) {
    record.communicators[0].push_back(rank);
    record.communicators[rank < 32 ? 1 : 2].push_back(rank);
  }
  for (const std::size_t half : {1U, 2U}) {
    auto one = exchange("alltoall", half, 100, half == 1 ? 1 : 3);
    one.equal_bytes = 8;
    one.blocks = 100 * 32 * 32;
    one.bytes = one.blocks * 8;
    record.exchanges.push_back(one);
  }
  auto ring = exchange("neighbor_alltoallv", 0, 10, 2);
  for (Rank rank = 0; rank < 64; ++rank) ring.edges.push_back({rank, (rank + 1) % 64, 1000});
  ring.blocks = 10 * 64;
  ring.bytes = ring.blocks * 1000;
  record.exchanges.push_back(ring);
  return record;
}

TEST(Advice, CountsWhatHappensAtTheSameTimeOnce) {
  const auto record = two_halves();
  EXPECT_DOUBLE_EQ(measured_in_calls(record), 5) << "of the slower half, and of all";
  const auto calls = advised_calls(record);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].call, "alltoall");
  EXPECT_DOUBLE_EQ(calls[0].measured_s, 3);
  EXPECT_EQ(calls[0].communicators, 2U);
  EXPECT_EQ(calls[0].calls, 100);
  EXPECT_DOUBLE_EQ(calls[0].bytes, 32 * 32 * 8);
  EXPECT_EQ(calls[1].ranks, 64);
}

TEST(Advice, IsThePriceOfTheCalls) {
  const auto record = two_halves();
  const auto calls = advised_calls(record);
  const auto machine = lassen();
  const auto layout = Layout::with_ppn(64, 16);
  const auto advice = advise(record, calls, layout, machine);
  // A half is an all-to-all on two nodes; Lassen's profile has no times of MPI's, which is priced by its algorithm.
  Pattern all{32, {}};
  for (Rank from = 0; from < 32; ++from)
    for (Rank to = 0; to < 32; ++to) all.edges.push_back({from, to, 8});
  const auto half = Layout::with_ppn(32, 16);
  const auto library_s = price_alltoall(parse_strategy("mpi"), 8, half, machine).cost.seconds;
  EXPECT_THAT(advice.library_rules, testing::HasSubstr("Spectrum MPI"));
  EXPECT_NEAR(advice.prices[0].library_s, 100 * library_s, 1e-9);
  EXPECT_EQ(advice.prices[0].library, "mpi");
  EXPECT_LT(advice.prices[0].taken_s, advice.prices[0].library_s);
  EXPECT_NEAR(advice.prices[0].planned_s,
              100 * std::min(rank_strategies(all, half, machine).front().cost.seconds, advice.prices[0].taken_s / 100),
              1e-9);
  // In the ring there is nothing to gain.
  EXPECT_DOUBLE_EQ(advice.prices[1].taken_s, advice.prices[1].library_s);
  EXPECT_EQ(advice.prices[1].taken, "standard");

  EXPECT_DOUBLE_EQ(advice.outside_s, 5);
  EXPECT_DOUBLE_EQ(advice.all.library_s, advice.prices[0].library_s + advice.prices[1].library_s);
  EXPECT_DOUBLE_EQ(advice.share(advice.all.library_s - advice.all.taken_s),
                   (advice.all.library_s - advice.all.taken_s) / (5 + advice.all.library_s));
}

TEST(Advice, OfCallsThatRunLeavesToMpiSavesNothingThere) {
  auto record = two_halves();
  auto started = record.exchanges[0];
  started.call = "ialltoall";
  started.site = "start";
  started.exchange_s = 0;
  record.exchanges.push_back(started);
  const auto calls = advised_calls(record);
  const auto advice = advise(record, calls, Layout::with_ppn(64, 16), lassen());
  ASSERT_EQ(calls[2].call, "ialltoall");
  EXPECT_LT(advice.prices[0].taken_s, advice.prices[0].library_s) << "of the same blocks, in a call that blocks";
  EXPECT_EQ(advice.prices[2].taken_s, advice.prices[2].library_s);
  EXPECT_EQ(advice.prices[2].taken, advice.prices[2].library);
  EXPECT_LT(advice.prices[2].planned_s, advice.prices[2].taken_s);
}

TEST(Advice, OfNeighborsThatAreThereTwiceSavesNothingByRun) {
  Record record{"a.out", "MPI", "1x64", 10, {{}}, {}, {}};
  for (Rank rank = 0; rank < 64; ++rank) record.communicators[0].push_back(rank);
  auto all = exchange("neighbor_alltoall", 0, 10, 2);
  for (Rank from = 0; from < 64; ++from)
    for (Rank to = 0; to < 64; ++to) all.edges.push_back({from, to, 8});
  all.blocks = 10 * 64 * 64;
  all.bytes = all.blocks * 8;
  const auto price_of = [&](const RecordedExchange& one) {
    record.exchanges = {one};
    return advise(record, advised_calls(record), Layout::with_ppn(64, 16), lassen()).prices[0];
  };
  const auto once = price_of(all);
  EXPECT_LT(once.taken_s, once.library_s);
  all.edges.insert(all.edges.begin(), all.edges.front());
  const auto twice = price_of(all);
  EXPECT_EQ(twice.taken_s, twice.library_s);
}

TEST(Advice, TakesCallsThatAreNotPricedForTheRestOfTheRun) {
  const auto record = two_halves();
  auto calls = advised_calls(record);
  calls.pop_back();  // the ring, 2 s
  EXPECT_DOUBLE_EQ(advise(record, calls, Layout::with_ppn(64, 16), lassen()).outside_s, 10 - 3);
}

TEST(Advice, IsToldAsAPageAndAsJson) {
  const auto record = two_halves();
  Advice advice{"run.json", record, advised_calls(record), 0, 0, {}};
  advice.machines.push_back(advise(record, advice.calls, Layout::with_ppn(64, 16), lassen()));
  const auto page = advice_text(advice);
  for (const char* part : {"run.json: a.out\n", "Exchanges took 50.0 % of the run, 5 s", " 1 main ",
                           "on 2 communicators\n", "30.0 %\n", "On lassen, 4 nodes x 16 ranks: these calls would take ",
                           "leave it to MPI\n", "MPI's all-to-alls are not measured", "lacks local copies"})
    EXPECT_NE(page.find(part), std::string::npos) << part << " in " << page;
  const auto json = Json::parse(advice_json(advice));
  EXPECT_EQ(json["calls"][0]["measured_s"], 3);
  EXPECT_EQ(json["machines"][0]["calls"].size(), 2U);
  EXPECT_EQ(json["machines"][0]["calls"][1]["run_saves"], 0);
}

TEST(Advice, OfARunWithoutExchangesIsShort) {
  const Record record{"a.out", "MPI", "1x2", 1, {}, {}, {}};
  const Advice advice{"run.json", record, advised_calls(record), 0, 0, {}};
  EXPECT_NE(advice_text(advice).find("nothing to gain"), std::string::npos);
}

TEST(Advice, ScalesWhatAllSendToAll) {
  auto record = two_halves();
  auto all = exchange("alltoall", 0, 7, 1);
  all.equal_bytes = 64;
  all.blocks = 7 * 64 * 64;
  all.bytes = all.blocks * 64;
  record.exchanges.push_back(all);
  record.exchanges.push_back(exchange("alltoallv", 0, 3, 1));
  auto& varied = record.exchanges.back();
  varied.blocks = 3 * 64 * 63;
  varied.bytes = varied.blocks * 16;

  const auto on_more = scaled(record, 128);
  EXPECT_EQ(on_more.ranks(), 128);
  ASSERT_EQ(on_more.exchanges.size(), 2U) << "neither the halves nor the ring";
  EXPECT_EQ(on_more.exchanges[0].equal_bytes, 16) << "half of a rank's bytes, for twice as many";
  EXPECT_EQ(on_more.exchanges[1].blocks, 3 * 128 * 127);
  EXPECT_EQ(on_more.exchanges[1].bytes, varied.bytes);
  const auto calls = scaled_calls(on_more, advised_calls(record), 64);
  const auto advice = advise(on_more, calls, Layout::with_ppn(128, 32), lassen());
  EXPECT_DOUBLE_EQ(advice.outside_s, (10 - measured_in_calls(record)) / 2);
  EXPECT_EQ(advice.prices.size(), 4U);
  EXPECT_EQ(std::ranges::count(advice.prices, "", &CallPrice::library), 2);

  test::expect_sentence(test::error_of([] { scaled(two_halves(), 128); }), {"--ranks 128", "all ranks with all"});
}

}  // namespace
}  // namespace commpass
