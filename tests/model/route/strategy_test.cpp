// The text form of strategies.
#include "model/route/strategy.hpp"

#include <gtest/gtest.h>

#include "model/base/text.hpp"
#include "model/route/sparse_strategy.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

using test::error_of;
using test::expect_sentence;

TEST(StrategyText, IsReadBackForEverythingThatTheCatalogueSuggests) {
  for (const int ranks : {1, 2, 3, 7, 16, 40, 64}) {
    const auto layout = Layout::with_ppn(ranks, 4);
    for (const auto& strategy : test::strategies_for(layout)) {
      const auto text = to_string(strategy);
      EXPECT_EQ(parse_strategy(text), strategy) << text;
      EXPECT_EQ(to_string(parse_strategy(text)), text);
    }
  }
}

TEST(StrategyText, HasOneCanonicalForm) {
  EXPECT_EQ(to_string(parse_strategy("standard")), "standard");
  EXPECT_EQ(to_string(parse_strategy("standard,window=unlimited")), "standard");
  EXPECT_EQ(to_string(parse_strategy("standard,window=8")), "standard,window=8");
  EXPECT_EQ(to_string(parse_strategy("tuna,window=1,radix=4")), "tuna,radix=4");
  EXPECT_EQ(to_string(parse_strategy("tuna,window=unlimited,radix=4")), "tuna,radix=4,window=unlimited");
  EXPECT_EQ(to_string(parse_strategy("stfw,window=2,dims=16x16x8")), "stfw,dims=16x16x8,window=2");
  EXPECT_EQ(to_string(parse_strategy("stfw,n=3")), "stfw,n=3");
  EXPECT_EQ(to_string(parse_strategy("stfw,placed,staggered,n=3")), "stfw,n=3,placed,staggered");
  EXPECT_EQ(to_string(parse_strategy("two-step,node=2x4,window=8,local=4x4")), "two-step,local=4x4,node=2x4,window=8");
  EXPECT_EQ(to_string(parse_strategy("standard,staggered")), "standard,staggered");
  EXPECT_EQ(to_string(parse_strategy("standard,window=unlimited,large-first")), "standard,large-first");
  EXPECT_EQ(to_string(parse_strategy("tuna-node,staggered,window=8,radix=4")), "tuna-node,radix=4,window=8,staggered");
  EXPECT_EQ(to_string(parse_strategy("three-step,window=unlimited")), "three-step");
  EXPECT_EQ(to_string(parse_strategy("split,cap=16384")), "split,cap=16KiB");
  EXPECT_EQ(to_string(parse_strategy("split,cap=1024KiB")), "split,cap=1MiB");
  EXPECT_EQ(to_string(parse_strategy("split,cap=1000B")), "split,cap=1000");
}

TEST(StrategyText, SaysThatMemoryIsShared) {
  EXPECT_EQ(to_string(parse_strategy("standard,shared")), "standard,shared");
  EXPECT_EQ(to_string(parse_strategy("tuna,shared,staggered,radix=4")), "tuna,radix=4,staggered,shared");
  EXPECT_EQ(to_string(parse_strategy("three-step,shared@staged")), "three-step,shared@staged");
  EXPECT_TRUE(parse_strategy("two-step,shared").path.is_shared);
  EXPECT_NE(parse_strategy("two-step,shared"), parse_strategy("two-step")) << "another strategy";
  EXPECT_EQ(split_strategies("standard,shared,two-step,staggered,shared"),
            (std::vector<std::string>{"standard,shared", "two-step,staggered,shared"}));
  expect_sentence(error_of([] { parse_strategy("standard,shared,shared"); }), {"shared is given twice"});
  expect_sentence(error_of([] { parse_strategy("standard,shraed"); }), {"did you mean shared?"});
  expect_sentence(error_of([] { parse_strategy("mpi,shared"); }), {"the library moves all messages"});
  expect_sentence(error_of([] { parse_strategy("standard,shared@device"); }), {"memory of the host alone"});
  EXPECT_TRUE(parse_host_strategy("standard,shared").path.is_shared);
}

