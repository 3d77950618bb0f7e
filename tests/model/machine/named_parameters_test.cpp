// Parameters by their full names, and --set.
#include "model/machine/named_parameters.hpp"

#include <gtest/gtest.h>

#include <set>

#include "model/support.hpp"

namespace commpass {
namespace {

using test::error_of;
using test::expect_sentence;

Profile profile() {
  return parse_profile(R"({"schema_version": 3, "name": "mine", "provenance": {},
    "levels": [{"name": "node", "host": {"protocols": [{"name": "eager", "max_bytes": 4096, "alpha_s": 1e-6, "beta_s_per_byte": 1e-10},
                                                       {"name": "rendezvous", "alpha_s": 2e-6, "beta_s_per_byte": 1e-10, "alpha_next_s": 1e-6}]},
                "up_rate_bytes_per_s": 1e10},
               {"name": "network", "host": {"protocols": [{"name": "all", "alpha_s": 4e-6, "beta_s_per_byte": 2e-10}]}}],
    "copy": {"device_to_host": [{"processes": 4, "alpha_s": 1e-5, "beta_s_per_byte": 1e-11}]},
    "operations": {"ranks": 4}})",
                       "mine.json");
}

Profile with(const std::vector<std::string>& assignments) {
  auto changed = profile();
  set_parameters(changed, assignments);
  return changed;
}
std::string refusal(const std::string& assignment) {
  return error_of([&] { with({assignment}); });
}

TEST(NamedParameters, AreCalledByLevelChannelAndProtocol) {
  auto machine = profile().machine;
  std::set<std::string> names;
  for (const auto& each : named_parameters(machine)) EXPECT_TRUE(names.insert(each.name).second) << each.name;
  for (const auto* name : {"levels.node.host.eager.alpha_s", "levels.node.host.rendezvous.alpha_s",
                           "levels.node.host.gamma_s", "levels.node.up_rate_bytes_per_s",
                           "levels.network.node_share_bytes_per_s", "copy.device_to_host.4_processes.beta_s_per_byte",
                           "devices.per_node", "local.copy_block_s", "operations.put_s"})
    EXPECT_TRUE(names.contains(name)) << name;
  for (const auto* name :
       {"levels.network.up_rate_bytes_per_s", "levels.node.node_share_bytes_per_s", "levels.node.device.gamma_s"})
    EXPECT_FALSE(names.contains(name)) << name << " has no meaning there";
}

TEST(NamedParameters, AreMatchedByTheirPatterns) {
  auto machine = profile().machine;
  for (const auto& each : named_parameters(machine))
    EXPECT_TRUE(matches_parameter(pattern_of(*each.parameter), each.name)) << each.name;
  EXPECT_TRUE(matches_parameter("*.node.up_rate_bytes_per_s", "levels.node.up_rate_bytes_per_s"));
  EXPECT_FALSE(matches_parameter("levels.*", "levels.node.up_rate_bytes_per_s"));
}

TEST(SetParameters, ReplacesOrMultipliesWhatMatches) {
  EXPECT_EQ(with({"levels.node.up_rate_bytes_per_s=2e10"}).machine.levels[0].up_rate_bytes_per_s, 2e10);
  for (const auto* half : {"levels.*.up_rate_bytes_per_s*0.5", "levels.node.up_rate_bytes_per_s=*0.5"})
    EXPECT_EQ(with({half}).machine.levels[0].up_rate_bytes_per_s, 5e9) << half;
  const auto all = with({"levels.*.host.*.alpha_s*3"}).machine;
  EXPECT_DOUBLE_EQ(all.host.by_level[0]->protocols[0].alpha_s, 3e-6);
  EXPECT_DOUBLE_EQ(all.host.by_level[1]->protocols[0].alpha_s, 12e-6);
  EXPECT_EQ(with({"operations.ranks=8", "operations.ranks*2"}).machine.operations.ranks, 16) << "in their order";
  EXPECT_DOUBLE_EQ(with({"network.alpha_s=+1e-6"}).machine.host.by_level[1]->protocols[0].alpha_s, 5e-6);
  EXPECT_DOUBLE_EQ(with({"network.alpha_s=+-1e-6"}).machine.host.by_level[1]->protocols[0].alpha_s, 3e-6);
  EXPECT_EQ(with({"node.up_rate_bytes_per_s=2e10"}).machine, with({"levels.node.up_rate_bytes_per_s=2e10"}).machine)
      << "the shortest name, not that of protocols";
  EXPECT_EQ(with({"alpha_s*3"}).machine, with({"levels.*.host.*.alpha_s*3", "copy.*.*.alpha_s*3"}).machine);
  EXPECT_EQ(with({"node.alpha_s*3"}).machine.host.by_level[1], profile().machine.host.by_level[1]);
  EXPECT_EQ(with({"rendezvous.alpha_s=*2"}).machine.host.by_level[0]->protocols[0].alpha_s, 1e-6) << "another protocol";
  EXPECT_EQ(with({}).machine, profile().machine);
}

