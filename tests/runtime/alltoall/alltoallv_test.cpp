// Exchanges between all pairs of ranks, against MPI_Alltoallv, on the ranks that mpirun gives.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "model/base/error.hpp"
#include "model/route/catalogue.hpp"
#include "model/route/distance_route.hpp"
#include "runtime/alltoall/alltoall_exchange.hpp"
#include "runtime/communicator.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::rank_of;
using test::size_of;
using test::some_machine;

/// A datatype that goes when it is no longer needed.
class Type {
 public:
  explicit Type(MPI_Datatype type) : type_(type) { MPI_Type_commit(&type_); }
  ~Type() { MPI_Type_free(&type_); }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
  operator MPI_Datatype() const { return type_; }  // NOLINT: as MPI takes it

 private:
  MPI_Datatype type_;
};

MPI_Datatype contiguous() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, MPI_INT, &type);
  return type;
}
/// Three ints, of which each is followed by a gap.
MPI_Datatype with_gaps() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, 2, MPI_INT, &type);
  return type;
}
/// Three ints in another order, and more room than they need.
MPI_Datatype reversed() {
  const int lengths[] = {1, 1, 1}, places[] = {2, 1, 0};
  MPI_Datatype inner = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
  MPI_Type_indexed(3, lengths, places, MPI_INT, &inner);
  MPI_Type_create_resized(inner, 0, 7 * sizeof(int), &type);
  MPI_Type_free(&inner);
  return type;
}

/// Counts of elements between all pairs, the same on every rank, and one rank's part.
struct Counts {
  std::vector<int> send, send_at, receive, receive_at;

  Counts(int ranks, Rank rank, unsigned seed, int most) {
    std::mt19937 random(seed);
    const bool sparse = seed % 3 == 0;
    int send_end = 1, receive_end = 2;
    for (Rank source = 0; source < ranks; ++source)
      for (Rank destination = 0; destination < ranks; ++destination) {
        const auto draw = static_cast<int>(random() % static_cast<unsigned>(most + 1)),
                   chance = static_cast<int>(random() % 4);
        const int count = sparse && chance > 0 ? 0 : draw;
        if (source == rank) {
          send.push_back(count);
          send_at.push_back(send_end);
          send_end += count + chance % 2;  // with gaps between
        }
        if (destination == rank) receive.push_back(count);
      }
    // Received in descending order of the ranks, so that nothing is adjacent by luck.
    receive_at.resize(receive.size());
    for (std::size_t source = receive.size(); source-- > 0;) {
      receive_at[source] = receive_end;
      receive_end += receive[source];
    }
  }
  static std::size_t end(const std::vector<int>& counts, const std::vector<int>& at) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) end = std::max(end, static_cast<std::size_t>(counts[i] + at[i]));
    return end;
  }
};

constexpr std::size_t most_ints = 8;  // of the extent of any type here

std::vector<int> buffer_for(const std::vector<int>& counts, const std::vector<int>& at, int first, int step) {
  std::vector<int> buffer((Counts::end(counts, at) + 1) * most_ints);
  for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = first + step * static_cast<int>(i);
  return buffer;
}

std::vector<std::string> alltoallv_strategies(const Layout& layout) {
  std::vector<std::string> result;
  for (const auto& strategy : suggest_strategies(layout))
    if (pattern_need(strategy) == PatternNeed::nothing && strategy.route != "mpi")
      result.push_back(to_string(strategy));
  for (const char* text :
       {"mpi", "standard,window=1", "standard,window=3", "standard,staggered", "two-step",
        "two-step,staggered,window=2", "local-then-node,window=1", "stfw,dims=3x2x5x7",
        "stfw,dims=3x2x5x7,window=2,staggered", "standard,shared", "standard,window=1,shared",
        "two-step,staggered,shared", "local-then-node,window=1,shared", "stfw,dims=3x2x5x7,window=2,staggered,shared"})
    result.emplace_back(text);
  if (layout.ranks() >= 3) result.emplace_back("tuna,radix=3,window=unlimited");
  if (layout.max_ppn() >= 2) result.emplace_back("tuna-node,radix=2,window=3,staggered");
  return result;
}

