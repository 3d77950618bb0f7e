// Layouts and machines of any levels, and what messages cost there.
#include <gtest/gtest.h>

#include <random>

#include "model/cost/cost.hpp"
#include "model/machine/profile.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

using test::error_of;
using test::expect_sentence;

std::vector<std::string> names_of(const Layout& layout) {
  std::vector<std::string> names;
  for (const auto& level : layout.told()) names.push_back(level.name);
  return names;
}

/// A machine with these levels, and a channel of its own for each of `with_channel`: alpha 1 us at the innermost, and
/// ten times as much at each further one.
Machine machine_of(const std::vector<std::string>& names, const std::vector<std::string>& with_channel) {
  Machine machine;
  machine.name = "levels";
  machine.levels.clear();
  for (const auto& name : names) machine.levels.push_back({.name = name});
  Seconds alpha_s = 1e-6;
  for (const auto& name : with_channel) {
    test::set_channel(machine, machine.level(name), {{Protocol{"any", test::no_limit, alpha_s, 0, alpha_s}}});
    alpha_s *= 10;
  }
  return machine;
}

Seconds seconds_of(const Layout& layout, const Machine& machine, const Pattern& pattern) {
  return evaluate(test::schedule_of("standard", layout, pattern), layout, machine).seconds;
}

TEST(LayoutOfLevels, HasAsManyFactorsAsTheMachineHasLevels) {
  const auto layout = parse_layout("2x2x2x2x3");
  EXPECT_EQ(names_of(layout), (std::vector<std::string>{"numa", "socket", "node", "group"}));
  EXPECT_EQ(layout.ranks(), 48);
  EXPECT_EQ(layout.nodes(), 4);
  EXPECT_EQ(layout.sockets(), 8);
  EXPECT_EQ(layout.groups(), 2);
  EXPECT_EQ(layout.describe(), "4 nodes x 12 ranks, 16 numas, 8 sockets, 2 groups");
  EXPECT_EQ(names_of(parse_layout("2x2x2x2x2x2")).front(), "cache");
}

TEST(LayoutOfLevels, TellsOfTwoRanksTheInnermostOneTheyShare) {
  const auto layout = parse_layout("node=2,socket=2,numa=2,core=3");
  ASSERT_EQ(layout.ranks(), 24);
  const auto names = layout.level_names();
  const auto level = [&](Rank a, Rank b) { return names[layout.level(a, b)]; };
  EXPECT_EQ(level(0, 2), "numa");
  EXPECT_EQ(level(0, 3), "socket");
  EXPECT_EQ(level(0, 6), "node");
  EXPECT_EQ(level(0, 12), "network");
}

TEST(LayoutOfLevels, MayBeUneven) {
  const auto layout = parse_layout("node.numa:0.0,0.1,0.1,1.5");
  EXPECT_EQ(layout.nodes(), 2);
  EXPECT_EQ(layout.told().front().instances(), 3);
  EXPECT_EQ(layout.level_names()[layout.level(1, 2)], "numa");
  EXPECT_EQ(layout.level_names()[layout.level(0, 1)], "node");
}

TEST(LayoutOfLevels, IsReadFromItsOwnText) {
  std::mt19937 draw(5);
  for (int i = 0; i < 200; ++i) {
    std::vector<Layout::LevelIds> levels{{"numa", {}}, {"socket", {}}, {"node", {}}, {"group", {}}};
    if (i % 2 == 0) levels.erase(levels.begin());
    if (i % 3 == 0) levels.pop_back();
    const int ranks = 1 + static_cast<int>(draw() % 20);
    for (int rank = 0; rank < ranks; ++rank)
      for (auto& level : levels) level.ids.push_back(static_cast<int>(draw() % 3));
    const Layout layout(levels), again = parse_layout(places_text(layout), ranks);
    EXPECT_EQ(layout.describe(), again.describe()) << places_text(layout);
    for (Rank a = 0; a < ranks; ++a)
      for (Rank b = 0; b < ranks; ++b)
        EXPECT_EQ(layout.level_names()[layout.level(a, b)], again.level_names()[again.level(a, b)]);
  }
}

TEST(LayoutOfLevels, IsRefusedInOneSentence) {
  const auto refused = [](const std::string& text, const std::string& why) {
    expect_sentence(error_of([&] { parse_layout(text); }), {why});
  };
  refused("socket=2,core=4", "no level is named node");
  refused("node=2,numa=2,numa=2,core=4", "level 'numa' twice");
  refused("node=2,Numa=2,core=4", "'Numa' is no name of a level");
  refused("node=2,numa=x,core=4", "is no number");
  refused("node=2,numa=0,core=4", "is no layout");
  refused("node=2,node=2,core=2", "it has level 'node' twice");
  refused("node=2,core=2,node=2", "it has level 'node' twice");
  refused("node=2,core=2,core=2", "it has level 'core' twice");
  refused("1x1x1x1x1x1x1", "it has 7 factors");
  refused("node.numa:0.0,1", "has another number of levels");
}

