#include "model/machine/profile_lookup.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "model/cost/cost.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

namespace fs = std::filesystem;

TEST(ProfileDirectories, AreInTheOrderThatIsPromised) {
  const auto directories = profile_directories({{"/first"}, "/home/a/.config/commpass", {"/opt/commpass"}});
  const std::vector<std::string> begin{"/first", "profiles", "/home/a/.config/commpass", "/etc/commpass",
                                       "/opt/commpass/share/commpass/profiles"};
  ASSERT_GT(directories.size(), begin.size()) << "the built-in one stands last";
  EXPECT_EQ(std::vector(directories.begin(), directories.begin() + 5), begin);
  EXPECT_EQ(profile_directories().front(), "profiles");
}

TEST(InstalledProfiles, AreFoundFromALibraryOrAProgramWhereverThePrefixIs) {
  const test::TemporaryDirectory directory;
  const auto profiles = directory.path("moved/share/commpass/profiles");
  fs::create_directories(profiles);
  for (const auto* file :
       {"moved/bin/commpass", "moved/lib/libcommpass.so.0", "moved/lib/x86_64-linux-gnu/libcommpass.so"})
    EXPECT_EQ(installed_profiles(directory.path(file)), profiles) << file;
  EXPECT_EQ(installed_profiles(directory.path("elsewhere/bin/commpass")), "");
  EXPECT_EQ(installed_profiles(""), "");
}

TEST(ProcessorModel, IsReadAsLinuxTellsItOnSeveralProcessors) {
  const test::TemporaryDirectory directory;
  directory.write("x86", "processor\t: 0\nmodel\t\t: 1\nmodel name\t: Xeon 7\ncpu MHz\t: 3\n\nmodel name\t: Xeon 7\n");
  directory.write("power", "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t: 3\n");
  directory.write("arm", "processor\t: 0\nCPU implementer\t: 0x46\nCPU part\t: 0x001\n\nprocessor\t: 1\n");
  EXPECT_EQ(processor_model(directory.path("x86")), "Xeon 7");
  EXPECT_EQ(processor_model(directory.path("power")), "POWER9, altivec supported");
  EXPECT_EQ(processor_model(directory.path("arm")), "0x46 0x001");
  EXPECT_EQ(processor_model(directory.path("none")), "");
}

TEST(GenericProfile, PricesEveryLayout) {
  const auto profile = generic_profile();
  EXPECT_EQ(profile.machine.name, "generic");
  EXPECT_FALSE(missing_parameters(Layout::with_ppn(4, 2), profile.machine));
  EXPECT_FALSE(missing_parameters(parse_layout("1x2x2"), profile.machine));
  EXPECT_FALSE(fingerprint_of(profile)) << "it belongs to no machine";
}

}  // namespace
}  // namespace commpass