class EveryAlltoallStrategy : public testing::TestWithParam<unsigned> {};

TEST_P(EveryAlltoallStrategy, DoesWhatMpiAlltoallvDoes) {
  const unsigned seed = GetParam() * 1000 + static_cast<unsigned>(size_of());
  const auto layout = test::random_layout(size_of(), seed);
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {layout});
  const Type plain(contiguous()), gaps(with_gaps()), backwards(reversed());
  const std::pair<MPI_Datatype, MPI_Datatype> types[] = {
      {MPI_INT, MPI_INT}, {plain, gaps}, {gaps, backwards}, {backwards, backwards}};
  for (const auto& text : alltoallv_strategies(layout)) {
    SCOPED_TRACE(text + ", " + layout.describe() + ", seed " + std::to_string(seed));
    for (unsigned turn = 0; turn < 4; ++turn) {  // other counts each time
      const auto [send_type, receive_type] = types[turn];
      const Counts counts(size_of(), rank_of(), seed + turn, turn == 3 ? 300 : 20);
      const auto sent = buffer_for(counts.send, counts.send_at, 100000 * rank_of(), 1);
      auto received = buffer_for(counts.receive, counts.receive_at, -1, -1), expected = received;
      MPI_Alltoallv(sent.data(), counts.send.data(), counts.send_at.data(), send_type, expected.data(),
                    counts.receive.data(), counts.receive_at.data(), receive_type, MPI_COMM_WORLD);
      communicator.alltoallv(sent.data(), counts.send, counts.send_at, send_type, received.data(), counts.receive,
                             counts.receive_at, receive_type, {text});
      ASSERT_EQ(received, expected);
      EXPECT_EQ(communicator.last_alltoallv_strategy(), text);
      if (text == "mpi")
        continue;  // when planned, the library's neighbourhood collective:
                   // tests/runtime/neighbor/neighbor_exchange_test.cpp

      auto persistent_received = buffer_for(counts.receive, counts.receive_at, -1, -1);
      auto persistent =
          communicator.alltoallv_init(sent.data(), counts.send, counts.send_at, send_type, persistent_received.data(),
                                      counts.receive, counts.receive_at, receive_type, {text});
      EXPECT_EQ(persistent.strategy(), to_string(parse_strategy(text)));
      EXPECT_FALSE(persistent.predicted_seconds()) << "named";
      EXPECT_NE(persistent.explanation().find("was named"), std::string::npos) << persistent.explanation();
      for (const bool polls : {false, true}) {
        std::ranges::fill(persistent_received, 0);
        auto filled = expected;
        for (std::size_t i = 0; i < expected.size(); ++i)
          if (expected[i] < 0) filled[i] = 0;  // where nothing comes
        persistent.start();
        while (polls && !persistent.test()) {}
        if (!polls) persistent.wait();
        ASSERT_EQ(persistent_received, filled) << "one-shot and persistent agree byte for byte";
        EXPECT_TRUE(persistent.test()) << "nothing is in flight";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Random, EveryAlltoallStrategy, testing::Range(0U, 4U));

TEST(Alltoallv, ChoosesByEarlierTraffic) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  for (unsigned turn = 0; turn < 8; ++turn) {
    const Counts counts(size_of(), rank_of(), turn, turn < 4 ? 2 : 20000);
    const auto sent = buffer_for(counts.send, counts.send_at, 7 * rank_of(), 3);
    auto received = buffer_for(counts.receive, counts.receive_at, 0, 0), expected = received;
    MPI_Alltoallv(sent.data(), counts.send.data(), counts.send_at.data(), MPI_INT, expected.data(),
                  counts.receive.data(), counts.receive_at.data(), MPI_INT, MPI_COMM_WORLD);
    const AlltoallvOptions options = turn % 3 == 0 ? AlltoallvOptions{"", 8.0} : AlltoallvOptions{};
    communicator.alltoallv(sent.data(), counts.send, counts.send_at, MPI_INT, received.data(), counts.receive,
                           counts.receive_at, MPI_INT, options);
    ASSERT_EQ(received, expected) << turn;
    // The same on every rank.
    std::vector<char> first(100), mine(100);
    std::ranges::copy(communicator.last_alltoallv_strategy(), mine.begin());
    first = mine;
    MPI_Bcast(first.data(), 100, MPI_CHAR, 0, MPI_COMM_WORLD);
    EXPECT_EQ(mine, first);
  }
}

TEST(Alltoallv, InPlace) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 3)});
  // What i sends to j is as much as j sends to i.
  std::vector<int> counts, at;
  int end = 0;
  for (Rank other = 0; other < size_of(); ++other) {
    counts.push_back((rank_of() + other) % 5);
    at.push_back(end);
    end += counts.back();
  }
  for (const std::string text : {"standard", "stfw,n=1", "two-step", "mpi", ""}) {
    std::vector<int> data(static_cast<std::size_t>(end) * most_ints + most_ints);
    std::iota(data.begin(), data.end(), 1000 * rank_of());
    auto expected = data;
    const Type gaps(with_gaps());
    // MPI's own in place is wrong for types with gaps in some libraries: from a copy.
    const auto copy = data;
    MPI_Alltoallv(copy.data(), counts.data(), at.data(), gaps, expected.data(), counts.data(), at.data(), gaps,
                  MPI_COMM_WORLD);
    communicator.alltoallv(MPI_IN_PLACE, {}, {}, MPI_DATATYPE_NULL, data.data(), counts, at, gaps, {text});
    EXPECT_EQ(data, expected) << text;
    if (text == "mpi" && size_of() > 1) {
      EXPECT_EQ(communicator.last_alltoallv_strategy(), "standard")
          << "libraries are wrong in place, for types with gaps";
    }
  }
}

