#include "runtime/cartesian/cart_neighborhood.hpp"

#include <gtest/gtest.h>
#include <mpi.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime is POSIX

#include <cstring>
#include <functional>
#include <numeric>
#include <random>

#include "model/cartesian/draw_neighborhood.hpp"
#include "model/route/catalogue.hpp"
#include "model/route/grid_route.hpp"
#include "model/route/grid_way.hpp"
#include "model/schedule/schedule.hpp"
#include "runtime/cartesian/told_travel.hpp"
#include "runtime/cartesian/two_a_node.hpp"
#include "runtime/mpi/element_type.hpp"
#include "runtime/plan/planner.hpp"
#include "runtime/world.hpp"
#include "selector/choose/grid_strategies.hpp"

namespace {

int calls_to_others = 0;  ///< of MPI, that reach another rank or wait for one

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses)
#define COUNTED(name, parameters, arguments) \
  int MPI_##name parameters {                \
    ++calls_to_others;                       \
    return PMPI_##name arguments;            \
  }

extern "C" {
COUNTED(Send, (const void* b, int c, MPI_Datatype t, int to, int tag, MPI_Comm comm), (b, c, t, to, tag, comm))
COUNTED(Isend, (const void* b, int c, MPI_Datatype t, int to, int tag, MPI_Comm comm, MPI_Request* r),
        (b, c, t, to, tag, comm, r))
COUNTED(Recv, (void* b, int c, MPI_Datatype t, int from, int tag, MPI_Comm comm, MPI_Status* s),
        (b, c, t, from, tag, comm, s))
COUNTED(Irecv, (void* b, int c, MPI_Datatype t, int from, int tag, MPI_Comm comm, MPI_Request* r),
        (b, c, t, from, tag, comm, r))
COUNTED(Start, (MPI_Request * r), (r))
COUNTED(Startall, (int n, MPI_Request* r), (n, r))
COUNTED(Barrier, (MPI_Comm comm), (comm))
COUNTED(Ibarrier, (MPI_Comm comm, MPI_Request* r), (comm, r))
COUNTED(Bcast, (void* b, int c, MPI_Datatype t, int root, MPI_Comm comm), (b, c, t, root, comm))
COUNTED(Allreduce, (const void* f, void* b, int c, MPI_Datatype t, MPI_Op op, MPI_Comm comm), (f, b, c, t, op, comm))
COUNTED(Iallreduce, (const void* f, void* b, int c, MPI_Datatype t, MPI_Op op, MPI_Comm comm, MPI_Request* r),
        (f, b, c, t, op, comm, r))
COUNTED(Reduce_scatter_block, (const void* f, void* b, int c, MPI_Datatype t, MPI_Op op, MPI_Comm comm),
        (f, b, c, t, op, comm))
COUNTED(Comm_dup, (MPI_Comm comm, MPI_Comm* other), (comm, other))
COUNTED(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* part), (comm, color, key, part))
}
// NOLINTEND(bugprone-macro-parentheses)

