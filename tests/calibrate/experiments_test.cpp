// The experiments of the calibration by a clock on which a message of s bytes takes 1 + s seconds at either end, when
// it is waited for: so it is known what each of them must give, however often it is repeated.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <map>
#include <vector>

#include "calibrate/timing.hpp"
#include "runtime/mpi/messages_in_flight.hpp"
#include "runtime/mpi/timed_start.hpp"
#include "runtime/world.hpp"

namespace {

double now = 0;
std::map<MPI_Request, int> bytes_of;  // persistent requests

}  // namespace

extern "C" {
double MPI_Wtime() { return now += 1e-9; }  // and time goes on for those who wait for it
int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const int error = PMPI_Send_init(buffer, count, type, peer, tag, comm, request);
  bytes_of[*request] = count;
  return error;
}
int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request) {
  const int error = PMPI_Recv_init(buffer, count, type, peer, tag, comm, request);
  bytes_of[*request] = count;
  return error;
}
int MPI_Request_free(MPI_Request* request) {  // another one may get its handle
  bytes_of.erase(*request);
  return PMPI_Request_free(request);
}
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  for (int i = 0; i < count; ++i) now += 1 + bytes_of[requests[i]];
  return PMPI_Waitall(count, requests, statuses);
}
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  now += 1;
  return PMPI_Wait(request, status);
}
int MPI_Recv(void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Status* status) {
  if (count > 0) now += 1;  // not a token
  return PMPI_Recv(buffer, count, type, peer, tag, comm, status);
}
}

namespace commpass {
namespace {

using test::size_of;

constexpr Bytes largest = 1000;
constexpr double ticks = 1e-6;

/// Of this rank, when all are through.
bool no_message_is_left() {
  MPI_Barrier(MPI_COMM_WORLD);
  int found = 0;
  for (int i = 0; i < 100 && !found; ++i)
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  return !found;
}

class Experiments : public testing::TestWithParam<int> {
 protected:
  ~Experiments() override { EXPECT_TRUE(no_message_is_left()); }

  Bench bench_{MPI_COMM_WORLD, largest};
  const int repetitions_ = GetParam();
};

TEST_P(Experiments, OfAPingPongGiveOneWay) {
  for (const Bytes bytes : {0, 1, 1000})
    EXPECT_NEAR(bench_.ping_pong(0, size_of() - 1, bytes, repetitions_), 1 + static_cast<double>(bytes), ticks);
  EXPECT_NEAR(bench_.ping_pong(1, 0, 7, repetitions_), 8, ticks);
  for (const auto receiving : {Receiving::posted, Receiving::probed})
    EXPECT_NEAR(bench_.synchronous_ping_pong(0, 1, 8, receiving, repetitions_), 1, ticks);
}

TEST_P(Experiments, OfABurstGiveAllMessagesOfTheSender) {
  std::vector<Rank> others;
  for (Rank rank = 1; rank < size_of(); ++rank) others.push_back(rank);
  for (const int messages : {1, 2, 5, 32})
    for (const Bytes bytes : {0, 10, 700})
      EXPECT_NEAR(bench_.burst(0, others, bytes, messages, repetitions_), messages * (1 + static_cast<double>(bytes)),
                  ticks);
}

TEST_P(Experiments, OfAFanInGiveAllMessagesOfTheReceiver) {
  std::vector<Rank> others;
  for (Rank rank = 1; rank < size_of(); ++rank) others.push_back(rank);
  for (const int messages : {1, 3, 32})
    for (const Bytes bytes : {0, 10, 700})
      EXPECT_NEAR(bench_.fan_in(others, 0, bytes, messages, repetitions_),
                  static_cast<double>(others.size()) * messages * (1 + static_cast<double>(bytes)), ticks);
}

TEST_P(Experiments, OfBothWaysGiveWhatARankSendsAndGets) {
  for (const int messages : {1, 3, 32})
    for (const Bytes bytes : {0, 10, 700})
      EXPECT_NEAR(bench_.both_ways(0, size_of() - 1, bytes, messages, repetitions_),
                  2 * messages * (1 + static_cast<double>(bytes)), ticks);
}

TEST_P(Experiments, OfStreamsGiveWhatTwoHalvesTake) {
  const std::vector<Rank> from{0}, to{size_of() - 1};
  const double halves = repetitions_ * (251.0 + 252), quarter = 1 + 125, times = repetitions_ + 0.25;
  EXPECT_NEAR(bench_.streams(from, to, 501, 0, repetitions_), (halves + quarter) / times, ticks);
  EXPECT_NEAR(bench_.streams(from, to, 501, 100, repetitions_), 100 + (halves + quarter - 100) / times, ticks);
}

TEST_P(Experiments, OfRingsGiveWhatTwoHalvesTakeThatGoAndCome) {
  std::vector<std::vector<Rank>> rings(1);
  for (Rank rank = 0; rank < size_of(); ++rank) rings.front().push_back(rank);
  EXPECT_NEAR(bench_.rings(rings, 500, 0, repetitions_), 2 * (repetitions_ * 2 * 251 + 1 + 125) / (repetitions_ + 0.25),
              ticks);
}

TEST(EarlySends, GiveTheTimeOfTheSendAndLetTheReceiverComeLate) {
  Bench bench(MPI_COMM_WORLD, largest);
  const double before = now;
  EXPECT_NEAR(bench.early_send(0, 1, 20, 1e-6), 21, ticks);
  if (test::rank_of() == 1) {
    EXPECT_GE(now - before, 21 + 1e-6);
  }
  EXPECT_TRUE(no_message_is_left());
}

TEST(WriteAnew, LeavesTheContents) {
  for (const std::size_t bytes : {0, 1, 63, 64, 65, 1000}) {
    std::vector<std::byte> memory(bytes);
    for (std::size_t i = 0; i < bytes; ++i) memory[i] = static_cast<std::byte>(i * 7 + 1);
    const auto before = memory;
    touch_buffer(memory);
    EXPECT_EQ(memory, before);
  }
}

// Every message has its receive, also where nodes have more and fewer ranks: then as many of each take part.
TEST(ExperimentsWithMessagesInFlight, LastAsLongAsAllMessagesOfARank) {
  std::vector<Layout> layouts{Layout::with_ppn(size_of(), 1)};
  if (size_of() == 3) layouts.emplace_back(std::vector{0, 0, 1});
  for (const auto& layout : layouts)
    for (const int messages : {1, 5, 64}) {
      const auto seconds = time_messages_in_flight(MPI_COMM_WORLD, layout, messages, 3);
      ASSERT_EQ(seconds.size(), 3U);
      for (const auto each : seconds) EXPECT_NEAR(each, 2 * messages, ticks) << "as many sends as receives";
      EXPECT_TRUE(no_message_is_left());
    }
}

INSTANTIATE_TEST_SUITE_P(Repetitions, Experiments, testing::Values(1, 2, 9));

}  // namespace
}  // namespace commpass