/// Runs all-to-alls on a machine on which messages are expensive, so that small blocks go another way than large ones.
class Told {
 public:
  static constexpr int small = 4, large = 1 << 16;

  explicit Told(Seconds allreduce_s)
      : communicator_(MPI_COMM_WORLD, machine(allreduce_s), {Layout::with_ppn(size_of(), 1)}) {}

  std::string run(int bytes, std::optional<double> hint = {}) {
    const std::vector<char> sent(static_cast<std::size_t>(bytes * size_of()));
    std::vector<char> received(sent.size());
    const std::vector<int> counts(static_cast<std::size_t>(size_of()), bytes);
    std::vector<int> at;
    for (int rank = 0; rank < size_of(); ++rank) at.push_back(rank * bytes);
    communicator_.alltoallv(sent.data(), counts, at, MPI_CHAR, received.data(), counts, at, MPI_CHAR,
                            {"", hint, PlannerMode::estimate});
    return communicator_.last_alltoallv_strategy();
  }
  std::string run_hinted(int bytes) { return run(bytes, bytes); }
  std::string run_to_next(int bytes) {
    const auto ranks = static_cast<std::size_t>(size_of());
    std::vector<int> send(ranks), receive(ranks);
    const std::vector<int> at(ranks);
    send[static_cast<std::size_t>((rank_of() + 1) % size_of())] = bytes;
    receive[static_cast<std::size_t>((rank_of() + size_of() - 1) % size_of())] = bytes;
    const std::vector<char> sent(static_cast<std::size_t>(bytes), static_cast<char>(rank_of()));
    std::vector<char> received(sent.size());
    communicator_.alltoallv(sent.data(), send, at, MPI_CHAR, received.data(), receive, at, MPI_CHAR,
                            {"", {}, PlannerMode::estimate});
    EXPECT_EQ(received, std::vector<char>(sent.size(), static_cast<char>((rank_of() + size_of() - 1) % size_of())));
    return communicator_.last_alltoallv_strategy();
  }
  /// By alltoall, in which all ranks know the size.
  std::string run_equal(int bytes) {
    const std::vector<char> sent(static_cast<std::size_t>(bytes * size_of()));
    std::vector<char> received(sent.size());
    communicator_.alltoall(sent.data(), bytes, MPI_CHAR, received.data(), bytes, MPI_CHAR,
                           {"", {}, PlannerMode::estimate});
    return communicator_.last_alltoallv_strategy();
  }

