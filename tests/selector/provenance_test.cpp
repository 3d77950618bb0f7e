#include "selector/provenance.hpp"

#include <gtest/gtest.h>

#include "model/support.hpp"

namespace commpass {
namespace {

using test::expect_sentence;

Profile profile_of(const std::string& provenance) {
  Profile profile;
  profile.machine.name = "mine";
  profile.provenance_json = provenance;
  return profile;
}

TEST(Provenance, OfTheLibraryThatRunsIsSilent) {
  EXPECT_EQ(provenance_warning(profile_of(R"({"mpi_library": "Open MPI v4.1.4"})"), "Open MPI v4.1.4"), "");
}

TEST(Provenance, OfAnotherLibraryNamesBothAndTheDate) {
  expect_sentence(provenance_warning(profile_of(R"({"mpi_library": "Open MPI v4.1.4", "date": "2026-01-02T03:04:05Z"})"), "Open MPI v5.0.0"),
                  {"profile mine", "Open MPI v4.1.4 on 2026-01-02T03:04:05Z", "this is Open MPI v5.0.0", "calibrate"});
  expect_sentence(provenance_warning(profile_of(R"({"mpi_library": "MPICH 4.0"})"), "Open MPI v5.0.0"), {"measured with MPICH 4.0, but"});
}

TEST(Provenance, WithoutALibraryMayBeOfAnotherMachine) {
  for (const auto* provenance : {"{}", R"({"mpi_library": 4})"}) expect_sentence(provenance_warning(profile_of(provenance), "MPICH 4.0"), {"profile mine", "does not say", "calibrate"});
}

}  // namespace
}  // namespace commpass
