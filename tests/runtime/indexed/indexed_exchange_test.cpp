// Indexed exchanges against values that are known on all ranks.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>

#include "model/base/error.hpp"
#include "runtime/communicator.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

namespace {

/// Bytes of the persistent sends that this process has made, by peer.
std::map<int, std::int64_t> planned_bytes;
std::mutex planned_bytes_mutex;  // other tests of this program make sends in several threads

}  // namespace

extern "C" int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                             MPI_Request* request) {
  int size = 0;
  MPI_Type_size(type, &size);
  {
    const std::lock_guard lock(planned_bytes_mutex);
    planned_bytes[peer] += std::int64_t{count} * size;
  }
  return PMPI_Send_init(buffer, count, type, peer, tag, comm, request);
}

namespace commpass {
namespace {

using test::common_error;
using test::rank_of;
using test::size_of;
using test::some_machine;

enum class Ownership { ranges, lists, mixed };

/// Who owns and needs what: known to all ranks here.
struct Scenario {
  Ownership ownership = Ownership::ranges;
  std::vector<IndexRange> ranges;          ///< by rank, unless lists
  std::vector<std::vector<Index>> owned;   ///< by rank, in the order of the owned values
  std::vector<std::vector<Index>> needed;  ///< by rank

  OwnedBy owned_by(Rank rank) const {
    const auto r = static_cast<std::size_t>(rank);
    const bool is_range = ownership == Ownership::ranges || (ownership == Ownership::mixed && rank % 2 == 0);
    return is_range ? OwnedBy(ranges[r]) : OwnedBy(owned[r]);
  }
  const std::vector<Index>& owned_here() const { return owned[static_cast<std::size_t>(rank_of())]; }
  const std::vector<Index>& needed_here() const { return needed[static_cast<std::size_t>(rank_of())]; }
};

/// Uneven parts, some empty, with gaps between ranges; needs from none to several times what there is.
Scenario random_scenario(int ranks, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
  Scenario scenario;
  scenario.ownership = static_cast<Ownership>(seed % 3);
  scenario.ranges.resize(static_cast<std::size_t>(ranks));
  scenario.owned.resize(scenario.ranges.size());
  scenario.needed.resize(scenario.ranges.size());
  std::vector<std::size_t> order(scenario.ranges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  Index next = below(2) == 0 ? 0 : Index{1} << 40;
  std::vector<Index> all;
  for (const auto rank : order) {
    const auto count = static_cast<Index>(below(4) == 0 ? 0 : below(60));
    scenario.ranges[rank] = {next, next + count};
    for (Index index = next; index < next + count; ++index) all.push_back(index);
    next += count + static_cast<Index>(below(3));
  }
  if (scenario.ownership == Ownership::lists) {
    constexpr Index stride = 1000003;  // far apart
    for (auto& index : all) index = (index & 0xFFFFF) * stride;
    for (const auto index : all) scenario.owned[below(order.size())].push_back(index);
    for (auto& list : scenario.owned) std::shuffle(list.begin(), list.end(), random);
  } else {
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      auto& list = scenario.owned[rank];
      for (Index index = scenario.ranges[rank].begin; index < scenario.ranges[rank].end; ++index) list.push_back(index);
    }
  }
  for (auto& list : scenario.needed) {
    if (all.empty()) break;
    const std::array<std::size_t, 4> most{1, 10, 100, 300};
    for (auto count = below(most[below(most.size())]); count > 0; --count) list.push_back(all[below(all.size())]);
    if (below(2) == 0) std::ranges::sort(list);
  }
  return scenario;
}

std::byte byte_of(Index index, Bytes position, unsigned turn) {
  return static_cast<std::byte>((static_cast<std::uint64_t>(index) * 0x9E3779B97F4A7C15U +
                                 static_cast<std::uint64_t>(position) * 29 + turn * 7) >>
                                13);
}

std::vector<std::byte> values_of(const std::vector<Index>& indices, Bytes value_bytes, unsigned turn) {
  std::vector<std::byte> result;
  for (const Index index : indices)
    for (Bytes position = 0; position < value_bytes; ++position) result.push_back(byte_of(index, position, turn));
  return result;
}

constexpr std::array<Bytes, 4> value_sizes{1, 3, 8, 24};
const std::array<std::string, 4> strategies{"two-step", "stfw,dims=3x2x5x7", "standard", ""};
const std::array<std::optional<bool>, 3> sharings{std::nullopt, true, false};

class RandomIndices : public testing::TestWithParam<unsigned> {
 protected:
  const unsigned seed_ = GetParam() + 1200 * static_cast<unsigned>(size_of());
  const Scenario scenario_ = random_scenario(size_of(), seed_);
  Communicator communicator_{MPI_COMM_WORLD, some_machine(), {test::random_layout(size_of(), seed_)}};
};

TEST_P(RandomIndices, BringEveryNeededValue) {
  unsigned number = GetParam();  // so that each way meets each size, bound and not
  for (const auto& strategy : strategies)
    for (const auto& share : sharings) {
      const auto value_bytes = value_sizes[++number % value_sizes.size()];
      const bool is_bound = number / value_sizes.size() % 2 == 0;
      SCOPED_TRACE(strategy + ", seed " + std::to_string(seed_) + ", number " + std::to_string(number));
      std::vector<std::byte> ghosts(scenario_.needed_here().size() * static_cast<std::size_t>(value_bytes));
      IndexedOptions options;
      options.strategy = strategy;
      options.share = share;
      if (is_bound) options.ghost_values = ghosts.data();
      auto exchange =
          communicator_.indexed_exchange(scenario_.owned_by(rank_of()), scenario_.needed_here(), value_bytes, options);
      for (unsigned turn = 0; turn < 2; ++turn) {
        auto owned = values_of(scenario_.owned_here(), value_bytes, turn);
        exchange.start_forward(owned.data(), ghosts.data());
        std::ranges::fill(owned, std::byte{0xEE});  // they were gathered
        if (turn == 0) exchange.wait();
        else
          while (!exchange.test()) std::this_thread::yield();
        ASSERT_EQ(ghosts, values_of(scenario_.needed_here(), value_bytes, turn));
      }
    }
}

/// Whole numbers, so that sums are exact in any order.
template <class Number>
Number ghost_number(Rank rank, std::size_t position, std::size_t component) {
  return static_cast<Number>((static_cast<std::size_t>(rank) * 7 + position * 3 + component) % 23) -
         static_cast<Number>(11);
}

template <class Number>
void check_sums(Communicator& communicator, const Scenario& scenario, std::size_t components,
                const std::string& strategy) {
  IndexedOptions options;
  options.strategy = strategy;
  options.reverse = true;
  auto exchange = communicator.indexed_exchange(scenario.owned_by(rank_of()), scenario.needed_here(),
                                                static_cast<Bytes>(components * sizeof(Number)), options);
  std::map<Index, std::vector<Number>> expected;
  for (std::size_t rank = 0; rank < scenario.needed.size(); ++rank)
    for (std::size_t i = 0; i < scenario.needed[rank].size(); ++i) {
      auto& sums = expected[scenario.needed[rank][i]];
      sums.resize(components);
      for (std::size_t c = 0; c < components; ++c) sums[c] += ghost_number<Number>(static_cast<Rank>(rank), i, c);
    }
  std::vector<Number> ghosts, owned, wanted;
  for (std::size_t i = 0; i < scenario.needed_here().size(); ++i)
    for (std::size_t c = 0; c < components; ++c) ghosts.push_back(ghost_number<Number>(rank_of(), i, c));
  for (const Index index : scenario.owned_here())
    for (std::size_t c = 0; c < components; ++c) {
      owned.push_back(static_cast<Number>(index % 100));
      wanted.push_back(owned.back() + 2 * (expected.contains(index) ? expected[index][c] : Number{0}));
    }
  for (int turn = 0; turn < 2; ++turn) exchange.reverse_add(ghosts.data(), owned.data());
  EXPECT_EQ(owned, wanted);
}

TEST_P(RandomIndices, AddEveryGhostValueToItsOwner) {
  for (const auto& strategy : strategies) {
    SCOPED_TRACE(strategy + ", seed " + std::to_string(seed_));
    check_sums<double>(communicator_, scenario_, 3, strategy);
    check_sums<float>(communicator_, scenario_, 1, strategy);
    check_sums<std::int32_t>(communicator_, scenario_, 2, strategy);
    check_sums<std::int64_t>(communicator_, scenario_, 1, strategy);
  }
}

TEST_P(RandomIndices, CombineGhostValuesByAnAdditionOfTheUsers) {
  constexpr Bytes value_bytes = 3;
  IndexedOptions options;
  options.reverse = true;
  auto exchange =
      communicator_.indexed_exchange(scenario_.owned_by(rank_of()), scenario_.needed_here(), value_bytes, options);
  const auto exclusive_or = [](const void* values, void* sums, std::int64_t count) {
    for (std::int64_t i = 0; i < count * value_bytes; ++i)
      static_cast<std::byte*>(sums)[i] ^= static_cast<const std::byte*>(values)[i];
  };
  const auto ghosts = values_of(scenario_.needed_here(), value_bytes, 1);
  auto owned = values_of(scenario_.owned_here(), value_bytes, 0);
  exchange.reverse_add(ghosts.data(), owned.data(), exclusive_or);
  std::map<Index, int> needers;
  for (const auto& list : scenario_.needed)
    for (const Index index : list) ++needers[index];
  auto wanted = values_of(scenario_.owned_here(), value_bytes, 0);
  const auto added = values_of(scenario_.owned_here(), value_bytes, 1);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (needers[scenario_.owned_here()[i / value_bytes]] % 2 == 1) wanted[i] ^= added[i];
  EXPECT_EQ(owned, wanted);
}

TEST_P(RandomIndices, MakeTheWayBackTheTransposeOfTheWayThere) {
  IndexedOptions options;
  options.reverse = true;
  auto exchange =
      communicator_.indexed_exchange(scenario_.owned_by(rank_of()), scenario_.needed_here(), sizeof(double), options);
  std::mt19937 random(seed_ + static_cast<unsigned>(rank_of()));
  const auto whole_numbers = [&](std::size_t count) {
    std::vector<double> result;
    while (result.size() < count) result.push_back(static_cast<double>(random() % 100));
    return result;
  };
  const auto x = whole_numbers(scenario_.owned_here().size()), y = whole_numbers(scenario_.needed_here().size());
  std::vector<double> there(y.size()), back(x.size());
  exchange.forward(x.data(), there.data());
  exchange.reverse_add(y.data(), back.data());
  std::array<double, 2> products{std::inner_product(there.begin(), there.end(), y.begin(), 0.0),
                                 std::inner_product(x.begin(), x.end(), back.begin(), 0.0)};
  MPI_Allreduce(MPI_IN_PLACE, products.data(), 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(products[0], products[1]);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomIndices, testing::Range(0U, 8U));

/// Rank 0 owns all values, and every rank needs all of them.
struct Broadcasting {
  explicit Broadcasting(Index values)
      : owned(rank_of() == 0 ? IndexRange{0, values} : IndexRange{}), needed(static_cast<std::size_t>(values)) {
    std::iota(needed.begin(), needed.end(), Index{0});
  }
  IndexRange owned;
  std::vector<Index> needed;
};

/// What all ranks together would send to other nodes in one exchange.
std::int64_t bytes_between_nodes(const Layout& layout) {
  std::int64_t bytes = 0;
  for (const auto& [peer, sent] : planned_bytes)
    if (layout.node(peer) != layout.node(rank_of())) bytes += sent;
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return bytes;
}

TEST(Sharing, LetsAValueThatAllRanksOfANodeNeedCrossTheNetworkOnce) {
  const auto layout = Layout::with_ppn(size_of(), 3);
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {layout});
  const Broadcasting all(1000);
  for (const bool share : {true, false}) {
    planned_bytes.clear();
    IndexedOptions options;
    options.strategy = "two-step";
    options.share = share;
    auto exchange = communicator.indexed_exchange(all.owned, all.needed, sizeof(double), options);
    const int receivers = share ? layout.nodes() - 1 : layout.ranks() - layout.ppn(0);
    EXPECT_EQ(bytes_between_nodes(layout), receivers * std::ssize(all.needed) * Bytes{sizeof(double)}) << share;
    EXPECT_EQ(exchange.shares_values(), share && size_of() > 2);
    EXPECT_EQ(exchange.received_bytes(), rank_of() == 0 ? 0 : std::ssize(all.needed) * Bytes{sizeof(double)});
  }
}

TEST(Sharing, IsChosenWhereItPays) {
  constexpr int ppn = 3, first_with_two_readers_on_another_node = ppn + 2;
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), ppn)});
  const Broadcasting many(5000), one(1);
  EXPECT_EQ(communicator.indexed_exchange(many.owned, many.needed, sizeof(double)).shares_values(),
            size_of() >= first_with_two_readers_on_another_node);
  EXPECT_FALSE(communicator.indexed_exchange(one.owned, one.needed, sizeof(double)).shares_values())
      << "its edges cost more";
  Communicator one_node(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), size_of())});
  EXPECT_FALSE(one_node.indexed_exchange(many.owned, many.needed, sizeof(double)).shares_values())
      << "nothing crosses the network";
}

