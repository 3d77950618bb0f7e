#include "model/route/library_algorithm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

namespace commpass {
namespace {

using testing::HasSubstr;

std::string algorithm(const char* library, int ranks, double bytes,
                      LibraryFunction function = LibraryFunction::alltoall) {
  return library_algorithm(library, function, ranks, bytes).name;
}

// On MareNostrum 5 (Open MPI 4.1.5, 32 ranks) the library's own choice takes as long as Bruck's algorithm at 8 and 64
// bytes, and as long as the linear one at 512 bytes and more.
TEST(LibraryAlgorithm, OfOpenMpiChangesAtItsThresholds) {
  const std::vector<std::tuple<int, double, const char*>> known{{2, 1, "exchange of two ranks"},
                                                                {7, 8191, "linear with synchronised windows"},
                                                                {7, 8192, "linear"},
                                                                {7, 524288, "pairwise"},
                                                                {15, 262144, "linear"},
                                                                {16, 3, "linear with synchronised windows"},
                                                                {16, 4, "modified Bruck"},
                                                                {31, 512, "linear with synchronised windows"},
                                                                {32, 8, "modified Bruck"},
                                                                {32, 64, "modified Bruck"},
                                                                {32, 511, "modified Bruck"},
                                                                {32, 512, "linear"},
                                                                {32, 4096, "linear"},
                                                                {63, 524288, "linear with synchronised windows"},
                                                                {64, 1023, "modified Bruck"},
                                                                {64, 1024, "linear"},
                                                                {127, 262144, "pairwise"},
                                                                {512, 511, "modified Bruck"},
                                                                {512, 512, "linear with synchronised windows"},
                                                                {4096, 2047, "modified Bruck"},
                                                                {4096, 65536, "linear with synchronised windows"}};
  for (const auto& [ranks, bytes, name] : known) {
    EXPECT_EQ(algorithm("Open MPI v4.1.4", ranks, bytes), name) << ranks << " ranks, " << bytes << " bytes";
    EXPECT_EQ(algorithm("openmpi 5.0", ranks, bytes), name);
  }
  EXPECT_EQ(algorithm("Open MPI v4.0.3", 13, 199), "modified Bruck");
  EXPECT_EQ(algorithm("Open MPI v4.0.3", 12, 199), "linear");
  EXPECT_EQ(algorithm("Open MPI v4.0.3", 13, 200), "linear");
  EXPECT_EQ(algorithm("Spectrum MPI 10.3", 13, 3000), "pairwise");
}

TEST(LibraryAlgorithm, OfOpenMpisAlltoallvIsByRanksAlone) {
  for (const auto& [ranks, name] : {std::pair(3, "pairwise"), std::pair(4, "linear"), std::pair(63, "linear"),
                                    std::pair(64, "pairwise"), std::pair(127, "pairwise"), std::pair(128, "linear"),
                                    std::pair(256, "pairwise"), std::pair(1023, "pairwise"), std::pair(1024, "linear")})
    for (const double bytes : {0.0, 1e9}) {
      const auto found = library_algorithm("Open MPI v4.1.4", LibraryFunction::alltoallv, ranks, bytes);
      EXPECT_EQ(found.name, name) << ranks;
      EXPECT_EQ(found.exchanges_nothing, found.name == "pairwise") << "it exchanges empty messages, too";
    }
}

TEST(LibraryAlgorithm, OfMpichIsByItsControlVariables) {
  EXPECT_EQ(algorithm("MPICH Version:\t4.0.2", 7, 8), "scattered in windows of 32");
  EXPECT_EQ(algorithm("mpich 4.1", 8, 256), "modified Bruck");
  EXPECT_EQ(algorithm("mpich 4.1", 8, 257), "scattered in windows of 32");
  EXPECT_EQ(algorithm("mpich 4.1", 8, 32768), "scattered in windows of 32");
  EXPECT_EQ(algorithm("mpich 4.1", 8, 32769), "pairwise");
  EXPECT_EQ(algorithm("mpich 4.1", 4096, 8, LibraryFunction::alltoallv), "scattered in windows of 32");
  EXPECT_EQ(algorithm("CRAY MPICH version 8.1.30", 512, 257), "scattered in windows of 24");
  EXPECT_EQ(algorithm("cray-mpich", 512, 8, LibraryFunction::alltoallv), "scattered in windows of 8");
}

// On Dane MPI_Alltoall of 800 ranks and more takes as long as pairwise exchange from 2048 bytes on.
TEST(LibraryAlgorithm, OfMvapichIsByItsTable) {
  EXPECT_EQ(algorithm("MVAPICH2 2.3.7", 32, 2048), "modified Bruck");
  EXPECT_EQ(algorithm("MVAPICH2 2.3.7", 32, 2049), "scattered in windows of 32");
  EXPECT_EQ(algorithm("MVAPICH2 2.3.7", 64, 16385), "pairwise");
  EXPECT_EQ(algorithm("MVAPICH2 2.3.7", 129, 1024), "modified Bruck");
  EXPECT_EQ(algorithm("MVAPICH2 2.3.7", 129, 1025), "pairwise");
}

TEST(LibraryAlgorithm, IsPricedByTheMessagesOfARoute) {
  const auto strategy = [](int ranks, double bytes) {
    return to_string(library_algorithm("mpich 4.1", LibraryFunction::alltoall, ranks, bytes).strategy);
  };
  EXPECT_EQ(strategy(64, 8), "tuna,radix=2");
  EXPECT_EQ(strategy(64, 1024), "standard,window=32");
  EXPECT_EQ(strategy(64, 1e6), "standard,window=1");
  const auto neighbors = library_algorithm("mpich 4.1", LibraryFunction::neighbor_alltoallv, 64, 8);
  EXPECT_EQ(to_string(neighbors.strategy), "standard");
}

TEST(LibraryAlgorithm, TellsItsRuleAndThatMpichStandsIn) {
  const auto known = library_algorithm("Open MPI v4.1.4", LibraryFunction::alltoall, 40, 100);
  EXPECT_EQ(known.rule, "Open MPI 4.1 on 32 to 63 ranks, blocks of 0 to 511 B");
  EXPECT_THAT(known.source, HasSubstr("coll_tuned"));
  EXPECT_FALSE(known.is_stand_in);
  EXPECT_EQ(library_algorithm("mpich", LibraryFunction::alltoall, 40, 1e6).rule,
            "MPICH 4 on 8 ranks and more, blocks of 32769 B and more");
  for (const char* library : {"", "MPI of mine 3", "SMPI Version 3.32"}) {
    EXPECT_FALSE(has_known_rules(library));
    const auto stand_in = library_algorithm(library, LibraryFunction::alltoallv, 40, 100);
    EXPECT_TRUE(stand_in.is_stand_in) << library;
    EXPECT_THAT(stand_in.rule, HasSubstr("MPICH 4"));
    EXPECT_THAT(describe_rules_of(library), HasSubstr("names no MPI library"));
  }
}

// Names and numbers as coll_tuned_alltoall_algorithm and MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM have them.
TEST(LibraryAlgorithm, IsOfferedWhereAFileCanNameIt) {
  const auto names = [](const char* library, LibraryFunction function) {
    std::vector<std::string> result;
    for (const auto& each : offered_algorithms(library, function)) {
      EXPECT_EQ(each.function, function);
      result.push_back(each.name + " " + each.tuning_name);
    }
    return result;
  };
  using testing::ElementsAre, testing::IsEmpty;
  EXPECT_THAT(names("Open MPI v4.1.4", LibraryFunction::alltoall),
              ElementsAre("linear 1", "pairwise 2", "modified Bruck 3"));
  EXPECT_THAT(names("Open MPI v4.1.4", LibraryFunction::alltoallv), ElementsAre("linear 1", "pairwise 2"));
  EXPECT_THAT(names("MPICH 4.0", LibraryFunction::alltoall),
              ElementsAre("scattered in windows of 32 MPIR_Alltoall_intra_scattered",
                          "pairwise MPIR_Alltoall_intra_pairwise", "modified Bruck MPIR_Alltoall_intra_brucks"));
  EXPECT_THAT(names("MPICH 4.0", LibraryFunction::alltoallv), IsEmpty());
  for (const char* library : {"MVAPICH2 2.3", "unknown", ""})
    EXPECT_THAT(names(library, LibraryFunction::alltoall), IsEmpty()) << library;
}

}  // namespace
}  // namespace commpass
