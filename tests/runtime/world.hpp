// The ranks that mpirun gave to a test, and what tests on them share.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "model/base/error.hpp"
#include "model/machine/machine.hpp"

namespace commpass::test {

inline int rank_of(MPI_Comm comm = MPI_COMM_WORLD) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
inline int size_of(MPI_Comm comm = MPI_COMM_WORLD) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

/// Is it so on every rank? An assertion on that ends a test on all ranks at once, where one on a rank's own result
/// would leave the others waiting.
inline bool everywhere(bool here) {
  int all = here ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all == 1;
}

/// Any machine will do where the strategy is named.
inline Machine some_machine() {
  Machine machine;
  machine.name = "test";
  machine.host.by_level[standard_level::network] =
      Channel{{Protocol{"eager", std::numeric_limits<Bytes>::max(), 1e-6, 1e-9, 5e-7}}};
  machine.host.by_level[standard_level::socket] =
      Channel{{Protocol{"eager", std::numeric_limits<Bytes>::max(), 2e-7, 1e-10, 1e-7}}};
  return machine;
}

/// What a rank that runs `action` prints on stderr.
inline std::string stderr_of(const std::function<void()>& action) {
  testing::internal::CaptureStderr();
  action();
  std::fflush(stderr);
  return testing::internal::GetCapturedStderr();
}

/// The message that all ranks get. Fails if one gets none or another one.
inline std::string common_error(const std::function<void()>& action) {
  std::string message;
  try {
    action();
  } catch (const Error& error) {
    message = error.what();
  }
  std::vector<char> first(message.begin(), message.end());
  first.resize(1000);
  const auto mine = first;
  MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  EXPECT_EQ(mine, first) << message;
  return message;
}

}  // namespace commpass::test
