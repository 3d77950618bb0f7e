// Joined launches of `measure`.
#include "selector/report/join_launches.hpp"
#include "model/base/json.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "model/base/error.hpp"

namespace commpass {
namespace {

std::string launch(double chosen_s, double other_s, const std::string& more = "") {
  return fmt::format(R"({{"schema_version": 1, "chosen": "two-step", "ranking": [
    {{"strategy": "two-step", "predicted_s": 1e-5, "measured_s": {}}},
    {{"strategy": "standard", "predicted_s": 2e-5, "measured_s": {}}}{}]}})",
                     chosen_s, other_s, more);
}

JoinedLaunches join(const std::vector<std::string>& reports) { return join_launches(reports); }

TEST(JoinedLaunches, HaveTheMedianAndTheRangeOfEachStrategy) {
  const auto joined = join({launch(3e-5, 2e-5), launch(1e-5, 4e-5), launch(2e-5, 3e-5)});
  ASSERT_EQ(joined.rows.size(), 2U);
  EXPECT_EQ(joined.rows[0].name, "two-step");
  EXPECT_EQ(joined.rows[0].measured_s.min, 1e-5);
  EXPECT_EQ(joined.rows[0].measured_s.median, 2e-5);
  EXPECT_EQ(joined.rows[0].measured_s.max, 3e-5);
  EXPECT_EQ(joined.regret.median, 1) << "it is the fastest by the median";
}

TEST(JoinedLaunches, CompareTheChoiceWithTheFastestLaunchByLaunch) {
  const auto seen = join({launch(4e-5, 2e-5), launch(8e-5, 4e-5), launch(6e-5, 3e-5)});
  EXPECT_NEAR(seen.regret.median, 2, 1e-12);
  EXPECT_FALSE(seen.is_fastest_in_some()) << "though the times of both overlap between launches";
  const auto unclear = join({launch(4e-5, 2e-5), launch(2.2e-5, 2e-5), launch(1.9e-5, 2e-5)});
  EXPECT_NEAR(unclear.regret.median, 1.1, 1e-12);
  EXPECT_TRUE(unclear.is_fastest_in_some());
  EXPECT_NE(document_of(unclear).write(Form::text).find("regret 1.100 (0.950 to 2.000), not distinguishable from 1"),
            std::string::npos)
      << document_of(unclear).write(Form::text);
  const auto json = Json::parse(document_of(unclear).write(Form::json));
  EXPECT_EQ(json["regret_is_distinguishable"], false);
  EXPECT_EQ(json["ranking"][1]["measured_interval_s"], Json({2e-5, 2e-5}));
}

TEST(JoinedLaunches, LeaveOutStrategiesThatDidNotRunInAll) {
  const auto joined = join({launch(1e-5, 2e-5, R"(, {"strategy": "mpi", "measured_s": 1e-6})"), launch(1e-5, 2e-5)});
  EXPECT_EQ(joined.rows.size(), 2U);
}

TEST(JoinedLaunches, ContainBaselinesAndTheTimeOfTheLibrarysChoice) {
  const std::string call = R"({"chosen": "a", "chosen_s": 3e-6, "ranking": [{"strategy": "a", "measured_s": 4e-6}],
    "baselines": [{"name": "MPI_Alltoallv", "measured_s": 2e-6}, {"strategy": "b", "predicted_s": 1}]})";
  const auto joined = join({call, call});
  ASSERT_EQ(joined.rows.size(), 2U) << "a prediction is no measurement";
  EXPECT_FALSE(joined.rows[1].is_strategy);
  EXPECT_NEAR(joined.regret.median, 1.5, 1e-12);
}

TEST(JoinedLaunches, CountTheStrategiesThatProgramsRunToday) {
  const std::string planned = R"({"chosen": "a", "ranking": [{"strategy": "a", "predicted_s": 1, "measured_s": 4e-6}],
    "baselines": [{"strategy": "mpi", "measured_s": 2e-6}]})";
  const auto joined = join({planned, planned});
  ASSERT_EQ(joined.rows.size(), 2U);
  EXPECT_EQ(joined.rows[1].name, "mpi");
  EXPECT_TRUE(joined.rows[1].is_strategy);
  EXPECT_FALSE(joined.rows[1].predicted_s);
  EXPECT_NEAR(joined.regret.median, 2, 1e-12);
}

TEST(JoinedLaunches, RefuseOtherDocuments) {
  for (const std::string bad : {"", "[]", "{}", R"({"chosen": "a", "ranking": [{"strategy": 1, "measured_s": 1}]})",
                                R"({"chosen": "a", "ranking": []})"})
    EXPECT_THROW(join({launch(1, 2), bad}), InputError) << bad;
}

}  // namespace
}  // namespace commpass
