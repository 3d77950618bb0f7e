// A one-shot exchange runs the messages and copies that are priced. Counts sent messages (PMPI) and copies, in place of
// runtime/execute/memory.cpp.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <utility>

#include "model/route/catalogue.hpp"
#include "model/schedule/schedule.hpp"
#include "runtime/communicator.hpp"
#include "runtime/execute/memory.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

namespace {

/// What this rank has sent and copied.
struct Done {
  std::multiset<std::pair<int, std::int64_t>> messages;  // of bytes: receiver and size
  std::int64_t empty_messages = 0, told_messages = 0, told_sizes = 0, pieces = 0, copied_bytes = 0;
} done;
std::mutex done_mutex;  // other tests of this program have exchanges in several threads

}  // namespace

namespace commpass {

namespace {

class CountingMemory final : public Memory {
 public:
  void copy(std::span<const LocalCopy> copies) override {
    const std::lock_guard lock(done_mutex);
    for (const auto& [from, to, bytes] : copies) {
      if (bytes == 0) continue;
      std::memcpy(to, from, bytes);
      ++done.pieces;
      done.copied_bytes += static_cast<std::int64_t>(bytes);
    }
  }
  void order() override {}
};

}  // namespace

Memory& host_memory() {
  static CountingMemory memory;
  return memory;
}

}  // namespace commpass

extern "C" int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  {
    const std::lock_guard lock(done_mutex);
    if (type == MPI_INT64_T) {
      ++done.told_messages;
      done.told_sizes += count;
    } else if (count == 0) {
      ++done.empty_messages;
    } else {
      done.messages.emplace(peer, count);
    }
  }
  return PMPI_Isend(buffer, count, type, peer, tag, comm, request);
}