 private:
  static Machine machine(Seconds allreduce_s) {
    Machine machine;
    machine.host.by_level[standard_level::network] =
        Channel{{Protocol{"all", std::numeric_limits<Bytes>::max(), 1e-5, 1e-9, 1e-5}}};
    machine.operations.allreduce_s = allreduce_s;
    return machine;
  }
  Communicator communicator_;
};

TEST(Alltoall, IsChosenByTheSizesOfTheCallBefore) {
  Told calls(1e-9);
  constexpr int small = Told::small, large = Told::large;
  const auto for_small = calls.run_hinted(small), for_large = calls.run_hinted(large);
  if (size_of() >= 8) {
    EXPECT_NE(for_small, for_large) << "or the test shows nothing";
  }
  int before = large;
  for (const int bytes : {large, small, small, large, large, small, small, large, small, small, large, small}) {
    EXPECT_EQ(calls.run(bytes), before == small ? for_small : for_large);
    before = bytes;
  }
  // Sizes that all ranks know are not told, so that another strategy may be the best.
  const auto for_small_equal = calls.run_equal(small), for_large_equal = calls.run_equal(large);
  if (size_of() >= 8) {
    EXPECT_NE(for_small_equal, for_large_equal);
  }
  for (const int bytes : {large, small, large, large, small})
    EXPECT_EQ(calls.run_equal(bytes), bytes == small ? for_small_equal : for_large_equal);
}

// After three calls that told the same, the fourth call from the last that told is the next that tells.
TEST(Alltoall, IsChosenByEarlierSizesWhereThreeCallsHadTheSame) {
  Told calls(1e-9);
  constexpr int small = Told::small, large = Told::large;
  const auto for_small = calls.run_hinted(small), for_large = calls.run_hinted(large);
  for (int call = 0; call < 3; ++call) calls.run(small);
  for (int call = 0; call < 4; ++call) EXPECT_EQ(calls.run(large), for_small) << call;
  for (int call = 0; call < 2; ++call) EXPECT_EQ(calls.run(large), for_large) << call;
}

// As many bytes in all, but to one neighbour: fewer messages than any way of gathering them has.
TEST(Alltoallv, IsChosenByHowManyBlocksAreNotEmpty) {
  Told calls(1e-9);
  const auto for_small = calls.run_hinted(Told::small);
  const std::string direct = "standard";
  EXPECT_EQ(calls.run(Told::small), for_small);
  // The class is not far from the other one, and is priced when it has come some times.
  constexpr int most_calls = 5000;
  int call = 0;
  while (call < most_calls && calls.run_to_next(Told::small * size_of()) != direct) ++call;
  EXPECT_LT(call, most_calls);
  constexpr int quiet = 4;  // as calls have told the same
  for (call = 0; call < quiet && calls.run(Told::small) == direct; ++call) {}
  EXPECT_GT(call, 0);
  EXPECT_EQ(calls.run(Told::small), for_small);
}

