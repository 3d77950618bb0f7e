// Pictures of rates that pairs of ranks share.
#include "model/base/json.hpp"
#include "pictures/pictures.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "model/base/error.hpp"
#include "pictures/calibration_facts.hpp"

namespace commpass {
namespace {

/// A message of 10^6 bytes takes 1.001 ms alone; a node injects twice as much as one pair moves.
Profile sharing_profile() {
  Profile profile;
  profile.machine.name = "calibrated";
  profile.machine.host.by_level[standard_level::network] =
      Channel{{Protocol{"eager", std::numeric_limits<Bytes>::max(), 1e-6, 1e-9, 1e-6}}};
  profile.machine.levels[standard_level::node].up_rate_bytes_per_s = 2e9;
  return profile;
}

TEST(SharedRates, ShowMeasurementsAndTheirDistanceFromTheLine) {
  auto profile = sharing_profile();
  profile.provenance_json =
      R"({"sharing":[{"parameter":"levels.node.up_rate_bytes_per_s","level":"network","bytes":1000000,"pairs":[1,4,8],"seconds":[1.001e-3,2.201e-3,4.001e-3],
                      "low_s":[1e-3,2e-3,4e-3],"high_s":[1.1e-3,2.3e-3,4.2e-3]}]})";
  ASSERT_TRUE(has_shared_rates(profile));
  const auto picture = draw_shared_rates(profile);
  const auto rate = Json::parse(picture.json)["rates"][0];
  EXPECT_EQ(rate["rate_bytes_per_s"], 2e9);
  EXPECT_NEAR(rate["alone_s"].get<double>(), 1.001e-3, 1e-12);
  ASSERT_EQ(rate["measured"].size(), 3U);
  EXPECT_NEAR(rate["measured"][0]["residual"].get<double>(), 0, 1e-9);
  EXPECT_NEAR(rate["measured"][1]["line_s"].get<double>(), 2.001e-3, 1e-12) << "alpha, and 4 MB at 2 GB/s";
  EXPECT_NEAR(rate["measured"][1]["residual"].get<double>(), 2.201 / 2.001 - 1, 1e-9);
  EXPECT_NE(picture.body.find("out of a node, 4 pairs: "), std::string::npos) << picture.body;
  EXPECT_NE(picture.body.find("its time is +10.0 % of the line's"), std::string::npos) << picture.body;
  EXPECT_NE(picture.csv.find("levels.node.up_rate_bytes_per_s,1000000,measured,4,0.002201,"), std::string::npos)
      << picture.csv;
  EXPECT_NE(picture.csv.find("levels.node.up_rate_bytes_per_s,1000000,line,2,"), std::string::npos)
      << "where the line bends" << picture.csv;
}

TEST(SharedRates, AreLinesAloneWithoutMeasurements) {
  auto profile = sharing_profile();
  EXPECT_NE(draw_shared_rates(profile).body.find("keeps no measured points"), std::string::npos);
  EXPECT_TRUE(Json::parse(draw_shared_rates(profile).json)["rates"][0]["measured"].empty());
  profile.machine.levels[standard_level::node].up_rate_bytes_per_s = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(has_shared_rates(profile));
  EXPECT_THROW(draw_shared_rates(profile), InputError);
}

TEST(SharedRates, OfAnEjectionThatOthersLimitFirstHaveNoLine) {
  auto profile = sharing_profile();
  profile.machine.levels[standard_level::node].up_rate_bytes_per_s = std::numeric_limits<double>::infinity();
  profile.provenance_json =
      R"({"sharing":[{"parameter":"levels.node.down_rate_bytes_per_s","bytes":1000,"pairs":[1,2],"seconds":[2e-6,4e-6],"low_s":[2e-6,4e-6],"high_s":[2e-6,4e-6]}]})";
  const auto picture = draw_shared_rates(profile);
  EXPECT_EQ(picture.body.find("curve"), picture.body.rfind("curve")) << "but that of the legend";
  EXPECT_FALSE(Json::parse(picture.json)["rates"][0]["measured"][1].contains("residual"));
  EXPECT_EQ(picture.csv.find("line"), std::string::npos) << picture.csv;
}

TEST(SharedRates, PassOverRecordsThatCalibrateDoesNotWrite) {
  auto profile = sharing_profile();
  for (
      const auto* text :
      {R"({"sharing":3})", R"({"sharing":[3,{}]})",
       R"({"sharing":[{"parameter":"levels.node.up_rate_bytes_per_s","bytes":0,"pairs":[1],"seconds":[1],"low_s":[1],"high_s":[1]}]})",
       R"({"sharing":[{"parameter":"levels.node.up_rate_bytes_per_s","bytes":1e300,"pairs":[1],"seconds":[1],"low_s":[1],"high_s":[1]}]})",
       R"({"sharing":[{"parameter":"levels.node.up_rate_bytes_per_s","bytes":8,"pairs":[1e300,0,"x"],"seconds":[1,1,1],"low_s":[1,1,1],"high_s":[1,1,1]}]})",
       R"({"sharing":[{"parameter":"levels.node.up_rate_bytes_per_s","bytes":8,"pairs":[1],"seconds":[1e-300],"low_s":[1e-300],"high_s":[1]}]})"}) {
    profile.provenance_json = text;
    EXPECT_TRUE(timed_sharing(profile).empty()) << text;
  }
  profile.machine.levels[standard_level::node].up_rate_bytes_per_s = 1e-300;
  EXPECT_FALSE(has_shared_rates(profile)) << "times that cannot be drawn";
}

}  // namespace
}  // namespace commpass
