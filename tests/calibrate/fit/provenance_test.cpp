// What a profile tells of its calibration.
#include "calibrate/fit/provenance.hpp"
#include "model/base/json.hpp"

#include <gtest/gtest.h>

namespace commpass {
namespace {

TEST(CalibrationProvenance, TellsHowGoodItIs) {
  Provenance provenance;
  provenance.mpi_library = "MPI 1";
  provenance.transport = "btl tcp,self";
  provenance.ranks = 6;
  provenance.nodes = 4;
  provenance.ranks_per_node = 3;
  provenance.host_hash = "sha256:1:2";
  provenance.fingerprint = {"Processor 9", 64, "MPI 1"};
  Segment segment;
  segment.sizes = 9;
  segment.alpha_interval = {1e-6, 2e-6};
  provenance.fits.push_back({"network", "eager", segment});
  provenance.messages = {{"network", 8, 2e-6, {1.9e-6, 2.1e-6}}, {"network", 64, 3e-6, {3e-6, 3e-6}}};
  provenance.sharing = {
      {"levels.node.up_rate_bytes_per_s", "network", 65536, {1, 2}, {1e-5, 3e-5}, {{1e-5, 2e-5}, {2e-5, 4e-5}}}};
  provenance.slow_phases = {2, 20, 2.5};
  provenance.others = 0.5;
  provenance.pace = {{"socket", "on a socket", 3e-7}, {"network", "between nodes", 2e-6}};
  provenance.held_out.push_back({"mixed", "stfw,n=2", 3e-6, 2e-6, {1.9e-6, 2.2e-6}});
  provenance.not_measured.emplace_back("levels.node.down_rate_bytes_per_s: needs three nodes");
  const auto json = Json::parse(to_json(provenance));
  EXPECT_EQ(json["mpi_library"], "MPI 1");
  EXPECT_EQ(json["ranks"], 6);
  EXPECT_EQ(json["nodes"], 4);
  EXPECT_EQ(json["ranks_per_node"], 3);
  EXPECT_EQ(json["transport"], "btl tcp,self");
  EXPECT_FALSE(json.contains("partition")) << "no batch system";
  EXPECT_EQ(json["host_hash"], "sha256:1:2");
  EXPECT_EQ(json["fits"][0]["level"], "network");
  EXPECT_EQ(json["fits"][0]["alpha_interval_s"], Json::array({1e-6, 2e-6}));
  EXPECT_EQ(json["messages"]["network"]["bytes"], Json::array({8, 64}));
  EXPECT_EQ(json["messages"]["network"]["high_s"], Json::array({2.1e-6, 3e-6}));
  EXPECT_EQ(json["sharing"][0]["parameter"], "levels.node.up_rate_bytes_per_s");
  EXPECT_EQ(json["sharing"][0]["pairs"], Json::array({1, 2}));
  EXPECT_EQ(json["sharing"][0]["high_s"], Json::array({2e-5, 4e-5}));
  EXPECT_EQ(json["pace"], Json({{"socket", 3e-7}, {"network", 2e-6}}));
  EXPECT_EQ(json["slow_phases"], Json({{"parts", 2}, {"of", 20}, {"times_as_long", 2.5}}));
  EXPECT_EQ(json["processors_of_others"], 0.5);
  EXPECT_EQ(json["held_out"][0]["strategy"], "stfw,n=2");
  EXPECT_EQ(json["held_out"][0]["measured_interval_s"], Json::array({1.9e-6, 2.2e-6}));
  EXPECT_DOUBLE_EQ(json["held_out"][0]["error"].get<double>(), 0.5) << "predicted over measured, less 1";
  EXPECT_EQ(json["not_measured"], Json::array({"levels.node.down_rate_bytes_per_s: needs three nodes"}));
  Profile profile;
  profile.provenance_json = json.dump();
  EXPECT_EQ(fingerprint_of(profile), provenance.fingerprint);
  EXPECT_FALSE(json.contains("warning"));
  EXPECT_EQ(json["date"].get<std::string>().size(), std::string("2026-01-02T03:04:05Z").size());
}

TEST(CalibrationProvenance, WarnsIfThereIsAReason) {
  Provenance provenance;
  provenance.warning = "4 ranks take turns";
  const auto json = Json::parse(to_json(provenance));
  EXPECT_EQ(json["warning"], "4 ranks take turns");
  EXPECT_FALSE(json.contains("slow_phases")) << "there were none";
  EXPECT_FALSE(json.contains("processors_of_others")) << "hardly any other process ran";
  EXPECT_FALSE(json.contains("sharing")) << "no two pairs";
}

}  // namespace
}  // namespace commpass