TEST(Alltoallv, TakesAnyHintThatIsASize) {
  Told calls(1e-9);
  const auto for_large = calls.run(Told::small, 1e12);
  for (const double hint : {1e18, 1e19, 1e300}) EXPECT_EQ(calls.run(Told::small, hint), for_large);
  for (const double hint : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(calls.run(Told::small, hint), InputError);
}

// Then it is the sizes of the last call after which ranks told each other: the 1st, 2nd, 4th, 8th or a 16th.
TEST(Alltoall, IsChosenByEarlierSizesWhereTellingThemWouldTakeTooLong) {
  Told calls(1);
  constexpr int small = Told::small, large = Told::large;
  const auto for_small = calls.run_hinted(small), for_large = calls.run_hinted(large);
  const auto run = [&](int bytes) { return calls.run(bytes); };
  const std::pair<int, std::string> expected[] = {{small, for_large}, {small, for_large}, {large, for_small},
                                                  {large, for_small}, {large, for_small}, {large, for_small},
                                                  {small, for_large}};
  for (const auto& [bytes, chosen] : expected) EXPECT_EQ(run(bytes), chosen);
  for (int call = 10; call <= 16; ++call) EXPECT_EQ(run(small), for_large) << call;
  EXPECT_EQ(run(small), for_small);
}

TEST(Alltoallv, ChoosesARadixThatIsLeftToTheModel) {
  if (size_of() == 1) return;
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  const auto has_number = [](const std::string& name, const std::string& family) {
    return name.starts_with(family) && name.find("auto") == std::string::npos;
  };
  for (const std::string family : {"tuna,radix=", "tuna-node,radix="})
    for (unsigned turn = 0; turn < 3; ++turn) {
      const Counts counts(size_of(), rank_of(), turn, 1 << (4 * turn));
      const auto sent = buffer_for(counts.send, counts.send_at, 1000 * rank_of(), 1);
      auto received = buffer_for(counts.receive, counts.receive_at, -1, -1), expected = received, planned = received;
      MPI_Alltoallv(sent.data(), counts.send.data(), counts.send_at.data(), MPI_INT, expected.data(),
                    counts.receive.data(), counts.receive_at.data(), MPI_INT, MPI_COMM_WORLD);
      communicator.alltoallv(sent.data(), counts.send, counts.send_at, MPI_INT, received.data(), counts.receive,
                             counts.receive_at, MPI_INT, {family + "auto"});
      EXPECT_EQ(received, expected);
      EXPECT_PRED2(has_number, communicator.last_alltoallv_strategy(), family);
      for (const std::int64_t most_edges : {0, 1 << 20}) {  // by statistics, and by the pattern
        ExchangeOptions options{family + "auto"};
        options.most_edges_gathered = most_edges;
        auto persistent = communicator.alltoallv_init(sent.data(), counts.send, counts.send_at, MPI_INT, planned.data(),
                                                      counts.receive, counts.receive_at, MPI_INT, options);
        persistent.start();
        persistent.wait();
        EXPECT_EQ(planned, expected);
        EXPECT_PRED2(has_number, persistent.strategy(), family);
      }
    }
}

TEST(Alltoallv, IsLeftToTheLibraryWhereThatIsPredictedToBeFaster) {
  auto machine = some_machine();
  machine.operations.alltoallv_s = -1;
  Communicator communicator(MPI_COMM_WORLD, machine, {Layout::with_ppn(size_of(), 2)});
  const Counts counts(size_of(), rank_of(), 1, 20);
  const auto sent = buffer_for(counts.send, counts.send_at, 1000 * rank_of(), 1);
  auto received = buffer_for(counts.receive, counts.receive_at, -1, -1), expected = received;
  MPI_Alltoallv(sent.data(), counts.send.data(), counts.send_at.data(), MPI_INT, expected.data(), counts.receive.data(),
                counts.receive_at.data(), MPI_INT, MPI_COMM_WORLD);
  for (int call = 0; call < 3; ++call) {
    communicator.alltoallv(sent.data(), counts.send, counts.send_at, MPI_INT, received.data(), counts.receive,
                           counts.receive_at, MPI_INT);
    EXPECT_EQ(received, expected);
    EXPECT_EQ(communicator.last_alltoallv_strategy(), size_of() == 1 ? "standard" : "mpi");
  }
}

TEST(Alltoall, SendsAsMuchToEveryRank) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  for (const int count : {0, 1, 1000}) {
    std::vector<double> sent(static_cast<std::size_t>(count * size_of())), received(sent.size()), expected(sent.size());
    std::iota(sent.begin(), sent.end(), 1e6 * rank_of());
    MPI_Alltoall(sent.data(), count, MPI_DOUBLE, expected.data(), count, MPI_DOUBLE, MPI_COMM_WORLD);
    communicator.alltoall(sent.data(), count, MPI_DOUBLE, received.data(), count, MPI_DOUBLE);
    EXPECT_EQ(received, expected);
    auto in_place = sent;
    communicator.alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in_place.data(), count, MPI_DOUBLE);
    EXPECT_EQ(in_place, expected);
  }
}

/// The library, one that forwards nothing, some that do, and the choice.
std::vector<std::string> some_strategies(int ranks) {
  std::vector<std::string> result{"", "mpi", "standard,window=2", "stfw,n=1", "two-step"};
  if (ranks >= 2) result.emplace_back("tuna,radix=2");
  return result;
}

