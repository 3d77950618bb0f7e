// Messages within a node through memory that its ranks share. Counts MPI's sends, and refuses memory.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/communicator.hpp"
#include "runtime/execute/landing_slot.hpp"
#include "runtime/mpi/node_memory.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

namespace {

int sends = 0;                         // that this rank has made persistent requests for, except on MPI_COMM_WORLD
int new_sends = 0;                     // likewise others
int mappings = 0;                      // of memory that ranks share
bool is_opening_refused = false;       // of such memory, on this rank
bool are_ranks_apart = false;          // do MPI's nodes have one rank each?
std::optional<std::size_t> left_over;  // bytes of such memory

}  // namespace

extern "C" {

int MPI_Send_init(const void* at, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  ++sends;
  return PMPI_Send_init(at, count, type, peer, tag, comm, request);
}

int MPI_Isend(const void* at, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request) {
  if (comm != MPI_COMM_WORLD) ++new_sends;
  return PMPI_Isend(at, count, type, peer, tag, comm, request);
}

int MPI_Issend(const void* at, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request) {
  ++new_sends;
  return PMPI_Issend(at, count, type, peer, tag, comm, request);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* split) {
  if (!are_ranks_apart) return PMPI_Comm_split_type(comm, type, key, info, split);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return PMPI_Comm_split(comm, rank, key, split);
}

// Before the C library's.
int fstatvfs(int, struct statvfs* system) noexcept {
  std::memset(system, 0, sizeof *system);
  system->f_frsize = 1;
  system->f_bavail = left_over.value_or(std::size_t{1} << 40);
  return 0;
}

int posix_fallocate(int file, off_t offset, off_t bytes) {
  ++mappings;
  static const auto real = reinterpret_cast<decltype(&posix_fallocate)>(dlsym(RTLD_NEXT, "posix_fallocate"));
  return is_opening_refused ? ENOSPC : real(file, offset, bytes);
}

}  // extern "C"

namespace commpass {
namespace {

using test::common_error;
using test::everywhere;
using test::rank_of;
using test::size_of;

/// Sends are persistent, since no calibration has found new ones to be faster.
Machine calibrated_machine() {
  auto machine = test::some_machine();
  machine.verdict = Verdict{};
  return machine;
}

class SharedExchange : public testing::Test {
 protected:
  void TearDown() override {
    is_opening_refused = are_ranks_apart = false;
    left_over.reset();
  }
  /// Plans an exchange of a pattern, runs it some times, and checks its bytes. @return the sends by MPI of all ranks
  int sends_of(const Layout& layout, const Pattern& pattern, const std::string& strategy) {
    Communicator communicator(MPI_COMM_WORLD, calibrated_machine(), {layout});
    auto local = test::local_part(pattern, rank_of(), 3, 1);
    int made = -sends;
    auto exchange = test::plan_local(communicator, local, {strategy});
    made += sends;
    EXPECT_EQ(exchange.strategy(), strategy);
    for (unsigned turn = 0; turn < 5; ++turn) EXPECT_TRUE(test::delivers(exchange, local, turn)) << strategy;
    MPI_Allreduce(MPI_IN_PLACE, &made, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return made;
  }
  const Layout one_node_ = Layout::with_ppn(size_of(), size_of());
  const Pattern all_to_all_ = test::all_to_all(size_of(), 100);
};

TEST_F(SharedExchange, SendsNothingWithinANode) {
  EXPECT_EQ(sends_of(one_node_, all_to_all_, "standard"), size_of() * (size_of() - 1)) << "they are counted";
  EXPECT_EQ(sends_of(one_node_, all_to_all_, "standard,shared"), 0);
  EXPECT_EQ(sends_of(one_node_, all_to_all_, "standard,staggered,shared"), 0);
}

TEST_F(SharedExchange, LeavesMessagesBetweenNodesToMpi) {
  const auto layout = Layout::with_ppn(size_of(), 2);
  const int off_node = size_of() * (size_of() - 1) - size_of() / 2 * 2;
  EXPECT_EQ(sends_of(layout, all_to_all_, "standard,shared"), off_node);
}

TEST_F(SharedExchange, LeavesLargeMessagesToMpi) {
  EXPECT_EQ(sends_of(one_node_, test::all_to_all(size_of(), 128 * 1024), "standard,shared"), 0);
  EXPECT_EQ(sends_of(one_node_, test::all_to_all(size_of(), 128 * 1024 + 1), "standard,shared"),
            size_of() * (size_of() - 1));
}

TEST_F(SharedExchange, DeliversWhatTheNaiveExchangeDelivers) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const auto layout = test::random_layout(size_of(), seed);
    const auto pattern = test::with_shared_payloads(test::random_pattern(size_of(), seed), seed);
    for (const auto* strategy :
         {"standard,shared", "standard,window=2,shared", "standard,staggered,shared", "two-step,shared",
          "three-step,shared", "split,cap=100,shared", "local-then-node,window=1,shared", "stfw,dims=2x2x2x2,shared",
          "stfw,dims=3x2x5x7,window=2,staggered,shared"})
      sends_of(layout, pattern, strategy);
  }
}

/// Numbers from rank 0 to rank 1.
struct OneDirection {
  bool is_sender = rank_of() == 0, is_receiver = rank_of() == 1;
  std::vector<int> numbers = std::vector<int>(20, -1);

