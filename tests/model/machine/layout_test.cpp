#include "model/machine/layout.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "model/support.hpp"

namespace commpass {
namespace {

using test::error_of;
using test::expect_sentence;

TEST(LayoutText, OfNodesAndRanks) {
  const auto layout = parse_layout("3x4");
  EXPECT_EQ(layout.ranks(), 12);
  EXPECT_EQ(layout.nodes(), 3);
  EXPECT_EQ(layout.sockets(), 3);
  EXPECT_TRUE(layout.even());
  EXPECT_EQ(layout.describe(), "3 nodes x 4 ranks");
  EXPECT_EQ(layout.node(5), 1);
  EXPECT_EQ(layout.local(5), 1);
}

TEST(LayoutText, OfNodesSocketsAndRanks) {
  const auto layout = parse_layout("2x2x3");
  EXPECT_EQ(layout.ranks(), 12);
  EXPECT_EQ(layout.sockets(), 4);
  EXPECT_EQ(layout.channel_level(0, 2), standard_level::socket);
  EXPECT_EQ(layout.channel_level(0, 3), standard_level::node);
  EXPECT_EQ(layout.channel_level(0, 6), standard_level::network);
  EXPECT_EQ(layout.local(5), 5) << "local ranks count over the sockets of a node";
}

TEST(LayoutText, OfOneEntryARank) {
  const auto layout = parse_layout("7,3,7,7", 4);
  EXPECT_EQ(layout.nodes(), 2);
  EXPECT_EQ(layout.node(0), 0) << "nodes are numbered in the order of their first rank";
  EXPECT_EQ(layout.node(1), 1);
  EXPECT_EQ(layout.local(2), 1);
  EXPECT_EQ(layout.local(3), 2);
  EXPECT_EQ(layout.max_ppn(), 3);
  EXPECT_FALSE(layout.even());
  EXPECT_EQ(layout.describe(), "2 nodes, 1 to 3 ranks each");
  EXPECT_EQ((std::vector<Rank>(layout.ranks_of(0).begin(), layout.ranks_of(0).end())), (std::vector<Rank>{0, 2, 3}));
}

TEST(LayoutText, OfOneEntryARankWithSockets) {
  const auto layout = parse_layout("0.0,0.1,1.0,0.1");
  EXPECT_EQ(layout.sockets(), 3);
  EXPECT_EQ(layout.channel_level(0, 1), standard_level::node);
  EXPECT_EQ(layout.channel_level(1, 3), standard_level::socket);
  EXPECT_EQ(layout.channel_level(1, 2), standard_level::network);
}

TEST(LayoutText, OfGroupsNodesSocketsAndRanks) {
  const auto layout = parse_layout("2x3x1x4");
  EXPECT_EQ(layout.ranks(), 24);
  EXPECT_EQ(layout.nodes(), 6);
  EXPECT_EQ(layout.groups(), 2);
  EXPECT_EQ(layout.group(2), 0);
  EXPECT_EQ(layout.group(3), 1);
  EXPECT_EQ(layout.ranks_of_group(1), 12);
  EXPECT_EQ(layout.nodes_of_each_group(), 3);
  EXPECT_EQ(layout.level(0, 11), standard_level::group);
  EXPECT_EQ(layout.level(0, 12), standard_level::network);
  EXPECT_EQ(layout.describe(), "6 nodes x 4 ranks, 2 groups");
  EXPECT_EQ(parse_layout("1x3x1x4").level(0, 11), standard_level::network) << "of a single group nothing is shared";
  EXPECT_EQ(parse_layout("6x4").groups(), 1);
  EXPECT_EQ(parse_layout("6x4").nodes_of_each_group(), 0);
}

TEST(LayoutText, OfOneEntryARankWithGroups) {
  const auto layout = parse_layout("7.0.0,7.0.1,3.0.0,7.1.0");
  EXPECT_EQ(layout.groups(), 2);
  EXPECT_EQ(layout.nodes(), 3) << "each group has nodes of its own";
  EXPECT_EQ(layout.channel_level(0, 1), standard_level::node);
  EXPECT_EQ(layout.level(0, 2), standard_level::network) << "groups are numbered in the order of their first rank";
  EXPECT_EQ(layout.level(0, 3), standard_level::group);
  EXPECT_EQ(layout.ranks_of_group(0), 3);
  EXPECT_EQ(layout.nodes_of_each_group(), 0) << "one has two, the other one";
}

TEST(LayoutText, OfALayoutMakesTheSame) {
  for (const auto* text : {"0,0,1", "0.0,0.1,1.2", "0.0.0,1.1.1,0.0.0,1.2.2"})
    EXPECT_EQ(places_text(parse_layout(text)), text);
  EXPECT_EQ(places_text(parse_layout("2x1x2x1")), "0.0.0,0.0.1,1.1.2,1.1.3") << "numbers are of the whole machine";
}

TEST(LayoutOfRanks, KeepsTheirPlaces) {
  const auto layout = layout_of_ranks(parse_layout("2x2x1x2"), std::vector<Rank>{6, 1, 7, 0});
  EXPECT_EQ(layout.nodes(), 2);
  EXPECT_EQ(layout.groups(), 2);
  EXPECT_EQ(layout.channel_level(0, 2), standard_level::socket);
  EXPECT_EQ(layout.level(1, 3), standard_level::socket);
  EXPECT_EQ(layout.level(0, 1), standard_level::network);
}

TEST(LayoutWithPpn, HasTheRestOnItsLastNode) {
  const auto layout = Layout::with_ppn(10, 4);
  EXPECT_EQ(layout.nodes(), 3);
  EXPECT_EQ(layout.ppn(0), 4);
  EXPECT_EQ(layout.ppn(2), 2);
  EXPECT_EQ(Layout::with_ppn(3, 8).nodes(), 1);
  expect_sentence(error_of([] { Layout::with_ppn(0, 4); }), {"layout"});
  expect_sentence(error_of([] { Layout::with_ppn(4, 0); }), {"layout"});
}

TEST(LayoutText, ThatIsWrongIsRefused) {
  struct Bad {
    const char* text;
    std::vector<std::string> parts;
  };
  const Bad bad[] = {{"", {"entry '' is no node"}},
                     {"x", {"'' is no number"}},
                     {"4x", {"layout 4x", "'' is no number", "4x8"}},
                     {"4xa", {"'a' is no number"}},
                     {"0x4", {"0 nodes", "positive"}},
                     {"-1x4", {"-1 nodes"}},
                     {"4x4x4x4x4x4x4", {"it has 7 factors", "node=4,core=8"}},
                     {"1000000x1000000", {"at most"}},
                     {"2147483647x2147483647x2147483647", {"at most"}},
                     {"99999999999x2", {"'99999999999' is no number"}},
                     {"0,1,", {"layout 0,1,", "entry '' is no node", "0,0,1,1"}},
                     {"0,-1", {"entry '-1' is no node"}},
                     {"0,1.5", {}},  // node 1, socket 5
                     {"0,1.5.2", {"only some of its entries have a group"}},
                     {"0.1.5.2", {"entry '0.1.5.2' is no node", "GROUP.NODE.SOCKET"}},
                     {"0x4x2x8", {"0 groups"}},
                     {"1000x1000x1000x1000", {"at most"}},
                     {"0,1.", {"entry '1.' is no node"}},
                     {"0;1", {"entry '0;1' is no node"}},
                     {"0 1", {"entry '0 1' is no node"}}};
  for (const auto& [text, parts] : bad) {
    SCOPED_TRACE(text);
    const auto message = error_of([&, t = std::string(text)] { parse_layout(t); });
    if (parts.empty()) EXPECT_EQ(message, "");
    else expect_sentence(message, parts);
  }
  expect_sentence(error_of([] { parse_layout("2x4", 9); }), {"layout 2x4", "8 ranks but 9"});
  expect_sentence(error_of([] { Layout(std::vector{0, 1}, std::vector{0}); }), {"layout", "2 ranks", "1"});
  expect_sentence(error_of([] { Layout(std::vector{0, 1}, {}, std::vector{0}); }), {"layout", "2 ranks", "1"});
  expect_sentence(error_of([] {
                    Layout(std::vector{5, 5}, {}, std::vector{0, 1});
                  }),
                  {"rank 1 is in another group", "same group"});
}

TEST(LayoutText, OfTheWrongSizeIsRefusedBeforeTheLayoutIsBuilt) {
  const auto begin = std::chrono::steady_clock::now();
  expect_sentence(error_of([] { parse_layout("8192x8192", 4); }), {"67108864 ranks but 4"});
  EXPECT_EQ(ranks_of_layout("8192x2x4096"), 67108864);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(500))
      << "building it takes seconds and gigabytes";
}

TEST(LayoutText, SurvivesDamage) {
  for (const auto* text : {"4x2x8", "0,0,1,1,2", "0.0,0.1,1.0,1.1"})
    test::expect_robust(text, [](const std::string& damaged) { parse_layout(damaged); });
}

}  // namespace
}  // namespace commpass