namespace commpass {
namespace {

using test::common_error;
using test::everywhere;
using test::rank_of;
using test::size_of;

Grid torus(std::vector<int> dims) {
  const std::vector<bool> periodic(dims.size(), true);
  return {std::move(dims), periodic};
}

/// Byte k of the block that a rank sends to a neighbour.
std::byte byte_of(Rank rank, int neighbor, Bytes k, bool is_same) {
  return static_cast<std::byte>(rank * 31 + (is_same ? 0 : neighbor * 7) + static_cast<int>(k) + 1);
}

struct Sides {
  std::vector<int> counts, displacements;
  std::vector<std::byte> bytes;
};

/// Blocks one after another with gaps, in another order on the receiving side.
Sides lay_out(const std::vector<Bytes>& bytes, bool is_reversed) {
  Sides side;
  side.counts.assign(bytes.begin(), bytes.end());
  side.displacements.resize(bytes.size());
  int end = 3;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto at = is_reversed ? bytes.size() - 1 - i : i;
    side.displacements[at] = end;
    end += static_cast<int>(bytes[at]) + static_cast<int>(i % 3);
  }
  side.bytes.assign(static_cast<std::size_t>(end + 2), std::byte{0});
  return side;
}

/// What the receive buffer has to hold.
std::vector<std::byte> expected(const Neighborhood& neighborhood, const NeighborBytes& sizes, const Sides& receives,
                                Rank rank) {
  auto bytes = receives.bytes;
  for (int i = 0; i < neighborhood.size(); ++i)
    if (const auto source = neighborhood.source(rank, i))
      for (Bytes k = 0; k < sizes.bytes[static_cast<std::size_t>(i)]; ++k)
        bytes[static_cast<std::size_t>(receives.displacements[static_cast<std::size_t>(i)] + k)] =
            byte_of(*source, i, k, sizes.is_same);
  return bytes;
}

using Cartesian = test::TwoANode;

/// Runs one exchange three times: as chosen, with counts and displacements.
void check(CartNeighborhood& cart, const NeighborBytes& sizes, const std::string& what, bool is_blocking,
           bool counts_differ) {
  const auto& neighborhood = cart.neighborhood();
  const Rank rank = cart.rank();
  auto sends = lay_out(sizes.bytes, false), receives = lay_out(sizes.bytes, true);
  std::vector<std::byte> one;
  for (int i = 0; i < neighborhood.size(); ++i)
    for (Bytes k = 0; k < sizes.bytes[static_cast<std::size_t>(i)]; ++k)
      sends.bytes[static_cast<std::size_t>(sends.displacements[static_cast<std::size_t>(i)] + k)] =
          byte_of(rank, i, k, sizes.is_same);
  const int same = sizes.bytes.empty() ? 0 : static_cast<int>(sizes.bytes[0]);
  for (Bytes k = 0; k < same; ++k) one.push_back(byte_of(rank, 0, k, true));
  const auto wanted = expected(neighborhood, sizes, receives, rank);
  const CartInitOptions options{counts_differ};
  std::optional<CartExchange> exchange;
  if (!is_blocking && sizes.is_same)
    exchange = cart.allgatherv_init(one.data(), same, MPI_BYTE, receives.bytes.data(), receives.counts,
                                    receives.displacements, MPI_BYTE, options);
  else if (!is_blocking)
    exchange = cart.alltoallv_init(sends.bytes.data(), sends.counts, sends.displacements, MPI_BYTE,
                                   receives.bytes.data(), receives.counts, receives.displacements, MPI_BYTE, options);
  for (int run = 0; run < 3; ++run) {
    std::ranges::fill(receives.bytes, std::byte{0});
    if (exchange) {
      exchange->start();
      exchange->wait();
    } else if (sizes.is_same) {
      cart.allgatherv(one.data(), same, MPI_BYTE, receives.bytes.data(), receives.counts, receives.displacements,
                      MPI_BYTE, options);
    } else {
      cart.alltoallv(sends.bytes.data(), sends.counts, sends.displacements, MPI_BYTE, receives.bytes.data(),
                     receives.counts, receives.displacements, MPI_BYTE, options);
    }
    ASSERT_TRUE(everywhere(receives.bytes == wanted)) << what << ", run " << run;
  }
}

TEST_F(Cartesian, MovesWhatANaiveExchangeMoves) {
  for (int seed = 1; seed <= 60; ++seed) {
    const test::DrawnNeighborhood drawn(seed, size_of(), true);
    const auto name = to_string(strategy_of(drawn.way));
    for (const auto& strategy : {std::string(), std::string("trivial"), std::string("cartesian"), name,
                                 std::string("trivial,shared"), name + ",shared"}) {
      auto cart = communicator_.cart_neighborhood(drawn.neighborhood, {strategy, seed % 3 == 0});
      const auto what = "seed " + std::to_string(seed) + " " + strategy + " on " + describe(drawn.neighborhood.grid);
      ASSERT_NO_FATAL_FAILURE(check(cart, drawn.sizes, what, seed % 2 == 0, false));
    }
  }
}

TEST_F(Cartesian, MovesItAlsoWhereEveryRankIsToldWhatItForwards) {
  for (int seed = 1; seed <= 10; ++seed) {
    const test::DrawnNeighborhood drawn(seed, size_of(), true);
    for (const auto* path : {"", ",shared"}) {
      auto cart = communicator_.cart_neighborhood(drawn.neighborhood, {to_string(strategy_of(drawn.way)) + path});
      ASSERT_NO_FATAL_FAILURE(check(cart, drawn.sizes, "seed " + std::to_string(seed) + path, seed % 2 == 0, true));
    }
    auto other = communicator_.cart_neighborhood(drawn.neighborhood, {"two-step"});
    ASSERT_NO_FATAL_FAILURE(check(other, drawn.sizes, "two-step, seed " + std::to_string(seed), seed % 2 == 1, false));
  }
}

TEST_F(Cartesian, PlansStrategiesAloneThatAreNoWaysOnTheGrid) {
  for (int seed = 1; seed <= 20; ++seed) {
    const test::DrawnNeighborhood drawn(seed, size_of(), true);
    for (const auto* strategy : {"two-step", "tuna,radix=2", "stfw,n=1,placed", "standard,window=4"}) {
      if (const auto& row = catalogue_row(parse_strategy(strategy).route);
          !row.inapplicable(parse_strategy(strategy), communicator_.layout()).empty())
        continue;
      auto cart = communicator_.cart_neighborhood(drawn.neighborhood, {strategy});
      std::vector<int> from(drawn.sizes.bytes.size()), to(from);
      calls_to_others = 0;
      const auto exchange = cart.alltoall_init(from.data(), 1, MPI_INT, to.data(), 1, MPI_INT);
      EXPECT_EQ(calls_to_others, 0) << strategy;
      const auto what = "seed " + std::to_string(seed) + " " + strategy;
      ASSERT_NO_FATAL_FAILURE(check(cart, drawn.sizes, what, seed % 2 == 0, false));
    }
  }
}

TEST(CartesianChoice, TakesWhatTheGridDoesNotSuggestWhereThatIsCheaper) {
  // Of two nodes neither has a block of the grid. The network's messages are expensive.
  const int ranks = size_of();
  if (ranks < 6 || ranks % 2 == 1) GTEST_SKIP() << "nodes have too few ranks";
  auto machine = test::some_machine();
  machine.host.by_level[standard_level::network] =
      Channel{{Protocol{"eager", std::numeric_limits<Bytes>::max(), 1e-4, 1e-9, 1e-4}}};
  std::vector<int> nodes{0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1};
  nodes.resize(static_cast<std::size_t>(ranks));
  Communicator communicator(MPI_COMM_WORLD, machine, {Layout(nodes)});
  const Neighborhood neighborhood{torus({ranks}), box_offsets(1, ranks / 2), {}};
  auto cart = communicator.cart_neighborhood(neighborhood);
  std::vector<int> from(static_cast<std::size_t>(neighborhood.size()), rank_of()), to(from);
  calls_to_others = 0;
  auto exchange = cart.alltoall_init(from.data(), 1, MPI_INT, to.data(), 1, MPI_INT);
  EXPECT_EQ(calls_to_others, 0);
  EXPECT_FALSE(is_way_on_grid(parse_strategy(exchange.strategy()))) << cart.explanation();
  exchange.start();
  exchange.wait();
  const auto sources = cart.sources();
  EXPECT_TRUE(everywhere(to == sources));
}

TEST(CartesianChoice, TellsItsPrice) {
  const Neighborhood neighborhood{torus({size_of()}), {1}, {}};
  const int sent = rank_of();
  int received = -1;
  Communicator communicator(MPI_COMM_WORLD, test::some_machine());
  const auto chosen =
      communicator.cart_neighborhood(neighborhood).alltoall_init(&sent, 1, MPI_INT, &received, 1, MPI_INT);
  ASSERT_TRUE(chosen.predicted_seconds());
  EXPECT_GE(*chosen.predicted_seconds(), 0);
  EXPECT_LT(*chosen.predicted_seconds(), 1);
}

TEST(CartesianChoice, TakesMemoryOfANodeForPlannedExchangesWhereThatIsFaster) {
  const int ranks = size_of();
  auto machine = test::some_machine();
  machine.shared.by_level[standard_level::socket] = Channel{{Protocol{"pushed", shared_bytes_max, 1e-9, 1e-12, 1e-9}}};
  Communicator communicator(MPI_COMM_WORLD, machine, {Layout::with_ppn(ranks, ranks)});
  auto cart = communicator.cart_neighborhood({torus({ranks}), {1, -1}, {}});
  EXPECT_EQ(cart.explanation().find(",shared") != std::string::npos, ranks > 1) << cart.explanation();
  const std::vector<int> from{rank_of(), rank_of()}, wanted = cart.sources();
  std::vector<int> to(2), called(2);
  auto exchange = cart.alltoall_init(from.data(), 1, MPI_INT, to.data(), 1, MPI_INT);
  EXPECT_EQ(exchange.strategy().ends_with(",shared"), ranks > 1) << exchange.strategy();
  calls_to_others = 0;
  exchange.start();
  exchange.wait();
  EXPECT_EQ(calls_to_others, 0);
  cart.alltoall(from.data(), 1, MPI_INT, called.data(), 1, MPI_INT);
  EXPECT_TRUE(everywhere(to == wanted && called == wanted));
}

TEST_F(Cartesian, RefusesABadArgumentOfOneRankOnAllWhereTheyShareMemory) {
  const int ranks = size_of();
  auto cart = communicator_.cart_neighborhood({torus({ranks}), {1}, {}}, {"trivial,shared"});
  const int from = rank_of();
  int to = -1;
  const auto init = [&](int sent, int received) {
    return cart.alltoall_init(&from, sent, MPI_INT, &to, received, MPI_INT);
  };
  const int last = ranks - 1;
  EXPECT_NE(common_error([&] { init(rank_of() == last ? -1 : 1, 1); }), "") << "a negative count";
  EXPECT_NE(common_error([&] { init(1, rank_of() == last ? 2 : 1); }), "") << "other bytes from the opposite";
  auto exchange = init(1, 1);
  exchange.start();
  exchange.wait();
  EXPECT_EQ(to, (from + ranks - 1) % ranks);
}

TEST_F(Cartesian, MovesBlocksWithGapsAndOfSeveralTypes) {
  const int ranks = size_of();
  const Neighborhood neighborhood{torus({ranks, 1}), {1, 0, -1, 0, 0, 1, 2, 1}, {}};
  auto cart = communicator_.cart_neighborhood(neighborhood, {"cartesian"});
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, 4, MPI_INT, &column);
  MPI_Type_commit(&column);
  const int rank = cart.rank();
  std::vector<int> from(40), to(40, -1), wanted(40, -1);
  std::iota(from.begin(), from.end(), 100 * rank);
  // Two columns, a row of three, another column, and nothing.
  const std::vector<int> counts{1, 3, 1, 0};
  const std::vector<MPI_Aint> at{0, 64, 4, 0};
  const std::vector<MPI_Datatype> types{column, MPI_INT, column, MPI_INT};
  const auto opposite = [&](int i) { return 100 * *neighborhood.source(rank, i); };
  for (int k = 0; k < 3; ++k) {
    wanted[static_cast<std::size_t>(4 * k)] = opposite(0) + 4 * k;
    wanted[static_cast<std::size_t>(16 + k)] = opposite(1) + 16 + k;
    wanted[static_cast<std::size_t>(1 + 4 * k)] = opposite(2) + 1 + 4 * k;
  }
  auto exchange = cart.alltoallw_init(from.data(), counts, at, types, to.data(), counts, at, types);
  for (int run = 0; run < 2; ++run) {
    exchange.start();
    exchange.wait();
    ASSERT_TRUE(everywhere(to == wanted));
    std::ranges::fill(to, -1);
  }
  cart.alltoallw(from.data(), counts, at, types, to.data(), counts, at, types);
  EXPECT_TRUE(everywhere(to == wanted));
  // The same column to every rank.
  std::vector<int> gathered(12, -1);
  cart.allgather(from.data(), 1, column, gathered.data(), 3, MPI_INT);
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 3; ++k) EXPECT_EQ(gathered[static_cast<std::size_t>(3 * i + k)], opposite(i) + 4 * k);
  MPI_Type_free(&column);
}

