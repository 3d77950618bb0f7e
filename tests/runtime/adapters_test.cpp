// Adapters beside the loops that they replace.
#include "commpass/adapters.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::common_error;
using test::rank_of;
using test::size_of;
using test::some_machine;

/// A message between two ranks, as all ranks know it: some elements with a stride, and a tag.
struct TaggedMessage {
  int source, destination, count, stride, tag;
};

/// The same on every rank; those of a pair in any order of tags, those of equal tags in order.
std::vector<TaggedMessage> draw_messages(unsigned seed) {
  std::mt19937 random(seed);
  const int ranks = size_of();
  std::vector<TaggedMessage> messages(random() % 40);
  for (auto& [source, destination, count, stride, tag] : messages) {
    source = static_cast<int>(random() % static_cast<unsigned>(ranks));
    destination = static_cast<int>(random() % static_cast<unsigned>(ranks));
    count = static_cast<int>(random() % 5) * static_cast<int>(random() % 7);
    stride = 1 + static_cast<int>(random() % 3);
    tag = static_cast<int>(random() % 4);
  }
  return messages;
}

struct Buffers {
  std::vector<int> out, in;
  std::vector<std::size_t> send_places, receive_places;  ///< of each message, in its order
};
Buffers buffers_for(const std::vector<TaggedMessage>& messages) {
  Buffers buffers;
  std::size_t out = 1, in = 2;
  for (const auto& message : messages) {
    const auto room = static_cast<std::size_t>(message.count * message.stride);
    buffers.send_places.push_back(out);
    buffers.receive_places.push_back(in);
    if (message.source == rank_of()) out += room;
    if (message.destination == rank_of()) in += room;
  }
  buffers.out.resize(out);
  buffers.in.assign(in, -1);
  return buffers;
}
void fill(Buffers& buffers, int turn) {
  std::iota(buffers.out.begin(), buffers.out.end(), rank_of() * 10000 + turn * 1000);
  std::fill(buffers.in.begin(), buffers.in.end(), -1);
}

MPI_Datatype strided(int stride) {
  MPI_Datatype element = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, stride * static_cast<MPI_Aint>(sizeof(int)), &element);
  MPI_Type_commit(&element);
  return element;
}

/// The loop by hand.
void exchange_by_hand(const std::vector<TaggedMessage>& messages, Buffers& buffers,
                      const std::vector<MPI_Datatype>& types) {
  std::vector<MPI_Request> requests;
  for (std::size_t i = 0; i < messages.size(); ++i)
    if (messages[i].destination == rank_of())
      MPI_Irecv(&buffers.in[0] + buffers.receive_places[i], messages[i].count,
                types[static_cast<std::size_t>(messages[i].stride)], messages[i].source, messages[i].tag,
                MPI_COMM_WORLD, &requests.emplace_back());
  for (std::size_t i = 0; i < messages.size(); ++i)
    if (messages[i].source == rank_of())
      MPI_Isend(&buffers.out[0] + buffers.send_places[i], messages[i].count,
                types[static_cast<std::size_t>(messages[i].stride)], messages[i].destination, messages[i].tag,
                MPI_COMM_WORLD, &requests.emplace_back());
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

TEST(MessageList, BringsWhatTheLoopByHandBringsInAnyOrderOfTags) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  std::vector<MPI_Datatype> types{MPI_INT};
  for (int stride = 1; stride <= 3; ++stride) types.push_back(strided(stride));
  for (unsigned seed = 0; seed < 40; ++seed) {
    const auto messages = draw_messages(seed);
    auto expected = buffers_for(messages), buffers = expected;
    MessageList list;
    // Sends of other tags are noted in another order than their receives; those of a tag are not.
    for (int tag = 3; tag >= 0; --tag)
      for (std::size_t i = 0; i < messages.size(); ++i)
        if (const auto& m = messages[i]; m.source == rank_of() && m.tag == tag)
          list.send(&buffers.out[0] + buffers.send_places[i], m.count, types[static_cast<std::size_t>(m.stride)],
                    m.destination, m.tag);
    list.send(nullptr, 7, MPI_INT, MPI_PROC_NULL);
    for (std::size_t i = 0; i < messages.size(); ++i)
      if (const auto& m = messages[i]; m.destination == rank_of())
        list.receive(&buffers.in[0] + buffers.receive_places[i], m.count, types[static_cast<std::size_t>(m.stride)],
                     m.source, m.tag);
    list.receive(nullptr, 7, MPI_INT, MPI_PROC_NULL);
    auto exchange = list.plan(communicator, {.strategy = seed % 2 == 1 || size_of() < 4 ? "" : "stfw,n=2"});
    for (int turn = 0; turn < 3; ++turn) {
      fill(expected, turn);
      fill(buffers, turn);
      exchange_by_hand(messages, expected, types);
      exchange.start();
      exchange.wait();
      EXPECT_EQ(buffers.in, expected.in) << "seed " << seed << ", turn " << turn;
    }
  }
  for (int stride = 1; stride <= 3; ++stride) MPI_Type_free(&types[static_cast<std::size_t>(stride)]);
}

TEST(MessageList, RefusesSizesThatDisagreeOnEveryRank) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  const int next = (rank_of() + 1) % size_of(), previous = (rank_of() + size_of() - 1) % size_of();
  std::vector<int> out(5), in(5);
  MessageList list;
  list.send(out.data(), 4, MPI_INT, next);
  list.receive(in.data(), 5, MPI_INT, previous);
  EXPECT_NE(common_error([&] { list.plan(communicator, {.strategy = "standard"}); }), "");
}

TEST(MessageList, WithoutMessagesTakesPart) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  auto exchange = MessageList().plan(communicator);
  exchange.start();
  exchange.wait();
}

TEST(SomeToSome, BringsEachRankItsValuesAlsoNone) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  const int ranks = size_of(), rank = rank_of();
  const auto count = [&](int from, int to) { return (from * 7 + to * 3) % 4 - 1; };  // -1: no message
  std::map<Rank, std::vector<double>> messages, expected;
  for (int other = 0; other < ranks; ++other) {
    if (const int values = count(rank, other); values >= 0)
      messages[other].assign(static_cast<std::size_t>(values), rank * 100 + other);
    if (const int values = count(other, rank); values >= 0)
      expected[other].assign(static_cast<std::size_t>(values), other * 100 + rank);
  }
  for (const char* strategy : {"", "direct+nbx", "two-step+allreduce"})
    EXPECT_EQ(some_to_some(communicator, messages, {.strategy = strategy}), expected) << strategy;
  std::vector<Rank> destinations, sources;
  for (const auto& entry : messages) destinations.push_back(entry.first);
  for (const auto& entry : expected) sources.push_back(entry.first);
  EXPECT_EQ(sources_of(communicator, destinations), sources);
}

TEST(SomeToSome, RefusesARankOutOfRangeOnEveryRank) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  const std::map<Rank, std::vector<int>> messages{{size_of(), {1}}};
  EXPECT_NE(common_error([&] { some_to_some(communicator, messages); }), "");
}

}  // namespace
}  // namespace commpass
