// How far profiles are to be trusted.
#include "calibrate/fit/verdict.hpp"

#include <gtest/gtest.h>

namespace commpass {
namespace {

/// Exchanges of 10 us that are predicted to take `factors` times as long, and measured to a part of `spread`.
Provenance held_out(const std::vector<double>& factors, double spread) {
  Provenance provenance;
  for (const double factor : factors)
    provenance.held_out.push_back({"exchange " + std::to_string(provenance.held_out.size()),
                                   "standard",
                                   factor * 1e-5,
                                   1e-5,
                                   {1e-5 * (1 - spread), 1e-5 * (1 + spread)}});
  return provenance;
}

TEST(Verdict, IsGoodWhereExchangesAreAsPredicted) {
  const auto verdict = judge(held_out({0.95, 1.02, 1.1, 0.9, 1.3}, 0.02));
  EXPECT_EQ(verdict.trust, Trust::good) << verdict.why;
  EXPECT_NEAR(verdict.uncertainty, 0.02, 1e-9) << "what candidates have in common blurs no choice";
  EXPECT_EQ(verdict.remedy, "");
}

TEST(Verdict, IsNotGoodWhereTheMachineChangesItsSpeed) {
  auto provenance = held_out({1, 1, 1}, 0.02);
  provenance.slow_phases = {0, 20, 1.2};
  EXPECT_EQ(judge(provenance).trust, Trust::good);
  provenance.slow_phases = {3, 20, 2.75};
  const auto verdict = judge(provenance);
  EXPECT_EQ(verdict.trust, Trust::usable);
  EXPECT_NE(verdict.why.find("up to 2.8 times as long in 3 of 20 parts"), std::string::npos) << verdict.why;
  EXPECT_NE(verdict.remedy, "");
}

TEST(Verdict, TellsOfATimerOfLostMessages) {
  auto provenance = held_out({1.05, 0.97, 1.02}, 0.05);
  provenance.late_messages = LateMessages{128, 7, 20, 0.16, 64};
  const auto verdict = judge(provenance);
  EXPECT_EQ(verdict.trust, Trust::good) << "the profile has the limit";
  EXPECT_NE(verdict.why.find("128 messages in flight"), std::string::npos) << verdict.why;
  EXPECT_NE(verdict.why.find("160 ms"), std::string::npos) << verdict.why;
  EXPECT_NE(verdict.why.find("no more than 64"), std::string::npos) << verdict.why;
}

/// Ping-pongs of 8 B to 8 KiB on a line of 1 us, some of which take `factor` times as long.
Provenance with_messages(Bytes first, Bytes last, double factor) {
  auto provenance = held_out({1, 1, 1}, 0.02);
  Segment segment;
  segment.max_bytes = 8192;
  segment.line = {1e-6, 0};
  provenance.fits.push_back({"node", "eager", segment});
  for (Bytes bytes = 8; bytes <= segment.max_bytes; bytes *= 2)
    provenance.messages.push_back({"node", bytes, bytes >= first && bytes <= last ? factor * 1e-6 : 1e-6, {}});
  return provenance;
}

TEST(Verdict, IsNotGoodWhereNeighbouringSizesContradictTheirLine) {
  EXPECT_EQ(judge(with_messages(256, 2048, 1.4)).trust, Trust::good);
  EXPECT_EQ(judge(with_messages(256, 1024, 5)).trust, Trust::good) << "three may be outliers";
  const auto slow = judge(with_messages(256, 2048, 1.7)), fast = judge(with_messages(256, 4096, 0.4));
  EXPECT_EQ(slow.trust, Trust::usable);
  EXPECT_NE(slow.why.find("messages of 256 B to 2 KiB of the level node miss the fitted line by a factor of 1.7"),
            std::string::npos)
      << slow.why;
  EXPECT_EQ(fast.trust, Trust::none);
  EXPECT_NE(fast.why.find("by a factor of 2.5"), std::string::npos) << fast.why;
  EXPECT_NE(fast.remedy, "");
}

TEST(Verdict, IsNotGoodBesideOtherPrograms) {
  auto provenance = held_out({1, 1, 1}, 0.02);
  provenance.others = 0.1;
  EXPECT_EQ(judge(provenance).trust, Trust::good) << "something always runs";
  provenance.others = 0.97;
  const auto verdict = judge(provenance);
  EXPECT_EQ(verdict.trust, Trust::usable);
  EXPECT_NE(verdict.why.find("other programs kept 1.0 processors of a node busy"), std::string::npos) << verdict.why;
  EXPECT_NE(verdict.remedy.find("stop them"), std::string::npos);
}

TEST(Verdict, IsUsableWhereOneIsFarOffOrMostAreABit) {
  const auto one = judge(held_out({1, 1, 1, 1, 1.7}, 0.02)), most = judge(held_out({1.2, 1.25, 0.8, 1.2, 1}, 0.02));
  EXPECT_EQ(one.trust, Trust::usable) << one.why;
  EXPECT_EQ(most.trust, Trust::usable) << most.why;
  EXPECT_NEAR(most.uncertainty, 0.2, 1e-9);
  EXPECT_NE(most.remedy, "");
}

TEST(Verdict, TrustsNothingThatIsOffByAThirdToEitherSideOrBlurred) {
  EXPECT_EQ(judge(held_out({0.3, 0.4, 0.6, 1}, 0.02)).trust, Trust::none);
  EXPECT_EQ(judge(held_out({1.57, 1.4, 1.4, 1}, 0.02)).trust, Trust::none);
  EXPECT_NEAR(judge(held_out({0.25, 0.25, 0.25}, 0.02)).uncertainty, 3, 1e-9) << "four times as long as predicted";
  EXPECT_EQ(judge(held_out({1, 1, 1}, 0.6)).trust, Trust::none);
  EXPECT_EQ(judge(held_out({1, 1, 1}, 0.2)).trust, Trust::usable);
}

HeldOut timed(const char* exchange, double times_as_long, const char* part_of = "") {
  return {exchange, "standard", 1e-5, times_as_long * 1e-5, {times_as_long * 1e-5, times_as_long * 1e-5}, part_of};
}

TEST(Verdict, CountsOnlyWhatStrategiesDoNotHaveInCommonAsUncertainty) {
  Provenance provenance;
  for (const char* exchange : {"small", "middling", "large"})
    for (const double times_as_long : {3.0, 3.3}) provenance.held_out.push_back(timed(exchange, times_as_long));
  provenance.held_out.push_back(timed("of one strategy", 9));
  const auto verdict = judge(provenance);
  EXPECT_EQ(verdict.trust, Trust::none) << "all take three times as long";
  EXPECT_NEAR(verdict.uncertainty, 0.1, 1e-9) << "but which one takes longer is known";
  provenance.held_out[1].measured_s = provenance.held_out[3].measured_s = 1e-5;
  EXPECT_NEAR(judge(provenance).uncertainty, 2, 1e-9) << "one is as predicted, and the other not";
  for (int i = 0; i < 9; ++i) provenance.held_out.push_back(timed(("further " + std::to_string(i)).c_str(), 1.2));
  EXPECT_NEAR(judge(provenance).uncertainty, 0.2, 1e-9) << "what most are off by";
}

TEST(Verdict, TellsOfACoreThatTheProfileDoesNotDescribe) {
  Provenance provenance;
  for (int i = 0; i < 8; ++i) provenance.held_out.push_back(timed("within a node", 1));
  provenance.held_out.push_back(timed("all", 1.08));
  provenance.held_out.push_back(timed("two nodes", 1.0, "all"));
  EXPECT_EQ(judge(provenance).trust, Trust::good);
  provenance.held_out[8] = timed("all", 1.4);
  const auto verdict = judge(provenance);
  EXPECT_EQ(verdict.trust, Trust::usable);
  EXPECT_NE(verdict.why.find("take 1.4 times as long as those between two tell, so the network's core"),
            std::string::npos)
      << verdict.why;
  EXPECT_NE(verdict.remedy, "");
  auto slow = provenance;
  slow.slow_nodes.push_back({2, 2.0, "n2"});
  EXPECT_EQ(judge(slow).why.find("core"), std::string::npos) << "the node may be all there is";
  provenance.held_out[9] = timed("two nodes", 1.4, "all");
  EXPECT_EQ(judge(provenance).why.find("core"), std::string::npos) << "it is not that many nodes send at once";
}

TEST(Verdict, NamesANodeThatIsSlow) {
  auto slow = held_out({1, 1, 1}, 0.02);
  slow.slow_nodes.push_back({2, 2.04, "n2"});
  const auto verdict = judge(slow);
  EXPECT_EQ(verdict.trust, Trust::usable) << "where it takes part, exchanges are slower than predicted";
  EXPECT_TRUE(verdict.why.ends_with("; node 2 takes 2.0 times as long as the others")) << verdict.why;
  EXPECT_NE(verdict.remedy, "");
}

TEST(Verdict, TrustsNothingThatWasNotTried) {
  EXPECT_EQ(judge({}).trust, Trust::none);
  Provenance crowded;
  crowded.warning = "4 ranks take turns";
  EXPECT_EQ(judge(crowded).why, "4 ranks take turns");
  EXPECT_NE(judge(crowded).remedy, "");
}

TEST(Verdict, TellsThatNoTimeWasLeft) {
  Provenance provenance;
  provenance.no_time_for = {"operations", "held_out"};
  const auto verdict = judge(provenance);
  EXPECT_EQ(verdict.trust, Trust::none);
  EXPECT_EQ(verdict.why, "no time was left for exchanges that its fits had not seen");
  EXPECT_NE(verdict.remedy.find("--budget"), std::string::npos);
}

HeldOut exchange(Seconds predicted_s, Seconds measured_s, Seconds noise_s) {
  return {"one message", "standard", predicted_s, measured_s, {measured_s - noise_s, measured_s + noise_s}, {}};
}

TEST(BeyondPrices, IsTheMiddleOfTheDifferences) {
  const std::vector all{exchange(3e-7, 5e-7, 1e-8), exchange(4e-7, 7e-7, 1e-8), exchange(5e-7, 2e-6, 1e-8)};
  EXPECT_NEAR(beyond_prices(all), 3e-7, 1e-15);
}

TEST(BeyondPrices, IsNothingWhereItIsLittle) {
  EXPECT_EQ(beyond_prices(std::vector{exchange(1e-6, 1.04e-6, 1e-9)}), 0);
  EXPECT_GT(beyond_prices(std::vector{exchange(1e-6, 1.06e-6, 1e-9)}), 0);
}

TEST(BeyondPrices, IsNothingWhereItMayBeNoise) {
  EXPECT_EQ(beyond_prices(std::vector{exchange(1e-6, 1.3e-6, 4e-7), exchange(1e-6, 1.2e-6, 4e-7)}), 0);
}

TEST(BeyondPrices, IsNeverNegative) { EXPECT_EQ(beyond_prices(std::vector{exchange(1e-6, 5e-7, 1e-9)}), 0); }

}  // namespace
}  // namespace commpass
