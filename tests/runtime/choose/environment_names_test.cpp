// Strategies that the environment names, on communicators of several sizes.
#include "runtime/choose/environment_names.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "runtime/communicator.hpp"
#include "runtime/mpi/mpi_library.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::rank_of;
using test::size_of;

/// A variable of this process, as long as this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

/// Communicators of 1, 2 and all ranks.
std::vector<OwnCommunicator> communicators() {
  std::vector<OwnCommunicator> result;
  for (const int size : {1, 2, size_of()}) result.push_back(OwnCommunicator::split(MPI_COMM_WORLD, rank_of() / size));
  return result;
}

/// The strategy that runs a neighbour exchange, which is checked; the same on every rank.
std::string exchanged(Communicator& communicator, const std::string& named = {}) {
  const MPI_Comm comm = communicator.mpi();
  auto local = test::local_part(test::random_pattern(size_of(comm), 1), rank_of(comm), 2, 1);
  ExchangeOptions options;
  options.strategy = named;
  auto exchange = communicator.neighbor_exchange(local.send_buffer.data(), local.sends, local.receive_buffer.data(),
                                                 local.receives, options);
  test::fill(local, rank_of(comm), 1);
  const auto expected = test::naive_exchange(local, comm);
  exchange.start();
  exchange.wait();
  EXPECT_EQ(local.receive_buffer, expected);
  return exchange.predicted_seconds() ? "chosen" : exchange.strategy();
}

/// The strategy that runs an all-to-all of a number, which is checked.
std::string exchanged_with_all(Communicator& communicator) {
  const auto ranks = static_cast<std::size_t>(size_of(communicator.mpi()));
  const int me = rank_of(communicator.mpi());
  const std::vector<int> counts(ranks, 1);
  std::vector<int> at(ranks), sent(ranks), received(ranks, -1);
  std::iota(at.begin(), at.end(), 0);
  for (std::size_t rank = 0; rank < ranks; ++rank) sent[rank] = 100 * me + static_cast<int>(rank);
  communicator.alltoallv(sent.data(), counts, at, MPI_INT, received.data(), counts, at, MPI_INT);
  for (std::size_t rank = 0; rank < ranks; ++rank) EXPECT_EQ(received[rank], 100 * static_cast<int>(rank) + me);
  return communicator.last_alltoallv_strategy();
}

enum class Sizes { constant, variable };

/// The strategy that runs a sparse exchange of a number with the next rank, which is checked.
std::string exchanged_sparsely(Communicator& communicator, Sizes sizes) {
  const MPI_Comm comm = communicator.mpi();
  const std::int64_t number = rank_of(comm);
  const Rank next = (rank_of(comm) + 1) % size_of(comm), previous = (rank_of(comm) + size_of(comm) - 1) % size_of(comm);
  const std::vector<Rank> destinations{next};
  const std::vector<SendEdge> sends{{next, 0, sizeof number}};
  const auto check = [&](const ReceivedMessages& received) {
    EXPECT_EQ(received.size(), 1U);
    for (const auto& message : received) EXPECT_EQ(std::to_integer<int>(message.bytes[0]), previous);
  };
  check(sizes == Sizes::constant ? communicator.sparse_alltoall(&number, destinations, sizeof number)
                                 : communicator.sparse_alltoallv(&number, sends));
  auto exchange = sizes == Sizes::constant ? communicator.start_sparse_alltoall(&number, destinations, sizeof number)
                                           : communicator.start_sparse_alltoallv(&number, sends);
  check(exchange.wait());
  return exchange.strategy();
}

Communicator make(const OwnCommunicator& comm) {
  return Communicator(comm.get(), test::some_machine(), {Layout::with_ppn(comm.size(), 2)});
}

TEST(EnvironmentStrategy, IsTheNearestThatAppliesToACommunicator) {
  const Variable strategy("COMMPASS_STRATEGY", "tuna,radix=3");
  for (const auto& comm : communicators()) {
    auto communicator = make(comm);
    EXPECT_EQ(exchanged(communicator), comm.size() == 1   ? "chosen"
                                       : comm.size() == 2 ? "tuna,radix=2"
                                                          : "tuna,radix=3");
  }
}

// No device is there, and the host's data goes as it is.
TEST(EnvironmentStrategy, HandsNoDeviceMemoryToAnMpiLibraryThatDoesNotTakeIt) {
  const Variable strategy("COMMPASS_STRATEGY", "standard@device"),
      one_shot("COMMPASS_ALLTOALLV_STRATEGY", "standard@device"), asked("COMMPASS_VERBOSE", "1");
  const bool is_taken = takes_cuda_memory().value_or(false) || takes_hip_memory().value_or(false);
  for (const auto& comm : communicators()) {
    std::string run, run_once;
    const auto said = test::stderr_of([&] {
      auto communicator = make(comm);
      run = exchanged(communicator);
      run_once = exchanged_with_all(communicator);
    });
    for (const auto& name : {run, run_once}) EXPECT_EQ(name, is_taken ? "standard@device" : "standard@staged");
    for (const std::string name : {"COMMPASS_STRATEGY", "COMMPASS_ALLTOALLV_STRATEGY"})
      EXPECT_EQ(said.find(name + "=standard@device does not fit an MPI library that does not take device memory; "
                                 "standard@staged runs there.") != std::string::npos,
                comm.rank() == 0 && !is_taken)
          << said;
  }
}