TEST(StrategyText, EndsWithThePathUnlessItIsTheHosts) {
  EXPECT_EQ(to_string(parse_strategy("standard@host")), "standard");
  EXPECT_EQ(to_string(parse_strategy("standard@device")), "standard@device");
  EXPECT_EQ(to_string(parse_strategy("standard@staged,copies=1")), "standard@staged");
  EXPECT_EQ(to_string(parse_strategy("split,cap=16384,staggered@staged,copies=04")),
            "split,cap=16KiB,staggered@staged,copies=4");
  EXPECT_EQ(to_string(parse_strategy("tuna,radix=auto@device")), "tuna,radix=auto@device");
  const auto split = parse_strategy("split,cap=2KiB@staged,copies=4");
  EXPECT_EQ(split.path, (DataPath{DataPath::Kind::staged, 4}));
  EXPECT_EQ(split.values("cap"), std::vector<std::int64_t>{2048});
  EXPECT_TRUE(parse_strategy("two-step").path.is_host());
  EXPECT_NE(parse_strategy("two-step@device"), parse_strategy("two-step")) << "another strategy";
}

TEST(StrategyText, OfAnotherPathIsRefusedWhereHostMemoryAloneIsMoved) {
  EXPECT_EQ(parse_host_strategy("two-step@host"), parse_strategy("two-step"));
  for (const auto* text : {"two-step@staged", "two-step@staged,copies=4", "two-step@device"})
    expect_sentence(error_of([&] { parse_host_strategy(text); }),
                    {std::string("strategy ") + text, "data on devices", "leave '@"});
}

TEST(StrategyText, SaysWhatItMeans) {
  const auto stfw = parse_strategy("stfw,dims=4x3x2,window=5");
  EXPECT_EQ(stfw.route, "stfw");
  EXPECT_EQ(stfw.values("dims"), (std::vector<std::int64_t>{4, 3, 2}));
  EXPECT_TRUE(stfw.values("n").empty());
  EXPECT_EQ(stfw.window, Window{5});
  EXPECT_EQ(parse_strategy("tuna,radix=4").window, Window{1}) << "the paper runs rounds one after another";
  EXPECT_TRUE(parse_strategy("two-step").window.unlimited());
  EXPECT_EQ(parse_strategy("two-step").coalescing, Coalescing::coalesced);
  EXPECT_EQ(parse_strategy("two-step,staggered").coalescing, Coalescing::staggered);
  EXPECT_TRUE(parse_strategy("tuna-node,radix=2").window.unlimited()) << "of the part between nodes";
  EXPECT_EQ(parse_strategy("split,cap=16KiB").values("cap"), std::vector<std::int64_t>{16384});
}

TEST(StrategyText, MayLeaveARadixToTheModel) {
  const auto strategy = parse_strategy("tuna-node,window=4,radix=auto,staggered");
  EXPECT_TRUE(is_automatic(strategy));
  EXPECT_EQ(to_string(strategy), "tuna-node,radix=auto,window=4,staggered");
  EXPECT_EQ(parse_strategy(to_string(strategy)), strategy);
  EXPECT_FALSE(is_automatic(parse_strategy("tuna,radix=2")));
  EXPECT_FALSE(is_automatic(parse_strategy("stfw,n=2,placed")));
  expect_sentence(error_of([&] { make_route(strategy, Layout::with_ppn(8, 4)); }),
                  {"strategy tuna-node,radix=auto,window=4,staggered does not apply", "name a number"});
}

