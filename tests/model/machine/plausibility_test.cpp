// Profiles that physics contradicts.
#include "model/machine/plausibility.hpp"
#include "model/machine/named_parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace commpass {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Plausibility : public testing::Test {
 protected:
  Plausibility() {
    auto& channel = machine_.host.by_level[standard_level::network].emplace();
    channel.protocols = {{"eager", 4096, 1e-6, 4e-10, 5e-7, 3e-10, 2e-7, 1e-10},
                         {"rendezvous", no_limit, 4e-6, 1e-10, 1e-6, 1e-10, 2e-7, 1e-10}};
  }
  Protocol& protocol(std::size_t i) { return machine_.host.by_level[standard_level::network]->protocols[i]; }
  static constexpr Bytes no_limit = std::numeric_limits<Bytes>::max();
  Machine machine_;
};

TEST_F(Plausibility, AcceptsPossibleMachines) { EXPECT_THAT(implausible(machine_, 4), IsEmpty()); }

TEST_F(Plausibility, NamesFurtherMessagesThatCostMoreThanLoneOnes) {
  protocol(0).alpha_next_s = 2e-6;
  protocol(1).beta_next_s_per_byte = 40 * protocol(1).beta_s_per_byte;
  EXPECT_THAT(
      implausible(machine_),
      ElementsAre(
          HasSubstr("levels.network.host.eager: a further message costs its sender 2 us"),
          HasSubstr(
              "levels.network.host.rendezvous: of its largest messages a further one costs its sender 40 times")));
}

TEST_F(Plausibility, NamesReceiversToo) {
  protocol(0).alpha_receive_s = 1.1e-6;
  EXPECT_THAT(implausible(machine_), ElementsAre(HasSubstr("(alpha_receive_s)")));
}

TEST_F(Plausibility, NamesTimesThatFallFromOneProtocolToTheNext) {
  protocol(1).alpha_s = 1e-6;
  EXPECT_THAT(implausible(machine_),
              ElementsAre(HasSubstr(
                  "levels.network.host.eager: a message of 4096 bytes takes 2.64 us, and one byte more 1.41 us")));
}

TEST_F(Plausibility, NamesRatesThatTheMemoryDoesNotHave) {
  machine_.copy_rate_bytes_per_s = 1e10;
  machine_.levels[standard_level::node].inside_rate_bytes_per_s = 5e10;
  EXPECT_THAT(implausible(machine_, 4), ElementsAre(HasSubstr("levels.node.inside_rate_bytes_per_s: 50 GB/s")));
  EXPECT_THAT(implausible(machine_, 6), IsEmpty());
  EXPECT_THAT(implausible(machine_), IsEmpty()) << "on how many ranks is not known";
}

class Misread : public Plausibility {
 protected:
  std::string why() {
    const auto error = find_misread(machine_, "mine.json");
    return error ? error->what() : "";
  }
};

TEST_F(Misread, IsNoProfileInSecondsAndBytes) { EXPECT_EQ(why(), ""); }

/// Every parameter with a unit: as it is, and multiplied by what other units that people use have in it.
TEST_F(Misread, IsEveryParameterInAnotherUnit) {
  using Unit = MachineParameter::Unit;
  auto& channel = *machine_.host.by_level[standard_level::network];
  machine_.device.by_level[standard_level::network] = channel;
  machine_.device_to_host = machine_.host_to_device = {{1, 1e-5, 1e-10}};
  for (auto& each : named_parameters(machine_)) {
    double usual = 0;
    std::vector<double> factors;
    switch (each.parameter->unit) {
      case Unit::seconds: usual = 2e-6, factors = {1e6, 1e9}; break;                  // us, ns
      case Unit::seconds_per_byte: usual = 1e-10, factors = {1e6, 1e9, 1e20}; break;  // us, ns; or as GB/s
      case Unit::bytes_per_second: usual = 2e10, factors = {1e-9, 1e-6}; break;       // GB/s, MB/s
      case Unit::messages_per_second: usual = 1e8, factors = {1e-6}; break;           // millions
      case Unit::bytes:
      case Unit::count: continue;
    }
    const auto before = each.get();
    each.set(usual);
    EXPECT_EQ(why(), "") << each.name;
    for (const double factor : factors) {
      each.set(usual * factor);
      EXPECT_THAT(why(), testing::AllOf(HasSubstr("mine.json: " + each.name + " is "), HasSubstr("; write it in ")));
    }
    each.set(before);
  }
}

TEST_F(Misread, AreLevelsThatAreNotListedInnermostFirst) {
  machine_.levels = {{"node"}, {"pod"}, {"row"}, {"network"}};
  const auto channel = *machine_.host.by_level[standard_level::network];
  auto slower = channel;
  for (auto& protocol : slower.protocols) protocol.alpha_s *= 2.5, protocol.beta_s_per_byte *= 2.5;
  machine_.host.by_level = {};
  machine_.host.by_level[1] = slower;
  machine_.host.by_level[2] = channel;
  EXPECT_THAT(why(), testing::AllOf(HasSubstr("mine.json: levels.pod comes before levels.row"),
                                    HasSubstr("list levels innermost first")));
  machine_.host.by_level[2]->protocols[1].beta_s_per_byte = slower.protocols[1].beta_s_per_byte;
  EXPECT_EQ(why(), "") << "large messages may take as long";
  std::swap(machine_.host.by_level[1], machine_.host.by_level[2]);
  EXPECT_EQ(why(), "");
}

}  // namespace
}  // namespace commpass