/// An array of doubles with a halo of one, of which a rank has `rows` x `columns`.
struct Array {
  int rows, columns;
  std::vector<double> cells;

  Array(int its_rows, int its_columns, double value)
      : rows(its_rows), columns(its_columns), cells(static_cast<std::size_t>((rows + 2) * (columns + 2)), value) {}
  double& at(int row, int column) { return cells[static_cast<std::size_t>((row + 1) * (columns + 2) + column + 1)]; }
};

/// The part of such an array that goes to an offset, or that comes from there into the halo.
MPI_Datatype part_of(const Array& array, std::span<const int> offset, bool is_halo) {
  const int inside[] = {array.rows, array.columns}, whole[] = {array.rows + 2, array.columns + 2};
  int sizes[2], starts[2];
  for (int k = 0; k < 2; ++k) {
    sizes[k] = offset[k] == 0 ? inside[k] : 1;
    starts[k] = offset[k] == 0 ? 1 : is_halo ? (offset[k] > 0 ? 0 : inside[k] + 1) : (offset[k] > 0 ? inside[k] : 1);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(2, whole, sizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

TEST(CartesianTypes, MoveRowsColumnsAndCornersOfAnArrayWithoutABuffer) {
  const int ranks = size_of();
  const int across = ranks % 2 == 0 ? 2 : 1;
  const Neighborhood neighborhood{torus({ranks / across, across}), box_offsets(2, 1), {}};
  for (const bool are_datatypes_cheap : {true, false}) {
    auto machine = test::some_machine();
    machine.copy_rate_bytes_per_s = are_datatypes_cheap ? 1e8 : 1e10;
    machine.datatype_rate_bytes_per_s = 1e9;
    machine.datatype_block_s = 0;
    Communicator communicator(MPI_COMM_WORLD, machine, {Layout::with_ppn(ranks, 2)});
    for (const auto* strategy : {"trivial", "cartesian", "two-step", "trivial,shared", "cartesian,shared"}) {
      if (ranks == 1 && std::string(strategy) == "two-step") continue;
      auto cart = communicator.cart_neighborhood(neighborhood, {strategy});
      Array array(5, 3, -1);
      std::vector<MPI_Datatype> out, in;
      for (int i = 0; i < neighborhood.size(); ++i) {
        out.push_back(part_of(array, neighborhood.offset(i), false));
        in.push_back(part_of(array, neighborhood.offset(i), true));
      }
      const std::vector<int> ones(out.size(), 1);
      const std::vector<MPI_Aint> zeros(out.size(), 0);
      auto exchange = cart.alltoallw_init(array.cells.data(), ones, zeros, out, array.cells.data(), ones, zeros, in);
      const auto coordinates = cart.coordinates(cart.rank());
      const int all_rows = neighborhood.grid.dims[0] * array.rows, all_columns = across * array.columns;
      const auto value = [&](int row, int column) {
        return modulo(coordinates[0] * array.rows + row, all_rows) * 1000.0 +
               modulo(coordinates[1] * array.columns + column, all_columns);
      };
      for (int run = 0; run < 3; ++run) {
        std::ranges::fill(array.cells, -1);
        for (int row = 0; row < array.rows; ++row)
          for (int column = 0; column < array.columns; ++column) array.at(row, column) = value(row, column);
        if (run < 2) {
          exchange.start();
          exchange.wait();
        } else {
          cart.alltoallw(array.cells.data(), ones, zeros, out, array.cells.data(), ones, zeros, in);
        }
        bool is_right = true;
        for (int row = -1; row <= array.rows; ++row)
          for (int column = -1; column <= array.columns; ++column)
            is_right = is_right && array.at(row, column) == value(row, column);
        ASSERT_TRUE(everywhere(is_right)) << strategy << ", run " << run;
      }
      const bool sends = ranks > 1;
      if (are_datatypes_cheap && (ranks == 1 || std::string(strategy) == "trivial")) {
        EXPECT_EQ(exchange.buffer_bytes(), 0) << "blocks that are not packed need no buffer";
      }
      if (!are_datatypes_cheap && sends) {
        EXPECT_GT(exchange.buffer_bytes(), 0) << strategy;
      }
      for (auto* types : {&out, &in})
        for (auto& type : *types) MPI_Type_free(&type);
    }
  }
}

TEST(TypePieces, AreWhereMpiFindsTheBytes) {
  MPI_Datatype column = MPI_DATATYPE_NULL, mixed = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 2, 300, MPI_INT, &column);
  MPI_Type_commit(&column);
  const int lengths[] = {1, 2, 1};
  const MPI_Aint at[] = {24, -8, 0};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
  MPI_Type_create_struct(3, lengths, at, types, &mixed);
  MPI_Type_commit(&mixed);
  EXPECT_EQ(pieces_of(ElementType(MPI_INT, MPI_COMM_WORLD)), (std::vector<TypePiece>{{0, 4}}));
  EXPECT_EQ(pieces_of(ElementType(column, MPI_COMM_WORLD)), (std::vector<TypePiece>{{0, 8}, {1200, 8}, {2400, 8}}));
  EXPECT_EQ(pieces_of(ElementType(mixed, MPI_COMM_WORLD)), (std::vector<TypePiece>{{24, 8}, {-8, 9}}))
      << "in the order in which they are sent";
  MPI_Type_free(&column);
  MPI_Type_free(&mixed);
}

TEST(ElementType, PacksHoweverManyTypesThereAre) {
  std::vector<MPI_Datatype> types;
  const int lengths[] = {1, 1};
  const MPI_Aint at[] = {0, 4};
  const MPI_Datatype parts[] = {MPI_INT, MPI_INT};
  for (int i = 0; i < 1500; ++i) {  // MPICH 4.0 packs too little beyond some 500
    MPI_Type_create_struct(2, lengths, at, parts, &types.emplace_back());
    MPI_Type_commit(&types.back());
  }
  const std::vector<int> elements{1, 2, 3, 4, 5, 6};
  for (const auto type : {types.front(), types.back()}) {
    std::vector<int> packed(elements.size(), 0);
    ElementType(type, MPI_COMM_WORLD).pack(elements.data(), 3, reinterpret_cast<std::byte*>(packed.data()));  // NOLINT
    EXPECT_EQ(packed, elements);
  }
  for (auto& type : types) MPI_Type_free(&type);
}

TEST_F(Cartesian, TellsWhoTheNeighboursAre) {
  const int ranks = size_of();
  const Neighborhood neighborhood{{{ranks}, {false}}, {1, -1, ranks}, {}};
  const auto cart = communicator_.cart_neighborhood(neighborhood);
  const int rank = cart.rank();
  const int next = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL, before = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  EXPECT_EQ(cart.targets(), (std::vector<int>{next, before, MPI_PROC_NULL}));
  EXPECT_EQ(cart.sources(), (std::vector<int>{before, next, MPI_PROC_NULL}));
  EXPECT_EQ(cart.relative_rank(std::vector{0}), rank);
  EXPECT_EQ(cart.relative_shift(std::vector{1}).first.value_or(MPI_PROC_NULL), before);
  EXPECT_EQ(cart.coordinates(ranks - 1), std::vector{ranks - 1});
  EXPECT_THROW(cart.relative_rank(std::vector{0, 0}), InputError);
  EXPECT_THROW(cart.coordinates(ranks), InputError);
}

TEST_F(Cartesian, IsPlannedWithoutAMessage) {
  for (const bool is_periodic : {true, false}) {
    const std::vector<int> dims{1, size_of(), 1, 1, 1};
    const Neighborhood neighborhood{{dims, std::vector<bool>(5, is_periodic)}, cube_offsets(5, 3, -1), {}};
    for (const auto* strategy : {"", "cartesian", "trivial"}) {
      auto cart = communicator_.cart_neighborhood(neighborhood, {strategy});
      std::vector<int> from(243, rank_of()), to(243);
      calls_to_others = 0;
      auto alltoall = cart.alltoall_init(from.data(), 1, MPI_INT, to.data(), 1, MPI_INT);
      auto allgather = cart.allgather_init(from.data(), 1, MPI_INT, to.data(), 1, MPI_INT);
      EXPECT_EQ(calls_to_others, 0);
      alltoall.start();
      alltoall.wait();
      EXPECT_TRUE(size_of() == 1 || calls_to_others > 0) << "the counters count nothing";
    }
  }
}

#if defined(__has_feature)
constexpr bool is_sanitized = __has_feature(address_sanitizer);
#else
constexpr bool is_sanitized = false;
#endif

/// Processor time of this thread, without the work of others.
Seconds own_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<Seconds>(now.tv_sec) + static_cast<Seconds>(now.tv_nsec) * 1e-9;
}

// Some 0.2 ms in 2026, and more where the processor is slow.
TEST(CartesianPlanning, OfAllNeighboursOn243RanksTakesMillisecondsAtMost) {
  const Neighborhood neighborhood{torus({3, 3, 3, 3, 3}), box_offsets(5, 1), {}};
  const auto sizes = NeighborBytes::equal(neighborhood, 4, false);
  const Rank rank = 121;  // any
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
  for (int i = 0; i < neighborhood.size(); ++i) {
    sends.push_back({*neighborhood.target(rank, i), Bytes{4} * i, 4});
    receives.push_back({*neighborhood.source(rank, i), Bytes{4} * i, 4});
  }
  const auto way = grid_way(combining_strategy(neighborhood));
  Seconds least = 1;
  for (int run = 0; run < 50; ++run) {
    const Seconds begin = own_seconds();
    const GridRoute route(way);
    const GridTravel travel(neighborhood, way, sizes);
    const auto headers = grid_headers(travel, rank);
    const RouteOfRank own{route, {}, Coalescing::coalesced, rank, neighborhood.grid.ranks()};
    const auto plan = plan_alone(own, sends, receives, std::cref(headers));
    least = std::min(least, own_seconds() - begin);
    ASSERT_EQ(plan.batches.size(), 5U);
  }
  EXPECT_LT(least, is_sanitized ? 1 : 1e-2);
}

TEST_F(Cartesian, RefusesBadArgumentsOnAllRanks) {
  const int ranks = size_of();
  const Neighborhood good{torus({ranks}), {1}, {}};
  const auto error_of = [&](const Neighborhood& bad, const CartOptions& options = {}) {
    return common_error([&] { communicator_.cart_neighborhood(bad, options); });
  };
  EXPECT_NE(error_of({torus({ranks + 1}), {1}, {}}).find("the grid has"), std::string::npos);
  EXPECT_NE(error_of({torus({ranks, 0}), {1, 1}, {}}).find("size 0"), std::string::npos);
  EXPECT_NE(error_of({torus({ranks, 1}), {1}, {}}).find("no offsets"), std::string::npos);
  EXPECT_NE(error_of({torus({ranks}), {1}, {-1}}).find("negative"), std::string::npos);
  EXPECT_NE(error_of(good, {"nonsense"}).find("nonsense"), std::string::npos);
  EXPECT_NE(error_of(good, {"cartesian,dims=1x1x1x1x3"}).find("grid"), std::string::npos);
  if (ranks > 1) {
    EXPECT_NE(error_of({torus({ranks}), {rank_of()}, {}}).find("rank 0"), std::string::npos);
  }
  auto cart = communicator_.cart_neighborhood(good);
  int from = 0, to = 0;
  EXPECT_THROW(cart.alltoall_init(&from, 1, MPI_INT, &to, 2, MPI_INT), InputError);
  EXPECT_THROW(cart.alltoall_init(&from, -1, MPI_INT, &to, 1, MPI_INT), InputError);
  EXPECT_THROW(cart.alltoall_init(MPI_IN_PLACE, 1, MPI_INT, &to, 1, MPI_INT), InputError);
  EXPECT_THROW(cart.alltoallv_init(&from, {}, {}, MPI_INT, &to, {}, {}, MPI_INT), InputError);
}

TEST_F(Cartesian, FindsTheNeighbourhoodOfAGraphWhateverTheOrderOfItsNeighbours) {
  const int ranks = size_of();
  for (const bool is_periodic : {true, false}) {
    if (!is_periodic && ranks == 2) continue;  // no rank has all neighbours
    const Grid grid{{ranks, 1}, {is_periodic, false}};
    const Neighborhood neighborhood{grid, {-1, 0, 0, 0, 1, 0}, {}};
    const int rank = rank_of();
    std::vector<int> targets, sources;
    for (int i = 0; i < 3; ++i) {
      if (const auto target = neighborhood.target(rank, i)) targets.push_back(*target);
      if (const auto source = neighborhood.source(rank, i)) sources.insert(sources.begin(), *source);
    }
    if (rank % 2 == 1) std::ranges::reverse(targets);
    MPI_Comm graph = MPI_COMM_NULL;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(), MPI_UNWEIGHTED,
                                   static_cast<int>(targets.size()), targets.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &graph);
    auto cart = communicator_.cart_neighborhood(graph, grid, {"cartesian"});
    ASSERT_TRUE(everywhere(cart.has_value()));
    EXPECT_EQ(cart->targets(), targets);
    EXPECT_EQ(cart->sources(), sources);
    std::vector<int> from, to(sources.size(), -1), wanted(to);
    for (const int target : targets) from.push_back(1000 * rank + target);
    for (std::size_t i = 0; i < sources.size(); ++i) wanted[i] = 1000 * sources[i] + rank;
    cart->alltoall(from.data(), 1, MPI_INT, to.data(), 1, MPI_INT);
    EXPECT_TRUE(everywhere(to == wanted));
    std::ranges::fill(to, -1);
    const std::vector<int> out(targets.size(), 1), in(sources.size(), 1);
    std::vector<int> out_at(targets.size()), in_at(sources.size());
    std::iota(out_at.begin(), out_at.end(), 0);
    std::iota(in_at.begin(), in_at.end(), 0);
    cart->alltoallv(from.data(), out, out_at, MPI_INT, to.data(), in, in_at, MPI_INT);
    EXPECT_TRUE(everywhere(to == wanted));
    MPI_Comm_free(&graph);
  }
}

