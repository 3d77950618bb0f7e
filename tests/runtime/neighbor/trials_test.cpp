// Strategies are timed before one is planned: slow ones are dropped, and ranks agree.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "model/base/error.hpp"
#include "runtime/collectives.hpp"
#include "runtime/communicator.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

namespace {

// Only these calls advance the clock: results do not depend on the load of the machine.
constexpr unsigned call_us = 1000;
double clock_s = 0;

// Delays of starts of the MPI library's collective, of persistent requests, and of immediate ones.
unsigned library_delay_us = 0, own_delay_us = 0, immediate_delay_us = 0;

void delay(unsigned microseconds) { clock_s += (call_us + microseconds) * 1e-6; }

}  // namespace

extern "C" {

double MPI_Wtime() { return clock_s; }
int MPI_Ineighbor_alltoallw(const void* sent, const int send_counts[], const MPI_Aint send_offsets[],
                            const MPI_Datatype send_types[], void* received, const int receive_counts[],
                            const MPI_Aint receive_offsets[], const MPI_Datatype receive_types[], MPI_Comm comm,
                            MPI_Request* request) {
  delay(library_delay_us);
  return PMPI_Ineighbor_alltoallw(sent, send_counts, send_offsets, send_types, received, receive_counts,
                                  receive_offsets, receive_types, comm, request);
}
int MPI_Start(MPI_Request* request) {
  delay(library_delay_us);
  return PMPI_Start(request);
}
int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request) {
  delay(immediate_delay_us);
  return PMPI_Irecv(buffer, count, type, peer, tag, comm, request);
}
int MPI_Startall(int count, MPI_Request requests[]) {
  delay(own_delay_us);
  return PMPI_Startall(count, requests);
}

}  // extern "C"

namespace commpass {
namespace {

using test::common_error;
using test::counted;
using test::delivers;
using test::everywhere;
using test::rank_of;
using test::size_of;

// Longer than all calls of a strategy together.
constexpr unsigned long_us = 20 * call_us;

class Trials : public testing::Test {
 protected:
  void TearDown() override { library_delay_us = own_delay_us = immediate_delay_us = 0; }

