// All-to-alls and indexed exchanges of data on devices; and refusals of device memory.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <numeric>
#include <span>

#include "commpass/commpass.h"
#include "model/support.hpp"
#include "runtime/communicator.hpp"
#include "runtime/device/device_machines.hpp"
#include "runtime/device/emulated_device.hpp"
#include "runtime/indexed/scenario.hpp"
#include "runtime/indexed/sums.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::common_error;
using test::DeviceBytes;
using test::EmulatedDevices;
using test::everywhere;
using test::is_device_aware;
using test::rank_of;
using test::size_of;
using test::some_machine;
using test::UsersStream;

/// Numbers on the device, or in host memory.
template <class Number>
class NumbersOf {
 public:
  NumbersOf(std::vector<Number> numbers, bool is_on_device, const UsersStream& users)
      : is_on_device_(is_on_device), users_(users), host_(std::move(numbers)), device_(host_.size() * sizeof(Number)) {
    const auto bytes = std::as_bytes(std::span(host_));
    if (is_on_device) device_.write({bytes.begin(), bytes.end()}, users.get());
  }
  void* data() { return is_on_device_ ? static_cast<void*>(device_.data()) : host_.data(); }
  std::vector<Number> read() const {
    if (!is_on_device_) return host_;
    std::vector<Number> result(host_.size());
    std::ranges::copy(device_.read(users_.get()), std::as_writable_bytes(std::span(result)).begin());
    return result;
  }

 private:
  bool is_on_device_;
  const UsersStream& users_;
  std::vector<Number> host_;
  DeviceBytes device_;
};
using Numbers = NumbersOf<int>;

/// Rank i sends (i + j) % 3 numbers to rank j; a gap of one number separates blocks.
struct Alltoallv {
  static int count(Rank from, Rank to) { return (from + to) % 3; }
  static int number(Rank from, Rank to, int i) { return 10000 * from + 100 * to + i; }
  static constexpr int rubbish = -7;

  std::vector<int> sendcounts, sdispls, recvcounts, rdispls, sent, expected;

  Alltoallv() {
    const Rank me = rank_of();
    for (Rank rank = 0; rank < size_of(); ++rank) {
      add(sendcounts, sdispls, sent, count(me, rank), [&](int i) { return number(me, rank, i); });
      add(recvcounts, rdispls, expected, count(rank, me), [&](int i) { return number(rank, me, i); });
    }
  }

  template <class Number>
  static void add(std::vector<int>& counts, std::vector<int>& places, std::vector<int>& numbers, int count,
                  Number number) {
    numbers.push_back(rubbish);
    counts.push_back(count);
    places.push_back(static_cast<int>(numbers.size()));
    for (int i = 0; i < count; ++i) numbers.push_back(number(i));
  }
  std::vector<int> nothing() const { return std::vector<int>(expected.size(), rubbish); }
};

/// Each side of each rank in turn on the device or not.
struct Sides {
  bool is_send_on_device, is_receive_on_device;
};
std::vector<Sides> all_sides() {
  const bool odd = rank_of() % 2 == 1;
  return {{true, true}, {true, false}, {false, true}, {odd, !odd}};
}

/// The choice, and strategies of all kinds on all available paths.
std::vector<std::string> strategies_on_paths() {
  std::vector<std::string> result{"", "standard,window=1@staged", "two-step@staged,copies=2"};
  for (const std::string strategy : {"standard", "standard,window=1", "mpi", "two-step", "tuna,radix=2",
                                     "tuna,radix=auto", "two-step,staggered", "stfw,dims=2x2x2"}) {
    result.push_back(strategy);
    if (is_device_aware()) result.push_back(strategy + "@device");
  }
  return result;
}

