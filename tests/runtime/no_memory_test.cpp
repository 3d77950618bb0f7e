// A rank without memory: no rank waits for it, no rank gets wrong data, and the communicator works on.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "model/base/error.hpp"
#include "model/machine/layout.hpp"
#include "runtime/communicator.hpp"
#include "runtime/resources.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::rank_of;
using test::Scarcity;
using test::size_of;
using test::some_machine;

/// What an exchange gave on this rank.
enum class Outcome { right, wrong, error };

/// Every rank sends to every rank, itself among them, numbers that tell both.
constexpr int numbers = 500;
int number(Rank source, Rank destination, int i) { return 1000000 * source + 1000 * destination + i; }

bool is_right(std::span<const int> received, Rank source) {
  for (int i = 0; i < numbers; ++i)
    if (received[static_cast<std::size_t>(i)] != number(source, rank_of(), i)) return false;
  return true;
}

/// An exchange that takes no memory of the test's own.
struct Sparse {
  SparseOptions options;
  bool constant = false, blocking = true;
  static constexpr Bytes bytes = numbers * sizeof(int);
  std::vector<int> sent{};
  std::vector<SendEdge> edges{};
  std::vector<Rank> destinations{};

  Sparse(const std::string& strategy, bool is_constant, bool is_blocking)
      : options{strategy}, constant(is_constant), blocking(is_blocking) {
    for (Rank to = 0; to < size_of(); ++to) {
      for (int i = 0; i < numbers; ++i) sent.push_back(number(rank_of(), to, i));
      edges.push_back({to, to * bytes, bytes});
      destinations.push_back(to);
    }
  }
  Outcome operator()(Communicator& communicator) const {
    ReceivedMessages received;
    if (blocking && constant) received = communicator.sparse_alltoall(sent.data(), destinations, bytes, options);
    else if (blocking) received = communicator.sparse_alltoallv(sent.data(), edges, options);
    else if (constant) received = communicator.start_sparse_alltoall(sent.data(), destinations, bytes, options).wait();
    else received = communicator.start_sparse_alltoallv(sent.data(), edges, options).wait();
    if (std::ssize(received) != size_of()) return Outcome::wrong;
    for (Rank from = 0; from < size_of(); ++from) {
      const auto& one = received[static_cast<std::size_t>(from)];
      if (one.source != from || std::ssize(one.bytes) != bytes ||
          !is_right({reinterpret_cast<const int*>(one.bytes.data()), numbers}, from))
        return Outcome::wrong;
    }
    return Outcome::right;
  }
};

struct OneShot {
  AlltoallvOptions options;
  bool in_place = false;
  std::vector<int> sent{}, counts{}, at{};
  mutable std::vector<int> received{};

  OneShot(const std::string& strategy, bool is_in_place) : options{strategy}, in_place(is_in_place) {
    for (Rank to = 0; to < size_of(); ++to) {
      for (int i = 0; i < numbers; ++i) sent.push_back(number(rank_of(), to, i));
      counts.push_back(numbers);
      at.push_back(numbers * to);
    }
    received = sent;
  }
  Outcome operator()(Communicator& communicator) const {
    if (in_place) std::ranges::copy(sent, received.begin());
    else std::ranges::fill(received, -1);
    communicator.alltoallv(in_place ? MPI_IN_PLACE : sent.data(), counts, at, MPI_INT, received.data(), counts, at,
                           MPI_INT, options);
    for (Rank from = 0; from < size_of(); ++from)
      if (!is_right(std::span(received).subspan(static_cast<std::size_t>(numbers * from), numbers), from))
        return Outcome::wrong;
    return Outcome::right;
  }
};

/// Plans and runs.
struct Planned {
  ExchangeOptions options;
  std::vector<int> sent{};
  std::vector<SendEdge> sends{};
  std::vector<ReceiveEdge> receives{};
  mutable std::vector<int> received{};

  explicit Planned(const std::string& strategy) : options{strategy} {
    constexpr Bytes bytes = numbers * sizeof(int);
    for (Rank to = 0; to < size_of(); ++to) {
      for (int i = 0; i < numbers; ++i) sent.push_back(number(rank_of(), to, i));
      sends.push_back({to, to * bytes, bytes});
      receives.push_back({to, to * bytes, bytes});
    }
    received = sent;
  }
  Outcome operator()(Communicator& communicator) const {
    std::ranges::fill(received, -1);
    auto exchange = communicator.neighbor_exchange(sent.data(), sends, received.data(), receives, options);
    exchange.start();
    exchange.wait();
    for (Rank from = 0; from < size_of(); ++from)
      if (!is_right(std::span(received).subspan(static_cast<std::size_t>(numbers * from), numbers), from))
        return Outcome::wrong;
    return Outcome::right;
  }
};