TEST(StrategyText, ThatIsWrongIsRefusedWithTheRoutesUsage) {
  struct Bad {
    const char* text;
    std::vector<std::string> parts;
  };
  const Bad bad[] = {{"tuna,radix=1", {"strategy tuna,radix=1", "radix=1 is out of range", "tuna,radix=R"}},
                     {"tuna,radix=0", {"radix=0 is out of range"}},
                     {"tuna,radix=-2", {"radix=-2 is out of range"}},
                     {"tuna,radix=", {"radix= is out of range"}},
                     {"tuna,radix", {"radix= is out of range"}},
                     {"tuna,radix=2.5", {"radix=2.5 is out of range"}},
                     {"tuna,radix=+2", {"radix=+2 is out of range"}},
                     {"tuna,radix= 2", {"radix= 2 is out of range"}},
                     {"tuna,radix=99999999999999999999", {"radix=99999999999999999999 is out of range"}},
                     {"tuna,radix=4294967298", {"radix=4294967298 is out of range"}},  // 2³² + 2
                     {"tuna,radix=2,radix=2", {"radix is given twice"}},
                     {"tuna", {"it needs a radix", "tuna,radix=R"}},
                     {"tuna,radix=automatic", {"radix=automatic is out of range", "'auto'"}},
                     {"stfw,n=auto", {"n=auto is out of range"}},
                     {"tuna,n=2", {"'n=2' is not understood"}},
                     {"stfw", {"either n or dims"}},
                     {"stfw,n=2,dims=4x4", {"either n or dims"}},
                     {"stfw,placed", {"either n or dims"}},
                     {"stfw,n=2,placed=1", {"placed takes no value"}},
                     {"stfw,n=2,placed=", {"placed takes no value"}},
                     {"stfw,n=2,placed,placed", {"placed is given twice"}},
                     {"two-step,placed", {"'placed' is not understood"}},
                     {"standard,large-first,window=4", {"large-first", "takes no window"}},
                     {"standard,large-first,staggered", {"staggered messages go in the order of their rounds"}},
                     {"stfw,n=0", {"n=0 is out of range"}},
                     {"stfw,dims=1x4", {"dims=1x4 is out of range"}},
                     {"stfw,dims=4x", {"dims=4x is out of range"}},
                     {"stfw,dims=x4", {"dims=x4 is out of range"}},
                     {"stfw,dims=4xx4", {"dims=4xx4 is out of range"}},
                     {"stfw,dims=", {"dims= is out of range"}},
                     {"standard,", {"'' is not understood", "standard[,large-first]"}},
                     {"standard,,window=2", {"'' is not understood"}},
                     {"standard,window=2,", {"'' is not understood"}},
                     {"standard,window=2,window=2", {"window is given twice"}},
                     {"standard,window=0", {"window=0 is out of range", "unlimited"}},
                     {"standard,window=-1", {"window=-1 is out of range"}},
                     {"standard,window", {"window= is out of range"}},
                     {"standard,window=99999999999", {"window=99999999999 is out of range"}},
                     {"standard,speed=9", {"'speed=9' is not understood"}},
                     {"two-stp", {"there is none of that name", "did you mean two-step?", "commpass strategies"}},
                     {"tuna,raddix=2", {"'raddix=2' is not understood", "did you mean radix? Use tuna,radix=R"}},
                     {"standard,stagered", {"did you mean staggered? Use standard"}},
                     {"standard,two-step", {"'two-step' is a strategy of its own", "--strategies"}},
                     {"split,cap=4k", {"cap=4k is ambiguous", "write 4KiB (powers of 1024) or 4kB (powers of 1000)"}},
                     {"standard,staggered,staggered", {"staggered is given twice"}},
                     {"standard,staggered=1", {"'staggered=1' is not understood"}},
                     {"tuna-node", {"it needs a radix", "tuna-node,radix=R"}},
                     {"tuna-node,radix=1", {"radix=1 is out of range"}},
                     {"split", {"it needs a cap", "split,cap=BYTES"}},
                     {"split,cap=0", {"cap=0 is out of range"}},
                     {"split,cap=-1", {"cap=-1 is no size"}},
                     {"split,cap=16k", {"cap=16k is ambiguous"}},
                     {"split,cap=99999999999GiB", {"cap=99999999999GiB is too large"}},
                     {"split,cap=16KiB,window=2", {"no rounds", "takes no window"}},
                     {"mpi,window=8", {"strategy mpi,window=8", "the library decides", "use mpi"}},
                     {"mpi,staggered", {"the library decides"}},
                     {"mpi,radix=2", {"'radix=2' is not understood"}},
                     {"three-step,window=1", {"takes no window"}},
                     {"three-step,cap=2", {"'cap=2' is not understood"}},
                     {"", {"there is none of that name", "standard", "two-step", "local-then-node", "stfw", "tuna"}},
                     {" standard", {"strategy  standard", "there is none of that name"}},
                     {"Standard", {"there is none of that name"}},
                     {"standard@", {"strategy standard@", "'@' is no memory path", "@staged,copies=K"}},
                     {"standard@gpu", {"'@gpu' is no memory path"}},
                     {"standard@staged@staged", {"'@staged@staged' is no memory path"}},
                     {"standard@device,copies=2", {"'@device,copies=2' is no memory path"}},
                     {"standard@staged,", {"'@staged,' is no memory path"}},
                     {"standard@staged,window=2", {"'@staged,window=2' is no memory path"}},
                     {"standard@staged,copies=0", {"copies=0 is out of range"}},
                     {"standard@staged,copies=-1", {"copies=-1 is out of range"}},
                     {"standard@staged,copies=", {"copies= is out of range"}},
                     {"standard@staged,copies=99999999999", {"copies=99999999999 is out of range"}},
                     {"standard@staged,copies=2,copies=2", {"is no memory path"}},
                     {"@", {"there is none of that name"}},
                     {"@staged", {"there is none of that name"}}};
  for (const auto& [text, parts] : bad) {
    SCOPED_TRACE(text);
    expect_sentence(error_of([&, t = std::string(text)] { parse_strategy(t); }), parts);
  }
}

