// Runs a command line and keeps what it says.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "model/support.hpp"
#include "selector/environment/environment.hpp"

namespace commpass::test {

struct Result {
  int exit_code = -1;
  std::string out, err;
};

/// Runs `command` in a shell, without COMMPASS_… variables and profiles of the user, unless `variables` sets some.
inline Result run(const std::string& command, const std::string& variables = {}) {
  const TemporaryDirectory directory;
  const auto out = directory.path("out"), err = directory.path("err");
  std::string line = "env";
  for (const auto& variable : environment_variables()) line += " -u " + std::string(variable.name);
  line += " XDG_CONFIG_HOME=" + directory.path("config") + " " + variables + " " + command + " >" + out + " 2>" + err +
          " </dev/null";
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