TEST(BoundGhostValues, AreReceivedInPlaceWhereTheyAreNeededInTheOrderOfArrival) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  const Broadcasting all(1000);
  std::vector<double> ghosts(all.needed.size());
  IndexedOptions options{.strategy = "standard", .share = false};
  const auto unbound = communicator.indexed_exchange(all.owned, all.needed, sizeof(double), options).buffer_bytes();
  options.ghost_values = ghosts.data();
  auto exchange = communicator.indexed_exchange(all.owned, all.needed, sizeof(double), options);
  const auto spared = rank_of() == 0 ? 0 : std::ssize(ghosts) * Bytes{sizeof(double)};
  EXPECT_EQ(unbound - exchange.buffer_bytes(), spared);
  std::vector<double> other(ghosts);
  EXPECT_THROW(exchange.start_forward(ghosts.data(), other.data()), Error);
}

TEST(IndexedExchange, OutlivesItsCommunicatorAndMoves) {
  const Broadcasting all(10);
  auto exchange = [&] {
    Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
    return communicator.indexed_exchange(all.owned, all.needed, sizeof(double), {.strategy = "two-step"});
  }();
  std::vector<double> owned(rank_of() == 0 ? 10 : 0, 4.5), ghosts(10);
  auto moved = std::move(exchange);
  moved.start_forward(owned.data(), ghosts.data());
  EXPECT_THROW(moved.start_forward(owned.data(), ghosts.data()), Error);
  moved.wait();
  EXPECT_EQ(ghosts, std::vector<double>(10, 4.5));
  moved.start_forward(owned.data(), ghosts.data());  // and is destroyed in flight
}

