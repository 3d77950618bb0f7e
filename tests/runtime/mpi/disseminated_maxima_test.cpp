// Maxima of all ranks come by messages of our own.
#include "runtime/mpi/disseminated_maxima.hpp"

#include <gtest/gtest.h>

#include <array>

#include "runtime/mpi/in_flight.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::everywhere;
using test::rank_of;
using test::size_of;

constexpr int tag = 7;

/// What this rank gives in a turn; the largest of each is that of another rank.
std::array<double, 3> given_by(int rank, int turn) {
  const int turned = (rank + turn) % size_of();
  return {1e-6 * turned, -0.5 * turned, turned == 0 ? 2.0 + turn : 0};
}

TEST(DisseminatedMaxima, ReachAllRanksInAsManyRoundsAsTheLogarithmOfThese) {
  const OwnCommunicator comm(MPI_COMM_WORLD);
  DisseminatedMaxima maxima(comm.get(), tag, 3);
  for (int turn = 0; turn < 4; ++turn) {
    auto numbers = given_by(rank_of(), turn);
    const auto count = turn == 3 ? std::size_t{1} : numbers.size();  // fewer than the most
    maxima.begin(std::span(numbers).first(count));
    int rounds = 0;
    for (; !maxima.is_over(); ++rounds) {
      maxima.begin_round();
      ASSERT_EQ(wait_for_all(2, maxima.requests().data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
      maxima.end_round();
    }
    EXPECT_LT(size_of(), (1 << rounds) + 1);
    EXPECT_GE(2 * size_of(), (1 << rounds) + 1);
    const std::array<double, 3> all{1e-6 * (size_of() - 1), 0, 2.0 + turn};
    ASSERT_TRUE(everywhere(std::equal(numbers.begin(), numbers.begin() + static_cast<int>(count), all.begin())));
  }
}

}  // namespace
}  // namespace commpass
