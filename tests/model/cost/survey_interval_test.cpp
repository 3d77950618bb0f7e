#include "model/cost/survey_interval.hpp"

#include <gtest/gtest.h>

namespace commpass {
namespace {

TEST(SurveyInterval, TakesAtMostTwoPercentOfTheExchangesButIsNotGivenUp) {
  EXPECT_EQ(survey_interval(1e-3, 1e-5), 1);
  EXPECT_EQ(survey_interval(1e-3, 1.9e-5), 1);
  EXPECT_EQ(survey_interval(1e-3, 3e-5), 2);
  EXPECT_EQ(survey_interval(1e-4, 0.9e-5), 5);
  EXPECT_EQ(survey_interval(1e-6, 1e-5), longest_survey_interval);
  EXPECT_EQ(survey_interval(0, 1e-5), longest_survey_interval);
  EXPECT_EQ(survey_interval(0, 0), 1);
}

TEST(SurveyInterval, IsMoreFrequentAtFirst) {
  const auto count = [](int one_in) {
    int told = 0;
    for (int exchange = 1; exchange <= 64; ++exchange) told += is_surveyed(exchange, one_in);
    return told;
  };
  EXPECT_EQ(count(1), 64);
  EXPECT_EQ(count(5), 7 + 12);
  EXPECT_EQ(count(16), 7 + 1);  // the 48th
  EXPECT_TRUE(is_surveyed(2) && is_surveyed(8) && is_surveyed(48));
  EXPECT_FALSE(is_surveyed(3) || is_surveyed(24));
}

}  // namespace
}  // namespace commpass
