// A communicator does what an MPI_Info asks for, its own or that of the communicator that it is made from.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "model/machine/layout.hpp"
#include "runtime/communicator.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::rank_of;
using test::size_of;

class Info {
 public:
  Info(std::initializer_list<std::pair<const char*, std::string>> hints) {
    MPI_Info_create(&info_);
    for (const auto& [key, value] : hints) MPI_Info_set(info_, key, value.c_str());
  }
  ~Info() { MPI_Info_free(&info_); }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  operator MPI_Info() const { return info_; }  // NOLINT: as MPI takes it

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

Communicator with(MPI_Info info, const std::string& profile = {}) {
  CommunicatorOptions options;
  options.info = info;
  return Communicator(MPI_COMM_WORLD, profile, options);
}

/// What a ring of 8 bytes runs.
std::string strategy_of_a_ring(Communicator& communicator) {
  const std::vector<SendEdge> sends{{(rank_of() + 1) % size_of(), 0, 8}};
  const std::vector<ReceiveEdge> receives{{(rank_of() + size_of() - 1) % size_of(), 0, 8}};
  double out = rank_of(), in = -1;
  auto exchange = communicator.neighbor_exchange(&out, sends, &in, receives);
  exchange.start();
  exchange.wait();
  EXPECT_EQ(in, (rank_of() + size_of() - 1) % size_of());
  return exchange.strategy();
}

TEST(InfoHints, NameProfileLayoutAndStrategies) {
  const Info info{{"commpass_profile", "lassen"},
                  {"commpass_layout", std::to_string(size_of()) + "x1"},
                  {"commpass_strategy", "standard,window=1"},
                  {"commpass_alltoallv_strategy", "standard,window=2"},
                  {"commpass_sparse_strategy", "direct+reduce"},
                  {"other_key", "of another library"}};
  auto communicator = with(info);
  EXPECT_EQ(communicator.machine().name, "lassen");
  EXPECT_EQ(communicator.layout().nodes(), size_of());
  EXPECT_EQ(strategy_of_a_ring(communicator), "standard,window=1");
  std::vector<int> out(static_cast<std::size_t>(size_of())), in(out);
  communicator.alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT);
  EXPECT_EQ(communicator.last_alltoallv_strategy(), "standard,window=2");
  EXPECT_EQ(communicator.start_sparse_alltoallv(nullptr, {}).strategy(), "direct+reduce");
}

TEST(InfoHints, GoBeforeTheEnvironmentAndAfterArguments) {
  const Info info{{"commpass_profile", "lassen"}};
  setenv("COMMPASS_PROFILE", "tuolumne", 1);
  EXPECT_EQ(with(MPI_INFO_NULL).machine().name, "tuolumne");
  EXPECT_EQ(with(info).machine().name, "lassen");
  EXPECT_EQ(with(info, "tuolumne").machine().name, "tuolumne");
  unsetenv("COMMPASS_PROFILE");
}

TEST(InfoHints, AskForMeasuringAndWisdom) {
  if (size_of() == 1) GTEST_SKIP() << "one rank has nothing to measure";
  const auto file = testing::TempDir() + "/hinted-wisdom-" + std::to_string(size_of()) + ".json";
  if (rank_of() == 0) std::filesystem::remove(file);
  MPI_Barrier(MPI_COMM_WORLD);
  const Info info{{"commpass_profile", "lassen"}, {"commpass_planner", "measure"}, {"commpass_wisdom", file}};
  auto communicator = with(info);
  strategy_of_a_ring(communicator);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_TRUE(std::filesystem::exists(file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_of() == 0) std::filesystem::remove(file);
}

TEST(InfoHints, ThatAreWrongAreTheErrorOfAllRanks) {
  const Info none{};
  for (const auto& [key, value] : {std::pair<const char*, const char*>{"commpass_planner", "hasty"},
                                   {"commpass_layout", "0x0"},
                                   {"commpass_alltoallv_strategy", "no-such"}}) {
    const Info wrong{{key, value}};
    const auto error = test::common_error([&] { with(rank_of() == 0 ? wrong : none); });
    EXPECT_NE(error.find(std::string("info ") + key), std::string::npos) << error;
  }
}

TEST(InfoHints, ThatAreUnknownAreSaidOnce) {
  const Info info{{"commpass_profile", "lassen"}, {"commpass_stratgy", "standard"}, {"commpass_calls", "3"}};
  const auto told = test::stderr_of([&] {
    for (int i = 0; i < 2; ++i) with(info);
  });
  const std::string expected = "commpass: info commpass_stratgy is unknown and changes nothing; known are ";
  EXPECT_EQ(told.find(expected) != std::string::npos, rank_of() == 0) << told;
  EXPECT_EQ(told.find(expected), told.rfind(expected)) << told;
  EXPECT_EQ(told.find("commpass_calls is"), std::string::npos) << told;
}

/// Does the MPI library keep hints that it does not know?
bool are_kept(MPI_Comm comm) {
  MPI_Info info = MPI_INFO_NULL;
  char value[16];
  int is_there = 0;
  MPI_Comm_get_info(comm, &info);
  MPI_Info_get(info, "commpass_profile", sizeof value - 1, value, &is_there);
  MPI_Info_free(&info);
  return is_there != 0;
}

// From a duplicate, a grid and a graph, with hints where MPI takes them.
TEST(InfoHints, OfTheGivenCommunicatorHoldWhereMpiKeepsThem) {
  const Info info{{"commpass_profile", "lassen"}, {"commpass_strategy", "standard,window=1"}};
  const Info other{{"commpass_strategy", "standard,window=2"}};
  const int next = (rank_of() + 1) % size_of(), previous = (rank_of() + size_of() - 1) % size_of(), size = size_of(),
            around = 1;
  MPI_Comm comms[3];
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comms[0]);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, info, 0,
                                 &comms[1]);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &around, 0, &comms[2]);
  for (auto& comm : comms) {
    const bool holds = are_kept(comm);
    EXPECT_FALSE(holds && comm == comms[2]) << "MPI_Cart_create takes no info";
    CommunicatorOptions options;
    Communicator as_it_is(comm, holds ? "" : "lassen", options);
    EXPECT_EQ(as_it_is.machine().name, "lassen");
    EXPECT_EQ(strategy_of_a_ring(as_it_is) == "standard,window=1", holds);
    options.info = other;
    Communicator with_others(comm, holds ? "" : "lassen", options);
    EXPECT_EQ(with_others.machine().name, "lassen");
    EXPECT_EQ(strategy_of_a_ring(with_others), "standard,window=2");
  }
  for (auto& comm : comms) MPI_Comm_free(&comm);
}

}  // namespace
}  // namespace commpass
