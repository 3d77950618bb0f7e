// The cases of MPICH's tests of its all-to-alls (test/mpi/coll: alltoall1, alltoallv, alltoallv0, alltoallw_zeros),
// with our calls in place of MPI's, on communicators like those of its MTestGetIntracommGeneral.
#include <gtest/gtest.h>
#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

#include "runtime/communicator.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::rank_of;
using test::size_of;
using test::some_machine;

std::vector<std::string> strategies_of_ranks(int ranks) {
  std::vector<std::string> result{"", "mpi", "standard,window=2", "stfw,n=1", "two-step"};
  if (ranks >= 2) result.insert(result.end(), {"tuna,radix=2", "tuna,radix=auto"});
  return result;
}

/// On the world, in reverse, on its halves, on every other rank, on all but rank 0, and on each rank alone; by every
/// strategy.
void on_communicators(
    const std::function<void(Communicator&, int ranks, Rank rank, const std::string& strategy)>& test) {
  const Rank rank = rank_of();
  struct Part {
    const char* name;
    int color, key;
  };
  for (const auto& [name, color, key] :
       {Part{"world", 0, rank}, Part{"reverse", 0, -rank}, Part{"halves", 2 * rank < size_of(), rank},
        Part{"every other", rank % 2, rank}, Part{"all but one", rank == 0 ? MPI_UNDEFINED : 0, rank},
        Part{"alone", rank, 0}}) {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &part);
    if (part == MPI_COMM_NULL) continue;
    {
      Communicator communicator(part, some_machine());
      for (const auto& strategy : strategies_of_ranks(size_of(part))) {
        SCOPED_TRACE(std::string(name) + ", " + strategy);
        test(communicator, size_of(part), rank_of(part), strategy);
      }
    }
    MPI_Comm_free(&part);
  }
}

TEST(MpichAlltoall1, EqualBlocksOfAllSizesAndInPlace) {
  on_communicators([](Communicator& communicator, int ranks, Rank rank, const std::string& strategy) {
    constexpr int largest = 8192, step = 8;
    for (int count = 1; count <= largest; count *= step) {
      std::vector<int> sent, expected, received(at(count * ranks), -1);
      for (Rank other = 0; other < ranks; ++other)
        for (int i = 0; i < count; ++i) {
          sent.push_back(other * ranks + rank + i);
          expected.push_back(rank * ranks + other + i);
        }
      communicator.alltoall(sent.data(), count, MPI_INT, received.data(), count, MPI_INT, {strategy});
      EXPECT_EQ(received, expected) << count;
      communicator.alltoall(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, sent.data(), count, MPI_INT, {strategy});
      EXPECT_EQ(sent, expected) << count << " in place";
    }
  });
}

TEST(MpichAlltoallv, AsManyAsTheNumberOfTheReceiver) {
  on_communicators([](Communicator& communicator, int ranks, Rank rank, const std::string& strategy) {
    std::vector<int> sent, received(at(ranks * ranks), -1), send_counts, send_at, receive_counts(at(ranks), rank),
        receive_at;
    for (int i = 0; i < ranks * ranks; ++i) sent.push_back(i + 100 * rank);
    auto expected = received;
    for (Rank other = 0; other < ranks; ++other) {
      send_counts.push_back(other);
      send_at.push_back(other * (other + 1) / 2);
      receive_at.push_back(other * rank);
      for (int i = 0; i < rank; ++i) expected[at(other * rank + i)] = 100 * other + rank * (rank + 1) / 2 + i;
    }
    communicator.alltoallv(sent.data(), send_counts, send_at, MPI_INT, received.data(), receive_counts, receive_at,
                           MPI_INT, {strategy});
    EXPECT_EQ(received, expected);
  });
}

TEST(MpichAlltoallv, InPlaceWithRoomBetweenBlocks) {
  on_communicators([](Communicator& communicator, int ranks, Rank rank, const std::string& strategy) {
    const int room = 2 * ranks;
    std::vector<int> counts, offsets, data(at(ranks * room), -1);
    auto expected = data;
    for (Rank other = 0; other < ranks; ++other) {
      counts.push_back(other + rank);
      offsets.push_back(other * room);
      for (int i = 0; i < other + rank; ++i) {
        data[at(other * room + i)] = 10000 * rank + 100 * other + i;
        expected[at(other * room + i)] = 10000 * other + 100 * rank + i;
      }
    }
    communicator.alltoallv(MPI_IN_PLACE, {}, {}, MPI_INT, data.data(), counts, offsets, MPI_INT, {strategy});
    EXPECT_EQ(data, expected);
  });
}

TEST(MpichAlltoallv0, OnlyWithTheNeighboursOfARing) {
  on_communicators([](Communicator& communicator, int ranks, Rank rank, const std::string& strategy) {
    if (ranks < 3) return;
    const Rank left = (rank - 1 + ranks) % ranks, right = (rank + 1) % ranks;
    constexpr int longest = 8191;
    for (int length = 1; length <= longest; length = 8 * length + 7) {
      std::vector<int> counts(at(ranks)), offsets(at(ranks)), sent, expected, received(at(2 * length), -1);
      counts[at(left)] = counts[at(right)] = offsets[at(right)] = length;
      for (const bool is_right : {false, true})
        for (int i = 0; i < length; ++i) {
          sent.push_back(i + 100000 * rank + (is_right ? 1 : 0));
          expected.push_back(i + 100000 * (is_right ? right : left) + (is_right ? 0 : 1));
        }
      communicator.alltoallv(sent.data(), counts, offsets, MPI_INT, received.data(), counts, offsets, MPI_INT,
                             {strategy});
      EXPECT_EQ(received, expected) << length;
    }
  });
}

// Elements of a type without data match no elements of another type, on either side and in place.
TEST(MpichAlltoallwZeros, ElementsWithoutData) {
  MPI_Datatype nothing = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  on_communicators([&](Communicator& communicator, int ranks, Rank rank, const std::string& strategy) {
    const std::vector<int> ones(at(ranks), 1), zeros(at(ranks), 0);
    const int sent = 7;
    int received = -1;
    communicator.alltoallv(&sent, ones, zeros, nothing, &received, zeros, zeros, MPI_INT, {strategy});
    communicator.alltoallv(&sent, zeros, zeros, MPI_INT, &received, ones, zeros, nothing, {strategy});
    if (rank % 2 == 1)
      communicator.alltoallv(MPI_IN_PLACE, {}, {}, MPI_DATATYPE_NULL, &received, zeros, zeros, MPI_INT, {strategy});
    else communicator.alltoallv(MPI_IN_PLACE, {}, {}, MPI_DATATYPE_NULL, &received, ones, zeros, nothing, {strategy});
    communicator.alltoall(&sent, 1, nothing, &received, 1, nothing, {strategy});
    EXPECT_EQ(received, -1);
  });
  MPI_Type_free(&nothing);
}

TEST(MpichIntercommunicators, AreRefused) {
  if (size_of() < 2) return;
  const bool is_first = rank_of() == 0;
  MPI_Comm part = MPI_COMM_NULL, both = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, is_first ? 0 : 1, 0, &part);
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, is_first ? 1 : 0, 1, &both);
  const auto message = test::common_error([&] { Communicator communicator(both, some_machine()); });
  EXPECT_NE(message.find("it is an intercommunicator"), std::string::npos) << message;
  EXPECT_NE(message.find("MPI_Intercomm_merge"), std::string::npos) << message;
  MPI_Comm_free(&both);
  MPI_Comm_free(&part);
}

}  // namespace
}  // namespace commpass