TEST(EnvironmentStrategy, IsThatOfRankZero) {
  const auto comms = communicators();
  const Variable mine("COMMPASS_STRATEGY", rank_of() == 0 ? "stfw,n=9" : "two-step");
  auto communicator = make(comms.back());
  const int ranks = size_of(), dimensions = ranks <= 2 ? 1 : ranks <= 4 ? 2 : 3;  // of 8 ranks and fewer
  EXPECT_EQ(exchanged(communicator), "stfw,n=" + std::to_string(dimensions));
}

TEST(EnvironmentStrategy, OfAllToAllsIsTheNearestThatApplies) {
  const Variable strategy("COMMPASS_ALLTOALLV_STRATEGY", "tuna,radix=3");
  for (const auto& comm : communicators()) {
    auto communicator = make(comm);
    const auto ran = exchanged_with_all(communicator);
    if (comm.size() == 1) EXPECT_EQ(ran, "standard");
    else EXPECT_EQ(ran, comm.size() == 2 ? "tuna,radix=2" : "tuna,radix=3");
  }
}

TEST(EnvironmentStrategy, OfSparseExchangesIsTheNearestThatApplies) {
  const Variable strategy("COMMPASS_SPARSE_STRATEGY", "stfw,n=2+dense");
  for (const auto& comm : communicators()) {
    auto communicator = make(comm);
    for (const auto sizes : {Sizes::constant, Sizes::variable})
      EXPECT_EQ(exchanged_sparsely(communicator, sizes), comm.size() <= 2 ? "stfw,n=1+dense" : "stfw,n=2+dense")
          << comm.size();
  }
}

TEST(EnvironmentStrategy, OfPutsIsForMessagesOfOneSize) {
  const Variable strategy("COMMPASS_SPARSE_STRATEGY", "direct+rma");
  for (const auto& comm : communicators()) {
    auto communicator = make(comm);
    EXPECT_NE(exchanged_sparsely(communicator, Sizes::variable), "direct+rma");
    EXPECT_EQ(exchanged_sparsely(communicator, Sizes::constant), "direct+rma");
    EXPECT_NE(exchanged_sparsely(communicator, Sizes::variable), "direct+rma");
  }
  auto communicator = make(communicators().back());
  const std::byte out{};
  const std::vector<Rank> destinations{0};
  if (size_of() > 1) {
    EXPECT_NE(communicator.start_sparse_alltoall(&out, destinations, 1).strategy(), "direct+rma")
        << "there are no slots yet";
  }
}

TEST(EnvironmentStrategy, SaysWhereItDoesNotFitIfAskedTo) {
  const Variable strategy("COMMPASS_STRATEGY", "tuna,radix=3"),
      alltoallv("COMMPASS_ALLTOALLV_STRATEGY", "tuna-node,radix=2"), sparse("COMMPASS_SPARSE_STRATEGY", "direct+rma");
  const auto comm = OwnCommunicator::split(MPI_COMM_WORLD, rank_of() / 2);
  const bool speaks = comm.rank() == 0;
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  for (const std::string verbose : {"0", "1"}) {
    const Variable asked("COMMPASS_VERBOSE", verbose);
    const auto said = test::stderr_of([&] {
      Communicator communicator(comm.get(), test::some_machine(), {Layout::with_ppn(comm.size(), 1)});
      for (int i = 0; i < 2; ++i) exchanged_sparsely(communicator, Sizes::variable);
    });
    if (verbose == "0" || !speaks) {
      EXPECT_EQ(said, "");
      continue;
    }
    EXPECT_EQ(lines(said), 3) << said;
    const std::string instead = comm.size() == 1 ? "the choice" : "tuna,radix=2";
    EXPECT_NE(said.find("commpass: COMMPASS_STRATEGY=tuna,radix=3 does not fit " +
                        Layout::with_ppn(comm.size(), 1).describe() + "; " + instead + " runs there.\n"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("COMMPASS_ALLTOALLV_STRATEGY=tuna-node,radix=2 does not fit"), std::string::npos) << said;
    EXPECT_NE(
        said.find(
            "COMMPASS_SPARSE_STRATEGY=direct+rma does not fit messages of different sizes; the choice runs there.\n"),
        std::string::npos)
        << said;
  }
}

TEST(NamedStrategy, OfTheProgramStaysAnErrorWhereItDoesNotApply) {
  const auto comm = OwnCommunicator::split(MPI_COMM_WORLD, rank_of() / 2);
  auto communicator = make(comm);
  EXPECT_THROW(exchanged(communicator, "tuna,radix=3"), Error);
  EXPECT_THROW(communicator.sparse_alltoallv(nullptr, {}, {.strategy = "direct+rma"}), NotApplicable);
  AlltoallvOptions options;
  options.strategy = "tuna,radix=3";
  const int count = 0;
  EXPECT_THROW(communicator.alltoallv(nullptr, std::vector<int>(static_cast<std::size_t>(comm.size()), count),
                                      std::vector<int>(static_cast<std::size_t>(comm.size())), MPI_INT, nullptr,
                                      std::vector<int>(static_cast<std::size_t>(comm.size()), count),
                                      std::vector<int>(static_cast<std::size_t>(comm.size())), MPI_INT, options),
               Error);
}

}  // namespace
}  // namespace commpass
