// Traces of the burst model, and the timeline.
#include "model/cost/trace.hpp"
#include "model/base/json.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/pattern/generate.hpp"
#include "model/support.hpp"
#include "pictures/pictures.hpp"

namespace commpass {
namespace {

const Layout layout = Layout::with_ppn(12, 5);

ExchangeView view(const std::string& strategy, const std::string& pattern = "random:ranks=12,bytes=3000,degree=5") {
  return view_exchange(generate_pattern(pattern), layout, parse_strategy(strategy));
}

/// With receivers, so that messages are taken in after all are sent.
Machine machine() {
  auto result = test::small_cluster();
  for (auto& channel : result.host.by_level)
    if (channel)
      for (auto& protocol : channel->protocols) protocol.alpha_receive_s = protocol.alpha_s / 4;
  return result;
}

const char* const strategies[] = {"standard",        "standard,window=2", "two-step",
                                  "stfw,n=3,placed", "tuna,radix=3",      "three-step"};

TEST(Trace, ChangesNoPrice) {
  for (const auto* strategy : strategies) {
    const auto exchange = view(strategy);
    const auto trace = trace_exchange(exchange.schedule, layout, machine());
    EXPECT_EQ(trace.cost.seconds, evaluate(exchange.schedule, layout, machine()).seconds) << strategy;
    EXPECT_EQ(trace.cost.seconds, std::ranges::max(trace.finish)) << strategy;
  }
}

// Of a block that is cut each fragment has a path.
TEST(BlockPaths, FollowMessagesFromTheSenderToTheDestinations) {
  for (const auto* strategy :
       {"standard", "two-step", "stfw,n=3,placed", "tuna,radix=3", "three-step", "split,cap=512"}) {
    const auto exchange = view(strategy, "alltoall:ranks=12,bytes=3000");
    EXPECT_EQ(exchange.traced, 0);
    std::set<Rank> reached;
    for (const auto& path : exchange.paths) {
      ASSERT_EQ(path.after.size(), exchange.schedule.stages.size()) << strategy;
      EXPECT_EQ(path.after.back(), path.destination) << strategy;
      reached.insert(path.destination);
      Rank holder = 0;
      for (std::size_t s = 0; s < path.after.size(); holder = path.after[s++]) {
        const auto is_its = [&](const Message& m) { return m.from == holder && m.to == path.after[s]; };
        EXPECT_TRUE(holder == path.after[s] || std::ranges::any_of(exchange.schedule.stages[s].messages, is_its))
            << strategy << ", stage " << s;
      }
    }
    EXPECT_EQ(reached.size(), 11U) << strategy;
  }
}

TEST(BlockPaths, AreOfTheFirstRankThatSends) {
  const Pattern pattern{12, {{2, 2, 8}, {5, 3, 0}, {7, 1, 8}, {9, 0, 8}}};
  const auto exchange = view_exchange(pattern, layout, parse_strategy("standard"));
  EXPECT_EQ(exchange.traced, 7);
  ASSERT_EQ(exchange.paths.size(), 1U);
  EXPECT_EQ(exchange.paths[0].destination, 1);
  EXPECT_TRUE(view_exchange(Pattern{12, {}}, layout, parse_strategy("standard")).paths.empty());
}

TEST(Trace, FillsEachRanksTimeUntilItsFinish) {
  for (const auto* strategy : strategies) {
    const auto exchange = view(strategy);
    const auto trace = trace_exchange(exchange.schedule, layout, machine());
    for (Rank rank = 0; rank < layout.ranks(); ++rank) {
      Seconds until = 0;
      for (const auto& span : trace.spans_of(rank)) {
        EXPECT_LT(span.begin, span.end);
        EXPECT_LE(span.begin, until * (1 + 1e-9) + 1e-15) << strategy << ", rank " << rank;
        until = std::max(until, span.end);
      }
      EXPECT_NEAR(until, trace.finish[at(rank)], 1e-12) << strategy << ", rank " << rank;
    }
  }
}

TEST(Trace, HasASendForEachMessage) {
  for (const auto* strategy : strategies) {
    const auto exchange = view(strategy);
    const auto trace = trace_exchange(exchange.schedule, layout, machine());
    for (std::size_t s = 0; s < exchange.schedule.stages.size(); ++s)
      for (const auto& message : exchange.schedule.stages[s].messages)
        EXPECT_TRUE(std::ranges::any_of(trace.spans, [&](const TraceSpan& span) {
          return span.activity == Activity::send && span.rank == message.from && span.peer == message.to &&
                 span.bytes == message.bytes && span.stage == static_cast<int>(s);
        })) << strategy;
  }
}

TEST(CriticalWay, LeadsFromTheStartToTheLastFinish) {
  for (const auto* strategy : strategies) {
    const auto exchange = view(strategy);
    const auto trace = trace_exchange(exchange.schedule, layout, machine());
    ASSERT_FALSE(trace.critical.empty());
    const auto& last = trace.critical.back();
    EXPECT_EQ(trace.finish[at(last.to)], trace.cost.seconds) << strategy;
    for (std::size_t i = 0; i < trace.critical.size(); ++i) {
      const auto& leg = trace.critical[i];
      EXPECT_LE(leg.begin, leg.end) << strategy;
      if (i == 0) continue;
      EXPECT_EQ(trace.critical[i - 1].to, leg.from) << strategy;
      EXPECT_LE(trace.critical[i - 1].end, leg.begin * (1 + 1e-12)) << strategy;
    }
  }
}

TEST(CriticalWay, FollowsTheOnlyMessages) {
  // 0 → 5 on another node: rank 0 is busy first, then rank 5 waits for it and takes the message in.
  Pattern pattern{12, {{0, 5, 100}}};
  const auto exchange = view_exchange(pattern, layout, parse_strategy("standard"));
  const auto trace = trace_exchange(exchange.schedule, layout, machine());
  ASSERT_EQ(trace.critical.size(), 1U);
  EXPECT_EQ(trace.critical[0].from, 0);
  EXPECT_EQ(trace.critical[0].to, 5);
  const auto own = trace.spans_of(5);
  ASSERT_EQ(own.size(), 2U);
  EXPECT_EQ(own[0].activity, Activity::wait);
  EXPECT_EQ(own[1].activity, Activity::receive);
}

TEST(ChromeTrace, IsJsonWithTheSameEnd) {
  const auto exchange = view("two-step");
  const auto trace = trace_exchange(exchange.schedule, layout, machine());
  const auto json = Json::parse(chrome_trace(exchange, trace));
  double end = 0;
  std::size_t spans = 0;
  for (const auto& event : json["traceEvents"]) {
    if (event["ph"] != "X") continue;
    ++spans;
    end = std::max(end, event["ts"].get<double>() + event["dur"].get<double>());
    EXPECT_EQ(event["pid"], layout.node(event["tid"].get<int>()));
  }
  EXPECT_EQ(spans, trace.spans.size());
  EXPECT_NEAR(end, trace.cost.seconds * 1e6, 1e-4);
}

TEST(Matrices, HaveTheTotalsOfPatternAndStages) {
  const auto exchange = view("two-step");
  const auto json = Json::parse(draw_matrices(exchange).json);
  ASSERT_EQ(json["matrices"].size(), exchange.schedule.stages.size() + 1);
  EXPECT_EQ(json["matrices"][0]["messages"], exchange.pattern.messages());
  double bytes = 0;
  for (const auto& message : exchange.schedule.stages[0].messages) bytes += static_cast<double>(message.bytes);
  EXPECT_EQ(json["matrices"][1]["bytes"], bytes);
  EXPECT_EQ(json["matrices"][1]["messages"], exchange.schedule.stages[0].messages.size());
}

TEST(Matrices, AreBinnedToFewCells) {
  const auto big = Layout::with_ppn(3000, 30);
  const auto exchange =
      view_exchange(generate_pattern("random:ranks=3000,bytes=8,degree=40"), big, parse_strategy("stfw,n=2"));
  const auto picture = draw_matrices(exchange);
  const auto json = Json::parse(picture.json);
  EXPECT_EQ(json["matrices"][0]["ranks_in_a_cell"], 6);
  EXPECT_LE(json["matrices"][0]["cells"].get<int>(), 512);
  EXPECT_LE(json["matrices"][1]["cells"].get<int>(), 256);
  EXPECT_LE(picture.body.size(), 400000U);
}

TEST(LayoutPicture, CountsMovedRanks) {
  const auto exchange = view("stfw,n=3,placed");
  ASSERT_EQ(exchange.positions.size(), 12U);
  const auto json = Json::parse(draw_layout(exchange).json);
  int stays = 0;
  for (Rank rank = 0; rank < 12; ++rank) stays += exchange.positions[at(rank)] == rank;
  EXPECT_EQ(json["plays_itself"], stays);
  EXPECT_EQ(json["plays_itself"].get<int>() + json["plays_same_node"].get<int>() + json["plays_other_node"].get<int>(),
            12);
  const auto big = view_exchange(generate_pattern("random:ranks=5000,bytes=8,degree=1"), Layout::with_ppn(5000, 50),
                                 parse_strategy("standard"));
  EXPECT_THROW(draw_layout(big), InputError);
}

TEST(LayoutPicture, HasTheLoadsOfTheSchedule) {
  const auto exchange = view("three-step");  // with leaders
  std::map<Rank, Bytes> sent, received;
  for (const auto& stage : exchange.schedule.stages)
    for (const auto& message : stage.messages) {
      sent[message.from] += message.bytes;
      received[message.to] += message.bytes;
    }
  const auto picture = draw_layout(exchange);
  Bytes most = 0, total = 0;
  for (Rank rank = 0; rank < layout.ranks(); ++rank) {
    const auto line = fmt::format("\n{0},{1},{2},{0},{3},{4}\n", rank, layout.node(rank), layout.socket(rank),
                                  sent[rank], received[rank]);
    EXPECT_NE(picture.csv.find(line), std::string::npos) << line << picture.csv;
    most = std::max(most, sent[rank] + received[rank]);
    total += sent[rank] + received[rank];
  }
  const auto json = Json::parse(picture.json);
  EXPECT_EQ(json["load_bytes_max"], most);
  EXPECT_DOUBLE_EQ(json["load_bytes_mean"].get<double>(), static_cast<double>(total) / 12);
  EXPECT_EQ(sent[json["busiest_rank"].get<int>()] + received[json["busiest_rank"].get<int>()], most);
  // The colour of the largest load, in the bar and at a rank.
  EXPECT_NE(picture.body.find("class=\"s15\""), picture.body.rfind("class=\"s15\""));
}

TEST(LayoutPicture, DrawsNodesOfAGroupTogether) {
  const auto of = [](const char* text, int ranks) {
    return draw_layout(view_exchange(generate_pattern(fmt::format("alltoall:ranks={},bytes=8", ranks)),
                                     parse_layout(text, ranks), parse_strategy("standard")));
  };
  const auto plain = of("3x1x2", 6);
  EXPECT_EQ(plain.body.find("group 0"), std::string::npos);
  EXPECT_EQ(plain.csv.find("group"), std::string::npos);
  // Nodes of the groups in turn: 0 and 2, 1 and 3.
  const auto picture = of("0.0.0,1.1.0,0.2.0,1.3.0", 4);
  std::size_t last = 0;
  for (const auto* text : {">group 0<", ">node 0<", ">node 2<", ">group 1<", ">node 1<", ">node 3<"}) {
    const auto found = picture.body.find(text);
    ASSERT_NE(found, std::string::npos) << text;
    EXPECT_GT(found, last) << text;
    last = found;
  }
  EXPECT_NE(
      picture.csv.find("plays,sent_bytes,received_bytes,group\n0,0,0,0,24,24,0\n2,2,2,2,24,24,0\n1,1,1,1,24,24,1\n3,"
                       "3,3,3,24,24,1\n"),
      std::string::npos)
      << picture.csv;
}

}  // namespace
}  // namespace commpass
