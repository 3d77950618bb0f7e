// Strategies are timed before one is planned, or in the program's exchanges: slow ones are dropped, and ranks agree.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "model/base/error.hpp"
#include "model/support.hpp"
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

/// Trials in the program's own exchanges.
class TrialsOfPrograms : public Trials {
 protected:
  static constexpr unsigned slower_us = call_us;

  Exchange plan_adaptively() { return plan(options(PlannerMode::adaptive)); }
  /// Checks the data of exchanges until their trials are over. @return how many; negative: they failed or did not end
  static int end_trials(Exchange& exchange, test::LocalExchange& local, int most = 2000) {
    for (int turn = 0; turn < most; ++turn) {
      if (!everywhere(delivers(exchange, local, static_cast<unsigned>(turn)))) return -1;
      if (says(exchange, "Measured")) return turn + 1;
    }
    return -1;
  }
};

TEST_F(TrialsOfPrograms, FindThatTheCheapestIsNotTheFastest) {
  if (size_of() == 1) return;
  own_delay_us = immediate_delay_us = slower_us;
  auto exchange = plan_adaptively();
  ASSERT_TRUE(everywhere(exchange.strategy() != "mpi"));
  EXPECT_TRUE(says(exchange, "Prices cannot tell")) << exchange.explanation();
  ASSERT_GT(end_trials(exchange, local_), 0) << exchange.explanation();
  ASSERT_TRUE(is_common(exchange.strategy()) && is_common(exchange.explanation()));
  ASSERT_TRUE(everywhere(exchange.strategy() == "mpi")) << exchange.explanation();
  EXPECT_TRUE(says(exchange, "Kept: mpi")) << exchange.explanation();
  EXPECT_TRUE(exchange.measured_seconds());
  ASSERT_TRUE(delivers(exchange, local_));
}

// Two rounds lose more than a hundredth of the time of 2000 exchanges. The next one waits for others to pay for it.
TEST_F(TrialsOfPrograms, WaitForExchangesThatPayForThem) {
  if (size_of() != 2) return;
  library_delay_us = 2 * long_us;
  auto exchange = plan_adaptively();
  EXPECT_LT(end_trials(exchange, local_, 300), 0);
  EXPECT_NE(exchange.strategy(), "mpi");
}

TEST_F(TrialsOfPrograms, FindThatTheLibraryIsSlow) {
  if (size_of() == 1) return;
  library_delay_us = long_us;
  auto with = options(PlannerMode::adaptive);
  with.calls = 1e6;  // of whose time trials may take a hundredth at once
  auto exchange = plan(with);
  ASSERT_GT(end_trials(exchange, local_), 0) << exchange.explanation();
  ASSERT_TRUE(everywhere(exchange.strategy() != "mpi")) << exchange.explanation();
  EXPECT_TRUE(says(exchange, "faster than mpi beyond doubt")) << exchange.explanation();
}

// What one rank finds, all do.
TEST_F(TrialsOfPrograms, GiveAllRanksTheTimesOfTheSlowest) {
  if (size_of() == 1) return;
  if (rank_of() == size_of() - 1) own_delay_us = immediate_delay_us = slower_us;
  auto exchange = plan_adaptively();
  ASSERT_GT(end_trials(exchange, local_), 0) << exchange.explanation();
  ASSERT_TRUE(is_common(exchange.explanation()));
  ASSERT_TRUE(everywhere(exchange.strategy() == "mpi")) << exchange.explanation();
}

// A communicator has them in 64 exchanges, of other patterns.
TEST_F(TrialsOfPrograms, AreBoundedUnlessAskedFor) {
  constexpr int patterns = 70, tried_max = 64;
  const Rank next = (rank_of() + 1) % size_of(), previous = (rank_of() + size_of() - 1) % size_of();
  std::vector<std::byte> out(patterns), in(patterns);
  int tried = 0, tried_again = 0;
  for (int bytes = 1; bytes <= patterns; ++bytes) {
    const std::vector<SendEdge> sends{{next, 0, bytes}};
    const std::vector<ReceiveEdge> receives{{previous, 0, bytes}};
    const auto plan_one = [&](const ExchangeOptions& with) {
      return communicator_.neighbor_exchange(out.data(), sends, in.data(), receives, with);
    };
    const auto first = plan_one({}), second = plan_one({});
    if (says(first, "exchanges of the program try")) ++tried;
    if (says(second, "exchanges of the program try") && !says(second, "This one tries none")) ++tried_again;
    if (bytes == patterns && size_of() > 1) {
      EXPECT_TRUE(says(plan_one(options(PlannerMode::adaptive)), "exchanges of the program try"));
    }
  }
  EXPECT_EQ(tried, size_of() == 1 ? 0 : tried_max);
  EXPECT_EQ(tried_again, 0);
}