// Rank i sends i + j numbers to j. Blocks lie without gaps, that of the last rank first, on both sides.
TEST(Alltoallv, BlocksMayLieInReverse) {
  const int ranks = size_of(), rank = rank_of();
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(ranks, 2)});
  std::vector<int> counts(static_cast<std::size_t>(ranks)), at(counts.size());
  int end = 0;
  for (Rank other = ranks; other-- > 0;) {
    counts[static_cast<std::size_t>(other)] = rank + other;
    at[static_cast<std::size_t>(other)] = end;
    end += rank + other;
  }
  const auto number = [](Rank from, Rank to, int i) { return 10000 * from + 100 * to + i; };
  std::vector<int> sent(static_cast<std::size_t>(end)), expected(sent.size());
  for (Rank other = 0; other < ranks; ++other)
    for (int i = 0; i < rank + other; ++i) {
      const auto place = static_cast<std::size_t>(at[static_cast<std::size_t>(other)] + i);
      sent[place] = number(rank, other, i);
      expected[place] = number(other, rank, i);
    }
  for (const auto& text : some_strategies(ranks)) {
    std::vector<int> received(sent.size(), -1);
    communicator.alltoallv(sent.data(), counts, at, MPI_INT, received.data(), counts, at, MPI_INT, {text});
    EXPECT_EQ(received, expected) << text;
  }
}

// Where the count is 0, the displacement says nothing, and a rank without counts needs no buffer.
TEST(Alltoallv, OnlyNeighboursMayHaveCounts) {
  const int ranks = size_of(), rank = rank_of();
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(ranks, 3)});
  constexpr int count = 9, nowhere = std::numeric_limits<int>::max();
  std::vector<int> send(static_cast<std::size_t>(ranks)), receive(send.size()), send_at(send.size(), nowhere),
      receive_at(send_at);
  const bool has_next = rank + 1 < ranks, has_previous = rank > 0;
  if (has_next) {
    send[static_cast<std::size_t>(rank + 1)] = count;
    send_at[static_cast<std::size_t>(rank + 1)] = 0;
  }
  if (has_previous) {
    receive[static_cast<std::size_t>(rank - 1)] = count;
    receive_at[static_cast<std::size_t>(rank - 1)] = 0;
  }
  const std::vector<double> sent(count, rank), expected(count, has_previous ? rank - 1 : -1);
  for (const auto& text : some_strategies(ranks)) {
    std::vector<double> received(count, -1);
    communicator.alltoallv(has_next ? sent.data() : nullptr, send, send_at, MPI_DOUBLE,
                           has_previous ? received.data() : nullptr, receive, receive_at, MPI_DOUBLE, {text});
    EXPECT_EQ(received, expected) << text;
    communicator.alltoallv(nullptr, std::vector<int>(send.size()), send_at, MPI_DOUBLE, nullptr,
                           std::vector<int>(send.size()), receive_at, MPI_DOUBLE, {text});
  }
}

TEST(Alltoallv, OnCommunicatorsOfAllSizesAndOrders) {
  for (int ranks = 1; ranks <= size_of(); ++ranks) {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank_of() < ranks ? 0 : MPI_UNDEFINED, -rank_of(), &part);
    if (part == MPI_COMM_NULL) continue;
    {
      Communicator communicator(part, some_machine());
      for (const auto& text : some_strategies(ranks)) {
        const Counts counts(ranks, rank_of(part), static_cast<unsigned>(ranks), 30);
        const auto sent = buffer_for(counts.send, counts.send_at, 1000 * rank_of(part), 1);
        auto received = buffer_for(counts.receive, counts.receive_at, 0, 0), expected = received;
        MPI_Alltoallv(sent.data(), counts.send.data(), counts.send_at.data(), MPI_INT, expected.data(),
                      counts.receive.data(), counts.receive_at.data(), MPI_INT, part);
        auto planned = received;
        communicator.alltoallv(sent.data(), counts.send, counts.send_at, MPI_INT, received.data(), counts.receive,
                               counts.receive_at, MPI_INT, {text});
        EXPECT_EQ(received, expected) << text << " on " << ranks;
        if (text == "mpi") continue;  // when planned, another collective
        auto persistent = communicator.alltoallv_init(sent.data(), counts.send, counts.send_at, MPI_INT, planned.data(),
                                                      counts.receive, counts.receive_at, MPI_INT, {text});
        persistent.start();
        persistent.wait();
        EXPECT_EQ(planned, expected) << text << " on " << ranks;
      }
    }
    MPI_Comm_free(&part);
  }
}