TEST(LayoutOfLevels, IsRefusedInOneShortSentenceWhereItHasAMillionLevelsOrRanks) {
  const auto repeated = [](const std::string& begin, const std::string& part, const std::string& end) {
    std::string text = begin;
    for (int i = 0; i < 1'000'000; ++i) text += part;
    return text + end;
  };
  for (const auto& [text, why] :
       {std::pair(repeated("node=1", ",l=1", ""), "levels; use 7 at most"),
        std::pair(repeated("1", "x1", ""), "levels; use 7 at most"),
        std::pair(repeated("node", ".l", ":0"), "levels; use 7 at most"),
        std::pair(repeated("0", ".0", ""), "is no node"), std::pair(repeated("node:0", ".0", ""), "is no node"),
        std::pair(repeated("node=2,", "l", "=y"), "is no number"),
        std::pair(repeated("node=2,", "L", "=2,core=2"), "is no name of a level"),
        std::pair(repeated("0", ",0", ",?"), "entry '?' is no node")}) {
    const auto error = error_of([&, &text = text] { parse_layout(text); });
    expect_sentence(error, {why});
    EXPECT_LT(error.size(), 300U);
  }
}

TEST(LayoutOfLevels, MayNestStandardLevelsInAnotherOrder) {
  const auto layout = parse_layout("socket=2,group=2,node=3,core=2");
  EXPECT_EQ(layout.level_names(), (std::vector<std::string>{"node", "group", "socket", "network"}));
  EXPECT_EQ(layout.nodes(), 12);
  EXPECT_EQ(layout.groups(), 4);
  EXPECT_EQ(layout.sockets(), layout.nodes()) << "nodes have no part of a socket";
  const auto within = parse_layout("node=3,group=2,core=2");
  EXPECT_EQ(within.groups(), 1) << "of all nodes";
  EXPECT_EQ(within.level_names()[within.level(0, 1)], "group");
}

TEST(Levels, GiveEachMessageTheChannelOfItsOwn) {
  const auto machine =
      machine_of({"cache", "numa", "socket", "node", "network"}, {"cache", "numa", "socket", "node", "network"});
  const auto layout = parse_layout("node=2,socket=2,numa=2,cache=2,core=2");
  const Rank others[] = {1, 2, 4, 8, 16};
  Seconds alpha_s = 1e-6;
  for (const Rank other : others) {
    EXPECT_DOUBLE_EQ(seconds_of(layout, machine, {32, {{0, other, 1}}}), alpha_s) << other;
    alpha_s *= 10;
  }
}

TEST(Levels, WithoutAChannelTakeThatOfTheNextOuterOne) {
  const auto machine = machine_of({"cache", "numa", "socket", "node", "network"}, {"numa", "node", "network"});
  const auto layout = parse_layout("node=2,socket=2,numa=2,cache=2,core=2");
  EXPECT_DOUBLE_EQ(seconds_of(layout, machine, {32, {{0, 1, 1}}}), 1e-6);
  EXPECT_DOUBLE_EQ(seconds_of(layout, machine, {32, {{0, 4, 1}}}), 1e-5) << "sockets are priced like nodes";
  EXPECT_DOUBLE_EQ(seconds_of(layout, machine, {32, {{0, 16, 1}}}), 1e-4);
}

TEST(Levels, ThatTheMachineDoesNotHaveChangeNoPrice) {
  auto machine = test::small_cluster();
  machine.levels[standard_level::node].down_rate_bytes_per_s = 8e9;
  machine.levels[standard_level::node].inside_rate_bytes_per_s = 2e10;
  test::set_channel(machine, standard_level::node, {{Protocol{"eager", test::no_limit, 8e-7, 2e-10, 3e-7}}, 1e-9});
  const auto plain = parse_layout("4x2x4"), fine = parse_layout("node=4,socket=2,numa=2,cache=2,core=1");
  std::mt19937 draw(3);
  for (const char* strategy : {"standard", "two-step", "tuna,radix=3", "stfw,n=2", "three-step"})
    for (int i = 0; i < 5; ++i) {
      Pattern pattern{32, {}};
      for (int edge = 0; edge < 60; ++edge)
        pattern.edges.push_back(
            {static_cast<Rank>(draw() % 32), static_cast<Rank>(draw() % 32), static_cast<Bytes>(draw() % 20000)});
      const auto schedule = test::schedule_of(strategy, plain, pattern);
      EXPECT_EQ(evaluate(schedule, plain, machine).seconds, evaluate(schedule, fine, machine).seconds) << strategy;
    }
}