// What the other ranks ask for says nothing: all must plan the same.
TEST(IndexedExchange, TakesItsOptionsFromRankZero) {
  const auto layout = Layout::with_ppn(size_of(), 2);
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {layout});
  const Broadcasting all(1000);
  const bool is_first = rank_of() == 0;
  std::vector<double> owned(is_first ? all.needed.size() : 0, 2.5), ghosts(all.needed.size(), 1);
  for (const bool of_first : {true, false}) {
    SCOPED_TRACE(of_first);
    const bool mine = is_first == of_first;
    auto exchange = communicator.indexed_exchange(all.owned, all.needed, sizeof(double),
                                                  {.strategy = "two-step", .reverse = mine, .share = mine});
    EXPECT_EQ(exchange.shares_values(), of_first && size_of() > 2);
    exchange.forward(owned.data(), ghosts.data());
    EXPECT_EQ(ghosts, std::vector<double>(ghosts.size(), 2.5));
    std::ranges::fill(ghosts, 1.0);
    if (of_first) {
      std::vector<double> sums(owned.size(), 0);
      exchange.reverse_add(ghosts.data(), sums.data());
      EXPECT_EQ(sums, std::vector<double>(sums.size(), size_of()));
    } else {
      EXPECT_THROW(exchange.reverse_add(ghosts.data(), owned.data()), Error);
    }
  }
}