TEST(StrategyText, SurvivesDamage) {
  for (const auto* text : {"stfw,dims=16x16x8,window=3", "tuna,radix=8,window=unlimited", "standard,window=8",
                           "split,cap=16KiB,staggered", "tuna-node,radix=4,window=8,staggered@staged,copies=4"})
    test::expect_robust(text, [](const std::string& damaged) {
      const auto strategy = parse_strategy(damaged);
      EXPECT_EQ(parse_strategy(to_string(strategy)), strategy) << damaged;
    });
}

TEST(Strategy, ThatDoesNotFitTheLayoutSaysWhy) {
  const auto four = Layout::with_ppn(4, 2), one = Layout::with_ppn(1, 1);
  const auto reason = [](const char* text, const Layout& layout) {
    try {
      make_route(parse_strategy(text), layout);
    } catch (const NotApplicable& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).back(), '.');
      return error.reason();
    }
    return std::string();
  };
  EXPECT_NE(reason("tuna,radix=5", four).find("larger than the 4 ranks"), std::string::npos);
  EXPECT_NE(reason("tuna,radix=2", one).find("single rank"), std::string::npos);
  EXPECT_NE(reason("stfw,n=3", four).find("at most n=2"), std::string::npos);
  EXPECT_NE(reason("stfw,dims=3", four).find("product 3"), std::string::npos);
  EXPECT_NE(
      reason("two-step,node=2", Layout::with_ppn(6, 2)).find("product 2 of its dimensions is less than the 3 nodes"),
      std::string::npos);
  EXPECT_NE(reason("two-step,local=2x2", Layout::with_ppn(7, 4)).find("as many ranks on every node"),
            std::string::npos);
  EXPECT_EQ(reason("stfw,dims=3x2", four), "");
  EXPECT_EQ(reason("stfw,dims=1073741824x1073741824x1073741824x1073741824", four),
            "");  // the product is not multiplied out
  EXPECT_EQ(reason("two-step", one), "");
  EXPECT_NE(reason("tuna-node,radix=3", four).find("larger than the 2 ranks of a node"), std::string::npos);
  EXPECT_EQ(reason("three-step", one), "");
  EXPECT_EQ(reason("split,cap=1", one), "");
}

TEST(Catalogue, SuggestsStrategiesOnceAndInItsOrder) {
  for (const int ranks : {1, 2, 5, 16, 33}) {
    const auto layout = Layout::with_ppn(ranks, 4);
    const auto suggested = suggest_strategies(layout);
    ASSERT_FALSE(suggested.empty());
    EXPECT_EQ(to_string(suggested.front()), "standard");
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < suggested.size(); ++i) {
      EXPECT_EQ(std::ranges::count(suggested, suggested[i]), 1) << to_string(suggested[i]);
      EXPECT_NO_THROW(make_route(suggested[i], layout)) << to_string(suggested[i]);
      const auto row = std::ranges::find_if(catalogue(), [&](const auto& r) { return suggested[i].route == r.name; });
      rows.push_back(static_cast<std::size_t>(row - catalogue().begin()));
    }
    EXPECT_TRUE(std::ranges::is_sorted(rows));
  }
}

TEST(Catalogue, IsTheTableOfTheDocumentation) {
  const auto lines = split(test::contents_of(COMMPASS_TEST_STRATEGIES), '\n');
  for (const auto& row : catalogue()) {
    const auto end = "` | " + std::string(row.summary) + " | " + row.source + " |";
    EXPECT_EQ(std::ranges::count_if(lines,
                                    [&](const auto& line) {
                                      return line.starts_with("| `" + std::string(row.name)) && line.ends_with(end);
                                    }),
              1)
        << row.name;
  }
}

TEST(Catalogue, HasAPictureOfEachRouteInTheDocumentation) {
  const auto page = test::contents_of(COMMPASS_TEST_CONCEPTS);
  for (const auto& row : catalogue())
    EXPECT_TRUE(std::string_view(row.name) == "mpi" ||
                page.find("](pictures/paths-" + std::string(row.name) + ".svg)") != std::string::npos)
        << row.name << " has no picture in docs/concepts.md; scripts/pictures draws them";
}

TEST(DataPaths, AreTheTableOfTheDocumentation) {
  const auto lines = split(test::contents_of(COMMPASS_TEST_STRATEGIES), '\n');
  for (const auto& row : data_path_rows) {
    const auto line = std::string("| `") + row.usage + "` | " + row.summary + " | " + row.source + " |";
    EXPECT_EQ(std::ranges::count(lines, line), 1) << line;
    EXPECT_TRUE(std::string(row.usage).starts_with(row.name));
  }
}

