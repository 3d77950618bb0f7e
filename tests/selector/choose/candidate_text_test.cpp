#include "selector/choose/candidate_text.hpp"
#include "model/base/json.hpp"

#include <gtest/gtest.h>

#include "model/support.hpp"

namespace commpass {
namespace {

TEST(CandidatesAsText, ComeBackToTheLastBit) {
  const Candidate bare{parse_strategy("standard,window=3"), {0.1 + 0.2, {}}};
  Candidate full{parse_strategy("stfw,dims=4x4,staggered"),
                 {1e-300, {{"dimension 1 of 2", 3, std::int64_t{1} << 60, 1.0 / 3, {1e-9, 2e-9, 0, -0.0, 5e-324}}, {}}},
                 7,
                 std::int64_t{1} << 50,
                 (std::int64_t{1} << 53) + 1};
  full.plan_seconds = 2.0 / 3;
  full.cost.sampling_error = 1.0 / 7;
  const std::vector<Candidate> given{bare, full};
  const auto read = parse_candidates(to_text(given));
  ASSERT_EQ(read.size(), given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    EXPECT_EQ(read[i].strategy, given[i].strategy);
    EXPECT_EQ(read[i].cost.seconds, given[i].cost.seconds);
    EXPECT_EQ(read[i].cost.sampling_error, given[i].cost.sampling_error);
    EXPECT_EQ(read[i].buffered_blocks_max, given[i].buffered_blocks_max);
    EXPECT_EQ(read[i].buffered_bytes_max, given[i].buffered_bytes_max);
    EXPECT_EQ(read[i].bytes_sent, given[i].bytes_sent);
    EXPECT_EQ(read[i].plan_seconds, given[i].plan_seconds);
    ASSERT_EQ(read[i].cost.stages.size(), given[i].cost.stages.size());
    for (std::size_t s = 0; s < given[i].cost.stages.size(); ++s) {
      const auto &a = read[i].cost.stages[s], &b = given[i].cost.stages[s];
      EXPECT_EQ(a.label, b.label);
      EXPECT_EQ(a.messages_max, b.messages_max);
      EXPECT_EQ(a.bytes_max, b.bytes_max);
      EXPECT_EQ(a.seconds, b.seconds);
      EXPECT_EQ(a.parts, b.parts);
    }
  }
  EXPECT_TRUE(parse_candidates(to_text({})).empty());
}

TEST(CandidatesAsText, AreRefusedIfTheyAreSomethingElse) {
  for (const auto* text : {"", "x", "candidates"})
    EXPECT_FALSE(test::error_of([&] { parse_candidates(text); }).empty()) << text;
  // Lists in lists without end.
  EXPECT_FALSE(test::error_of([] { parse_candidates(std::string(10000000, '[')); }).empty());
  // A number of blocks that is none: 7.5 in place of 7.
  const auto with_blocks = [](auto blocks) {
    return Json::array({Json::array(
        {"standard", 1.0, Json::array(), blocks, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0.0})});
  };
  const auto parse = [](const Json& json) { return parse_candidates(json.dump()); };
  EXPECT_EQ(parse(with_blocks(7)).front().buffered_blocks_max, 7);
  EXPECT_FALSE(test::error_of([&] { parse(with_blocks(1e300)); }).empty());
}

}  // namespace
}  // namespace commpass
