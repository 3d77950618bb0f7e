// Profiles that physics contradicts.
#include "model/machine/plausibility.hpp"

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

}  // namespace
}  // namespace commpass