namespace commpass {
namespace {

using test::rank_of;
using test::size_of;

std::vector<Strategy> priced_strategies(const Layout& layout) {
  std::vector<Strategy> result;
  for (auto strategy : suggest_strategies(layout)) {
    if (pattern_need(strategy) != PatternNeed::nothing || strategy.route == "mpi") continue;
    result.push_back(strategy);
    strategy.window = {2};
    if (takes_window(strategy)) result.push_back(strategy);
  }
  for (const auto* text : {"two-step,staggered", "stfw,dims=3x2x5x7,staggered"}) {
    const auto strategy = parse_strategy(text);
    if (catalogue_row(strategy.route).inapplicable(strategy, layout).empty()) result.push_back(strategy);
  }
  return result;
}

/// Bytes between all pairs of ranks, the same on all ranks; nothing to oneself.
std::vector<std::vector<int>> sizes_of(unsigned seed, int least, int most) {
  std::mt19937 random(seed);
  std::vector<std::vector<int>> bytes(static_cast<std::size_t>(size_of()));
  for (auto& row : bytes)
    for (Rank to = 0; to < size_of(); ++to)
      row.push_back(&row == &bytes[static_cast<std::size_t>(to)]
                        ? 0
                        : std::max(0, std::uniform_int_distribution(least, most)(random)));
  return bytes;
}

/// What the schedule of a pattern with these blocks has this rank do.
struct Priced {
  std::multiset<std::pair<int, std::int64_t>> messages;
  std::int64_t told_messages = 0, told_sizes = 0, pieces = 0, copied_bytes = 0;
};
Priced price_of(const Strategy& strategy, const Layout& layout, const std::vector<std::vector<int>>& bytes) {
  Pattern blocks{size_of(), {}}, sizes{size_of(), {}};
  for (Rank from = 0; from < size_of(); ++from)
    for (Rank to = 0; to < size_of(); ++to) {
      blocks.edges.push_back({from, to, bytes[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)]});
      if (from != to) sizes.edges.push_back({from, to, 1});
    }
  const auto route = make_route(strategy, layout);
  Priced result;
  for (const auto& stage : make_schedule(*route, strategy.window, blocks, strategy.coalescing).stages)
    for (const auto& message : stage.messages) {
      if (message.from == rank_of()) {
        result.messages.emplace(message.to, message.bytes);
        result.pieces += message.packed_pieces;
        result.copied_bytes += message.packed_pieces > 0 ? message.bytes : 0;
      }
      if (message.to == rank_of()) {
        result.pieces += message.unpacked_pieces;
        result.copied_bytes += message.unpacked_bytes;
      }
    }
  const auto telling = make_schedule(*route, strategy.window, sizes, strategy.coalescing);
  for (std::size_t stage = 0; stage + 1 < telling.stages.size(); ++stage)
    for (const auto& message : telling.stages[stage].messages)
      if (message.from == rank_of()) {
        ++result.told_messages;
        result.told_sizes += message.blocks;
      }
  return result;
}

class OneShot : public testing::TestWithParam<unsigned> {};

// Copies may be fewer, where messages happen to land one behind another.
TEST_P(OneShot, RunsTheMessagesAndCopiesThatArePriced) {
  const unsigned seed = GetParam();
  const auto layout = test::random_layout(size_of(), seed);
  Communicator communicator(MPI_COMM_WORLD, test::some_machine(), {layout});
  const std::pair<int, int> ranges[] = {{1, 50}, {24, 24}, {0, 9}, {-60, 20}};  // below 0: no block
  for (const auto& strategy : priced_strategies(layout))
    for (const auto& [least, most] : ranges) {
      SCOPED_TRACE(to_string(strategy) + ", " + layout.describe() + ", up to " + std::to_string(most) + " bytes");
      const auto bytes = sizes_of(seed, least, most);
      std::vector<int> send, send_at, receive, receive_at;
      int sent_end = 0, received_end = 0;
      for (Rank rank = 0; rank < size_of(); ++rank) {
        send.push_back(bytes[static_cast<std::size_t>(rank_of())][static_cast<std::size_t>(rank)]);
        receive.push_back(bytes[static_cast<std::size_t>(rank)][static_cast<std::size_t>(rank_of())]);
        send_at.push_back(sent_end);
        receive_at.push_back(received_end);
        sent_end += send.back();
        received_end += receive.back();
      }
      std::vector<char> sent(static_cast<std::size_t>(sent_end) + 1),
          received(static_cast<std::size_t>(received_end) + 1);
      const auto run = [&] {
        communicator.alltoallv(sent.data(), send, send_at, MPI_CHAR, received.data(), receive, receive_at, MPI_CHAR,
                               {to_string(strategy)});
      };
      run();  // makes the structure, which sends messages, too
      done = {};
      run();
      const auto found = std::exchange(done, {});
      const auto priced = price_of(strategy, layout, bytes);
      EXPECT_EQ(found.messages, priced.messages);
      EXPECT_LE(found.pieces, priced.pieces);
      EXPECT_LE(found.copied_bytes, priced.copied_bytes);
      EXPECT_LE(found.told_messages, priced.told_messages);
      EXPECT_LE(found.told_sizes, priced.told_sizes);
      EXPECT_EQ(found.empty_messages, 0);
    }
}

// Between the blocks lies the one to oneself, which is copied, too, and may cost a piece in each message.
TEST_P(OneShot, OfEqualBlocksTellsNothing) {
  const auto layout = test::random_layout(size_of(), GetParam());
  Communicator communicator(MPI_COMM_WORLD, test::some_machine(), {layout});
  constexpr int size = 24;
  for (const auto& strategy : priced_strategies(layout)) {
    SCOPED_TRACE(to_string(strategy) + ", " + layout.describe());
    const std::vector<char> sent(static_cast<std::size_t>(size * size_of()));
    std::vector<char> received(sent.size());
    const auto run = [&] {
      communicator.alltoall(sent.data(), size, MPI_CHAR, received.data(), size, MPI_CHAR, {to_string(strategy)});
    };
    run();
    done = {};
    run();
    const auto found = std::exchange(done, {});
    const auto priced = price_of(strategy, layout, sizes_of(1, size, size));
    EXPECT_EQ(found.messages, priced.messages);
    EXPECT_EQ(found.told_messages, 0);
    EXPECT_EQ(found.empty_messages, 0);
    const auto messages = static_cast<std::int64_t>(found.messages.size());
    // A message that would be sent or received in place without that piece is copied as a whole.
    EXPECT_LE(found.pieces, priced.pieces + 1 + 4 * messages);
    EXPECT_LE(found.told_sizes, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Random, OneShot, testing::Range(1U, 5U));

}  // namespace
}  // namespace commpass
