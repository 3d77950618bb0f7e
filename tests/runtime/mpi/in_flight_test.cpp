// Exchanges in flight at the same time, which ranks complete in different orders: waiting for one moves on all.
#include "runtime/mpi/in_flight.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "runtime/communicator.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::rank_of;
using test::size_of;
using test::some_machine;

/// A route with a stage for each factor of two, so that every rank forwards blocks.
std::string many_stages() { return size_of() == 1 ? "standard" : size_of() < 4 ? "tuna,radix=2" : "stfw,n=2"; }

/// An exchange that is started, completed, and then checked.
struct Running {
  std::shared_ptr<void> buffers;  ///< first, so that they go last
  std::function<void()> wait;
  std::function<void()> check;
};

/// A started all-to-all of all ranks, by a named strategy.
Running neighbor(Communicator& communicator, const std::string& strategy, unsigned seed) {
  Pattern pattern{size_of(), {}};
  for (Rank i = 0; i < size_of(); ++i)
    for (Rank j = 0; j < size_of(); ++j) pattern.edges.push_back({i, j, 20 + (i + 2 * j + seed) % 5});
  auto local = std::make_shared<test::LocalExchange>(test::local_part(pattern, rank_of(), 3, seed));
  test::fill(*local, rank_of(), seed);
  auto exchange = std::make_shared<Exchange>(test::plan_local(communicator, *local, {strategy}));
  exchange->start();
  return {local, [exchange] { exchange->wait(); },
          [local] { EXPECT_EQ(local->receive_buffer, test::naive_exchange(*local, MPI_COMM_WORLD)); }};
}

Running persistent_alltoallv(Communicator& communicator, const std::string& strategy) {
  struct Data {
    std::vector<int> sent, received, counts, at;
  };
  const auto ranks = static_cast<std::size_t>(size_of());
  auto data = std::make_shared<Data>(
      Data{std::vector<int>(ranks), std::vector<int>(ranks, -1), std::vector<int>(ranks, 1), {}});
  for (int rank = 0; rank < size_of(); ++rank) {
    data->at.push_back(rank);
    data->sent[static_cast<std::size_t>(rank)] = 100 * rank_of() + rank;
  }
  auto exchange = std::make_shared<PersistentAlltoallv>(
      communicator.alltoallv_init(data->sent.data(), data->counts, data->at, MPI_INT, data->received.data(),
                                  data->counts, data->at, MPI_INT, {strategy}));
  exchange->start();
  return {data, [exchange] { exchange->wait(); },
          [data] {
            for (int rank = 0; rank < size_of(); ++rank)
              EXPECT_EQ(data->received[static_cast<std::size_t>(rank)], 100 * rank + rank_of());
          }};
}

Running sparse(Communicator& communicator, const std::string& strategy) {
  struct Data {
    std::vector<int> sent;
    std::optional<SparseExchange> exchange;
    ReceivedMessages received;
  };
  auto data = std::make_shared<Data>();
  std::vector<SendEdge> sends;
  for (Rank rank = 0; rank < size_of(); ++rank) {
    sends.push_back({rank, static_cast<Bytes>(data->sent.size() * sizeof(int)), sizeof(int)});
    data->sent.push_back(1000 * rank_of() + rank);
  }
  data->exchange.emplace(communicator.start_sparse_alltoallv(data->sent.data(), sends, {strategy}));
  return {data, [data] { data->received = data->exchange->wait(); },
          [data] {
            ASSERT_EQ(std::ssize(data->received), size_of());
            for (int rank = 0; rank < size_of(); ++rank)
              EXPECT_EQ(*reinterpret_cast<const int*>(data->received[static_cast<std::size_t>(rank)].bytes.data()),
                        1000 * rank + rank_of());
          }};
}