TEST(Alltoallv, OnDifferentCommunicatorsAtOnce) {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank_of() % 2, -rank_of(), &half);
  {
    Communicator whole(MPI_COMM_WORLD, some_machine()), part(half, some_machine());
    for (unsigned turn = 0; turn < 5; ++turn) {
      const auto check = [&](Communicator& communicator, MPI_Comm comm) {
        const Counts counts(size_of(comm), rank_of(comm), turn, 50);
        const auto sent = buffer_for(counts.send, counts.send_at, 1000 * rank_of(comm), 1);
        auto received = buffer_for(counts.receive, counts.receive_at, 0, 0), expected = received;
        communicator.alltoallv(sent.data(), counts.send, counts.send_at, MPI_INT, received.data(), counts.receive,
                               counts.receive_at, MPI_INT);
        MPI_Alltoallv(sent.data(), counts.send.data(), counts.send_at.data(), MPI_INT, expected.data(),
                      counts.receive.data(), counts.receive_at.data(), MPI_INT, comm);
        EXPECT_EQ(received, expected);
      };
      check(part, half);
      check(whole, MPI_COMM_WORLD);
    }
  }
  MPI_Comm_free(&half);
}

TEST(Alltoallv, RefusesWrongArguments) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  const std::vector<int> none(static_cast<std::size_t>(size_of())), negative(none.size(), -1), few(none.size() - 1);
  const auto message = [&](const std::vector<int>& counts, const std::string& strategy) {
    try {
      communicator.alltoallv(nullptr, counts, none, MPI_INT, nullptr, none, none, MPI_INT, {strategy});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message(negative, "").find("the count for rank 0 is -1"), std::string::npos);
  EXPECT_NE(message(few, "").find("displacements for"), std::string::npos);
  EXPECT_NE(message(none, "split,cap=1KiB").find("whole pattern"), std::string::npos);
  EXPECT_NE(message(none, "tuna,radix=1").find("radix=1"), std::string::npos);
  EXPECT_NE(message(std::vector<int>(none.size(), 1), "").find("no buffer"), std::string::npos);
  EXPECT_EQ(message(none, ""), "") << "the communicator works on";
}

TEST(Alltoallv, RefusesTypesThatCannotBeUsed) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  std::vector<int> data(static_cast<std::size_t>(3 * size_of()));
  const auto message = [&](MPI_Datatype type) {
    try {
      communicator.alltoall(data.data(), 0, type, data.data(), 0, type, {"two-step"});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message(MPI_DATATYPE_NULL).find("MPI_DATATYPE_NULL"), std::string::npos);
  MPI_Datatype type = with_gaps();
  EXPECT_NE(message(type).find("MPI_Pack failed"), std::string::npos) << "not committed";
  MPI_Type_free(&type);
  MPI_Datatype half = MPI_DATATYPE_NULL, large = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(1 << 30, MPI_BYTE, &half);
  MPI_Type_contiguous(3, half, &large);
  MPI_Type_commit(&large);
  EXPECT_NE(message(large).find("an element has 3221225472 bytes"), std::string::npos);
  MPI_Type_free(&large);
  MPI_Type_free(&half);
  EXPECT_EQ(message(MPI_INT), "");
}

TEST(Alltoallv, RefusesABlockForOneselfThatIsNotExpected) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  std::vector<int> one(static_cast<std::size_t>(size_of())), two(one), at(one.size());
  one[static_cast<std::size_t>(rank_of())] = 1;
  two[static_cast<std::size_t>(rank_of())] = 2;
  int data[2] = {}, received[2] = {};
  EXPECT_THROW(communicator.alltoallv(data, one, at, MPI_INT, received, two, at, MPI_INT), InputError);
}

