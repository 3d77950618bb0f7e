// The text form of strategies of sparse dynamic data exchanges.
#include "model/route/sparse_strategy.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/base/text.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

using test::error_of;
using test::expect_sentence;

TEST(SparseStrategyText, IsReadBackForEverythingThatIsSuggested) {
  for (const int ranks : {1, 2, 7, 16, 40})
    for (const bool constant : {false, true})
      for (const auto& strategy : suggest_sparse_strategies(Layout::with_ppn(ranks, 4), constant)) {
        const auto text = to_string(strategy);
        EXPECT_EQ(parse_sparse_strategy(text), strategy) << text;
        EXPECT_EQ(to_string(parse_sparse_strategy(text)), text);
      }
}

TEST(SparseStrategyText, HasOneCanonicalForm) {
  EXPECT_EQ(to_string(parse_sparse_strategy("direct+nbx")), "direct+nbx");
  EXPECT_EQ(to_string(parse_sparse_strategy("standard+nbx")), "direct+nbx");
  EXPECT_EQ(to_string(parse_sparse_strategy("two-step,local=4x4+reduce")), "two-step,local=4x4+reduce");
  EXPECT_EQ(to_string(parse_sparse_strategy("stfw,n=2+dense")), "stfw,n=2+dense");
  EXPECT_TRUE(parse_sparse_strategy("direct+rma").is_direct());
  EXPECT_FALSE(parse_sparse_strategy("two-step+nbx").is_direct());
  EXPECT_EQ(to_string(parse_sparse_strategy("standard,shared+nbx")), "direct,shared+nbx");
  EXPECT_EQ(to_string(parse_sparse_strategy("stfw,shared,n=2+dense")), "stfw,n=2,shared+dense");
  EXPECT_TRUE(parse_sparse_strategy("direct,shared+nbx").is_direct());
}

TEST(SparseStrategyText, ThatIsWrongIsRefusedInOneSentence) {
  struct Bad {
    const char* text;
    std::vector<std::string> parts;
  };
  const Bad bad[] = {
      {"", {"names no discovery", "ROUTE+DISCOVERY"}},
      {"direct", {"sparse strategy direct", "names no discovery", "nbx, reduce, allreduce, rma, dense"}},
      {"direct+", {"no discovery ''"}},
      {"direct+telepathy", {"no discovery 'telepathy'", "nbx"}},
      {"+nbx", {"strategy"}},
      {"nowhere+nbx", {"nowhere"}},
      {"stfw+nbx", {"either n or dims"}},
      {"direct,window=2+nbx", {"window", "cannot count rounds"}},
      {"directly+nbx", {"strategy directly", "there is none of that name"}},
      {"standard,window=2+nbx", {"window", "cannot count rounds"}},
      {"standard,large-first+nbx", {"direct route has no parameters", "direct+nbx"}},
      {"two-step,staggered+nbx", {"staggered", "cannot count rounds"}},
      {"three-step+nbx", {"the whole pattern", "two-step"}},
      {"split,cap=1KiB+dense", {"the whole pattern"}},
      {"tuna,radix=auto+dense", {"strategy tuna,radix=auto+dense", "sparse exchanges", "name a number"}},
      {"direct,shared+rma", {"rma puts messages into a window", "leave 'shared' out"}},
      {"direct,shared,shared+nbx", {"shared is given twice"}},
      {"two-step+rma", {"rma needs the direct route", "direct+rma"}},
  };
  for (const auto& [text, parts] : bad) {
    SCOPED_TRACE(text);
    expect_sentence(error_of([&, &wrong = text] { parse_sparse_strategy(wrong); }), parts);
  }
}

TEST(SparseStrategies, PutIntoSlotsOnlyWhereSizesAreConstant) {
  const auto layout = Layout::with_ppn(16, 4);
  const auto has_rma = [&](bool constant) {
    return std::ranges::any_of(suggest_sparse_strategies(layout, constant),
                               [](const auto& strategy) { return strategy.discovery == Discovery::rma; });
  };
  EXPECT_TRUE(has_rma(true));
  EXPECT_FALSE(has_rma(false));
}

TEST(SparseStrategies, ShareMemoryWhereNodesHaveSeveralRanks) {
  const auto shared_of = [](const Layout& layout) {
    return std::ranges::count_if(suggest_sparse_strategies(layout, true),
                                 [](const auto& strategy) { return strategy.route.path.is_shared; });
  };
  EXPECT_EQ(shared_of(Layout::with_ppn(4, 1)), 0);
  EXPECT_EQ(shared_of(Layout::with_ppn(2, 2)), 4) << "all discoveries but rma";
}

TEST(SparseStrategies, AreThoseOfTheRoutesThatDifferOnALayout) {
  EXPECT_EQ(suggest_sparse_strategies(Layout::with_ppn(1, 1), false).size(), 4U) << "a single rank: direct alone";
  for (const auto& strategy : suggest_sparse_strategies(Layout::with_ppn(8, 8), false))
    EXPECT_NE(strategy.route.route, "two-step") << "one node";
}

TEST(Discoveries, AreTheTableOfTheDocumentation) {
  const auto lines = split(test::contents_of(COMMPASS_TEST_STRATEGIES), '\n');
  for (const auto& row : discoveries()) {
    const auto line =
        "| `" + std::string(row.name) + "` | " + row.summary + " | " + row.memory + " | " + row.source + " |";
    EXPECT_EQ(std::ranges::count(lines, line), 1) << line;
  }
}

}  // namespace
}  // namespace commpass
