#include "selector/choose/unnamed_profile.hpp"

#include <gtest/gtest.h>

#include "model/base/json.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

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
  EXPECT_EQ(describe_unnamed(*profile), "profile other library (" + path + "), as none is named.");
}

TEST(MeasuredProfile, HasWhatTheLayoutAsksForIfThereIsOne) {
  const test::TemporaryDirectory directory;
  directory.write("cluster.json", measured("cluster", here, "2026-08-01"));
  auto node = Json::parse(measured("node", here, "2026-08-02"));
  node["levels"][standard_level::network].erase("host");
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

}  // namespace
}  // namespace commpass