TEST(IndexedExchange, RefusesAWayBackThatWasNotPlannedOrNumbersThatDoNotFit) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  const Broadcasting all(10);
  std::vector<double> owned(10), ghosts(10);
  auto forward_only = communicator.indexed_exchange(all.owned, all.needed, sizeof(double), {.strategy = "standard"});
  EXPECT_THROW(forward_only.reverse_add(ghosts.data(), owned.data()), Error);
  auto of_floats =
      communicator.indexed_exchange(all.owned, all.needed, sizeof(float), {.strategy = "standard", .reverse = true});
  EXPECT_THROW(of_floats.reverse_add(ghosts.data(), owned.data()), Error);
}

TEST(WrongIndices, AreOneSentenceOnAllRanks) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
  const Rank last = size_of() - 1;
  const bool is_last = rank_of() == last;
  const auto error = [&](const OwnedBy& owned, const std::vector<Index>& needed, Bytes value_bytes = 8) {
    return common_error([&] { communicator.indexed_exchange(owned, needed, value_bytes); });
  };
  // Rank r owns 10r … 10r+9, as a range and as a list.
  const IndexRange range{10 * rank_of(), 10 * rank_of() + 10};
  std::vector<Index> list(10);
  std::iota(list.begin(), list.end(), range.begin);
  const auto beyond = 10 * Index{size_of()};
  for (const OwnedBy& owned : {OwnedBy(range), OwnedBy(list)}) {
    for (const Index index : {beyond, beyond + (Index{1} << 50), Index{-1}}) {
      const auto message = error(owned, is_last ? std::vector<Index>{3, index} : std::vector<Index>{3});
      EXPECT_NE(message.find("index " + std::to_string(index) + ": rank " + std::to_string(last) +
                             " needs it and no rank owns it"),
                std::string::npos)
          << message;
    }
    EXPECT_EQ(error(owned, {0, beyond - 1}), "") << "the communicator works on";
    EXPECT_NE(error(owned, {}, 0).find("a value has 0 bytes"), std::string::npos);
    const auto message = error(owned, {}, is_last ? 24 : 8);
    EXPECT_TRUE(last == 0 ||
                message.find("rank " + std::to_string(last) +
                             ": indexed exchange: a value has 24 bytes, and 8 on rank 0") != std::string::npos)
        << message;
  }
  auto twice = list;
  if (is_last) twice.push_back(list[4]);
  auto message = error(twice, {});
  EXPECT_NE(message.find("rank " + std::to_string(last) + ": indexed exchange, index " + std::to_string(10 * last + 4) +
                         ": a rank lists it twice"),
            std::string::npos)
      << message;
  if (is_last) twice.back() = -5;
  message = error(twice, {});
  EXPECT_NE(message.find("index -5: it is negative"), std::string::npos) << message;
  message = error(is_last ? IndexRange{7, 5} : IndexRange{}, {});
  EXPECT_NE(message.find("the range from 7 to before 5"), std::string::npos) << message;
  if (last == 0) return;
  const auto both = "ranks 0 and " + std::to_string(last) + " both own it";
  if (is_last) list.push_back(9);
  message = error(list, {});
  EXPECT_NE(message.find("index 9: " + both), std::string::npos) << message;
  message = error(rank_of() == 0 ? OwnedBy(IndexRange{0, 10}) : OwnedBy(list), {});
  EXPECT_NE(message.find("index 9: " + both), std::string::npos) << message;
  message = error(is_last ? IndexRange{9, 10} : rank_of() == 0 ? range : IndexRange{}, {});
  EXPECT_NE(message.find("index 9: " + both), std::string::npos) << message;
}

}  // namespace
}  // namespace commpass