TEST_F(TrialsOfPrograms, AreNotMadeWherePricesAreClear) {
  auto machine = test::some_machine();
  machine.verdict = Verdict{};
  Communicator clear(MPI_COMM_WORLD, machine, {Layout::with_ppn(size_of(), 1)});
  for (const auto mode : {PlannerMode::estimate, PlannerMode::adaptive}) {
    counted = {};
    const auto exchange = test::plan_local(clear, local_, options(mode));
    static test::Calls of_estimate;
    if (mode == PlannerMode::estimate) of_estimate = counted;
    EXPECT_EQ(counted, of_estimate);
    EXPECT_FALSE(says(exchange, "Prices cannot tell")) << exchange.explanation();
  }
}

// Ranks begin them, and wait for them, in different orders. Data is right in each turn, and each ends its trials.
TEST_F(TrialsOfPrograms, MayBeInFlightTogether) {
  if (size_of() == 1) return;
  own_delay_us = immediate_delay_us = slower_us;
  constexpr std::size_t count = 3;
  std::vector<test::LocalExchange> locals(count, local_);
  std::vector<Exchange> exchanges;
  for (auto& local : locals)
    exchanges.push_back(test::plan_local(communicator_, local, options(PlannerMode::adaptive)));
  const auto all_are_over = [&] {
    return std::ranges::all_of(exchanges, [](const auto& each) { return says(each, "Measured"); });
  };
  unsigned turn = 0;
  for (; turn < 5000 && !everywhere(all_are_over()); ++turn) {
    const auto number = [&](std::size_t i, unsigned by) { return (i + by + static_cast<unsigned>(rank_of())) % count; };
    for (std::size_t i = 0; i < count; ++i) {
      const auto own = number(i, turn);
      test::fill(locals[own], rank_of(), turn + static_cast<unsigned>(own));
      exchanges[own].start();
    }
    for (std::size_t i = 0; i < count; ++i) {
      auto& exchange = exchanges[number(i, turn / 3)];
      if (i == 0)
        while (!exchange.test()) {}
      exchange.wait();
    }
    bool is_right = true;
    for (auto& local : locals)
      is_right = is_right && local.receive_buffer == test::naive_exchange(local, MPI_COMM_WORLD);
    ASSERT_TRUE(everywhere(is_right)) << turn;
  }
  EXPECT_LT(turn, 5000U);
  for (const auto& exchange : exchanges) ASSERT_TRUE(everywhere(exchange.strategy() == "mpi"));
}

// However far trials have come, and in flight.
TEST_F(TrialsOfPrograms, EndWithTheirHandle) {
  for (int turns = 0; turns < 60; turns += turns < 30 ? 1 : 7) {
    auto exchange = plan_adaptively();
    for (int turn = 0; turn < turns; ++turn) ASSERT_TRUE(delivers(exchange, local_, static_cast<unsigned>(turn)));
    test::fill(local_, rank_of(), 99);
    exchange.start();
    std::optional<Exchange> moved(std::move(exchange));
    moved.reset();
    ASSERT_TRUE(everywhere(local_.receive_buffer == test::naive_exchange(local_, MPI_COMM_WORLD))) << turns;
  }
  auto after = plan({});
  ASSERT_TRUE(delivers(after, local_));
}

// Of a pattern in which ranks without neighbours could run ahead.
TEST_F(TrialsOfPrograms, GoOnWhereRanksHaveNoNeighbours) {
  if (size_of() < 3) return;
  Pattern pattern{size_of(), {{0, 1, 100}}};
  auto local = test::local_part(pattern, rank_of(), 3, 1);
  own_delay_us = immediate_delay_us = slower_us;
  constexpr unsigned fillings = 5;
  std::vector<std::vector<std::byte>> expected;
  for (unsigned i = 0; i < fillings; ++i) {
    test::fill(local, rank_of(), i);
    expected.push_back(test::naive_exchange(local, MPI_COMM_WORLD));
  }
  auto exchange = test::plan_local(communicator_, local, options(PlannerMode::adaptive));
  bool is_right = true;
  for (unsigned turn = 0; turn < 300; ++turn) {
    test::fill(local, rank_of(), turn % fillings);
    exchange.start();
    exchange.wait();
    is_right = is_right && local.receive_buffer == expected[turn % fillings];
  }
  ASSERT_TRUE(everywhere(is_right));
}

