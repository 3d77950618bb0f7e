#include "model/base/nearest_names.hpp"

#include <gtest/gtest.h>

namespace commpass {
namespace {

using Names = std::vector<std::string>;

const Names routes{"standard", "two-step", "two-step-socket", "split", "stfw", "tuna", "tuna-node", "mpi"};

TEST(NearestNames, DifferInFewLetters) {
  EXPECT_EQ(nearest_names("two-stp", routes), (Names{"two-step"})) << "one is missing";
  EXPECT_EQ(nearest_names("stwf", routes), (Names{"stfw"})) << "two are swapped";
  EXPECT_EQ(nearest_names("tunna", routes), (Names{"tuna"})) << "one too many";
  EXPECT_EQ(nearest_names("sblit", routes), (Names{"split"})) << "another one";
  EXPECT_EQ(nearest_names("STANDARD", routes), (Names{"standard"}));
  EXPECT_EQ(nearest_names("--jsn", {"--help", "--json"}), (Names{"--json"})) << "hyphens do not count as letters";
  EXPECT_EQ(nearest_names("-profile", {"--profile"}), (Names{"--profile"}));
}

TEST(NearestNames, MayBeginLikeTheWord) {
  EXPECT_EQ(nearest_names("stand", routes), (Names{"standard"}));
  EXPECT_EQ(nearest_names("strategy", {"strategies", "string"}), (Names{"strategies"}));
  EXPECT_EQ(nearest_names("tuna-", routes), (Names{"tuna", "tuna-node"})) << "the nearest first";
}

TEST(NearestNames, AreAtMostThreeAndNoneWhereNoneIsNear) {
  EXPECT_EQ(nearest_names("ab", {"abc", "abd", "abe", "abf"}), (Names{"abc", "abd", "abe"}));
  for (const auto* word : {"fastest", "", "x", "--", "m"}) EXPECT_EQ(nearest_names(word, routes), Names{}) << word;
  EXPECT_EQ(nearest_names(std::string(100000, 's'), routes), Names{}) << "nor does that take long";
}

TEST(NearestNames, MakeAQuestion) {
  EXPECT_EQ(did_you_mean("two-stp", routes), "did you mean two-step? ");
  EXPECT_EQ(did_you_mean("ab", {"abc", "abd", "abe"}), "did you mean abc, abd or abe? ");
  EXPECT_EQ(did_you_mean("fastest", routes), "");
}

}  // namespace
}  // namespace commpass
