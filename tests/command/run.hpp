// Runs a command line and keeps what it says.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "model/support.hpp"

namespace commpass::test {

struct Result {
  int exit_code = -1;
  std::string out, err;
};

/// Runs `command` in a shell, without COMMPASS_… variables and profiles of the user, unless `variables` sets some.
inline Result run(const std::string& command, const std::string& variables = {}) {
  const TemporaryDirectory directory;
  const auto out = directory.path("out"), err = directory.path("err");
  const auto line =
      "env -u COMMPASS_PROFILE -u COMMPASS_PROFILE_PATH -u COMMPASS_STRATEGY -u COMMPASS_ALLTOALLV_STRATEGY -u "
      "COMMPASS_SPARSE_STRATEGY -u COMMPASS_LAYOUT -u COMMPASS_MPI -u COMMPASS_MPI_CALLS -u COMMPASS_MPI_RECORD -u "
      "COMMPASS_MPI_REPORT -u "
      "COMMPASS_PROGRESS -u "
      "COMMPASS_VERBOSE -u COMMPASS_PLANNER -u "
      "COMMPASS_WISDOM XDG_CONFIG_HOME=" +
      directory.path("config") + " " + variables + " " + command + " >" + out + " 2>" + err + " </dev/null";
  const int status = std::system(line.c_str());  // NOLINT: the command is ours
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents_of(out), contents_of(err)};
}

/// One line on stderr that is a sentence, and nothing on stdout.
inline void expect_one_sentence(const Result& result, const std::vector<std::string>& parts) {
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
  EXPECT_EQ(result.err.find("commpass: "), 0U) << result.err;
  EXPECT_TRUE(result.err.ends_with(".\n")) << result.err;
  for (const auto& part : parts)
    EXPECT_NE(result.err.find(part), std::string::npos) << "'" << part << "' is not in: " << result.err;
}

}  // namespace commpass::test
