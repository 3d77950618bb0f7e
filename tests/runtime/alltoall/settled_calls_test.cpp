// All-to-alls that run the same again and again, by the MPI library or through memory of the node, on the ranks that
// mpirun gives.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "model/base/error.hpp"
#include "model/machine/layout.hpp"
#include "runtime/communicator.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::everywhere;
using test::rank_of;
using test::size_of;

constexpr int calls = 40;
constexpr int beyond_eager = 75'000;  // numbers in a block, which waits for its receiver

struct Way {
  const char* name;
  const char* strategy;
  bool is_one_node;  ///< or as many as there are ranks
};

Communicator communicator_of(const Way& way) {
  const int nodes = way.is_one_node ? 1 : size_of();
  setenv("COMMPASS_ALLTOALLV_STRATEGY", way.strategy, 1);
  CommunicatorOptions options;
  options.layout = Layout::with_ppn(size_of(), size_of() / nodes);
  Communicator made(MPI_COMM_WORLD, test::some_machine(), options);
  unsetenv("COMMPASS_ALLTOALLV_STRATEGY");
  return made;
}

/// Blocks of `count` numbers, which name their ranks and the call.
struct Blocks {
  Blocks(int count, int call) : counts(static_cast<std::size_t>(size_of()), count), places(counts.size()) {
    std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
    for (int other = 0; other < size_of(); ++other) {
      out.insert(out.end(), static_cast<std::size_t>(count), number(rank_of(), other, call));
      expected.insert(expected.end(), static_cast<std::size_t>(count), number(other, rank_of(), call));
    }
    in.assign(out.size(), -1);
  }
  static int number(Rank from, Rank to, int call) { return (100 * from + to) * calls + call; }

  std::vector<int> counts, places, out{}, expected{}, in{};
};

class SettledCalls : public testing::TestWithParam<Way> {
 protected:
  Communicator communicator_ = communicator_of(GetParam());

  void alltoall(Blocks& blocks) {
    const int count = blocks.counts[0];
    communicator_.alltoall(blocks.out.data(), count, MPI_INT, blocks.in.data(), count, MPI_INT);
  }
  void alltoallv(Blocks& blocks) {
    communicator_.alltoallv(blocks.out.data(), blocks.counts, blocks.places, MPI_INT, blocks.in.data(), blocks.counts,
                            blocks.places, MPI_INT);
  }
};

TEST_P(SettledCalls, BringBlocksOfAnySize) {
  for (int call = 0; call < calls; ++call) {
    Blocks equal(1 + call / 4 % 3, call), listed(1 + call % 3, call);
    alltoall(equal);
    alltoallv(listed);
    ASSERT_TRUE(everywhere(equal.in == equal.expected && listed.in == listed.expected)) << call;
  }
  EXPECT_EQ(communicator_.last_alltoallv_strategy(), GetParam().strategy);
}

TEST_P(SettledCalls, TakeTypesThatAreFreed) {
  for (int call = 0; call < calls; ++call) {
    const int ints = 1 + call % 3;
    Blocks blocks(ints, call);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(ints, MPI_INT, &type);
    MPI_Type_commit(&type);
    communicator_.alltoall(blocks.out.data(), 1, type, blocks.in.data(), 1, type);
    MPI_Type_free(&type);
    ASSERT_TRUE(everywhere(blocks.in == blocks.expected)) << call;
  }
}

TEST_P(SettledCalls, TakeCallsInPlaceBetweenThem) {
  for (int call = 0; call < calls; ++call) {
    Blocks blocks(2, call);
    if (call % 4 > 0) alltoall(blocks);
    else {
      blocks.in = blocks.out;
      communicator_.alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks.in.data(), 2, MPI_INT);
    }
    ASSERT_TRUE(everywhere(blocks.in == blocks.expected)) << call;
  }
}

