#include "selector/choose/family.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "model/base/error.hpp"
#include "model/cost/equal_blocks.hpp"
#include "model/pattern/generate.hpp"
#include "selector/choose/alltoall_choice.hpp"

namespace commpass {
namespace {

constexpr int ranks_of_family = 36;

Machine some_machine() {
  Machine machine;
  machine.name = "test";
  machine.host.by_level[standard_level::network] =
      Channel{{Protocol{"all", std::numeric_limits<Bytes>::max(), 1e-5, 1e-9, 8e-6}}};
  machine.host.by_level[standard_level::socket] =
      Channel{{Protocol{"all", std::numeric_limits<Bytes>::max(), 1e-6, 1e-10, 8e-7}}};
  return machine;
}

Strategy with_radix(const std::string& family, int radix) {
  auto strategy = parse_strategy(family);
  strategy.set("radix", {radix});
  return strategy;
}

class RadixAuto : public testing::TestWithParam<const char*> {
 protected:
  const Layout layout = Layout::with_ppn(ranks_of_family, 6);
  const Machine machine = some_machine();
  const Strategy automatic = parse_strategy(GetParam());
  const int largest = automatic.route == "tuna" ? ranks_of_family : 6;
};

TEST_P(RadixAuto, IsTheCheapestOfAnAllToAll) {
  for (const Bytes bytes : {8, 1024, 65536}) {
    const auto planned = price_alltoall(automatic, bytes, layout, machine),
               once = price_one_shot(automatic, test::equal_blocks(bytes), layout, machine);
    for (const auto& candidate : {planned, once}) {
      EXPECT_EQ(candidate.strategy, with_radix(GetParam(), static_cast<int>(candidate.strategy.values("radix")[0])))
          << "nothing else is chosen";
      EXPECT_FALSE(is_automatic(candidate.strategy));
    }
    for (int radix = 2; radix <= largest; ++radix) {
      const auto strategy = with_radix(GetParam(), radix);
      EXPECT_LE(planned.cost.seconds, price_alltoall(strategy, bytes, layout, machine).cost.seconds)
          << bytes << " " << to_string(strategy) << " " << to_string(planned.strategy);
      EXPECT_LE(once.cost.seconds, price_one_shot(strategy, test::equal_blocks(bytes), layout, machine).cost.seconds)
          << bytes << " " << to_string(strategy) << " " << to_string(once.strategy);
    }
  }
}

TEST_P(RadixAuto, WithoutAClosedFormIsRefusedByItsOwnName) {
  const std::string name = std::string(GetParam()) + ",staggered";
  try {
    price_one_shot(parse_strategy(name), test::equal_blocks(64), layout, machine);
    ADD_FAILURE() << "not refused";
  } catch (const NotApplicable& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("strategy " + name + " does not apply: it has no closed form"));
  }
}

TEST_P(RadixAuto, IsTheCheapestForAPattern) {
  const auto pattern = generate_pattern("random:ranks=36,degree=12,bytes=256");
  const auto chosen = price(automatic, pattern, layout, machine);
  EXPECT_FALSE(is_automatic(chosen.strategy));
  for (int radix = 2; radix <= largest; ++radix)
    EXPECT_LE(chosen.cost.seconds, price(with_radix(GetParam(), radix), pattern, layout, machine).cost.seconds)
        << radix;
}

TEST_P(RadixAuto, IsRankedByItsNumberAndOnce) {
  const auto chosen = price_alltoall(automatic, 1024, layout, machine).strategy;
  const auto names = [&](std::vector<Strategy> strategies) {
    std::vector<std::string> result;
    for (const auto& candidate : rank_alltoall(1024, layout, machine, CostModel::burst, strategies))
      result.push_back(to_string(candidate.strategy));
    return result;
  };
  EXPECT_THAT(names({automatic, parse_strategy("standard")}),
              testing::UnorderedElementsAre(to_string(chosen), "standard"));
  EXPECT_THAT(names({automatic, chosen, automatic}), testing::ElementsAre(to_string(chosen)));
}

TEST_P(RadixAuto, IsTheDirectExchangeWhereThereIsNothingToDivide) {
  const Strategy direct{"standard", {}, automatic.window};
  const auto pattern = generate_pattern("random:ranks=36,degree=12,bytes=256");
  for (const auto& alone : {Layout::with_ppn(1, 1), Layout::with_ppn(ranks_of_family, 1)}) {
    if (alone.ranks() > 1 && automatic.route != "tuna-node") continue;
    const auto chosen = price_alltoall(automatic, 8, alone, machine);
    EXPECT_EQ(chosen.strategy, direct);
    EXPECT_EQ(chosen.cost.seconds, price_alltoall(direct, 8, alone, machine).cost.seconds);
    EXPECT_EQ(price_one_shot(automatic, test::equal_blocks(8), alone, machine).strategy, direct);
    EXPECT_EQ(rank_alltoall(8, alone, machine, CostModel::burst, std::vector{automatic, direct}).size(), 1U) << "once";
    if (alone.ranks() == ranks_of_family) {
      EXPECT_EQ(price(automatic, pattern, alone, machine).strategy, direct);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, RadixAuto,
                         testing::Values("tuna,radix=auto", "tuna,radix=auto,window=4", "tuna-node,radix=auto"));

}  // namespace
}  // namespace commpass
