// How many collective calls planning makes: what model/cost/plan_cost.cpp prices.
#include <gtest/gtest.h>
#include <mpi.h>

#include <string>
#include <vector>

#include "model/cost/plan_cost.hpp"
#include "model/route/catalogue.hpp"
#include "runtime/communicator.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

namespace {

int small = 0, counting = 0;

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses)
#define COUNTED(counter, name, parameters, arguments) \
  int MPI_##name parameters {                         \
    ++counter;                                        \
    return PMPI_##name arguments;                     \
  }

extern "C" {

COUNTED(small, Barrier, (MPI_Comm comm), (comm))
COUNTED(small, Ibarrier, (MPI_Comm comm, MPI_Request* request), (comm, request))
COUNTED(small, Bcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
        (buffer, count, type, root, comm))
COUNTED(small, Ibcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request),
        (buffer, count, type, root, comm, request))
COUNTED(small, Reduce, (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
        (from, to, count, type, op, root, comm))
COUNTED(small, Allreduce, (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (from, to, count, type, op, comm))
COUNTED(small, Iallreduce,
        (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request),
        (from, to, count, type, op, comm, request))
COUNTED(small, Scan, (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (from, to, count, type, op, comm))
COUNTED(small, Exscan, (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (from, to, count, type, op, comm))
COUNTED(small, Gather,
        (const void* from, int sent, MPI_Datatype send_type, void* to, int received, MPI_Datatype receive_type,
         int root, MPI_Comm comm),
        (from, sent, send_type, to, received, receive_type, root, comm))
COUNTED(small, Gatherv,
        (const void* from, int sent, MPI_Datatype send_type, void* to, const int* received, const int* at,
         MPI_Datatype receive_type, int root, MPI_Comm comm),
        (from, sent, send_type, to, received, at, receive_type, root, comm))
COUNTED(small, Allgather,
        (const void* from, int sent, MPI_Datatype send_type, void* to, int received, MPI_Datatype receive_type,
         MPI_Comm comm),
        (from, sent, send_type, to, received, receive_type, comm))
COUNTED(small, Alltoall,
        (const void* from, int sent, MPI_Datatype send_type, void* to, int received, MPI_Datatype receive_type,
         MPI_Comm comm),
        (from, sent, send_type, to, received, receive_type, comm))
COUNTED(small, Comm_dup, (MPI_Comm comm, MPI_Comm* duplicate), (comm, duplicate))
COUNTED(small, Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* part), (comm, color, key, part))
COUNTED(small, Dist_graph_create_adjacent,
        (MPI_Comm comm, int sources, const int* from, const int* source_weights, int destinations, const int* to,
         const int* destination_weights, MPI_Info info, int reorder, MPI_Comm* graph),
        (comm, sources, from, source_weights, destinations, to, destination_weights, info, reorder, graph))
COUNTED(counting, Reduce_scatter,
        (const void* from, void* to, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (from, to, counts, type, op, comm))
COUNTED(counting, Reduce_scatter_block,
        (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (from, to, count, type, op, comm))
COUNTED(counting, Ireduce_scatter_block,
        (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request),
        (from, to, count, type, op, comm, request))

}  // extern "C"
// NOLINTEND(bugprone-macro-parentheses)

namespace commpass {
namespace {

using test::rank_of;
using test::size_of;

/// The strategies that apply to the layout: of one stage and of several, with and without tables of the pattern.
std::vector<Strategy> strategies_for(const Layout& layout) {
  std::vector<Strategy> result;
  for (const auto* text :
       {"standard", "standard,window=1", "standard,staggered", "mpi", "two-step", "two-step,window=1",
        "two-step,staggered", "stfw,n=1", "stfw,n=2", "stfw,n=3", "stfw,n=2,placed", "tuna,radix=2",
        "tuna,radix=2,staggered", "tuna,radix=5", "three-step", "three-step,staggered", "split,cap=100"})
    if (const auto strategy = parse_strategy(text);
        catalogue_row(strategy.route).inapplicable(strategy, layout).empty())
      result.push_back(strategy);
  return result;
}

class Collectives : public testing::Test {
 protected:
  void plan(const std::string& strategy, const Pattern& pattern) {
    auto local = test::local_part(pattern, rank_of(), 1, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    small = counting = 0;
    communicator_.neighbor_exchange(local.send_buffer.data(), local.sends, local.receive_buffer.data(), local.receives,
                                    {strategy});
  }

  const Layout layout_ = Layout::with_ppn(size_of(), 2);
  Communicator communicator_{MPI_COMM_WORLD, test::some_machine(), {layout_}};
  const Pattern pattern_ = test::random_pattern(size_of(), 5);
};

TEST_F(Collectives, OfPlanningAreThoseThatArePriced) {
  if (size_of() == 1) return;  // which needs none
  for (const auto& strategy : strategies_for(layout_)) {
    plan(to_string(strategy), pattern_);
    const auto route = make_route(strategy, layout_, pattern_);
    const auto priced =
        plan_collectives(route->stages(), strategy.coalescing, pattern_need(strategy) != PatternNeed::nothing);
    EXPECT_EQ(small, priced.small) << to_string(strategy);
    EXPECT_EQ(counting, priced.counting) << to_string(strategy);
  }
}

TEST_F(Collectives, OfStandardAreOneAgreement) {
  for (const auto* strategy : {"standard", "standard,window=1"}) {
    plan(strategy, pattern_);
    EXPECT_EQ(small + counting, size_of() == 1 ? 0 : 1) << strategy;
  }
}

TEST_F(Collectives, OfAPersistentAlltoallvAreOneAgreement) {
  const std::vector<int> counts(static_cast<std::size_t>(size_of()), 1);
  std::vector<int> at, sent(counts), received(counts);
  for (int rank = 0; rank < size_of(); ++rank) at.push_back(rank);
  small = counting = 0;
  communicator_.alltoallv_init(sent.data(), counts, at, MPI_INT, received.data(), counts, at, MPI_INT, {"standard"});
  EXPECT_EQ(small + counting, size_of() == 1 ? 0 : 1);
}

// What a rank does not know of its own edges: that two blocks of a message have the same bytes.
TEST_F(Collectives, OfStandardAreMoreWhereABlockIsSentTwice) {
  if (size_of() == 1) return;
  plan("standard", {size_of(), {{0, 1, 8, 0}, {0, 1, 8, 0}}});
  EXPECT_EQ(counting, 1);
}

}  // namespace
}  // namespace commpass