TEST_P(SettledCalls, RefuseWrongArguments) {
  Blocks blocks(2, 0);
  for (int call = 0; call < 3; ++call) alltoallv(blocks);
  blocks.counts.back() = -1;
  EXPECT_THROW(alltoallv(blocks), InputError);
  blocks.counts.back() = 2;
  alltoallv(blocks);
  EXPECT_EQ(blocks.in, blocks.expected);
}

// Afterwards ranks still agree on the messages of later calls.
TEST_P(SettledCalls, RefuseOnOneRankATypeThatIsNotCommitted) {
  Blocks blocks(2, 0);
  for (int call = 0; call < 3; ++call) alltoallv(blocks);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(1, MPI_INT, &type);
  if (rank_of() == 0) {
    EXPECT_THROW(communicator_.alltoallv(blocks.out.data(), blocks.counts, blocks.places, type, blocks.in.data(),
                                         blocks.counts, blocks.places, MPI_INT),
                 Error);
  }
  MPI_Type_free(&type);
  for (const char* strategy : {"", "standard", ""}) {
    blocks.in.assign(blocks.in.size(), -1);
    communicator_.alltoallv(blocks.out.data(), blocks.counts, blocks.places, MPI_INT, blocks.in.data(), blocks.counts,
                            blocks.places, MPI_INT, {strategy, {}});
    EXPECT_TRUE(everywhere(blocks.in == blocks.expected)) << strategy;
  }
}

// Half of the ranks wait for an exchange that others must forward, and the others come to the call before they wait.
TEST_P(SettledCalls, MoveOnExchangesInFlight) {
  Communicator other(MPI_COMM_WORLD, test::some_machine());
  for (int call = 0; call < calls; ++call) {
    Blocks blocks(2, call), in_flight(call % 8 < 2 ? beyond_eager : 3, call);
    auto started = other.start_alltoallv(in_flight.out.data(), in_flight.counts, in_flight.places, MPI_INT,
                                         in_flight.in.data(), in_flight.counts, in_flight.places, MPI_INT,
                                         {size_of() > 1 ? "tuna,radix=2" : "standard", {}});
    const bool waits_first = rank_of() % 2 == call % 2;
    if (waits_first) started.wait();
    alltoall(blocks);
    if (!waits_first) started.wait();
    ASSERT_TRUE(everywhere(blocks.in == blocks.expected && in_flight.in == in_flight.expected)) << call;
  }
}

// Sizes change from call to call, and one rank takes another path: its buffers move, or its elements are not named.
TEST_P(SettledCalls, MeetOthersThatAreNot) {
  MPI_Datatype one = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(1, MPI_INT, &one);
  MPI_Type_commit(&one);
  for (int call = 0; call < calls; ++call) {
    Blocks blocks(call % 5 == 4 ? beyond_eager : call % 3, call);
    const auto type = rank_of() == call % size_of() ? one : MPI_INT;
    communicator_.alltoallv(blocks.out.data(), blocks.counts, blocks.places, type, blocks.in.data(), blocks.counts,
                            blocks.places, MPI_INT);
    ASSERT_TRUE(everywhere(blocks.in == blocks.expected)) << call;
  }
  MPI_Type_free(&one);
}

// A caller's name of a strategy counts, too.
TEST_P(SettledCalls, TakeTheStrategyThatIsNamed) {
  for (int call = 0; call < calls; ++call) {
    Blocks blocks(2, call);
    const std::string strategy = call % 8 < 4 ? "standard,shared" : call % 8 < 6 ? "mpi" : "standard";
    communicator_.alltoall(blocks.out.data(), 2, MPI_INT, blocks.in.data(), 2, MPI_INT, {strategy, {}});
    ASSERT_TRUE(everywhere(blocks.in == blocks.expected)) << call;
    EXPECT_EQ(communicator_.last_alltoallv_strategy(), strategy);
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, SettledCalls,
                         testing::Values(Way{"OnOneNode", "mpi", true}, Way{"OnManyNodes", "mpi", false},
                                         Way{"Shared", "standard,shared", true}),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace commpass