Running indexed(Communicator& communicator, const std::string& strategy) {
  struct Data {
    std::vector<double> owned, ghosts;
    std::vector<Index> needed;
    std::optional<IndexedExchange> exchange;
  };
  auto data = std::make_shared<Data>();
  data->owned = {rank_of() + 0.5};
  for (Index index = 0; index < size_of(); ++index) data->needed.push_back(index);
  data->ghosts.resize(data->needed.size(), -1);
  data->exchange.emplace(communicator.indexed_exchange(IndexRange{rank_of(), rank_of() + 1}, data->needed,
                                                       sizeof(double), {.strategy = strategy}));
  data->exchange->start_forward(data->owned.data(), data->ghosts.data());
  return {data, [data] { data->exchange->wait(); },
          [data] {
            for (int rank = 0; rank < size_of(); ++rank)
              EXPECT_EQ(data->ghosts[static_cast<std::size_t>(rank)], rank + 0.5);
          }};
}

Running one_shot(Communicator& communicator, const std::string& strategy) {
  auto data = std::make_shared<std::vector<int>>(2 * static_cast<std::size_t>(size_of()), -1);
  for (int rank = 0; rank < size_of(); ++rank) (*data)[static_cast<std::size_t>(rank)] = 10 * rank_of() + rank;
  // Not started before it is waited for: it blocks.
  return {data,
          [&communicator, data, strategy] {
            communicator.alltoall(data->data(), 1, MPI_INT, data->data() + size_of(), 1, MPI_INT, {strategy});
          },
          [data] {
            for (int rank = 0; rank < size_of(); ++rank)
              EXPECT_EQ((*data)[static_cast<std::size_t>(size_of() + rank)], 10 * rank + rank_of());
          }};
}

/// Ranks complete two exchanges in opposite orders, and check both.
void in_opposite_orders(const Running& first, const Running& second) {
  if (rank_of() % 2 == 0) {
    first.wait();
    second.wait();
  } else {
    second.wait();
    first.wait();
  }
  first.check();
  second.check();
}

class OppositeOrders : public testing::Test {
 protected:
  Communicator one_{MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)}};
  Communicator other_{MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)}};
};

TEST_F(OppositeOrders, OfPlannedExchangesOnOneCommunicatorAndOnTwo) {
  for (auto* second : {&one_, &other_}) {
    const auto a = neighbor(one_, many_stages(), 1), b = neighbor(*second, many_stages(), 2);
    in_opposite_orders(a, b);
    const auto c = neighbor(one_, many_stages() + ",shared", 1), d = neighbor(*second, many_stages() + ",shared", 2);
    in_opposite_orders(c, d);
  }
}

TEST_F(OppositeOrders, OfPlannedAndPersistentAllToAll) {
  const auto a = neighbor(one_, many_stages(), 1), b = persistent_alltoallv(other_, many_stages());
  in_opposite_orders(a, b);
}

TEST_F(OppositeOrders, OfPlannedAndWhatTheLibraryRuns) {
  const auto a = neighbor(one_, many_stages(), 1), b = neighbor(other_, "mpi", 2);
  in_opposite_orders(a, b);
}

TEST_F(OppositeOrders, OfPlannedAndSparse) {
  for (const char* strategy : {"direct+nbx", "two-step+reduce", "stfw,n=1+dense"}) {
    const auto a = neighbor(one_, many_stages(), 1), b = sparse(other_, strategy);
    in_opposite_orders(a, b);
  }
}

TEST_F(OppositeOrders, OfSparseOnTwoCommunicators) {
  const auto a = sparse(one_, "two-step+nbx"), b = sparse(other_, "direct+nbx");
  in_opposite_orders(a, b);
}

TEST_F(OppositeOrders, OfPlannedAndIndexed) {
  const auto a = neighbor(one_, many_stages(), 1), b = indexed(other_, many_stages());
  in_opposite_orders(a, b);
}

// A blocking call waits for ranks that wait for messages that it must forward.
TEST_F(OppositeOrders, OfPlannedAndOneShot) {
  for (const std::string& strategy : {many_stages(), std::string("standard"), std::string("mpi"), std::string()}) {
    const auto a = neighbor(one_, many_stages(), 1), b = one_shot(other_, strategy);
    in_opposite_orders(a, b);
  }
}

TEST_F(OppositeOrders, OfSparseAndOneShot) {
  for (const std::string& strategy : {many_stages(), std::string("mpi")}) {
    const auto a = sparse(one_, "two-step+nbx"), b = one_shot(other_, strategy);
    in_opposite_orders(a, b);
  }
}