TEST(Catalogue, LeavesOutNodeAwareRoutesWhereTheyAreStandard) {
  for (const auto* text : {"1x8", "8x1"})
    for (const auto& strategy : suggest_strategies(parse_layout(text)))
      for (const auto* name : {"two-step", "three-step", "split", "local-then-node", "tuna-node"})
        EXPECT_NE(strategy.route, name) << text;
  const auto suggested = suggest_strategies(parse_layout("2x4"));
  for (const auto* name : {"two-step", "three-step", "local-then-node"})
    EXPECT_EQ(std::ranges::count(suggested, name, &Strategy::route), 1);
  for (const auto* name : {"split", "tuna-node"}) EXPECT_GT(std::ranges::count(suggested, name, &Strategy::route), 0);
}

TEST(Suggestions, HaveDigitsForGroupsWhereTheLayoutKnowsThem) {
  const auto has = [](const char* layout, const char* text) {
    return std::ranges::count(suggest_strategies(parse_layout(layout)), parse_strategy(text)) == 1;
  };
  for (const auto* text : {"two-step,node=3x4", "local-then-node,node=3x4", "stfw,dims=15x4"}) {
    EXPECT_TRUE(has("4x3x1x5", text)) << text;
    EXPECT_FALSE(has("12x5", text)) << text;
  }
  EXPECT_EQ(std::ranges::count(suggest_strategies(parse_layout("4x1x1x5")), "two-step", &Strategy::route), 1)
      << "a group is a node";
}

TEST(Catalogue, SuggestsThePapersPoints) {
  // Radices 2, √P and P (TuNA paper), every n (STFW paper).
  const auto suggested = suggest_strategies(Layout::with_ppn(64, 1));
  for (const auto* text :
       {"tuna,radix=2", "tuna,radix=8", "tuna,radix=64", "stfw,n=2", "stfw,n=3", "stfw,n=4", "stfw,n=5", "stfw,n=6"})
    EXPECT_EQ(std::ranges::count(suggested, parse_strategy(text)), 1) << text;
  const auto node_aware = suggest_strategies(Layout::with_ppn(64, 16));
  for (const auto* text :
       {"tuna-node,radix=4", "tuna-node,radix=4,window=8,staggered", "three-step", "split,cap=16KiB"})
    EXPECT_EQ(std::ranges::count(node_aware, parse_strategy(text)), 1) << text;
}

TEST(AWindow, BatchesRounds) {
  EXPECT_EQ(Window{}.batch(17), 0);
  EXPECT_EQ(Window{3}.batch(0), 0) << "messages without a round";
  // Batch b holds rounds b·w+1 … (b+1)·w.
  for (int round = 1; round < 30; ++round) {
    const int batch = Window{4}.batch(round);
    EXPECT_GE(round, batch * 4 + 1);
    EXPECT_LE(round, (batch + 1) * 4);
  }
}

TEST(ListsOfStrategies, AreSplitWhereAnotherOneBegins) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(split_strategies("standard"), (Texts{"standard"}));
  EXPECT_EQ(split_strategies("standard,two-step"), (Texts{"standard", "two-step"}));
  EXPECT_EQ(split_strategies("stfw,n=3,standard,window=8,staggered,tuna,radix=2"),
            (Texts{"stfw,n=3", "standard,window=8,staggered", "tuna,radix=2"}));
  EXPECT_EQ(split_strategies("standard,large-first,stfw,dims=4x4,placed,two-step"),
            (Texts{"standard,large-first", "stfw,dims=4x4,placed", "two-step"}));
  EXPECT_EQ(split_strategies("standard;two-step,tuna,radix=2"), (Texts{"standard", "two-step", "tuna,radix=2"}));
  EXPECT_EQ(split_strategies("two-step@staged,copies=4,standard,staggered@device"),
            (Texts{"two-step@staged,copies=4", "standard,staggered@device"}));
  EXPECT_EQ(split_strategies("direct+nbx,stfw,n=2+reduce"), (Texts{"direct+nbx", "stfw,n=2+reduce"}));
  EXPECT_EQ(split_strategies("standard,two-stp"), (Texts{"standard", "two-stp"})) << "which is refused by its name";
  EXPECT_EQ(split_strategies("standard;;two-step"), (Texts{"standard", "", "two-step"}));
  EXPECT_EQ(split_strategies("n=2"), (Texts{"n=2"}));
}

}  // namespace
}  // namespace commpass