  /// As the first of its pattern.
  Exchange plan(Communicator& communicator) {
    const Bytes bytes = std::ssize(numbers) * static_cast<Bytes>(sizeof(int));
    std::vector<SendEdge> out;
    std::vector<ReceiveEdge> in;
    if (is_sender) out = {{1, 0, bytes}};
    if (is_receiver) in = {{0, 0, bytes}};
    ExchangeOptions options{"standard,shared"};
    options.anew = true;
    return communicator.neighbor_exchange(numbers.data(), out, numbers.data(), in, options);
  }
  void send(int number) {
    if (is_sender) std::ranges::fill(numbers, number);
  }
  bool has_got(int number) const { return !is_receiver || std::ranges::count(numbers, number) == std::ssize(numbers); }
};

TEST_F(SharedExchange, OfOneDirectionWaitsForItsReceiverNotForItsSender) {
  if (size_of() == 1) return;
  Communicator communicator(MPI_COMM_WORLD, calibrated_machine(), {one_node_});
  OneDirection of;
  auto exchange = of.plan(communicator);
  bool is_right = true;
  for (int turn = 0; turn < 200; ++turn) {
    of.send(turn);
    if (of.is_receiver && turn % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    exchange.start();
    exchange.wait();
    is_right = is_right && of.has_got(turn);
  }
  EXPECT_TRUE(everywhere(is_right));
}

// The receiver drops its handle, and the memory serves the next exchange, while the sender is still in the one before.
TEST_F(SharedExchange, MayBeOverForItsReceiverBeforeItsSenderKnows) {
  if (size_of() == 1) return;
  Communicator communicator(MPI_COMM_WORLD, calibrated_machine(), {one_node_});
  OneDirection of;
  bool is_right = true;
  std::optional exchange(of.plan(communicator));
  for (int turn = 0; turn < 300; ++turn) {
    for (int run = 0; run < 3; ++run) {
      of.send(3 * turn + run);
      exchange->start();
      if (run == 2 && of.is_sender) break;
      exchange->wait();
    }
    is_right = is_right && of.has_got(3 * turn + 2);
    if (of.is_receiver) exchange.reset();
    std::optional next(of.plan(communicator));
    exchange = std::move(next);
  }
  EXPECT_TRUE(everywhere(is_right));
}

// The message of the second rank comes only when it has that of the first, which waits in its exchange.
TEST_F(SharedExchange, MovesOnTheUsersOwnMessagesWhileItWaits) {
  if (size_of() == 1) return;
  Communicator communicator(MPI_COMM_WORLD, calibrated_machine(), {one_node_});
  auto local = test::local_part(all_to_all_, rank_of(), 0, 1);
  auto exchange = test::plan_local(communicator, local, {"standard,shared"});
  std::vector<std::byte> large(std::size_t{4} << 20);
  MPI_Request request = MPI_REQUEST_NULL;
  const int count = static_cast<int>(large.size());
  if (rank_of() == 0) MPI_Isend(large.data(), count, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
  if (rank_of() == 1) MPI_Recv(large.data(), count, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  exchange.start();
  exchange.wait();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

TEST_F(SharedExchange, TakesTheSameMemoryAgain) {
  Communicator communicator(MPI_COMM_WORLD, calibrated_machine(), {one_node_});
  const int before = mappings;
  for (unsigned i = 0; i < 300; ++i) {
    auto local = test::local_part(test::all_to_all(size_of(), 1 + 40 * (i % 7)), rank_of(), 0, i);
    auto exchange = test::plan_local(communicator, local, {"standard,shared"});
    auto second = test::plan_local(communicator, local, {"standard,shared"});  // a known plan
    ASSERT_TRUE(test::delivers(exchange, local, i));
    ASSERT_TRUE(test::delivers(second, local, i + 1));
  }
  EXPECT_EQ(mappings - before, size_of() == 1 ? 0 : 1);
}

TEST_F(SharedExchange, GrowsAndLeavesThePlacesOfOthers) {
  Communicator communicator(MPI_COMM_WORLD, calibrated_machine(), {one_node_});
  std::vector<test::LocalExchange> locals;
  std::vector<Exchange> exchanges;
  for (unsigned i = 0; i < 12; ++i)
    locals.push_back(test::local_part(test::all_to_all(size_of(), Bytes{8} << i), rank_of(), 0, i));
  for (int round = 0; round < 3; ++round)
    for (auto& local : locals) exchanges.push_back(test::plan_local(communicator, local, {"standard,shared"}));
  for (std::size_t i = 0; i < exchanges.size(); ++i)
    ASSERT_TRUE(test::delivers(exchanges[i], locals[i % locals.size()], static_cast<unsigned>(i)));
}

TEST_F(SharedExchange, LeavesNoFileThatAKilledRankWouldLeaveBehind) {
  Communicator communicator(MPI_COMM_WORLD, calibrated_machine(), {one_node_});
  auto local = test::local_part(all_to_all_, rank_of(), 0, 1);
  auto exchange = test::plan_local(communicator, local, {"standard,shared"});
  MPI_Barrier(MPI_COMM_WORLD);
  auto* const folder = opendir("/dev/shm");
  if (!folder) GTEST_SKIP() << "there is no /dev/shm";
  int found = 0;
  const std::string own = "commpass-" + std::to_string(getpid());
  while (const auto* entry = readdir(folder)) found += std::string(entry->d_name).starts_with(own) ? 1 : 0;
  closedir(folder);
  EXPECT_EQ(found, 0);
}

TEST_F(SharedExchange, GoesByMpiWhereOneRankGetsNoMemory) {
  is_opening_refused = rank_of() == size_of() - 1;
  const auto said = test::stderr_of([&] {
    EXPECT_EQ(sends_of(one_node_, all_to_all_, "standard,shared"), size_of() * (size_of() - 1));
    EXPECT_EQ(sends_of(one_node_, all_to_all_, "two-step,shared"), size_of() * (size_of() - 1));
  });
  const auto line = said.find("share no memory, or too little is left");
  if (rank_of() == 0 && size_of() > 1) EXPECT_NE(line, std::string::npos) << said;
  else EXPECT_EQ(line, std::string::npos);
  EXPECT_EQ(said.find("share no memory", line == std::string::npos ? line : line + 1), std::string::npos) << "once";
}

TEST_F(SharedExchange, GoesByMpiWhereLittleMemoryIsLeft) {
  left_over = 1000;
  EXPECT_EQ(sends_of(one_node_, all_to_all_, "standard,shared"), size_of() * (size_of() - 1));
  left_over = std::size_t{2} * 40000 * static_cast<std::size_t>(size_of());  // too little for an ample part
  EXPECT_EQ(sends_of(one_node_, all_to_all_, "standard,shared"), 0);
}

TEST_F(SharedExchange, GoesByMpiWhereRanksShareNoMemoryWhateverTheLayoutSays) {
  are_ranks_apart = true;
  EXPECT_EQ(sends_of(one_node_, all_to_all_, "standard,shared"), size_of() * (size_of() - 1));
}

/// Exchanges that are not planned. `Kind` has `delivers(communicator, strategy, most bytes of a message, turn)`.
template <class Kind>
class SharedUnplanned : public SharedExchange {
 protected:
  static std::byte value(Rank source, Rank destination, int turn, Bytes i) {
    return static_cast<std::byte>(31 * source + 17 * destination + 7 * turn + i * (i + 3));
  }
  /// @return the sends by MPI of all ranks in some calls after the first one
  int sends_of_calls(const Layout& layout, const std::string& strategy, Bytes most = 100, int calls = calls_) {
    Communicator communicator(MPI_COMM_WORLD, calibrated_machine(), {layout});
    int made = 0;
    for (int turn = 0; turn < calls; ++turn) {
      if (turn == 1) made = -new_sends;
      EXPECT_TRUE(Kind::delivers(communicator, strategy, most, turn)) << strategy << ", up to " << most << " bytes";
    }
    made += new_sends;
    MPI_Allreduce(MPI_IN_PLACE, &made, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return made;
  }
  static constexpr int calls_ = 20;

  void moves_on_messages(const std::string& strategy) {
    if (size_of() == 1) return;
    Communicator communicator(MPI_COMM_WORLD, calibrated_machine(), {one_node_});
    ASSERT_TRUE(Kind::delivers(communicator, strategy, 100, 0));
    std::vector<std::byte> large(std::size_t{4} << 20);
    MPI_Request request = MPI_REQUEST_NULL;
    const int count = static_cast<int>(large.size());
    if (rank_of() == 0) MPI_Isend(large.data(), count, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
    if (rank_of() == 1) MPI_Recv(large.data(), count, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_TRUE(Kind::delivers(communicator, strategy, 100, 1));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
};

/// All-to-alls that are called once.
class SharedCall : public SharedUnplanned<SharedCall> {
 public:
  /// Each rank sends another number of bytes to each other one.
  static bool delivers(Communicator& communicator, const std::string& strategy, Bytes most, int turn) {
    const auto bytes = [&](Rank source, Rank destination) {
      return static_cast<int>(most * ((source + 2 * destination + turn) % 4) / 3);
    };
    std::vector<int> out_counts, out_at, in_counts, in_at;
    std::vector<std::byte> out, in;
    for (Rank peer = 0; peer < size_of(); ++peer) {
      out_counts.push_back(bytes(rank_of(), peer));
      in_counts.push_back(bytes(peer, rank_of()));
      out_at.push_back(static_cast<int>(out.size()));
      in_at.push_back(static_cast<int>(in.size()));
      in.resize(in.size() + static_cast<std::size_t>(in_counts.back()));
      for (int i = 0; i < out_counts.back(); ++i) out.push_back(value(rank_of(), peer, turn, i));
    }
    out.emplace_back();
    in.emplace_back();
    communicator.alltoallv(out.data(), out_counts, out_at, MPI_BYTE, in.data(), in_counts, in_at, MPI_BYTE, {strategy});
    bool is_right = true;
    for (Rank peer = 0; peer < size_of(); ++peer)
      for (std::size_t i = 0; i < static_cast<std::size_t>(in_counts[static_cast<std::size_t>(peer)]); ++i)
        is_right = is_right && in[static_cast<std::size_t>(in_at[static_cast<std::size_t>(peer)]) + i] ==
                                   value(peer, rank_of(), turn, static_cast<Bytes>(i));
    return is_right;
  }
};

TEST_F(SharedCall, SendsNothingWithinANode) {
  EXPECT_EQ(sends_of_calls(one_node_, "standard") > 0, size_of() > 1) << "they are counted";
  for (const char* strategy : {"standard,shared", "standard,window=1,shared", "two-step,shared"})
    EXPECT_EQ(sends_of_calls(one_node_, strategy), 0);
  EXPECT_EQ(sends_of_calls(one_node_, "stfw,dims=2x2x2,staggered,shared"), 0);
}

TEST_F(SharedCall, LeavesMessagesBetweenNodesToMpi) {
  const auto layout = Layout::with_ppn(size_of(), 2);
  const auto by_messages = sends_of_calls(layout, "standard"), shared = sends_of_calls(layout, "standard,shared");
  EXPECT_EQ(shared == 0, size_of() <= 2);
  EXPECT_EQ(shared<by_messages, size_of()> 1);
}

// They go chunk by chunk through rings of 64 KiB.
TEST_F(SharedCall, DeliversMessagesLongerThanItsMemory) {
  const auto layout = Layout::with_ppn(size_of(), 3);
  for (const char* strategy : {"standard,shared", "standard,window=1,shared", "two-step,shared", "stfw,n=1,shared"})
    for (const Bytes most : {Bytes{8} << 10, Bytes{65} << 10, Bytes{300} << 10})
      EXPECT_TRUE(everywhere(sends_of_calls(layout, strategy, most, 4) >= 0));
}

TEST_F(SharedCall, OfSeveralCommunicatorsHaveTheirOwnMemory) {
  std::vector<Communicator> communicators;
  for (int i = 0; i < 3; ++i)
    communicators.emplace_back(MPI_COMM_WORLD, calibrated_machine(), CommunicatorOptions{one_node_});
  for (int turn = 0; turn < calls_; ++turn) {
    auto& communicator = communicators[static_cast<std::size_t>(turn) % communicators.size()];
    ASSERT_TRUE(everywhere(delivers(communicator, "standard,shared", 20000, turn)));
    if (turn == calls_ / 2) communicators.erase(communicators.begin() + 1);
  }
}

TEST_F(SharedCall, GoesByMpiWhereOneRankGetsNoMemory) {
  is_opening_refused = rank_of() == size_of() - 1;
  EXPECT_EQ(sends_of_calls(one_node_, "standard,shared") > 0, size_of() > 1);
}

/// Memory of a node is free of charge.
Machine machine_with_fast_memory() {
  auto machine = calibrated_machine();
  machine.shared.by_level[standard_level::socket] = Channel{{Protocol{"pushed", shared_bytes_max, 1e-9, 1e-13, 1e-9}}};
  return machine;
}

TEST_F(SharedCall, IsChosenWhereItsPriceIsLower) {
  Communicator communicator(MPI_COMM_WORLD, machine_with_fast_memory(), {one_node_});
  EXPECT_TRUE(everywhere(delivers(communicator, "", 100, 1)));
  EXPECT_EQ(communicator.last_alltoallv_strategy().ends_with(",shared"), size_of() > 1)
      << communicator.last_alltoallv_strategy();
}

TEST_F(SharedCall, IsChosenAnewWhereThereIsNoMemory) {
  is_opening_refused = rank_of() == size_of() - 1;
  Communicator communicator(MPI_COMM_WORLD, machine_with_fast_memory(), {one_node_});
  for (int turn = 0; turn < calls_; ++turn) {
    EXPECT_TRUE(everywhere(delivers(communicator, "", 100, turn)));
    EXPECT_FALSE(communicator.last_alltoallv_strategy().ends_with(",shared"));
  }
}

TEST_F(SharedCall, ThatDoesNotWaitGoesByMessages) {
  Communicator communicator(MPI_COMM_WORLD, calibrated_machine(), {one_node_});
  std::vector<int> sent(static_cast<std::size_t>(size_of()), rank_of()), received(sent);
  auto started = communicator.start_alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, {"standard,shared"});
  EXPECT_EQ(started.strategy(), "standard");
  started.wait();
  for (Rank rank = 0; rank < size_of(); ++rank) EXPECT_EQ(received[static_cast<std::size_t>(rank)], rank);
}

// The message of the second rank comes only when it has that of the first, which waits in its call.
TEST_F(SharedCall, MovesOnTheUsersOwnMessagesWhileItWaits) { moves_on_messages("standard,shared"); }

/// Sparse exchanges.
class SharedSparse : public SharedUnplanned<SharedSparse> {
 public:
  static Bytes bytes_of(Rank source, Rank destination, int number, Bytes most) {
    return most * ((source + 2 * destination + number) % 4) / 3;
  }
  static std::string by_messages(std::string strategy) {
    const std::string shared = ",shared";
    const auto at = strategy.find(shared);
    return at == std::string::npos ? strategy : strategy.erase(at, shared.size());
  }
  /// How many messages two ranks have in an exchange: from some to others none.
  static int messages_of(Rank source, Rank destination, int turn) { return (source + destination + turn) % 3; }

  struct Sends {
    std::vector<std::byte> buffer{std::byte{}};
    std::vector<SendEdge> edges{};
  };
  static Sends sends(Bytes most, int turn) {
    Sends result;
    for (Rank peer = 0; peer < size_of(); ++peer)
      for (int number = 0; number < messages_of(rank_of(), peer, turn); ++number) {
        const Bytes bytes = bytes_of(rank_of(), peer, number + turn, most);
        result.edges.push_back({peer, std::ssize(result.buffer), bytes});
        for (Bytes i = 0; i < bytes; ++i) result.buffer.push_back(value(rank_of(), peer, number + turn, i));
      }
    return result;
  }
  static bool are_right(const ReceivedMessages& received, Bytes most, int turn) {
    auto next = received.begin();
    for (Rank peer = 0; peer < size_of(); ++peer)
      for (int number = 0; number < messages_of(peer, rank_of(), turn); ++number, ++next) {
        const Bytes bytes = bytes_of(peer, rank_of(), number + turn, most);
        if (next == received.end() || next->source != peer || std::ssize(next->bytes) != bytes) return false;
        for (Bytes i = 0; i < bytes; ++i)
          if (next->bytes[static_cast<std::size_t>(i)] != value(peer, rank_of(), number + turn, i)) return false;
      }
    return next == received.end();
  }
  static bool delivers(Communicator& communicator, const std::string& strategy, Bytes most, int turn) {
    const auto given = sends(most, turn);
    return are_right(communicator.sparse_alltoallv(given.buffer.data(), given.edges, {strategy}), most, turn);
  }
};

TEST_F(SharedSparse, SendsNothingWithinANode) {
  EXPECT_EQ(sends_of_calls(one_node_, "direct+nbx") > 0, size_of() > 1) << "they are counted";
  for (const char* strategy : {"direct,shared+nbx", "direct,shared+reduce", "direct,shared+allreduce",
                               "direct,shared+dense", "two-step,shared+nbx", "stfw,dims=2x2x2,shared+reduce"})
    EXPECT_EQ(sends_of_calls(one_node_, strategy), 0) << strategy;
}

TEST_F(SharedSparse, LeavesMessagesBetweenNodesToMpi) {
  const auto layout = Layout::with_ppn(size_of(), 2);
  for (const char* discovery : {"+nbx", "+reduce", "+allreduce", "+dense"}) {
    const auto by_messages = sends_of_calls(layout, std::string("direct") + discovery),
               shared = sends_of_calls(layout, std::string("direct,shared") + discovery);
    EXPECT_EQ(shared == 0, size_of() <= 2) << discovery;
    EXPECT_EQ(shared<by_messages, size_of()> 1) << discovery;
  }
}

TEST_F(SharedSparse, DeliversMessagesLongerThanItsMemory) {
  const auto layout = Layout::with_ppn(size_of(), 3);
  for (const char* strategy : {"direct,shared+nbx", "direct,shared+dense", "two-step,shared+reduce"})
    for (const Bytes most : {Bytes{0}, Bytes{32}, Bytes{33}, Bytes{8} << 10, Bytes{300} << 10})
      EXPECT_TRUE(everywhere(sends_of_calls(layout, strategy, most, 4) >= 0));
}

// Ranks are many exchanges ahead of others, wait in different orders, and drop some.
TEST_F(SharedSparse, KeepsExchangesInFlightApart) {
  const std::vector<std::string> strategies{"direct,shared+nbx", "two-step,shared+dense", "direct,shared+dense",
                                            "direct+reduce",     "two-step,shared+nbx",   "direct,shared+reduce"};
  for (const auto& layout : {one_node_, Layout::with_ppn(size_of(), 2)}) {
    Communicator communicator(MPI_COMM_WORLD, calibrated_machine(), {layout});
    ASSERT_TRUE(everywhere(delivers(communicator, "direct,shared+nbx", 100, 0)));
    for (int round = 0; round < calls_; ++round) {
      constexpr int at_once = 12;
      const Bytes most = round % 4 == 0 ? 30000 : 50;
      std::vector<Sends> given;
      std::vector<SparseExchange> exchanges;
      for (int i = 0; i < at_once; ++i) given.push_back(sends(most, round + i));
      for (int i = 0; i < at_once; ++i) {
        if ((rank_of() + i + round) % 5 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
        const auto& [buffer, edges] = given[static_cast<std::size_t>(i)];
        const auto& strategy = strategies[static_cast<std::size_t>(round + i) % strategies.size()];
        exchanges.push_back(communicator.start_sparse_alltoallv(buffer.data(), edges, {strategy}));
        EXPECT_EQ(exchanges.back().strategy(), size_of() == 1 ? by_messages(strategy) : strategy);
      }
      for (int i = 0; i < at_once; ++i) {
        const int number = rank_of() % 2 == 0 ? i : at_once - 1 - i;
        if (number % 4 == 3) continue;
        EXPECT_TRUE(are_right(exchanges[static_cast<std::size_t>(number)].wait(), most, round + number))
            << round << " " << number;
      }
    }
  }
}

TEST_F(SharedSparse, OfSeveralCommunicatorsHaveTheirOwnMemory) {
  std::vector<Communicator> communicators;
  for (int i = 0; i < 3; ++i)
    communicators.emplace_back(MPI_COMM_WORLD, calibrated_machine(), CommunicatorOptions{one_node_});
  for (int turn = 0; turn < calls_; ++turn) {
    auto& communicator = communicators[static_cast<std::size_t>(turn) % communicators.size()];
    ASSERT_TRUE(everywhere(delivers(communicator, "direct,shared+nbx", 20000, turn)));
    if (turn == calls_ / 2) communicators.erase(communicators.begin() + 1);
  }
}

TEST_F(SharedSparse, GoesByMpiWhereOneRankGetsNoMemory) {
  is_opening_refused = rank_of() == size_of() - 1;
  EXPECT_EQ(sends_of_calls(one_node_, "direct,shared+nbx") > 0, size_of() > 1);
  Communicator communicator(MPI_COMM_WORLD, calibrated_machine(), {one_node_});
  EXPECT_TRUE(delivers(communicator, "direct,shared+nbx", 100, 1));
  EXPECT_EQ(communicator.last_sparse_strategy(), "direct+nbx");
}

TEST_F(SharedSparse, GoesByMpiWhereRanksShareNoMemoryWhateverTheLayoutSays) {
  are_ranks_apart = true;
  EXPECT_EQ(sends_of_calls(one_node_, "two-step,shared+nbx") > 0, size_of() > 1);
}

TEST_F(SharedSparse, ThatDoesNotWaitGoesByMpiUnlessThereIsMemory) {
  Communicator communicator(MPI_COMM_WORLD, calibrated_machine(), {one_node_});
  for (const bool has_memory : {false, true}) {
    const auto given = sends(100, 1);
    auto started = communicator.start_sparse_alltoallv(given.buffer.data(), given.edges, {"direct,shared+nbx"});
    EXPECT_EQ(started.strategy(), has_memory && size_of() > 1 ? "direct,shared+nbx" : "direct+nbx");
    EXPECT_TRUE(are_right(started.wait(), 100, 1));
    EXPECT_TRUE(everywhere(delivers(communicator, "direct,shared+reduce", 100, 2)));
  }
}

TEST_F(SharedSparse, IsChosenWhereItsPriceIsLower) {
  Communicator communicator(MPI_COMM_WORLD, machine_with_fast_memory(), {one_node_});
  const auto started = [&] {
    const auto given = sends(100, 1);
    auto exchange = communicator.start_sparse_alltoallv(given.buffer.data(), given.edges);
    EXPECT_TRUE(are_right(exchange.wait(), 100, 1));
    return exchange.strategy();
  };
  EXPECT_EQ(started().find("shared"), std::string::npos) << "there is no memory";
  for (int turn = 0; turn < calls_; ++turn) {
    EXPECT_TRUE(everywhere(delivers(communicator, "", 100, turn)));
    EXPECT_EQ(communicator.last_sparse_strategy().find(",shared") != std::string::npos, size_of() > 1)
        << communicator.last_sparse_strategy();
  }
  EXPECT_EQ(started().find("shared") != std::string::npos, size_of() > 1);
}

TEST_F(SharedSparse, IsChosenAnewWhereThereIsNoMemory) {
  is_opening_refused = rank_of() == size_of() - 1;
  Communicator communicator(MPI_COMM_WORLD, machine_with_fast_memory(), {one_node_});
  for (int turn = 0; turn < calls_; ++turn) {
    EXPECT_TRUE(everywhere(delivers(communicator, "", 100, turn)));
    EXPECT_EQ(communicator.last_sparse_strategy().find("shared"), std::string::npos);
  }
}

// As above, for the memory of sparse exchanges.
TEST_F(SharedSparse, MovesOnTheUsersOwnMessagesWhileItWaits) { moves_on_messages("direct,shared+nbx"); }

// One thread stands in for each rank.
TEST(LandingSlots, KeepTheOrderOfPayloadsAndFlags) {
  constexpr std::size_t payload = 200;
  constexpr std::uint64_t exchanges = 20000;
  const auto bytes = static_cast<std::size_t>(LandingSlot::bytes_for(payload));
  std::vector<std::uint64_t> memory((2 * bytes + LandingSlot::line) / sizeof(std::uint64_t));
  auto* const begin = reinterpret_cast<std::byte*>(memory.data());
  const SharedNumber taken(begin + 2 * bytes);
  const auto slot = [&](std::uint64_t number) {
    return LandingSlot{begin + number % 2 * bytes, static_cast<Bytes>(bytes)};
  };
  const auto wait_for = [](const SharedNumber& number, std::uint64_t value) {
    while (!number.has_reached(value)) std::this_thread::yield();
  };
  int wrong = 0;
  std::thread receiver([&] {
    std::vector<std::byte> landed(payload);
    for (std::uint64_t number = 1; number <= exchanges; ++number) {
      wait_for(slot(number).flag(), number);
      std::memcpy(landed.data(), slot(number).begin, payload);
      wrong += std::ranges::count(landed, static_cast<std::byte>(number)) == std::ssize(landed) ? 0 : 1;
      taken.raise(number);
    }
  });
  std::vector<std::byte> sent(payload);
  for (std::uint64_t number = 1; number <= exchanges; ++number) {
    std::ranges::fill(sent, static_cast<std::byte>(number));
    std::memcpy(slot(number).begin, sent.data(), payload);
    slot(number).flag().raise(number);
    wait_for(taken, number - 1);
  }
  receiver.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace commpass