TEST(DeviceAlltoallv, DeliversByEveryStrategyFromAndToEitherMemory) {
  test::StreamCommunicator communicator(some_machine(), {Layout::with_ppn(size_of(), 2)});
  const Alltoallv all;
  for (const auto& strategy : strategies_on_paths()) {
    if (size_of() == 1 && strategy[0] == 't') continue;
    for (const auto [is_send, is_receive] : all_sides())
      for (const bool waits : {true, false}) {
        SCOPED_TRACE(strategy);
        Numbers send(all.sent, is_send, communicator.users), receive(all.nothing(), is_receive, communicator.users);
        if (waits)
          communicator.alltoallv(send.data(), all.sendcounts, all.sdispls, MPI_INT, receive.data(), all.recvcounts,
                                 all.rdispls, MPI_INT, {strategy, {}});
        else
          communicator
              .start_alltoallv(send.data(), all.sendcounts, all.sdispls, MPI_INT, receive.data(), all.recvcounts,
                               all.rdispls, MPI_INT, {strategy, {}})
              .wait();
        EXPECT_EQ(receive.read(), all.expected);
      }
  }
}

TEST(DeviceAlltoallv, IsPlannedToo) {
  test::StreamCommunicator communicator;
  const Alltoallv all;
  for (const auto [is_send, is_receive] : all_sides()) {
    Numbers send(all.sent, is_send, communicator.users), receive(all.nothing(), is_receive, communicator.users);
    auto exchange = communicator.alltoallv_init(send.data(), all.sendcounts, all.sdispls, MPI_INT, receive.data(),
                                                all.recvcounts, all.rdispls, MPI_INT);
    exchange.start();
    exchange.wait();
    EXPECT_EQ(receive.read(), all.expected);
  }
}

TEST(DeviceAlltoall, TakesEqualBlocksAlsoInPlace) {
  test::StreamCommunicator communicator;
  std::vector<int> sent, expected;
  for (Rank rank = 0; rank < size_of(); ++rank) {
    sent.push_back(Alltoallv::number(rank_of(), rank, 0));
    expected.push_back(Alltoallv::number(rank, rank_of(), 0));
  }
  for (const bool in_place : {false, true})
    for (const auto& strategy : strategies_on_paths())
      for (const bool waits : {true, false}) {
        if (size_of() == 1 && strategy[0] == 't') continue;
        Numbers send(sent, true, communicator.users),
            receive(in_place ? sent : std::vector<int>(sent.size()), true, communicator.users);
        const void* const from = in_place ? MPI_IN_PLACE : send.data();
        if (waits) communicator.alltoall(from, 1, MPI_INT, receive.data(), 1, MPI_INT, {strategy, {}});
        else communicator.start_alltoall(from, 1, MPI_INT, receive.data(), 1, MPI_INT, {strategy, {}}).wait();
        EXPECT_EQ(receive.read(), expected) << strategy << (in_place ? ", in place" : "");
      }
}

/// Calls alltoallv and alltoall, and returns the strategy that ran.
class Calls {
 public:
  Calls(const Machine& machine, const UsersStream& users)
      : users_(users), communicator_(MPI_COMM_WORLD, machine, {Layout::with_ppn(size_of(), 1)}) {
    communicator_.use_stream(users.get());
  }

  Communicator& communicator() { return communicator_; }

  std::string alltoallv(bool is_on_device) {
    Numbers send(all_.sent, is_on_device, users_), receive(all_.nothing(), is_on_device, users_);
    communicator_.alltoallv(send.data(), all_.sendcounts, all_.sdispls, MPI_INT, receive.data(), all_.recvcounts,
                            all_.rdispls, MPI_INT);
    EXPECT_EQ(receive.read(), all_.expected);
    return communicator_.last_alltoallv_strategy();
  }
  std::string alltoall(bool is_on_device) {
    const std::vector<int> ones(static_cast<std::size_t>(size_of()), rank_of());
    std::vector<int> expected(ones.size());
    std::iota(expected.begin(), expected.end(), 0);
    Numbers send(ones, is_on_device, users_), receive(std::vector<int>(ones.size()), is_on_device, users_);
    communicator_.alltoall(send.data(), 1, MPI_INT, receive.data(), 1, MPI_INT);
    EXPECT_EQ(receive.read(), expected);
    return communicator_.last_alltoallv_strategy();
  }

 private:
  const UsersStream& users_;
  const Alltoallv all_;
  Communicator communicator_;
};

/// With slow messages between devices.
Machine lassen_with_slow_devices() {
  auto machine = test::lassen();
  for (auto& channel : machine.device.by_level)
    if (channel)
      for (auto& protocol : channel->protocols) protocol.alpha_s = protocol.alpha_next_s = 1;
  return machine;
}