using Exchange = std::function<Outcome(Communicator&)>;

Outcome outcome_of(const Exchange& exchange, Communicator& communicator, std::string& message) {
  try {
    return exchange(communicator);
  } catch (const Error& error) {
    message = error.what();
    return Outcome::error;
  }
}

/// Runs an exchange while one rank lacks memory: it must end everywhere, never with wrong data; and a second one, with
/// memory, is right everywhere.
/// @return did that rank feel it?
bool survives(Communicator& communicator, const Exchange& exchange, Rank poor, std::size_t at_least_bytes,
              std::int64_t after, std::int64_t refusals) {
  Outcome outcome{};
  std::string message;
  {
    std::optional<Scarcity> scarcity;
    if (rank_of() == poor) scarcity.emplace(at_least_bytes, after, refusals);
    outcome = outcome_of(exchange, communicator, message);
  }
  int felt = rank_of() == poor && Scarcity::was_felt() ? 1 : 0;
  EXPECT_NE(outcome, Outcome::wrong);
  EXPECT_TRUE(outcome != Outcome::error || message.find("memory") != std::string::npos) << message;
  MPI_Allreduce(MPI_IN_PLACE, &felt, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_TRUE(felt || outcome == Outcome::right) << message;
  EXPECT_EQ(outcome_of(exchange, communicator, message), Outcome::right) << message;
  return felt != 0;
}

Communicator fresh() { return Communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)}); }

/// Every single allocation on one rank fails once, with everything new and when all has run before; and all larger ones
/// fail.
void survives_everything(const Exchange& exchange, const std::string& what) {
  SCOPED_TRACE(what);
  const Rank poor = size_of() / 2;
  constexpr std::int64_t all = 1 << 30, most = 3000;
  auto communicator = fresh();
  std::string message;
  ASSERT_EQ(outcome_of(exchange, communicator, message), Outcome::right) << message;
  for (const std::size_t bytes : {1500U, 4000U}) survives(communicator, exchange, poor, bytes, 0, all);
  std::int64_t after = 0;
  while (after < most && survives(communicator, exchange, poor, 1, after, 1)) ++after;
  EXPECT_LT(after, most);
  constexpr int step = 5;  // a first exchange allocates more
  for (after = 0; after < most; after += step) {
    auto first = fresh();
    if (!survives(first, exchange, poor, 1, after, 1)) break;
  }
}

class SparseStrategies : public testing::TestWithParam<const char*> {};

TEST_P(SparseStrategies, GoOnWithoutMemory) {
  const std::string strategy = GetParam();
  for (const bool blocking : {true, false}) {
    if (!blocking && strategy == "direct+rma") continue;  // it needs what a blocking one makes
    const bool constant = strategy == "direct+rma";
    const Sparse exchange(strategy, constant, blocking);
    survives_everything(std::cref(exchange), strategy + (blocking ? ", blocking" : ", not blocking"));
  }
}

INSTANTIATE_TEST_SUITE_P(NoMemory, SparseStrategies,
                         testing::Values("direct+nbx", "direct+reduce", "direct+allreduce", "direct+dense",
                                         "direct+rma", "two-step+nbx", "two-step+dense", "stfw,n=1+reduce",
                                         "direct,shared+nbx", "two-step,shared+dense", ""));

class PlanningInLittleMemory : public testing::TestWithParam<const char*> {};

TEST_P(PlanningInLittleMemory, GoesOnWithoutMemory) {
  const std::string strategy = GetParam();
  Planned exchange(strategy);
  survives_everything(std::cref(exchange), "planned, " + strategy);
  exchange.options.anew = true;
  survives_everything(std::cref(exchange), "planned anew, " + strategy);
}

INSTANTIATE_TEST_SUITE_P(NoMemory, PlanningInLittleMemory,
                         testing::Values("standard", "two-step", "standard,window=1", "two-step,staggered",
                                         "standard,shared", "two-step,shared"));

class OneShotStrategies : public testing::TestWithParam<const char*> {};

TEST_P(OneShotStrategies, GoOnWithoutMemory) {
  const std::string strategy = GetParam();
  if (strategy == "tuna,radix=2" && size_of() < 2) return;
  for (const bool in_place : {false, true}) {
    const OneShot exchange(strategy, in_place);
    survives_everything(std::cref(exchange), strategy + (in_place ? ", in place" : ""));
  }
}

INSTANTIATE_TEST_SUITE_P(NoMemory, OneShotStrategies,
                         testing::Values("standard", "standard,window=1", "two-step", "tuna,radix=2", "local-then-node",
                                         "standard,shared", "two-step,shared", ""));

}  // namespace
}  // namespace commpass