TEST_F(OppositeOrders, OfPlannedAndAnythingThatPlans) {
  const auto plan = [&](const std::function<void()>& make) {
    const auto a = neighbor(one_, many_stages(), 1);
    in_opposite_orders(a, {nullptr, make, [] {}});
  };
  plan([] { Communicator made(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)}); });
  plan([&] { neighbor(other_, many_stages(), 3).wait(); });
  plan([&] { neighbor(other_, "", 3).wait(); });
  plan([&] { indexed(other_, "").wait(); });
  plan([&] { persistent_alltoallv(other_, "").wait(); });
  const std::vector<std::byte> buffer(8);
  plan([&] { other_.sparse_alltoallv(buffer.data(), std::vector<SendEdge>{{0, 0, 8}}, {"two-step+nbx"}); });
  plan([&] { other_.sparse_alltoall(buffer.data(), std::vector<Rank>{0}, 8, {"direct+rma"}); });
  std::optional<Communicator> with_window(std::in_place, MPI_COMM_WORLD, some_machine(),
                                          CommunicatorOptions{Layout::with_ppn(size_of(), 2)});
  with_window->sparse_alltoall(buffer.data(), std::vector<Rank>{0}, 8, {"direct+rma"});
  plan([&] { with_window.reset(); });
}

TEST_F(OppositeOrders, WithTestInPlaceOfWait) {
  auto make = [&](unsigned seed) {
    Pattern pattern{size_of(), {}};
    for (Rank i = 0; i < size_of(); ++i) pattern.edges.push_back({i, (i + 1) % size_of(), 100});
    auto local = std::make_shared<test::LocalExchange>(test::local_part(pattern, rank_of(), 3, seed));
    test::fill(*local, rank_of(), seed);
    return std::pair(local, std::make_shared<Exchange>(test::plan_local(one_, *local, {many_stages()})));
  };
  const auto [first, a] = make(1);
  const auto [second, b] = make(2);
  for (int turn = 0; turn < 3; ++turn) {
    a->start();
    b->start();
    auto& early = rank_of() % 2 == 0 ? *a : *b;
    auto& late = rank_of() % 2 == 0 ? *b : *a;
    while (!early.test()) std::this_thread::yield();
    late.wait();
  }
  EXPECT_EQ(first->receive_buffer, test::naive_exchange(*first, MPI_COMM_WORLD));
  EXPECT_EQ(second->receive_buffer, test::naive_exchange(*second, MPI_COMM_WORLD));
}

TEST_F(OppositeOrders, WithHandlesDroppedInFlight) {
  {
    const auto a = neighbor(one_, many_stages(), 1);
    const auto b = sparse(other_, "two-step+nbx");
    if (rank_of() % 2 == 0) b.wait();
    else a.wait();
  }
  const auto c = neighbor(one_, many_stages(), 2);
  c.wait();
  c.check();
}

/// The error of a call with a wrong argument, unless it is the error about the argument.
std::string error_of_refused(Communicator& communicator) {
  try {
    communicator.alltoall(nullptr, -1, MPI_INT, nullptr, -1, MPI_INT);
  } catch (const InputError& error) {
    const std::string what = error.what();
    return what.find("the count is -1") == std::string::npos ? what : "";
  }
  return {};
}