bool is_on_path(const std::string& strategy, const std::string& path) {
  return path.empty() ? strategy.find('@') == std::string::npos : strategy.ends_with(path);
}

// Before the first call no rank knows where the data of others lie.
TEST(DeviceAlltoallv, TakesThePathThatIsCheapestAndThatMpiCan) {
  const UsersStream users;
  const bool is_alone = size_of() == 1;
  const std::string staged = is_alone ? "" : "@staged", cheapest = is_alone            ? ""
                                                                   : is_device_aware() ? "@device"
                                                                                       : "@staged";
  for (const bool slow_copies : {true, false}) {
    Calls of_numbers(slow_copies ? test::lassen_with_slow_copies() : lassen_with_slow_devices(), users),
        of_blocks(slow_copies ? test::lassen_with_slow_copies() : lassen_with_slow_devices(), users);
    const auto& expected = slow_copies ? cheapest : staged;
    for (const auto* path : {"", expected.c_str(), expected.c_str()}) {
      EXPECT_PRED2(is_on_path, of_numbers.alltoallv(true), path);
      EXPECT_PRED2(is_on_path, of_blocks.alltoall(true), path);
    }
  }
}

TEST(DeviceAlltoallv, IsChosenForHostMemoryAgainWhenItIsThere) {
  const UsersStream users;
  Calls calls(test::lassen_with_slow_copies(), users);
  calls.alltoallv(true);
  EXPECT_PRED2(is_on_path, calls.alltoallv(false), size_of() == 1 ? "" : is_device_aware() ? "@device" : "@staged");
  EXPECT_PRED2(is_on_path, calls.alltoallv(false), "");
}

// All ranks decide the same, for data in different memories.
TEST(DeviceAlltoallv, StagesWhereDataOfOneRankCannotGoToMpi) {
  const UsersStream users;
  Communicator communicator(MPI_COMM_WORLD, test::lassen_with_slow_copies(), {Layout::with_ppn(size_of(), 1)});
  const bool is_odd = rank_of() == size_of() - 1;
  const auto ranks = static_cast<std::size_t>(size_of());
  const std::vector<int> ones(ranks, 1);
  std::vector<int> places(ranks);
  std::iota(places.begin(), places.end(), 0);
  DeviceBytes send(ranks), receive(ranks, is_odd ? 1 : 0);
  for (int call = 0; call < 3; ++call) {
    send.write(std::vector<std::byte>(ranks, static_cast<std::byte>(rank_of() + 7 * call)), nullptr);
    communicator.alltoallv(send.data(), ones, places, MPI_BYTE, receive.data(), ones, places, MPI_BYTE);
    const auto got = receive.read(nullptr);
    for (std::size_t rank = 0; rank < ranks; ++rank) EXPECT_EQ(got[rank], static_cast<std::byte>(rank + 7U * call));
    EXPECT_PRED2(is_on_path, communicator.last_alltoallv_strategy(), call == 0 || size_of() == 1 ? "" : "@staged");
  }
}

// A rank refuses for itself, as other wrong arguments.
TEST(DeviceAlltoallv, ObeysAPathOrRefusesItInOneSentence) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  const auto ranks = static_cast<std::size_t>(size_of());
  const std::vector<int> ones(ranks, 1);
  std::vector<int> places(ranks);
  std::iota(places.begin(), places.end(), 0);
  DeviceBytes send(ranks), here(ranks), there(ranks, 1);
  const auto call = [&](const DeviceBytes& receive, const std::string& strategy) {
    communicator.alltoallv(send.data(), ones, places, MPI_BYTE, receive.data(), ones, places, MPI_BYTE, {strategy, {}});
  };
  for (const auto& [receive, reason] :
       {std::pair{&here, "does not take emulated memory"}, {&there, "another device"}}) {
    if (receive == &here && is_device_aware()) continue;
    const auto error = test::error_of([&, receive = receive] { call(*receive, "standard@device"); });
    EXPECT_NE(error.find(reason), std::string::npos) << error;
    EXPECT_NE(error.find("use @staged"), std::string::npos) << error;
  }
  call(there, "standard@staged");
  EXPECT_EQ(communicator.last_alltoallv_strategy(), "standard@staged");
}