TEST_F(TrialsOfPrograms, AreNotRepeatedWhenAllRanksKnowTheirResult) {
  if (size_of() == 1) return;
  own_delay_us = immediate_delay_us = slower_us;
  auto first = plan_adaptively();
  auto second = plan_adaptively();  // tries as well
  EXPECT_TRUE(says(second, "Prices cannot tell"));
  ASSERT_TRUE(delivers(second, local_));
  ASSERT_GT(end_trials(first, local_), 0);
  MPI_Barrier(MPI_COMM_WORLD);
  counted = {};
  auto third = plan_adaptively();
  EXPECT_EQ(counted.collectives() - counted.communicators, 1);
  ASSERT_TRUE(everywhere(third.strategy() == "mpi"));
  EXPECT_EQ(third.measured_seconds(), first.measured_seconds());
  EXPECT_TRUE(says(third, "was the fastest in exchanges of this pattern")) << third.explanation();
  for (unsigned turn = 0; turn < 3; ++turn) {
    ASSERT_TRUE(delivers(third, local_, turn));
    ASSERT_TRUE(delivers(second, local_, turn));
  }
}

TEST_F(TrialsOfPrograms, BecomeWisdom) {
  if (size_of() == 1) return;
  const test::TemporaryDirectory directory;
  const auto file = directory.path("wisdom.json");
  own_delay_us = immediate_delay_us = slower_us;
  communicator_.use_wisdom(file);
  auto exchange = plan_adaptively();
  ASSERT_GT(end_trials(exchange, local_), 0);
  Communicator later(MPI_COMM_WORLD, test::some_machine(), {Layout::with_ppn(size_of(), 1)});
  later.use_wisdom(file);
  for (const auto mode : {PlannerMode::estimate, PlannerMode::adaptive, PlannerMode::measure}) {
    const auto known = test::plan_local(later, local_, options(mode));
    EXPECT_EQ(says(known, "it was measured before"), mode != PlannerMode::measure) << known.explanation();
  }
}

// Blocks with gaps are packed around whatever runs, from other buffers in each exchange.
TEST_F(TrialsOfPrograms, PackBlocksOfDatatypes) {
  if (size_of() == 1) return;
  own_delay_us = immediate_delay_us = slower_us;
  const Rank next = (rank_of() + 1) % size_of(), previous = (rank_of() + size_of() - 1) % size_of();
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, 2, MPI_INT, &column);
  MPI_Type_commit(&column);
  auto with = options(PlannerMode::adaptive);
  with.any_buffers = true;
  std::vector<int> planned_out(6), planned_in(6);
  {
    auto exchange = communicator_.typed_neighbor_exchange(planned_out.data(), {{{next, 0, 1, column}}},
                                                          planned_in.data(), {{{previous, 0, 1, column}}}, with);
    bool is_right = true;
    int turns = 0;
    for (; turns < 2000 && !says(exchange, "Measured"); ++turns) {
      const auto at = [&](Rank rank, int i) { return 100 * turns + 10 * rank + i; };
      std::vector<int> out, in(6, -1);
      for (int i = 0; i < 6; ++i) out.push_back(at(rank_of(), i));
      exchange.start(out.data(), in.data());
      exchange.wait();
      is_right = is_right && in == std::vector<int>{at(previous, 0), -1, at(previous, 2), -1, at(previous, 4), -1};
    }
    EXPECT_LT(turns, 2000);
    ASSERT_TRUE(everywhere(is_right));
    EXPECT_EQ(exchange.strategy(), "mpi");
  }
  MPI_Type_free(&column);
}

TEST_F(TrialsOfPrograms, RefuseASecondStartAndGoOn) {
  auto exchange = plan_adaptively();
  for (unsigned turn = 0; turn < 40; ++turn) {
    test::fill(local_, rank_of(), turn);
    exchange.start();
    EXPECT_THROW(exchange.start(), Error);
    exchange.wait();
    ASSERT_TRUE(everywhere(local_.receive_buffer == test::naive_exchange(local_, MPI_COMM_WORLD)));
  }
}

TEST_F(TrialsOfPrograms, GiveMemoryBack) {
  if (size_of() == 1) return;
  own_delay_us = immediate_delay_us = slower_us;
  const auto alone = plan({"mpi"});
  auto exchange = plan_adaptively();
  ASSERT_GT(end_trials(exchange, local_), 0);
  ASSERT_TRUE(everywhere(exchange.strategy() == "mpi"));
  EXPECT_EQ(exchange.buffer_bytes(), alone.buffer_bytes());
  EXPECT_EQ(exchange.bytes_to_other_nodes(), alone.bytes_to_other_nodes());
}

TEST_F(TrialsOfPrograms, AreNotOfANamedStrategyOrAFamily) {
  auto with = options(PlannerMode::adaptive);
  for (const char* name : {"two-step", "tuna,radix=auto"}) {
    if (size_of() < 3) continue;
    with.strategy = name;
    EXPECT_FALSE(says(plan(with), "Prices cannot tell"));
  }
}

}  // namespace
}  // namespace commpass
