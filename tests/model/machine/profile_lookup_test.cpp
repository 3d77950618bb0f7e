// Where profiles are found, and which one belongs to the machine at hand.
#include "model/machine/profile_lookup.hpp"
#include "model/base/json.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "model/cost/cost.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

namespace fs = std::filesystem;
const Fingerprint here{"Processor 9", 64, "Open MPI v4.1.4"};
const auto one_node = Layout::with_ppn(4, 4), two_nodes = Layout::with_ppn(4, 2);

/// A profile that was measured on a machine, as calibrate writes it.
std::string measured(const std::string& name, const Fingerprint& machine, const std::string& date) {
  auto profile = generic_profile();
  profile.machine.name = name;
  profile.provenance_json = Json{
      {"date", date},
      {"processor", machine.processor},
      {"node_processors", machine.node_processors},
      {"mpi_library",
       machine.mpi_library}}.dump();
  return to_json(profile);
}

std::string found(const std::string& directory, const Layout& layout = one_node) {
  const auto profile = find_measured_profile({"/nonexistent", directory}, here, layout);
  return profile ? profile->profile.machine.name : "none";
}

TEST(MeasuredProfile, IsTheYoungestOfThisMachine) {
  const test::TemporaryDirectory directory;
  EXPECT_EQ(found(directory.path()), "none");
  directory.write("a.json", measured("other processor", {"Processor 8", 64, here.mpi_library}, "2026-09-01"));
  directory.write("b.json", measured("other node", {here.processor, 32, here.mpi_library}, "2026-09-01"));
  directory.write("c.json", measured("other library", {here.processor, 64, "MPICH 4.0.2"}, "2026-09-01"));
  directory.write("d.json", to_json(generic_profile()));
  EXPECT_EQ(found(directory.path()), "none");
  directory.write("e.json", measured("new", here, "2026-08-02"));
  directory.write("f.json", measured("old", here, "2026-08-01"));
  EXPECT_EQ(found(directory.path()), "new");
}

TEST(MeasuredProfile, IsOfAnyLibraryForAProgramThatKnowsNone) {
  const test::TemporaryDirectory directory;
  directory.write("a.json", measured("other processor", {"Processor 8", 64, here.mpi_library}, "2026-09-01"));
  const auto path =
      directory.write("b.json", measured("other library", {here.processor, 64, "MPICH 4.0.2"}, "2026-08-01"));
  const auto profile = find_measured_profile({directory.path()}, {here.processor, 64, ""}, one_node);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->path, path);
  EXPECT_EQ(describe_unnamed(*profile), "commpass: profile other library (" + path + "), as none is named.");
}

TEST(MeasuredProfile, HasWhatTheLayoutAsksForIfThereIsOne) {
  const test::TemporaryDirectory directory;
  directory.write("cluster.json", measured("cluster", here, "2026-08-01"));
  auto node = Json::parse(measured("node", here, "2026-08-02"));
  node["host"].erase("network");
  directory.write("node.json", node.dump());
  EXPECT_EQ(found(directory.path(), one_node), "node");
  EXPECT_EQ(found(directory.path(), two_nodes), "cluster");
}

TEST(MeasuredProfile, IsFoundBesideOnesThatAreBroken) {
  const test::TemporaryDirectory directory;
  directory.write("a.json", "{");
  directory.write("b.json", R"({"schema_version": 99})");
  auto strange = Json::parse(measured("strange", here, "2026-08-01"));
  strange["provenance"]["date"] = 7;
  directory.write("c.json", strange.dump());
  directory.write("d.json", measured("good", here, "2026-08-01"));
  EXPECT_EQ(found(directory.path()), "good");
}

TEST(ProfileDirectories, AreInTheOrderThatIsPromised) {
  const auto directories = profile_directories({{"/first"}, "/home/a/.config/commpass", {"/opt/commpass"}});
  const std::vector<std::string> begin{"/first", "profiles", "/home/a/.config/commpass", "/etc/commpass",
                                       "/opt/commpass/share/commpass/profiles"};
  ASSERT_GT(directories.size(), begin.size()) << "what was built in stands last";
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
  EXPECT_FALSE(missing_parameters(two_nodes, profile.machine));
  EXPECT_FALSE(missing_parameters(parse_layout("1x2x2"), profile.machine));
  EXPECT_FALSE(fingerprint_of(profile)) << "it belongs to no machine";
}

}  // namespace
}  // namespace commpass