// Neither device memory nor streams nor pinned memory.
TEST(DeviceAlltoallv, TakesNothingMoreAfterItsFirstCalls) {
  test::StreamCommunicator communicator(some_machine(), {Layout::with_ppn(size_of(), 2)});
  const Alltoallv all;
  Numbers send(all.sent, true, communicator.users), receive(all.nothing(), true, communicator.users);
  const auto call = [&](const std::string& strategy) {
    communicator.alltoallv(send.data(), all.sendcounts, all.sdispls, MPI_INT, receive.data(), all.recvcounts,
                           all.rdispls, MPI_INT, {strategy, {}});
  };
  const std::string path = is_device_aware() ? "@device" : "@staged";
  const auto& devices = EmulatedDevices::get();
  std::size_t made = 0;
  for (int turn = 0; turn < 3; ++turn) {
    for (const auto* strategy : {"two-step", "standard", "mpi"}) call(strategy + path);
    const auto now = devices.made();
    if (turn == 0) made = now;
    EXPECT_EQ(now, made);
  }
}

TEST(DeviceIndexed, BringsAndAddsValuesFromAndToEitherMemory) {
  test::StreamCommunicator communicator(some_machine(), {Layout::with_ppn(size_of(), 2)});
  // Each rank owns five indices, and needs the third of all others and of its own, its first two, and one of them
  // twice.
  constexpr Index own = 5;
  const Index begin = own * rank_of();
  std::vector<Index> needed;
  for (Rank rank = 0; rank < size_of(); ++rank) needed.push_back(own * rank + 2);
  needed.insert(needed.end(), {begin + 1, begin, begin + 1});
  std::vector<int> owned(own), ghosts;
  std::iota(owned.begin(), owned.end(), static_cast<int>(begin));
  for (const auto index : needed) ghosts.push_back(static_cast<int>(index));
  for (const bool shares : {false, true})
    for (const auto* strategy : {"", "two-step", "standard@staged"}) {
      IndexedOptions options{strategy};
      options.reverse = true;
      options.share = shares;
      auto exchange = communicator.indexed_exchange(IndexRange{begin, begin + own}, needed, sizeof(int), options);
      for (int turn = 0; turn < 2; ++turn)
        for (const auto [is_owned, is_ghost] : all_sides()) {
          Numbers values(owned, is_owned, communicator.users),
              brought(std::vector<int>(needed.size(), -1), is_ghost, communicator.users);
          exchange.forward(values.data(), brought.data());
          EXPECT_EQ(brought.read(), ghosts);
          Numbers ones(std::vector<int>(needed.size(), 1), is_ghost, communicator.users);
          exchange.reverse_add(static_cast<const int*>(ones.data()), static_cast<int*>(values.data()));
          auto sums = owned;
          sums[2] += size_of();
          sums[0] += 1;
          sums[1] += 2;
          EXPECT_EQ(values.read(), sums);
        }
    }
}

// In the order of ranks on request; else in that which the strategy determines, wherever the values lie.
TEST(DeviceIndexed, AddsInTheSameOrderWhereverValuesLie) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    const auto layout = test::random_layout(size_of(), seed);
    const auto scenario = test::random_scenario(size_of(), seed);
    test::StreamCommunicator communicator(some_machine(), {layout});
    const auto given = test::numbers_of(scenario.owned_here());
    const auto ghosts = test::rough_numbers(rank_of(), scenario.needed_here().size(), seed);
    for (const auto& strategy : test::summing_strategies(layout))
      for (const bool is_deterministic : {false, true}) {
        SCOPED_TRACE(strategy + ", seed " + std::to_string(seed));
        auto exchange = communicator.indexed_exchange(
            scenario.owned_by(rank_of()), scenario.needed_here(), sizeof(double),
            {.strategy = strategy, .reverse = true, .share = true, .deterministic = is_deterministic});
        std::vector<double> wanted = test::sums_in_order(scenario, given, seed);
        if (!is_deterministic) exchange.reverse_add(ghosts.data(), (wanted = given).data());
        for (const auto [is_owned, is_ghost] : all_sides()) {
          NumbersOf<double> values(given, is_owned, communicator.users), added(ghosts, is_ghost, communicator.users);
          exchange.reverse_add(static_cast<const double*>(added.data()), static_cast<double*>(values.data()));
          EXPECT_EQ(test::bits_of(values.read()), test::bits_of(wanted));
        }
      }
  }
}