TEST(Levels, ThatTheMachineNestsInAnotherOrderAreLeftOut) {
  const auto machine = machine_of({"numa", "cache", "node", "pod", "rack", "network"},
                                  {"numa", "cache", "node", "pod", "rack", "network"});
  const auto layout = parse_layout("pod=2,rack=2,node=2,numa=2,cache=2,core=2");
  EXPECT_EQ(layout.levels_among(machine.levels),
            (std::vector<std::optional<Level>>{std::nullopt, Level{0}, Level{2}, Level{4}, std::nullopt}));
  const auto seconds = [&](Rank other) { return seconds_of(layout, machine, {64, {{0, other, 1}}}); };
  EXPECT_DOUBLE_EQ(seconds(1), 1e-6);
  EXPECT_DOUBLE_EQ(seconds(2), 1e-6) << "the NUMA domain stands in for its caches";
  EXPECT_DOUBLE_EQ(seconds(4), 1e-4);
  EXPECT_DOUBLE_EQ(seconds(8), 1e-2) << "a rack";
  EXPECT_DOUBLE_EQ(seconds(16), 1e-1) << "the network stands in for pods of racks";
  const auto inside_out = parse_layout("socket=2,node=2,core=2").on(test::small_cluster());
  EXPECT_EQ(inside_out.channel_level(0, 1), standard_level::socket);
  EXPECT_EQ(inside_out.channel_level(0, 2), standard_level::network);
}

TEST(Levels, ShareRatesOutOfAndIntoTheirInstances) {
  const auto layout = parse_layout("node=1,socket=2,numa=2,core=2");
  constexpr Bytes bytes = 1'000'000;
  constexpr double rate = 1e9;
  const auto machine_with = [&](const char* level, double MachineLevel::*shared) {
    auto machine = machine_of({"numa", "socket", "node", "network"}, {"numa", "socket", "node", "network"});
    for (auto& channel : machine.host.by_level)
      if (channel) channel->protocols[0] = Protocol{"any", test::no_limit, 0, 1 / (2 * rate), 0, 0.0};
    machine.levels[machine.level(level)].*shared = rate;
    return machine;
  };
  const Pattern out_of_a_numa{8, {{0, 2, bytes}, {1, 3, bytes}}}, within{8, {{0, 1, bytes}, {1, 0, bytes}}},
      out_of_a_socket{8, {{0, 4, bytes}, {2, 6, bytes}}}, into_one{8, {{2, 0, bytes}, {4, 1, bytes}}};
  const auto both = 2 * static_cast<double>(bytes) / rate, one = static_cast<double>(bytes) / rate, alone = one / 2;
  const auto up = machine_with("numa", &MachineLevel::up_rate_bytes_per_s);
  EXPECT_NEAR(seconds_of(layout, up, out_of_a_numa), both, 1e-9);
  EXPECT_NEAR(seconds_of(layout, up, out_of_a_socket), one, 1e-9) << "from two NUMA domains";
  EXPECT_NEAR(seconds_of(layout, up, within), alone, 1e-9);
  const auto down = machine_with("numa", &MachineLevel::down_rate_bytes_per_s);
  EXPECT_NEAR(seconds_of(layout, down, into_one), both, 1e-9);
  const auto of_socket = machine_with("socket", &MachineLevel::up_rate_bytes_per_s);
  EXPECT_NEAR(seconds_of(layout, of_socket, out_of_a_socket), both, 1e-9);
  EXPECT_NEAR(seconds_of(layout, of_socket, out_of_a_numa), alone, 1e-9) << "they stay on the socket";
  const auto inside = machine_with("socket", &MachineLevel::inside_rate_bytes_per_s);
  EXPECT_NEAR(seconds_of(layout, inside, out_of_a_numa), both, 1e-9);
}

TEST(Levels, AreThoseOfTheFile) {
  auto machine =
      machine_of({"cache", "numa", "socket", "node", "rack", "everything"}, {"cache", "numa", "node", "everything"});
  machine.levels[4].up_rate_bytes_per_s = 3e9;
  machine.levels[4].messages_in_flight = 64;
  const auto again = parse_profile(to_json({machine, "{}"}), "own").machine;
  EXPECT_EQ(again, machine);
  const auto layout = parse_layout("rack=2,node=2,socket=1,numa=2,core=2");
  EXPECT_DOUBLE_EQ(seconds_of(layout, machine, {16, {{0, 1, 1}}}), 1e-6) << "nearest, where the layout tells no more";
  EXPECT_DOUBLE_EQ(seconds_of(layout, machine, {16, {{0, 4, 1}}}), 1e-3) << "racks are priced like everything";
}

}  // namespace
}  // namespace commpass