TEST(SetParameters, LetsTheNextMessageFollowTheLoneOneWhereItIsNotKnown) {
  const auto machine = with({"levels.*.host.*.alpha_s=5e-7"}).machine;
  EXPECT_EQ(machine.host.by_level[0]->protocols[0].alpha_next_s, 5e-7);
  EXPECT_EQ(machine.host.by_level[0]->protocols[1].alpha_next_s, 1e-6) << "which is known";
}

TEST(SetParameters, SetsAbsentParametersAndSizesWithUnits) {
  const auto machine = with({"levels.node.host.rendezvous_from_bytes=8KiB", "local.copy_block_s=1e-8"}).machine;
  EXPECT_EQ(machine.host.by_level[0]->rendezvous_from_bytes, 8192);
  EXPECT_EQ(machine.copy_block_s, 1e-8);
}

TEST(SetParameters, RefusesWhatAProfileCannotHave) {
  expect_sentence(refusal("levels.nod.up_rate_bytes_per_s=1"),
                  {"profile mine has no parameter levels.nod.up_rate", "did you mean levels.node.up_rate_bytes_per_s"});
  expect_sentence(refusal("alpha_next=1"), {"did you mean levels.*.host.*.alpha_next_s"});
  expect_sentence(refusal("levels.node.up_rate=1"), {"did you mean levels.node.up_rate_bytes_per_s?"});
  expect_sentence(refusal("host.node.alpha_s=1"), {"profile mine has no parameter host.node.alpha_s"});
  expect_sentence(refusal("network.alpha_s=+x"), {"x is no summand"});
  expect_sentence(refusal("network.alpha_s=+-1"), {"levels.network.host.all.alpha_s cannot be raised by -1"});
  expect_sentence(refusal("node.aggregate_rate=1"), {"did you mean levels.*.host.aggregate_rate_bytes_per_s?"});
  expect_sentence(refusal("levels.network.up_rate_bytes_per_s=1"), {"has no parameter"});
  expect_sentence(refusal("local.copy_block_s=-1"), {"local.copy_block_s cannot be -1", "use a number, 0 or more"});
  expect_sentence(refusal("local.copy_block_s=nan"), {"cannot be nan", "use a number"});
  expect_sentence(refusal("local.copy_block_s=1e7"), {"at most 1000000"});
  expect_sentence(refusal("operations.ranks=2.5"), {"operations.ranks cannot be 2.5", "use an integer, 2 or more"});
  expect_sentence(refusal("operations.ranks=3000000000"), {"at most 2147483647"});
  expect_sentence(refusal("operations.ranks*1e30"), {"operations.ranks cannot be multiplied by 1e30"});
  expect_sentence(refusal("levels.*.up_rate_bytes_per_s=0"), {"1e-06 bytes a second or more"});
  expect_sentence(refusal("levels.*.up_rate_bytes_per_s*x"), {"x is no factor"});
  expect_sentence(refusal("levels.node.host.rendezvous_from_bytes=8k"), {"cannot be 8k", "8KiB"});
  expect_sentence(refusal("operations.put_s*2"), {"operations.put_s is absent from profile mine", "use KEY=VALUE"});
  expect_sentence(refusal("levels.node.host.rendezvous.max_bytes=4"), {"limits the last protocol"});
  for (const auto* text : {"", "=", "=3", "local.copy_block_s", "local.copy_block_s=", "*"})
    EXPECT_NE(refusal(text), "") << text;
}

}  // namespace
}  // namespace commpass