/// A value of each rank, to which all add 1.5, by `start` of an exchange. @return additions by a kernel
template <class Start>
std::size_t add_on_device(Start start) {
  test::StreamCommunicator communicator;
  std::vector<Index> needed;
  for (Rank rank = 0; rank < size_of(); ++rank) needed.push_back(rank);
  auto exchange = communicator.indexed_exchange(IndexRange{rank_of(), rank_of() + 1}, needed, sizeof(double),
                                                {.reverse = true, .deterministic = true});
  NumbersOf<double> values({2}, true, communicator.users);
  const std::vector<double> ghosts(needed.size(), 1.5);
  const auto before = EmulatedDevices::get().additions();
  start(exchange, ghosts.data(), values.data());
  exchange.wait();
  EXPECT_EQ(values.read(), std::vector{2 + 1.5 * size_of()});
  return EmulatedDevices::get().additions() - before;
}

TEST(DeviceIndexed, AddsNumbersByAKernelAndOthersOnTheHost) {
  const auto& devices = EmulatedDevices::get();
  const auto contributions = static_cast<std::size_t>(size_of());
  const auto by_numbers = [](IndexedExchange& exchange, const double* ghosts, void* values) {
    exchange.start_reverse_add(ghosts, static_cast<double*>(values));
  };
  add_on_device(by_numbers);  // which tries the kernels
  const auto copies = devices.copies();
  EXPECT_EQ(add_on_device(by_numbers), contributions) << "one after another";
  EXPECT_EQ(devices.copies(), copies) << "values are not read";
  const auto by_function = [](IndexedExchange& exchange, const double* ghosts, void* values) {
    exchange.start_reverse_add(ghosts, values, [](const void* from, void* to, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) static_cast<double*>(to)[i] += static_cast<const double*>(from)[i];
    });
  };
  EXPECT_EQ(add_on_device(by_function), 0U);
  EXPECT_GT(devices.copies(), copies);
}

TEST(DeviceIndexed, AddsByAKernelWhatCGivesAsASumOfNumbers) {
  const auto profile = std::string(COMMPASS_TEST_PROFILES) + "/lassen.json";
  const test::UsersStream users;
  commpass_comm comm = nullptr;
  ASSERT_EQ(commpass_comm_create(MPI_COMM_WORLD, profile.c_str(), &comm), COMMPASS_SUCCESS) << commpass_error_text();
  ASSERT_EQ(commpass_comm_use_stream(comm, users.get()), COMMPASS_SUCCESS);
  const auto check = [&]<class Number>(Number number, MPI_Datatype type, MPI_Op operation, Number wanted,
                                       bool is_by_kernel) {
    const std::int64_t needed = 0;
    commpass_exchange exchange = nullptr;
    const int own = rank_of() == 0 ? 1 : 0;
    ASSERT_EQ(commpass_indexed_range_init(0, own, &needed, 1, sizeof number, 1, MPI_INFO_NULL, comm, &exchange),
              COMMPASS_SUCCESS)
        << commpass_error_text();
    NumbersOf<Number> sums(std::vector<Number>(static_cast<std::size_t>(own), number), true, users);
    const auto before = EmulatedDevices::get().additions();
    ASSERT_EQ(commpass_start_reverse(&number, sums.data(), type, operation, exchange), COMMPASS_SUCCESS)
        << commpass_error_text();
    ASSERT_EQ(commpass_wait(exchange), COMMPASS_SUCCESS) << commpass_error_text();
    EXPECT_EQ(sums.read(), std::vector<Number>(static_cast<std::size_t>(own), wanted));
    EXPECT_EQ(EmulatedDevices::get().additions() > before, own == 1 && is_by_kernel);
    commpass_exchange_free(&exchange);
  };
  EmulatedDevices::get().why_no_kernel(0);  // which tries the kernels
  const int terms = size_of() + 1;
  check(0.5, MPI_DOUBLE, MPI_SUM, 0.5 * terms, true);
  check(0.5F, MPI_FLOAT, MPI_SUM, 0.5F * static_cast<float>(terms), true);
  check(-3, MPI_INT, MPI_SUM, -3 * terms, true);
  check(std::int64_t{1} << 40, MPI_INT64_T, MPI_SUM, (std::int64_t{1} << 40) * terms, true);
  check(std::complex<double>(1, -0.5), MPI_C_DOUBLE_COMPLEX, MPI_SUM, std::complex<double>(terms, -0.5 * terms), true);
  check(7.0, MPI_DOUBLE, MPI_MAX, 7.0, false);
  check(std::int16_t{2}, MPI_SHORT, MPI_SUM, static_cast<std::int16_t>(2 * terms), false);
  commpass_comm_free(&comm);
}

