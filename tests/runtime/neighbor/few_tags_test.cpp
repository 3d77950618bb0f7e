// An MPI library with few tags: no two exchanges in use share any. And headers are elements of messages, not bytes.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "model/schedule/schedule.hpp"
#include "runtime/communicator.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

namespace {

int tag_max = 100;
std::int64_t header_messages = 0, header_elements = 0;

}  // namespace

extern "C" {

int MPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* found) {
  const int code = PMPI_Comm_get_attr(comm, key, value, found);
  if (key == MPI_TAG_UB && code == MPI_SUCCESS) *static_cast<void**>(value) = &tag_max;
  return code;
}

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request* request) {
  int size = 0;
  MPI_Type_size(type, &size);
  if (size == static_cast<int>(sizeof(commpass::Block))) {
    ++header_messages;
    header_elements += count;
  }
  return PMPI_Isend(buffer, count, type, peer, tag, comm, request);
}

}  // extern "C"

namespace commpass {
namespace {

using test::rank_of;
using test::size_of;

// Of two exchanges with the same tags, ranks that start them in different orders would mix up the messages.
TEST(Tags, OfExchangesThatAreInUseDiffer) {
  Communicator communicator(MPI_COMM_WORLD, test::some_machine(), {Layout::with_ppn(size_of(), 2)});
  const int count = 3 * tag_max / 16;
  std::vector<std::unique_ptr<std::vector<int>>> sent, received;
  std::vector<Exchange> exchanges;
  const Rank next = (rank_of() + 1) % size_of(), previous = (rank_of() + size_of() - 1) % size_of();
  for (int i = 0; i < count; ++i) {
    sent.push_back(std::make_unique<std::vector<int>>(1, 100 * rank_of() + i));
    received.push_back(std::make_unique<std::vector<int>>(1, -1));
    exchanges.push_back(communicator.neighbor_exchange(
        sent.back()->data(), std::vector<SendEdge>{{next, 0, sizeof(int)}}, received.back()->data(),
        std::vector<ReceiveEdge>{{previous, 0, sizeof(int)}}, {"standard"}));
  }
  for (int i = 0; i < count; ++i) exchanges[static_cast<std::size_t>(rank_of() % 2 == 0 ? i : count - 1 - i)].start();
  for (int i = 0; i < count; ++i) exchanges[static_cast<std::size_t>(i)].wait();
  for (int i = 0; i < count; ++i) EXPECT_EQ(received[static_cast<std::size_t>(i)]->front(), 100 * previous + i);
}

TEST(Tags, OfMoreAllToAllsThanThereAreAreTakenInTurns) {
  Communicator communicator(MPI_COMM_WORLD, test::some_machine(), {Layout::with_ppn(size_of(), 2)});
  for (int call = 0; call < 2 * tag_max; ++call) {
    std::vector<int> sent(static_cast<std::size_t>(size_of()), 1000 * rank_of() + call), received(sent.size(), -1);
    communicator.alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, {"two-step"});
    for (Rank from = 0; from < size_of(); ++from)
      ASSERT_EQ(received[static_cast<std::size_t>(from)], 1000 * from + call);
  }
}

// A message may have more blocks than an int counts bytes of their headers: 2^31 / sizeof(Block).
TEST(Headers, AreTheElementsOfMessages) {
  if (size_of() == 1) return;
  Communicator communicator(MPI_COMM_WORLD, test::some_machine(), {Layout::with_ppn(size_of(), 2)});
  constexpr int edges = 7;
  const std::vector<int> sent(edges, 1);
  std::vector<int> received(edges);
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
  for (int i = 0; i < edges; ++i) {
    sends.push_back({(rank_of() + 1) % size_of(), i * Bytes{sizeof(int)}, sizeof(int)});
    receives.push_back({(rank_of() + size_of() - 1) % size_of(), i * Bytes{sizeof(int)}, sizeof(int)});
  }
  header_messages = header_elements = 0;
  auto exchange = communicator.neighbor_exchange(sent.data(), sends, received.data(), receives, {"standard,staggered"});
  EXPECT_EQ(header_messages, 1);
  EXPECT_EQ(header_elements, edges);
}

}  // namespace
}  // namespace commpass