TEST(ThreadsInFlight, AreRefusedWhereTheyMayNotCall) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), CommunicatorOptions{Layout::with_ppn(size_of(), 2)});
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  const auto error_of_call = [&] {
    try {
      communicator.alltoall(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  std::string other;
  if (level < MPI_THREAD_SERIALIZED) {
    std::jthread([&] { other = error_of_call(); }).join();
    EXPECT_NE(other.find("a thread that did not initialize MPI"), std::string::npos) << other;
  } else {
    // The first thread waits for the other ranks, which call later; it may be refused before.
    std::atomic<bool> is_done = false;
    std::jthread first([&] {
      for (bool runs = false; rank_of() == 0 && !runs;) {
        try {
          communicator.alltoall(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, {"mpi", {}});
          runs = true;
        } catch (const InputError&) {
          std::this_thread::yield();
        }
      }
      is_done = true;
    });
    if (rank_of() == 0 && size_of() > 1) {
      while (other.empty() && !is_done) other = error_of_refused(communicator);
      EXPECT_NE(other.find("another thread is in a call of it"), std::string::npos) << other;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() != 0) communicator.alltoall(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, {"mpi", {}});
  }
  EXPECT_EQ(error_of_call(), "");  // and it works on
}

// Each thread has its own exchanges, which ranks complete in different orders.
TEST(ThreadsInFlight, MayEachHaveExchangesInFlight) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE) GTEST_SKIP() << "run with --threads";
  constexpr int threads = 3, turns = 20;
  std::vector<Communicator> communicators;
  for (int i = 0; i < 2 * threads; ++i)
    communicators.emplace_back(MPI_COMM_WORLD, some_machine(), CommunicatorOptions{Layout::with_ppn(size_of(), 2)});
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i)
      running.emplace_back([&, i] {
        auto& mine = communicators[static_cast<std::size_t>(2 * i)];
        auto& sparse_one = communicators[static_cast<std::size_t>(2 * i + 1)];
        std::vector<int> sent(static_cast<std::size_t>(size_of())), received(sent.size()), counts(sent.size(), 1), at;
        for (int rank = 0; rank < size_of(); ++rank) at.push_back(rank);
        auto planned = mine.alltoallv_init(sent.data(), counts, at, MPI_INT, received.data(), counts, at, MPI_INT,
                                           {many_stages() + (i == 0 ? "" : ",shared")});
        for (int turn = 0; turn < turns; ++turn) {
          for (int rank = 0; rank < size_of(); ++rank)
            sent[static_cast<std::size_t>(rank)] = 10000 * i + 1000 * turn + 10 * rank_of() + rank;
          const std::vector<SendEdge> edge{{(rank_of() + 1) % size_of(), 0, sizeof(int)}};
          planned.start();
          auto found = sparse_one.start_sparse_alltoallv(sent.data(), edge, {"two-step+nbx"});
          ReceivedMessages messages;
          if ((rank_of() + turn) % 2 == 0) {
            planned.wait();
            messages = found.wait();
          } else {
            messages = found.wait();
            planned.wait();
          }
          for (int rank = 0; rank < size_of(); ++rank)
            wrong += received[static_cast<std::size_t>(rank)] != 10000 * i + 1000 * turn + 10 * rank + rank_of();
          const int previous = (rank_of() + size_of() - 1) % size_of();
          wrong += messages.size() != 1 ||
                   *reinterpret_cast<const int*>(messages[0].bytes.data()) != 10000 * i + 1000 * turn + 10 * previous;
        }
      });
  }
  EXPECT_EQ(wrong, 0);
}

// And its own trials, which end while other threads wait.
TEST(ThreadsInFlight, MayEachTryStrategies) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE) GTEST_SKIP() << "run with --threads";
  constexpr int threads = 3, turns = 150;
  std::vector<Communicator> communicators;
  for (int i = 0; i < threads; ++i)
    communicators.emplace_back(MPI_COMM_WORLD, some_machine(), CommunicatorOptions{Layout::with_ppn(size_of(), 2)});
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i)
      running.emplace_back([&, i] {
        std::vector<int> sent(static_cast<std::size_t>(size_of())), received(sent.size()), counts(sent.size(), 1), at;
        for (int rank = 0; rank < size_of(); ++rank) at.push_back(rank);
        ExchangeOptions options;
        options.planner = PlannerMode::adaptive;
        options.calls = 1e9;
        auto planned = communicators[static_cast<std::size_t>(i)].alltoallv_init(
            sent.data(), counts, at, MPI_INT, received.data(), counts, at, MPI_INT, options);
        for (int turn = 0; turn < turns; ++turn) {
          for (int rank = 0; rank < size_of(); ++rank)
            sent[static_cast<std::size_t>(rank)] = 10000 * i + 100 * turn + 10 * rank_of() + rank;
          planned.start();
          while (turn % 2 == 0 && !planned.test()) std::this_thread::yield();
          planned.wait();
          for (int rank = 0; rank < size_of(); ++rank)
            wrong += received[static_cast<std::size_t>(rank)] != 10000 * i + 100 * turn + 10 * rank + rank_of();
        }
      });
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace commpass