TEST(PersistentAlltoallv, MayHaveNegativeDisplacements) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  const auto ranks = static_cast<std::size_t>(size_of());
  std::vector<int> sent(ranks), received(ranks, -1), expected(ranks), counts(ranks, 1), at;
  for (int rank = 0; rank < size_of(); ++rank) at.push_back(-1 - rank);
  for (std::size_t rank = 0; rank < ranks; ++rank) sent[ranks - 1 - rank] = 100 * rank_of() + static_cast<int>(rank);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    expected[ranks - 1 - rank] = 100 * static_cast<int>(rank) + rank_of();
  auto exchange = communicator.alltoallv_init(sent.data() + ranks, counts, at, MPI_INT, received.data() + ranks, counts,
                                              at, MPI_INT, {"standard"});
  exchange.start();
  exchange.wait();
  EXPECT_EQ(received, expected);
}

TEST(PersistentAlltoallv, IsCompletedWhenItIsDestroyed) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  const Type gaps(with_gaps());
  const Counts counts(size_of(), rank_of(), 1, 5);
  const auto sent = buffer_for(counts.send, counts.send_at, 1000 * rank_of(), 1);
  auto received = buffer_for(counts.receive, counts.receive_at, -1, -1), expected = received;
  MPI_Alltoallv(sent.data(), counts.send.data(), counts.send_at.data(), gaps, expected.data(), counts.receive.data(),
                counts.receive_at.data(), gaps, MPI_COMM_WORLD);
  {
    auto exchange = communicator.alltoallv_init(sent.data(), counts.send, counts.send_at, gaps, received.data(),
                                                counts.receive, counts.receive_at, gaps, {"two-step"});
    exchange.start();
  }
  EXPECT_EQ(received, expected);
}

// A message waits where it has landed until the last of its blocks has left, in one piece. So there is room for all
// messages that bring something to be forwarded, and for one of those that do not, which take turns. (The buffer of
// TuNA §III-C, B = P − (K+1) blocks, is less where a block is forwarded several times; it takes a copy more each time.)
TEST(AlltoallStructure, HoldsForwardedBlocksAndOneMessage) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int radix = 2; radix <= size_of(); ++radix) {
    const DistanceRoute route(size_of(), radix);
    const auto structure = make_alltoall_structure(comm, route, {1}, Coalescing::coalesced);
    EXPECT_EQ(std::ssize(structure.batches), tuna_rounds(size_of(), radix)) << "radix " << radix;
    std::size_t forwarding = 0, largest_other = 0;
    for (const auto& message : structure.receives)
      if (message.announced > 0) forwarding += message.blocks;
      else largest_other = std::max(largest_other, message.blocks);
    // Each stage but the last moves at most P·(r−1)/r blocks, and one more of each digit where P is no power of r.
    EXPECT_LE(forwarding, (structure.stages.size() - 1) * static_cast<std::size_t>(size_of())) << "radix " << radix;

    const std::vector<Bytes> counts(static_cast<std::size_t>(size_of()), 10);
    std::vector<Bytes> offsets;
    for (Rank rank = 0; rank < size_of(); ++rank) offsets.push_back(10 * rank);
    std::vector<std::byte> sent(10 * counts.size()), received(sent.size());
    AlltoallData data;
    data.assign(
        {CallSide::v(sent.data(), counts, offsets, MPI_BYTE), CallSide::v(received.data(), counts, offsets, MPI_BYTE)},
        comm, nullptr);
    data.begin({});
    AlltoallExchange exchange(comm);
    exchange.run(structure, data);
    EXPECT_LE(exchange.slot_bytes(), 10 * static_cast<Bytes>(forwarding + largest_other)) << "radix " << radix;
    if (radix == size_of()) {
      EXPECT_EQ(exchange.slot_bytes(), 0) << "nothing is forwarded";
    }
  }
  MPI_Comm_free(&comm);
}

}  // namespace
}  // namespace commpass
