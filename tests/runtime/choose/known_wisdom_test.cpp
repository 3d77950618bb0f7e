// Measurements of one run are known in the next one, on all ranks alike.
#include "runtime/choose/known_wisdom.hpp"

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "commpass/commpass.h"
#include "model/base/file.hpp"
#include "runtime/communicator.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

// The clock goes on by being read alone: the trials that fit into their time do not depend on how busy the machine is.
extern "C" double MPI_Wtime() {
  static double now_s = 0;
  return now_s += 1e-4;
}

namespace commpass {
namespace {

using test::delivers;
using test::everywhere;
using test::rank_of;
using test::size_of;

class KnownWisdomTest : public testing::Test {
 protected:
  void SetUp() override {
    int process = getpid();
    MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
    file_ = testing::TempDir() + "/known-wisdom-" + std::to_string(process) + ".json";
    if (rank_of() == 0) std::filesystem::remove(file_);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void TearDown() override {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of() == 0) std::filesystem::remove_all(file_);
  }
  Communicator communicator() const {
    Communicator result(MPI_COMM_WORLD, test::some_machine(), {Layout::with_ppn(size_of(), 2)});
    result.use_wisdom(rank_of() == 0 ? file_ : "ignored");
    return result;
  }
  static ExchangeOptions with(PlannerMode mode) {
    ExchangeOptions options;
    options.planner = mode;
    options.planner_seconds = 0.1;  // enough for each candidate
    return options;
  }
  Exchange plan(Communicator& on, PlannerMode mode, unsigned pattern = 5) {
    local_ = test::local_part(test::random_pattern(size_of(), pattern), rank_of(), 3, 1);
    return on.neighbor_exchange(local_.send_buffer.data(), local_.sends, local_.receive_buffer.data(), local_.receives,
                                with(mode));
  }
  static bool says(const Exchange& exchange, const char* what) {
    return exchange.explanation().find(what) != std::string::npos;
  }

