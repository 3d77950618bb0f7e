#include "selector/report/record.hpp"
#include "model/base/json.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "model/support.hpp"

namespace commpass {
namespace {

using test::expect_sentence;

/// Four ranks on two nodes: all of them, and their even ones.
Record small_record() {
  Record record{"./a \"b\"", "Open MPI v4.1.4", "2x2", 10, {{0, 1, 2, 3}, {2, 0}}, {}, {}};
  RecordedExchange equal{"alltoall", "main (a.out+0x12)"};
  equal.calls = 5;
  equal.exchange_s = 0.5;
  equal.in_call_s = 0.75;
  equal.bytes = 5 * 16 * 8;
  equal.blocks = 5 * 16;
  equal.equal_bytes = 8;
  equal.over_time.add(0.5, 0.25);
  auto ring = equal;
  ring.call = "neighbor_alltoallv";
  ring.communicator = 1;
  ring.equal_bytes.reset();
  ring.edges = {{0, 1, 3}, {0, 0, 4}, {1, 0, 3}};
  ring.is_by_clock = false;
  record.exchanges = {equal, ring};
  record.others = {{"alltoallw", 3, 0.125, 17}};
  record.exchanges[0].handles = 2;
  record.messages = {{"isend", "main (a.out+0x99)", 4, 40, 320, 2, 0}, {"waitall", "a.out+0xaa", 4, 20, 0, 0, 0.25}};
  record.counting_s = 3e-8;
  return record;
}

TEST(Record, IsReadAsItWasWritten) {
  const auto record = small_record();
  EXPECT_EQ(parse_record(to_json(record), "r.json"), record);
}

TEST(Record, IsRefusedWithItsPlace) {
  struct Fault {
    std::function<void(Json& json)> make;
    std::vector<std::string> said;
  };
  const std::vector<Fault> faults{
      {[](Json& json) { json["schema"] = 1; }, {"r.json", "no record of schema 2"}},
      {[](Json& json) { json.erase("run_s"); }, {"r.json", "9 keys in place of 10"}},
      {[](Json& json) { json["layout"] = "2y2"; }, {"r.json", "layout", "2y2"}},
      {[](Json& json) {
         json["communicators"][0] = Json::array({{0, 5, 1}});
       },
       {"communicator 0", "leaves the ranks"}},
      {[](Json& json) {
         json["communicators"][1] = Json::array({{1, 2, 0}});
       },
       {"communicator 1", "a rank twice"}},
      {[](Json& json) { json["exchanges"][1]["communicator"] = 2; }, {"exchange 1", "no such communicator"}},
      {[](Json& json) { json["exchanges"][0]["calls"] = 0; }, {"exchange 0", "never called"}},
      {[](Json& json) { json["exchanges"][0]["calls"] = (std::int64_t{1} << 40) + 1; }, {"exchange 0", "calls"}},
      {[](Json& json) { json["others"][0]["calls"] = std::int64_t{1} << 62; }, {"others 0", "calls"}},
      {[](Json& json) { json["run_s"] = 0; }, {"r.json", "run_s is 0", "took time"}},
      {[](Json& json) { json["exchanges"][0]["bytes"] = -1; }, {"exchange 0", "bytes is no whole number from 0"}},
      {[](Json& json) { json["exchanges"][0]["exchange_s"] = "long"; }, {"exchange 0", "exchange_s is no time"}},
      {[](Json& json) { json["exchanges"][0]["timed"] = "by sun"; }, {"exchange 0", "timed"}},
      {[](Json& json) { json["exchanges"][1]["equal_bytes"] = 8; }, {"exchange 1", "both equal blocks and edges"}},
      {[](Json& json) { json["exchanges"][1]["edges"][0][1][0] = 2; }, {"exchange 1", "leave the ranks"}},
      {[](Json& json) { json["exchanges"][1]["edges"][1][0] = 0; }, {"exchange 1", "order of their senders"}},
      {[](Json& json) { json["exchanges"][0]["over_time"]["part_s"] = 0.02; }, {"exchange 0, over_time", "part_s"}},
      {[](Json& json) { json["exchanges"][0]["handles"] = 6; }, {"exchange 0", "handles is not from 1 to calls"}},
      {[](Json& json) { json["messages"][1]["partners"] = -1; }, {"messages 1", "partners is no whole number"}},
      {[](Json& json) { json["others"][0].erase("bytes"); }, {"others 0", "3 keys in place of 4"}}};
  for (const auto& fault : faults) {
    auto json = Json::parse(to_json(small_record()));
    fault.make(json);
    expect_sentence(test::error_of([&] { parse_record(json.dump(), "r.json"); }), fault.said);
  }
  expect_sentence(test::error_of([] { parse_record("[", "r.json"); }), {"r.json", "no record"});
}

TEST(Record, IsRefusedWhereEdgesHaveAnotherForm) {
  for (const auto* const sender :
       {"5", "{}", "[0, [1]]", "[0, [1], [8], [8]]", "[0, 1, [8]]", "[0, [1], 8]", "[0, [0, 1], [8]]", "[0, [], []]"}) {
    auto json = Json::parse(to_json(small_record()));
    json["exchanges"][1]["edges"][0] = Json::parse(sender);
    expect_sentence(test::error_of([&] { parse_record(json.dump(), "r.json"); }),
                    {"r.json", "exchange 1", "edges are not [from, [to, …], [bytes, …]]"});
  }
}

TEST(Record, GivesPatternsOfItsCommunicators) {
  const auto record = small_record();
  const auto all = pattern_of(record, record.exchanges[0]), ring = pattern_of(record, record.exchanges[1]);
  ASSERT_TRUE(all && ring);
  EXPECT_EQ(all->ranks, 4);
  EXPECT_EQ(all->edges.size(), 16U);
  EXPECT_TRUE(std::ranges::all_of(all->edges, [](const Edge& edge) { return edge.bytes == 8; }));
  EXPECT_EQ(ring->ranks, 2);
  EXPECT_EQ(ring->edges, record.exchanges[1].edges);
  auto unknown = record.exchanges[1];
  unknown.edges.clear();
  EXPECT_FALSE(pattern_of(record, unknown)) << "it has blocks of unknown ranks";
}

TEST(TimesOfARun, AreKeptInEverLongerParts) {
  OverTime times;
  times.add(0, 1);
  times.add(1.5 * OverTime::finest_s, 2);
  EXPECT_EQ(times.calls[0], 1);
  EXPECT_EQ(times.calls[1], 1);
  times.add(OverTime::finest_s * OverTime::parts, 4);  // just beyond the end
  EXPECT_EQ(times.part_s, 2 * OverTime::finest_s);
  EXPECT_EQ(times.calls[0], 2);
  EXPECT_EQ(times.seconds[0], 3);
  EXPECT_EQ(times.calls[OverTime::parts / 2], 1);
  EXPECT_EQ(times.seconds[OverTime::parts / 2], 4);

  OverTime others;
  others.add(1.5 * OverTime::finest_s, 8);
  others.add(times);
  EXPECT_EQ(others.part_s, times.part_s) << "the longer parts of both";
  EXPECT_EQ(others.calls[0], 3);
  EXPECT_EQ(others.seconds[0], 11);
}

}  // namespace
}  // namespace commpass
