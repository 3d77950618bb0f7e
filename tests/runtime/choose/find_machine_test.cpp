// Which machine a communicator takes when no profile is named.
#include "runtime/choose/find_machine.hpp"
#include "model/base/json.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <optional>

#include "model/support.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/mpi_library.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::rank_of;
using test::stderr_of;

/// A user's configuration of which rank 0 alone knows: the other ranks have none, as on a node that has no such disk.
class Home {
 public:
  Home() {
    if (rank_of() == 0) directory_.emplace();
    setenv("XDG_CONFIG_HOME", directory_ ? directory_->path().c_str() : "/nonexistent", 1);
  }
  ~Home() { unsetenv("XDG_CONFIG_HOME"); }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  void write(const std::string& name, const std::string& text) {
    if (directory_) directory_->write("commpass/" + name, text);
  }

 private:
  std::optional<test::TemporaryDirectory> directory_;
};

std::string machine_name() { return Communicator(MPI_COMM_WORLD).machine().name; }

TEST(WithoutAProfile, TheBuiltInOneIsTakenAndToldOnce) {
  Home home;
  const auto told = stderr_of([] {
    for (int i = 0; i < 2; ++i) EXPECT_EQ(machine_name(), "generic");
  });
  EXPECT_EQ(std::ranges::count(told, '\n'), rank_of() == 0 ? 1 : 0) << told;
  if (rank_of() == 0) {
    EXPECT_NE(told.find("built-in profile 'generic'"), std::string::npos) << told;
  }
}

TEST(WithoutAProfile, TheOneThatWasMeasuredHereIsTaken) {
  Home home;
  auto profile = generic_profile();
  profile.machine.name = "this machine";
  const auto here = fingerprint_here();
  profile.provenance_json =
      Json{{"processor", here.processor}, {"node_processors", here.node_processors}, {"mpi_library", here.mpi_library}}
          .dump();
  home.write("mine.json", to_json(profile));
  const auto find_twice = [] {
    for (int i = 0; i < 2; ++i) EXPECT_EQ(machine_name(), "this machine");
  };
  EXPECT_EQ(stderr_of(find_twice), "");
  setenv("COMMPASS_VERBOSE", "1", 1);
  const auto told = stderr_of(find_twice);
  unsetenv("COMMPASS_VERBOSE");
  EXPECT_EQ(std::ranges::count(told, '\n'), rank_of() == 0 ? 1 : 0) << told;
  EXPECT_EQ(told.find("commpass: profile this machine ("), rank_of() == 0 ? 0 : std::string::npos) << told;
}

TEST(AProfileThatIsNamed, IsLookedForInTheUsersDirectory) {
  Home home;
  auto profile = generic_profile();
  profile.machine.name = "mine";
  home.write("mine.json", to_json(profile));
  EXPECT_EQ(Communicator(MPI_COMM_WORLD, "mine").machine().name, "mine");
  EXPECT_NE(test::common_error([] { Communicator communicator(MPI_COMM_WORLD, "yours"); }).find("profile yours"),
            std::string::npos);
}

TEST(AProfileThatIsNamed, TellsOnceWhereItWasMeasuredOtherwise) {
  Home home;
  auto profile = generic_profile();
  profile.machine.name = "elsewhere";
  profile.provenance_json = R"({"mpi_library": "Other MPI 7"})";
  home.write("elsewhere.json", to_json(profile));
  const auto told = stderr_of([] {
    for (int i = 0; i < 2; ++i) EXPECT_EQ(Communicator(MPI_COMM_WORLD, "elsewhere").machine().name, "elsewhere");
  });
  EXPECT_EQ(std::ranges::count(told, '\n'), rank_of() == 0 ? 1 : 0) << told;
  EXPECT_EQ(told.find("profile elsewhere was measured with Other MPI 7, but this is") != std::string::npos,
            rank_of() == 0)
      << told;
}

TEST(AVariableOfNoMeaning, IsToldAndStopsNoProgram) {
  setenv("COMMPASS_ROOT", "/opt/commpass", 1);
  setenv("COMMPASS_SPEED", "1", 1);
  const auto told =
      stderr_of([] { EXPECT_EQ(Communicator(MPI_COMM_WORLD, generic_profile().machine).machine().name, "generic"); });
  EXPECT_EQ(told.find("commpass: COMMPASS_SPEED is unknown"), rank_of() == 0 ? 0 : std::string::npos) << told;
  unsetenv("COMMPASS_SPEED");
  unsetenv("COMMPASS_ROOT");
}

}  // namespace
}  // namespace commpass
