// Whose time a message takes, of machines whose processors, links and rates are known.
#include "calibrate/fit/attribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace commpass {
namespace {

constexpr double rate = 1e10;  // of a link

/// A message takes its processor `alpha` + `beta`·s to post, and the link s / rate.
SentSteps sent(Bytes small, Bytes large, Seconds alpha, double beta) {
  const auto step = [&](Bytes bytes) {
    const auto size = static_cast<double>(bytes);
    const Seconds posting = alpha + beta * size;
    return SentStep{bytes, std::max(posting, size / rate), posting};
  };
  return {step(small), step(large)};
}

TEST(FitLinkRate, IsThatOfMessagesThatMoveLongerThanTheyArePosted) {
  const std::vector<SentSteps> protocols{sent(1, 2048, 2e-7, 3e-10), sent(5000, 80000, 2e-7, 0)};
  EXPECT_DOUBLE_EQ(fit_link_rate(protocols), rate);
  EXPECT_TRUE(std::isinf(fit_link_rate(std::span(protocols).first(1)))) << "the processor copies them as long";
}

TEST(FitSending, FindsTheProcessorBehindTheLink) {
  const auto line = fit_sending(sent(5000, 80000, 2e-7, 1e-11), rate);
  EXPECT_NEAR(line.alpha_s, 2e-7, 1e-15);
  EXPECT_NEAR(line.beta_s_per_byte, 1e-11, 1e-18);
}

TEST(FitSending, TakesTheProcessorAsBusyForWhatNeitherPostingNorTheLinkExplains) {
  const SentSteps steps{SentStep{1000, 3e-6, 2e-7}, SentStep{16000, 1.8e-5, 2e-7}};
  const auto line = fit_sending(steps, rate);
  EXPECT_NEAR(line.alpha_s, 2e-6, 1e-12);
  EXPECT_NEAR(line.beta_s_per_byte, 1e-9, 1e-15);
}

// A loaded machine: the large burst was disturbed, and 800 bytes would keep a processor for five times what a lone
// message of them takes.
TEST(FitSending, TakesNoLongerThanLoneMessagesAllow) {
  const LoneMessages lone{{1e-6, 2e-10}, 4096};
  const SentSteps disturbed{SentStep{100, 1.2e-6, 1.2e-6}, SentStep{2048, 1.8e-5, 1.8e-5}};
  const auto line = fit_sending(disturbed, rate, lone);
  EXPECT_GE(line.alpha_s, 0);
  EXPECT_LE(line.alpha_s, lone.line.alpha_s);
  EXPECT_LE(line.at(4096), 2 * lone.line.at(4096) * (1 + 1e-9));
  EXPECT_GT(fit_sending(disturbed, rate).at(4096), 1.5e-5) << "nothing else would have held it";

  const LoneMessages last{{1e-6, 2e-10}};
  EXPECT_LE(fit_sending(disturbed, rate, last).beta_s_per_byte, 4e-10 * (1 + 1e-9));
  const auto falling = fit_sending({SentStep{100, 3e-7, 3e-7}, SentStep{2048, 2e-7, 2e-7}}, rate, lone);
  EXPECT_EQ(falling.beta_s_per_byte, 0);
  EXPECT_GT(falling.alpha_s, 2.1e-7) << "level, and between the two";
  EXPECT_LT(falling.alpha_s, 2.9e-7);
}

TEST(FitTaking, TakesNoLongerThanLoneMessagesAllow) {
  const LoneMessages lone{{1e-6, 2e-10}, 16384};
  const auto line = fit_taking({TakenStep{1000, 4e-6, 1e-7}, TakenStep{16000, 9e-5, 1.6e-6}}, 0, lone);
  EXPECT_LE(line.alpha_s, lone.line.alpha_s);
  EXPECT_LE(line.at(16384), 2 * lone.line.at(16384) * (1 + 1e-9));
}

TEST(FitTaking, IsTheTimeThatOthersDoNotExplain) {
  const auto both = fit_taking({TakenStep{1000, 2e-6, 1e-7}, TakenStep{16000, 5e-6, 1.6e-6}}, 0);
  EXPECT_NEAR(both.alpha_s, 1.8e-6, 1e-12);
  EXPECT_NEAR(both.beta_s_per_byte, 2e-10, 1e-16);
  const auto small = fit_taking({TakenStep{1000, 2e-6, 1e-7}, TakenStep{16000, 5e-6, 4.9e-6}}, 0);
  EXPECT_EQ(small.alpha_s, 2e-6);
  EXPECT_EQ(small.beta_s_per_byte, 0) << "of large ones others take as long";
  const auto none = fit_taking({TakenStep{1000, 1e-7, 1e-7}, TakenStep{16000, 1.6e-6, 1.6e-6}}, 0);
  EXPECT_EQ(none.alpha_s, 0);
  EXPECT_EQ(none.beta_s_per_byte, 0);
}

TEST(FitTaking, BesideSendingIsWhatThatDoesNotExplain) {
  const auto taking = [](Seconds step, Seconds sending, Seconds moving) {
    return fit_taking_beside_sending(CrossedStep{8, step, sending, moving});
  };
  EXPECT_NEAR(taking(2.7e-6, 2.2e-6, 0), 5e-7, 1e-15);
  EXPECT_EQ(taking(2.3e-6, 2.2e-6, 0), 0) << "within what times differ by";
  EXPECT_EQ(taking(1e-6, 2.2e-6, 0), 0);
  EXPECT_EQ(taking(2.7e-6, 5e-7, 2.6e-6), 0) << "no longer than messages move";
  EXPECT_NEAR(taking(2.7e-6, 5e-7, 2e-6), 2.2e-6, 1e-15) << "moves while a processor is busy";
  EXPECT_NEAR(fit_taking_beside_sending(CrossedStep{8, 2.7e-6, 5e-7, 2e-6, 2.1e-6}), 1.6e-6, 1e-15)
      << "no longer than a single one each way takes";
  EXPECT_EQ(fit_taking_beside_sending(CrossedStep{8, 2.7e-6, 5e-7, 2e-6, 4e-7}), 0);
}

TEST(FitTaking, BesideSendingIsALineOfTwoSizes) {
  const LoneMessages lone{{4e-7, 3e-10}};
  const auto taking = [&](const CrossedStep& small, const CrossedStep& large) {
    return fit_taking_beside_sending({small, large}, lone);
  };
  const auto line = taking({1000, 7e-7, 3e-7, 0}, {16000, 6.6e-6, 3.2e-6, 0});
  EXPECT_NEAR(line.alpha_s, 2e-7, 1e-12);
  EXPECT_NEAR(line.beta_s_per_byte, 2e-10, 1e-15);
  const auto moving = taking({1000, 7e-7, 3e-7, 0}, {16000, 6.6e-6, 5e-7, 6.4e-6});
  EXPECT_NEAR(moving.alpha_s, 4e-7, 1e-15) << "large ones move for as long";
  EXPECT_EQ(moving.beta_s_per_byte, 0);
  // Nothing is posted, and nothing left of α: bytes alone cost, no more than twice what they do alone.
  const LoneMessages without_latency{{0, 3e-10}};
  EXPECT_NEAR(fit_taking_beside_sending({CrossedStep{1000, 5e-7, 0, 3e-7}, {16000, 8e-6, 0, 4.8e-6}}, without_latency)
                  .beta_s_per_byte,
              5e-10, 1e-15);
}

TEST(FitTaking, IsAsForSmallerMessagesWhereThatExplainsTheTimes) {
  // They come at once when all have moved, and are then taken in: the sum is seen, or a part of it.
  for (const Seconds seen : {1.2e-7, 1.6e-7, 2.2e-7}) {
    const auto line = fit_taking({TakenStep{1000, seen, 1.2e-7}, TakenStep{16000, 2.0e-6, 1.92e-6}}, 1e-7);
    EXPECT_NEAR(line.alpha_s, 1e-7, 1e-16) << seen;
    EXPECT_EQ(line.beta_s_per_byte, 0);
  }
  EXPECT_NEAR(fit_taking({TakenStep{1000, 5e-8, 1e-8}, TakenStep{16000, 2e-7, 1.6e-7}}, 1e-7).alpha_s, 5.5e-8, 1e-12)
      << "no more than is seen";
}

TEST(FitSending, OfMessagesWhoseLatencyIsNothingHasNone) {
  const LoneMessages lone{{0, 1e-9}, std::numeric_limits<Bytes>::max()};
  for (int i = 1; i < 200; ++i) {
    const SentSteps steps{SentStep{81920 + i, 1.37e-5 * i, 1.37e-5 * i}, SentStep{1048576, 3.1e-4 * i, 3.1e-4 * i}};
    EXPECT_EQ(fit_sending(steps, std::numeric_limits<double>::infinity(), lone).alpha_s, 0) << i;
  }
}

}  // namespace
}  // namespace commpass
