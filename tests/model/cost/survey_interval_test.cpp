#include "model/cost/survey_interval.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace commpass {
namespace {

TEST(SurveyInterval, TakesAtMostTwoPercentOfTheExchangesButIsNotGivenUp) {
  EXPECT_EQ(survey_interval(1e-3, 1e-5), 1);
  EXPECT_EQ(survey_interval(1e-3, 1.9e-5), 1);
  EXPECT_EQ(survey_interval(1e-3, 3e-5), 2);
  EXPECT_EQ(survey_interval(1e-4, 0.9e-5), 5);
  EXPECT_EQ(survey_interval(1e-7, 1e-5), 100);
  EXPECT_EQ(survey_interval(0, 1e-5), 100);
  EXPECT_EQ(survey_interval(0, 0), 1);
}

/// After which of the first exchanges there was a survey.
std::vector<int> surveyed(int interval, int exchanges, std::function<void(SurveyTurns&, int)> after = {}) {
  SurveyTurns turns;
  std::vector<int> result;
  for (int exchange = 1; exchange <= exchanges; ++exchange) {
    if (!turns.is_due(interval)) continue;
    result.push_back(exchange);
    if (after) after(turns, exchange);
  }
  return result;
}

TEST(SurveyInterval, IsShorterAtFirst) {
  EXPECT_EQ(surveyed(1, 6), (std::vector{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(surveyed(5, 20), (std::vector{1, 2, 4, 8, 13, 18}));
  EXPECT_EQ(surveyed(16, 64), (std::vector{1, 2, 4, 8, 16, 32, 48, 64}));
}

TEST(SurveyInterval, IsFourAtLeastWhereNothingIsNew) {
  const auto same_from_the_first = [](SurveyTurns& turns, int exchange) { turns.note(exchange == 1); };
  EXPECT_EQ(surveyed(1, 16, same_from_the_first), (std::vector{1, 2, 3, 7, 11, 15}));
  EXPECT_EQ(surveyed(5, 20, same_from_the_first), (std::vector{1, 2, 4, 9, 14, 19}));
  EXPECT_EQ(surveyed(16, 60, same_from_the_first), (std::vector{1, 2, 4, 20, 36, 52}));
}

TEST(SurveyInterval, IsTheUsualOneAgainAfterNews) {
  const auto news_at_7 = [](SurveyTurns& turns, int exchange) { turns.note(exchange == 1 || exchange == 7); };
  EXPECT_EQ(surveyed(1, 14, news_at_7), (std::vector{1, 2, 3, 7, 8, 9, 13}));
  const auto always_news = [](SurveyTurns& turns, int) { turns.note(true); };
  EXPECT_EQ(surveyed(1, 5, always_news), (std::vector{1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace commpass