// Calls write only to the ghost values.
TEST(DeviceIndexed, ReducesValuesOfEitherMemory) {
  test::StreamCommunicator communicator(some_machine(), {Layout::with_ppn(size_of(), 2)});
  // Each rank contributes to all others, twice to itself, and nothing to rank 0.
  std::vector<Contribution> contributions{{rank_of(), rank_of() == 0 ? 0 : 2}};
  for (Rank rank = 0; rank < size_of(); ++rank) contributions.push_back({rank, rank == 0 ? 0 : 2});
  std::vector<int> given;
  for (const auto& [rank, values] : contributions)
    for (int i = 0; i < values; ++i) given.push_back(10 * rank + i + rank_of());
  const int own = rank_of() == 0 ? 0 : 2, others = size_of() * (size_of() - 1) / 2;
  std::vector<int> results;
  for (int i = 0; i < own; ++i) results.push_back((size_of() + 1) * (10 * rank_of() + i) + others + rank_of());
  const std::vector<Index> indices{5, rank_of() + 10, 5};
  const std::vector<int> addends{1, rank_of(), 1}, sums{2 * size_of(), rank_of(), 2 * size_of()};
  for (const bool shares : {false, true})
    for (const auto* strategy : {"", "two-step", "standard@staged"}) {
      const IndexedOptions options{.strategy = strategy, .share = shares};
      auto to_neighbors = communicator.neighbor_reduce_scatter(contributions, own, sizeof(int), options);
      auto allreduce = communicator.sparse_allreduce(indices, sizeof(int), options);
      for (const auto [is_given, is_got] : all_sides()) {
        Numbers from(given, is_given, communicator.users),
            to(std::vector<int>(results.size(), -1), is_got, communicator.users);
        to_neighbors.reverse_add(static_cast<const int*>(from.data()), static_cast<int*>(to.data()));
        EXPECT_EQ(to.read(), results);
        Numbers values(addends, is_given, communicator.users), got({-1, -1, -1}, is_got, communicator.users);
        allreduce.run(static_cast<const int*>(values.data()), static_cast<int*>(got.data()));
        EXPECT_EQ(got.read(), sums);
      }
    }
}

TEST(DeviceIndexed, BindsGhostValuesOnADevice) {
  test::StreamCommunicator communicator;
  const std::vector<Index> needed{(rank_of() + 1) % size_of()};
  Numbers values({100 + rank_of()}, true, communicator.users), brought({-1}, true, communicator.users);
  IndexedOptions options;
  options.ghost_values = brought.data();
  auto exchange = communicator.indexed_exchange(IndexRange{rank_of(), rank_of() + 1}, needed, sizeof(int), options);
  exchange.forward(values.data(), brought.data());
  EXPECT_EQ(brought.read(), std::vector{100 + (rank_of() + 1) % size_of()});
}