  std::string file_;
  test::LocalExchange local_;
};

TEST_F(KnownWisdomTest, SparesTheNextRunToMeasure) {
  if (size_of() == 1) return;
  auto first = communicator();
  const auto measured = plan(first, PlannerMode::measure);
  ASSERT_TRUE(everywhere(says(measured, "Measured for")));
  auto second = communicator();
  for (const auto mode : {PlannerMode::measure, PlannerMode::estimate}) {
    auto known = plan(second, mode);
    ASSERT_TRUE(everywhere(says(known, "it was measured before") && !says(known, "Measured for")));
    EXPECT_EQ(known.strategy(), measured.strategy());
    EXPECT_EQ(known.measured_seconds(), measured.measured_seconds());
    ASSERT_TRUE(delivers(known, local_));
  }
  EXPECT_TRUE(everywhere(says(plan(second, PlannerMode::patient), "Measured for")))
      << "is more than the known measurement";
  EXPECT_TRUE(everywhere(says(plan(second, PlannerMode::measure, 6), "Measured for"))) << "another pattern";
  auto third = communicator();
  EXPECT_TRUE(everywhere(says(plan(third, PlannerMode::patient), "it was measured before")));
  EXPECT_TRUE(everywhere(says(plan(third, PlannerMode::estimate, 6), "it was measured before")));
}

TEST_F(KnownWisdomTest, IsOfOneLayoutAlone) {
  if (size_of() == 1) return;
  auto first = communicator();
  plan(first, PlannerMode::measure);
  Communicator other(MPI_COMM_WORLD, test::some_machine(), {Layout::with_ppn(size_of(), 1)});
  other.use_wisdom(file_);
  EXPECT_FALSE(says(plan(other, PlannerMode::estimate), "it was measured before"));
}

TEST_F(KnownWisdomTest, IsNamedByTheEnvironmentOfRankZero) {
  if (size_of() == 1) return;
  auto first = communicator();
  plan(first, PlannerMode::measure);
  if (rank_of() == 0) setenv("COMMPASS_WISDOM", file_.c_str(), 1);
  Communicator second(MPI_COMM_WORLD, test::some_machine(), {Layout::with_ppn(size_of(), 2)});
  unsetenv("COMMPASS_WISDOM");
  EXPECT_TRUE(everywhere(says(plan(second, PlannerMode::estimate), "it was measured before")));
}

TEST_F(KnownWisdomTest, OfABrokenFileIsNoneAndOneWarning) {
  if (rank_of() == 0) write_file(file_, "{\"schema\": 1, \"entries\": [");
  testing::internal::CaptureStderr();
  auto broken = communicator();
  auto exchange = plan(broken, PlannerMode::measure);
  const auto warnings = testing::internal::GetCapturedStderr();
  EXPECT_EQ(warnings.find(file_) != std::string::npos, rank_of() == 0) << warnings;
  EXPECT_EQ(warnings.find("delete the file") != std::string::npos, rank_of() == 0) << warnings;
  EXPECT_EQ(std::count(warnings.begin(), warnings.end(), '\n'), rank_of() == 0 ? 1 : 0) << warnings;
  EXPECT_FALSE(says(exchange, "it was measured before"));
  ASSERT_TRUE(delivers(exchange, local_));
  EXPECT_EQ(read_file(file_), "{\"schema\": 1, \"entries\": [");
}

TEST_F(KnownWisdomTest, ThatCannotBeWrittenEndsNothing) {
  if (size_of() == 1) return;
  file_ += "/no/such/directory";
  testing::internal::CaptureStderr();
  auto poor = communicator();
  auto exchange = plan(poor, PlannerMode::measure);
  const auto warnings = testing::internal::GetCapturedStderr();
  EXPECT_EQ(warnings.find("cannot be written") != std::string::npos, rank_of() == 0) << warnings;
  ASSERT_TRUE(delivers(exchange, local_));
  auto again = plan(poor, PlannerMode::estimate);
  EXPECT_TRUE(everywhere(says(again, "it was measured before"))) << "this communicator knows it";
}

// A file may name a strategy that this layout has no use for.
TEST_F(KnownWisdomTest, ThatDoesNotFitIsPassedOver) {
  if (size_of() == 1) return;
  auto first = communicator();
  plan(first, PlannerMode::measure);
  if (rank_of() == 0) {
    auto wisdom = read_wisdom(file_);
    for (auto& entry : wisdom.entries) entry.strategy = "stfw,n=9";
    write_file(file_, to_json(wisdom));
  }
  auto second = communicator();
  auto exchange = plan(second, PlannerMode::estimate);
  EXPECT_FALSE(says(exchange, "it was measured before")) << exchange.explanation();
  ASSERT_TRUE(delivers(exchange, local_));
}

TEST_F(KnownWisdomTest, IsUsedFromC) {
  if (size_of() == 1) return;
  const int next = (rank_of() + 1) % size_of(), previous = (rank_of() + size_of() - 1) % size_of(), count = 4, at = 0;
  std::vector<double> out(4, rank_of()), in(4);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "commpass_planner", "measure");
  MPI_Info_set(info, "commpass_planner_seconds", "0.01");
  for (const auto* expected : {"Measured for", "it was measured before"}) {
    commpass_comm comm = nullptr;
    ASSERT_EQ(commpass_comm_create(MPI_COMM_WORLD, nullptr, &comm), COMMPASS_SUCCESS) << commpass_error_text();
    ASSERT_EQ(commpass_comm_use_wisdom(comm, file_.c_str()), COMMPASS_SUCCESS);
    commpass_exchange exchange = nullptr;
    ASSERT_EQ(commpass_neighbor_alltoallv_init(out.data(), 1, &next, &count, &at, MPI_DOUBLE, in.data(), 1, &previous,
                                               &count, &at, MPI_DOUBLE, info, comm, &exchange),
              COMMPASS_SUCCESS)
        << commpass_error_text();
    EXPECT_NE(std::string(commpass_exchange_explanation(exchange)).find(expected), std::string::npos)
        << commpass_exchange_explanation(exchange);
    commpass_start(exchange);
    commpass_wait(exchange);
    EXPECT_EQ(in, std::vector<double>(4, previous));
    commpass_exchange_free(&exchange);
    commpass_comm_free(&comm);
  }
  MPI_Info_set(info, "commpass_planner", "hasty");
  commpass_comm comm = nullptr;
  commpass_comm_create(MPI_COMM_WORLD, nullptr, &comm);
  commpass_exchange exchange = nullptr;
  EXPECT_EQ(commpass_neighbor_alltoallv_init(out.data(), 1, &next, &count, &at, MPI_DOUBLE, in.data(), 1, &previous,
                                             &count, &at, MPI_DOUBLE, info, comm, &exchange),
            COMMPASS_ERROR_INPUT);
  commpass_comm_free(&comm);
  MPI_Info_free(&info);
}

}  // namespace
}  // namespace commpass