  static ExchangeOptions options(PlannerMode mode) {
    ExchangeOptions result;
    result.planner = mode;
    return result;
  }
  Exchange plan(const ExchangeOptions& options) { return test::plan_local(communicator_, local_, options); }
  Exchange plan_by_measuring(PlannerMode mode) {
    auto with = options(mode);
    with.planner_seconds = 0.4;
    return plan(with);
  }
  static bool is_common(const std::string& text) {
    const auto number = static_cast<std::int64_t>(std::hash<std::string>()(text));
    std::int64_t least = 0, most = 0;
    MPI_Allreduce(&number, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&number, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return least == most;
  }
  static bool says(const Exchange& exchange, const std::string& what) {
    return exchange.explanation().find(what) != std::string::npos;
  }

  // A rank a node, so that MPI moves all messages.
  Communicator communicator_{MPI_COMM_WORLD, test::some_machine(), {Layout::with_ppn(size_of(), 1)}};
  test::LocalExchange local_ = test::local_part(test::random_pattern(size_of(), 5), rank_of(), 3, 1);
};

TEST_F(Trials, LeaveTheBuffersAsTheyAreAndDeliver) {
  for (const auto mode : {PlannerMode::measure, PlannerMode::patient}) {
    test::fill(local_, rank_of(), 7);
    const auto sent = local_.send_buffer, received = local_.receive_buffer;
    auto with = options(mode);
    with.planner_seconds = 0.02;
    auto exchange = plan(with);
    ASSERT_TRUE(everywhere(local_.send_buffer == sent && local_.receive_buffer == received));
    ASSERT_TRUE(is_common(exchange.strategy()) && is_common(exchange.explanation()));
    EXPECT_EQ(says(exchange, "Measured for up to 20 ms"), size_of() > 1) << exchange.explanation();
    ASSERT_TRUE(delivers(exchange, local_));
  }
}

TEST_F(Trials, AreNotMadeUnlessAskedFor) {
  const auto exchange = plan({});
  EXPECT_FALSE(says(exchange, "Measured"));
  EXPECT_FALSE(exchange.measured_seconds());
}

TEST_F(Trials, FindOutThatTheLibraryIsSlow) {
  if (size_of() == 1) return;
  library_delay_us = long_us;
  auto exchange = plan_by_measuring(PlannerMode::measure);
  ASSERT_TRUE(everywhere(exchange.strategy() != "mpi")) << exchange.explanation();
  EXPECT_TRUE(says(exchange, "faster than mpi beyond doubt")) << exchange.explanation();
  ASSERT_TRUE(delivers(exchange, local_));
}

// Whatever the model says.
TEST_F(Trials, KeepTheLibraryWhereOtherStrategiesAreSlow) {
  if (size_of() == 1) return;
  own_delay_us = immediate_delay_us = long_us;
  ASSERT_NE(plan({}).strategy(), "mpi");
  auto exchange = plan_by_measuring(PlannerMode::measure);
  ASSERT_TRUE(everywhere(exchange.strategy() == "mpi")) << exchange.explanation();
  EXPECT_TRUE(says(exchange, "Kept: mpi")) << exchange.explanation();
  ASSERT_TRUE(delivers(exchange, local_));
}

// An MPI library whose persistent requests are slow.
TEST_F(Trials, FindOutThatRequestsAreBetterMadeEachTime) {
  if (size_of() == 1) return;
  own_delay_us = library_delay_us = long_us;
  std::vector<Exchange> exchanges;
  for (int i = 0; i < 2; ++i) {  // the second one is planned as the first
    constexpr auto* wanted = "with new requests each time, which is faster";
    exchanges.push_back(plan_by_measuring(PlannerMode::measure));
    EXPECT_TRUE(says(exchanges.back(), wanted)) << exchanges.back().explanation();
    EXPECT_LT(exchanges.back().measured_seconds(), long_us * 1e-6);
    for (int turn = 0; turn < 2; ++turn) ASSERT_TRUE(delivers(exchanges.back(), local_));
  }
}

// Which takes no time by this clock.
TEST_F(Trials, FindOutThatMemoryOfANodeIsFast) {
  if (size_of() == 1) return;
  Communicator one_node(MPI_COMM_WORLD, test::some_machine(), {Layout::with_ppn(size_of(), size_of())});
  auto with = options(PlannerMode::measure);
  with.planner_seconds = 0.4;
  for (int i = 0; i < 2; ++i) {  // the second one is planned as the first
    auto exchange = test::plan_local(one_node, local_, with);
    ASSERT_TRUE(everywhere(exchange.strategy().ends_with(",shared"))) << exchange.explanation();
    EXPECT_FALSE(exchange.predicted_seconds());
    for (unsigned turn = 0; turn < 3; ++turn) ASSERT_TRUE(delivers(exchange, local_, turn));
  }
}

TEST_F(Trials, GiveAllRanksWhatTheSlowestOnesFind) {
  if (size_of() == 1) return;
  (rank_of() == size_of() - 1 ? library_delay_us : own_delay_us) = rank_of() == size_of() - 1 ? long_us : 0;
  auto exchange = plan_by_measuring(PlannerMode::patient);
  ASSERT_TRUE(is_common(exchange.strategy()));
  ASSERT_TRUE(everywhere(exchange.strategy() != "mpi")) << exchange.explanation();
}

TEST_F(Trials, KeepTheBaselineWhereNothingFitsIntoTheTime) {
  if (size_of() == 1) return;
  library_delay_us = long_us;
  auto with = options(PlannerMode::measure);
  with.planner_seconds = 1e-9;
  auto exchange = plan(with);
  ASSERT_TRUE(everywhere(exchange.strategy() == "mpi"));
  EXPECT_TRUE(says(exchange, "standard: not timed")) << exchange.explanation();
  ASSERT_TRUE(delivers(exchange, local_));
}

TEST_F(Trials, AreNotRepeatedForAPatternThatIsKnown) {
  const auto first = plan(options(PlannerMode::measure));
  MPI_Barrier(MPI_COMM_WORLD);
  counted = {};
  const auto second = plan(options(PlannerMode::measure));
  EXPECT_EQ(counted.collectives() - counted.communicators, size_of() == 1 ? 0 : 1);
  EXPECT_EQ(second.explanation(), first.explanation());
}

TEST_F(Trials, AreNotMadeOfANamedStrategy) {
  auto with = options(PlannerMode::measure);
  with.strategy = "two-step";
  const auto exchange = plan(with);
  EXPECT_EQ(exchange.strategy(), "two-step");
  EXPECT_FALSE(says(exchange, "Measured"));
}

TEST_F(Trials, OfAFamilyStayInTheFamily) {
  if (size_of() < 3) return;
  auto with = options(PlannerMode::measure);
  with.strategy = "tuna,radix=auto";
  auto exchange = plan(with);
  EXPECT_TRUE(exchange.strategy().starts_with("tuna")) << exchange.explanation();
  ASSERT_TRUE(delivers(exchange, local_));
}

TEST_F(Trials, RefuseNoTime) {
  auto with = options(PlannerMode::measure);
  with.planner_seconds = 0;
  EXPECT_NE(common_error([&] { plan(with); }).find("planner_seconds"), std::string::npos);
}

TEST_F(Trials, TellTheErrorsOfPlanning) {
  if (size_of() == 1) return;
  if (rank_of() == 0) local_.receives.push_back({1, 0, 3});  // that rank 1 does not send
  EXPECT_NE(common_error([&] { plan(options(PlannerMode::measure)); }), "");
}

TEST(TrialsByEnvironment, AreMadeAsRankZeroSays) {
  if (rank_of() == 0) setenv("COMMPASS_PLANNER", "measure", 1);
  Communicator communicator(MPI_COMM_WORLD, test::some_machine(), {Layout::with_ppn(size_of(), 2)});
  unsetenv("COMMPASS_PLANNER");
  auto local = test::local_part(test::random_pattern(size_of(), 5), rank_of(), 3, 1);
  const auto exchange = test::plan_local(communicator, local);
  EXPECT_EQ(exchange.explanation().find("Measured") != std::string::npos, size_of() > 1);
}

}  // namespace
}  // namespace commpass