// Without a kernel, whole ranges are copied.
TEST(DeviceIndexed, CopiesTheValuesThatAreNeededByOneKernel) {
  test::StreamCommunicator communicator;
  constexpr Index own = 64, stride = 3;
  const Index begin = own * rank_of(), begin_of_next = own * ((rank_of() + 1) % size_of());
  std::vector<int> owned(own), expected;
  std::iota(owned.begin(), owned.end(), static_cast<int>(begin));
  std::vector<Index> needed;
  for (Index i = 0; i < own; i += stride) {
    needed.push_back(begin_of_next + i);
    expected.push_back(static_cast<int>(needed.back()));
  }
  auto exchange = communicator.indexed_exchange(IndexRange{begin, begin + own}, needed, sizeof(int), {});
  Numbers values(owned, true, communicator.users);
  std::vector<int> brought(needed.size());
  exchange.forward(values.data(), brought.data());  // which tries the kernel
  const auto& devices = EmulatedDevices::get();
  const auto pieces = devices.pieces(), copies = devices.copies();
  exchange.forward(values.data(), brought.data());
  EXPECT_EQ(brought, expected);
  EXPECT_EQ(devices.pieces() - pieces, needed.size());
  EXPECT_EQ(devices.copies(), copies);
}

TEST(DeviceIndexed, RefusesToHandValuesToMpiOnTheDevice) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  const auto error = common_error([&] {
    communicator.indexed_exchange(IndexRange{rank_of(), rank_of() + 1}, {}, sizeof(int), {"standard@device"});
  });
  EXPECT_NE(error.find("gathered in host memory"), std::string::npos) << error;
}

class WithGaps {
 public:
  WithGaps() {
    MPI_Type_vector(2, 1, 2, MPI_INT, &type_);
    MPI_Type_commit(&type_);
  }
  ~WithGaps() { MPI_Type_free(&type_); }
  WithGaps(const WithGaps&) = delete;
  WithGaps& operator=(const WithGaps&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

// All ranks give device memory, so that none waits for another one.
TEST(DeviceMemory, IsRefusedInOneSentenceWhereOnlyHostMemoryIsTaken) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  const auto ranks = static_cast<std::size_t>(size_of());
  const DeviceBytes memory(16 * ranks), other(16 * ranks);
  const WithGaps gaps;
  const std::vector<int> ones(ranks, 1), places(ranks, 0);
  const std::vector<MPI_Datatype> types(ranks, gaps.get());
  std::vector<int> apart(ranks);
  for (std::size_t i = 0; i < ranks; ++i) apart[i] = static_cast<int>(16 * i);
  const auto expect_refusal = [&](const std::function<void()>& action) {
    const auto error = common_error(action);
    EXPECT_NE(error.find("device memory"), std::string::npos) << error;
  };
  expect_refusal(
      [&] { communicator.alltoallv(memory.data(), ones, places, gaps.get(), other.data(), ones, places, gaps.get()); });
  expect_refusal([&] { communicator.alltoallw(memory.data(), ones, apart, types, other.data(), ones, apart, types); });
  expect_refusal(
      [&] { communicator.alltoallw_init(memory.data(), ones, apart, types, other.data(), ones, apart, types); });
  expect_refusal([&] {
    const Grid ring{{size_of()}, {true}};
    communicator.halo_exchange(ring, {{2}, {1}, 1}, memory.data());
  });
  expect_refusal([&] {
    auto ring = communicator.cart_neighborhood({{{size_of()}, {true}}, {-1, 1}, {}});
    ring.alltoall(memory.data(), 1, MPI_INT, other.data(), 1, MPI_INT);
  });
}

// Packing runs on the host.
TEST(DeviceMemory, IsRefusedByExchangesForAnyBuffersWhenTheyBegin) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  const DeviceBytes memory(8);
  int from = 1, to = 0;
  const std::vector<TypedBlock> block{{rank_of(), 0, 1, MPI_INT}};
  ExchangeOptions options;
  options.any_buffers = true;
  auto exchange = communicator.typed_neighbor_exchange(&from, block, &to, block, options);
  EXPECT_NE(common_error([&] { exchange.start(memory.data(), &to); }).find("device memory"), std::string::npos);
  EXPECT_NE(common_error([&] { exchange.start(&from, memory.data()); }).find("device memory"), std::string::npos);
  exchange.start(&from, &to);
  exchange.wait();
  EXPECT_EQ(to, 1);
}

}  // namespace
}  // namespace commpass