TEST_F(Cartesian, FindsNoneWhereRanksHaveOtherNeighbours) {
  const int rank = rank_of(), ranks = size_of();
  if (ranks < 3) GTEST_SKIP() << "two ranks have the same neighbours anyway";
  const int other = 0;  // all send to rank 0
  std::vector<int> sources;
  if (rank == 0)
    for (int r = 0; r < ranks; ++r) sources.push_back(r);
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(), MPI_UNWEIGHTED, 1,
                                 &other, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  EXPECT_FALSE(communicator_.cart_neighborhood(graph, torus({ranks})).has_value());
  MPI_Comm_free(&graph);
  EXPECT_NE(common_error([&] { communicator_.cart_neighborhood(MPI_COMM_WORLD, torus({ranks})); }).find("graph"),
            std::string::npos);
}

TEST_F(Cartesian, MayBeInFlightSeveralAtOnceAndOutliveTheNeighbourhood) {
  const int ranks = size_of(), rank = rank_of();
  std::vector<CartExchange> exchanges;
  std::vector<std::vector<int>> from(4, std::vector<int>(2)), to(4, std::vector<int>(2));
  for (const std::size_t first : {0U, 2U}) {
    auto cart = communicator_.cart_neighborhood({torus({ranks, 1}), {1, 1, -1, 1}, {}},
                                                {first == 0 ? "cartesian" : "cartesian,shared"});
    for (std::size_t i = first; i < first + 2; ++i) {
      from[i] = {10 * rank + static_cast<int>(i), 10 * rank + 5 + static_cast<int>(i)};
      exchanges.push_back(cart.alltoall_init(from[i].data(), 1, MPI_INT, to[i].data(), 1, MPI_INT));
    }
  }
  for (auto& exchange : exchanges) exchange.start();
  if (rank % 2 == 0) std::ranges::for_each(exchanges, [](auto& exchange) { exchange.wait(); });
  else
    for (auto i = exchanges.size(); i-- > 0;) exchanges[i].wait();
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(to[static_cast<std::size_t>(i)],
              (std::vector{10 * ((rank + ranks - 1) % ranks) + i, 10 * ((rank + 1) % ranks) + 5 + i}));
}

}  // namespace
}  // namespace commpass
