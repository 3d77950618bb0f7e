// Pictures of a recorded program's calls over time.
#include "model/base/json.hpp"
#include "pictures/pictures.hpp"

#include <gtest/gtest.h>

#include "model/base/error.hpp"

namespace commpass {
namespace {

/// Of a run of 2 s on four ranks: two halves call at the same time, the second longer.
Record recorded_halves() {
  Record record{"a.out", "MPI", "1x4", 2, {{0, 1}, {2, 3}, {0, 1, 2, 3}}, {}, {}};
  for (const std::size_t half : {0U, 1U}) {
    RecordedExchange exchange{"alltoall", "main"};
    exchange.communicator = half;
    exchange.calls = 2;
    exchange.exchange_s = half == 0 ? 0.25 : 0.5;
    exchange.equal_bytes = 8;
    exchange.blocks = 8;
    exchange.bytes = 64;
    for (const double at : {0.5, 1.5}) exchange.over_time.add(at, exchange.exchange_s / 2);
    record.exchanges.push_back(exchange);
  }
  return record;
}

Advice advice_of(const Record& record) { return {"run.json", record, advised_calls(record), 0, 0, {}}; }

TEST(SpreadOverTime, IsThatOfTheRankWithTheMost) {
  const auto record = recorded_halves();
  const auto calls = advised_calls(record);
  const auto spread = spread_over_time(record, calls.at(0));
  EXPECT_EQ(spread.calls[16], 2 / 2) << "of its own communicator alone: 0.5 s are 16 parts of 1/32 s";
  EXPECT_DOUBLE_EQ(spread.seconds[16], 0.25);
  EXPECT_DOUBLE_EQ(spread.seconds[48], 0.25);
  Seconds sum = 0;
  for (const auto seconds : spread.seconds) sum += seconds;
  EXPECT_DOUBLE_EQ(sum, calls.at(0).measured_s);
}

TEST(CallsOverTime, ShowTheirTimesAndSavings) {
  const auto record = recorded_halves();
  auto advice = advice_of(record);
  const auto alone = draw_calls_over_time(advice);
  EXPECT_NE(alone.body.find("1 · MPI_Alltoall · main"), std::string::npos) << alone.body;
  EXPECT_NE(alone.body.find("2 calls on 2 ranks of 2 communicators; 25.0 % of the run<"), std::string::npos)
      << alone.body;
  EXPECT_EQ(alone.body.find("saves"), std::string::npos) << "on no machine";
  MachineAdvice machine{
      "lassen", "1x4", 4, {{0.5, 0.25, 0.5, 0.125, "mpi", "two-step", "stfw,n=2"}}, {0.5, 0.25, 0.5, 0.125, "", "", ""},
      1.5,      {},    {}};
  advice.machines.push_back(machine);
  const auto picture = draw_calls_over_time(advice);
  EXPECT_NE(picture.body.find("saves on lassen: 12.5 % by commpass run, 18.8 % changed<"), std::string::npos)
      << picture.body;
  EXPECT_NE(picture.body.find("1 call, 250 ms in them"), std::string::npos) << picture.body;
  const auto call = Json::parse(picture.json)["calls"][0];
  EXPECT_EQ(call["measured_s"], 0.5);
  EXPECT_EQ(call["run_s"], 0.25);
  ASSERT_EQ(call["parts"].size(), 2U);
  EXPECT_EQ(call["parts"][0]["from_s"], 0.5);
  EXPECT_EQ(call["parts"][0]["seconds"], 0.25);
  EXPECT_NE(picture.csv.find("1,main,alltoall,2,1.5,1.53125,1,0.25"), std::string::npos) << picture.csv;
}

TEST(CallsOverTime, OfCallsThatDoNotBlockAreCounts) {
  auto record = recorded_halves();
  for (auto& exchange : record.exchanges) {
    exchange.call = "ialltoall";
    exchange.exchange_s = 0;
    exchange.over_time = {};
    exchange.over_time.add(0.25, 0);
  }
  const auto picture = draw_calls_over_time(advice_of(record));
  EXPECT_NE(picture.body.find("they do not block"), std::string::npos) << picture.body;
  EXPECT_NE(picture.body.find("number of calls"), std::string::npos) << picture.body;
  EXPECT_TRUE(Json::parse(picture.json)["calls"][0]["measured_s"].is_null());
}

TEST(CallsOverTime, EndWithTheRunAndAreNoMoreThanCanBeSeen) {
  auto record = recorded_halves();
  record.run_s = 1;  // parts beyond the end of the run take no time
  for (int i = 0; i < 20; ++i) {
    record.exchanges.push_back(record.exchanges[1]);
    record.exchanges.back().site = "place " + std::to_string(i);
  }
  const auto picture = draw_calls_over_time(advice_of(record));
  EXPECT_NE(picture.body.find("The 12 that take longest, of 21."), std::string::npos) << picture.body;
  EXPECT_EQ(Json::parse(picture.json)["calls"].size(), 21U);
  EXPECT_EQ(picture.body.find("nan"), std::string::npos);
  record.exchanges.clear();
  EXPECT_THROW(draw_calls_over_time(advice_of(record)), InputError);
}

}  // namespace
}  // namespace commpass
