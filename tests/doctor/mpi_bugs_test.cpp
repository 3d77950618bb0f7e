// Cases of errors of MPI libraries: what their launches tell, and launches that crash, hang or do not begin.
#include "doctor/mpi_bugs.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "command/run.hpp"
#include "doctor/bug_launches.hpp"
#include "document_table.hpp"
#include "model/base/error.hpp"

namespace commpass {
namespace {

TEST(MpiBugs, ResultsAreReadAsTheyAreWritten) {
  for (const auto& trial :
       {BugTrial{BugResult::right, {}, "Open MPI v4.1.4"},
        BugTrial{BugResult::wrong, {"alltoall", "alltoallw"}, "MPICH"}, BugTrial{BugResult::not_tried, {}, "MPICH"}}) {
    const auto read = parse_bug_trial("something else\n" + to_text(trial) + "and more");
    EXPECT_EQ(read.result, trial.result);
    EXPECT_EQ(read.wrong_calls, trial.wrong_calls);
    EXPECT_EQ(read.library, trial.library);
  }
  EXPECT_EQ(parse_bug_trial("").result, BugResult::ended);
  EXPECT_EQ(parse_bug_trial("commpass-mpi-bug: perhaps\n").result, BugResult::ended);
}

/// Stands in for a launcher and its ranks. @param commands  of a shell, in which $name is the case's name
BugLaunches fake(const std::string& commands, const std::string& commpass = "false") {
  const std::string script =
      "for name; do :; done; tell() { printf 'commpass-mpi-library: Test MPI\\n'; "
      "printf \"commpass-mpi-bug: $1\\n\"; }; " +
      commands;
  return {{"sh", "-c", script, "sh"}, "program", commpass, 1};
}

const TriedBug& find(const TriedBugs& tried, std::string_view name) {
  for (const auto& one : tried.cases)
    if (one.bug.name == name) return one;
  throw InputError("test", "there is no such case", "name another one");
}

TEST(MpiBugLaunches, TellCasesThatAreWrongCrashAndHang) {
  const auto begin = std::chrono::steady_clock::now();
  const auto tried =
      try_mpi_bugs(fake("case $name in grid-blocking) tell wrong,alltoallv;; graph-blocking) kill -s SEGV $$;; "
                        "star-blocking) sleep 100 & wait;; star-persistent) tell 'not tried';; *) tell right;; esac"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60)) << "a launch that hangs is ended";
  EXPECT_EQ(tried.library, "Test MPI");
  ASSERT_EQ(tried.cases.size(), mpi_bug_cases.size());
  const auto& wrong = find(tried, "grid-blocking");
  EXPECT_EQ(wrong.alone.result, BugResult::wrong);
  EXPECT_EQ(wrong.alone.wrong_calls, std::vector<std::string>{"alltoallv"});
  ASSERT_TRUE(wrong.preloaded);
  EXPECT_EQ(wrong.preloaded->result, BugResult::ended) << "commpass run is not there";
  EXPECT_EQ(find(tried, "graph-blocking").alone.result, BugResult::ended);
  EXPECT_EQ(find(tried, "star-blocking").alone.result, BugResult::late);
  EXPECT_EQ(find(tried, "star-persistent").alone.result, BugResult::not_tried);
  EXPECT_FALSE(find(tried, "star-persistent").preloaded);
  EXPECT_EQ(find(tried, "grid-nonblocking").alone.result, BugResult::right);
  EXPECT_FALSE(find(tried, "grid-nonblocking").preloaded);
  EXPECT_FALSE(is_all_right(tried.cases));
  const auto json = document_of(tried.cases, tried.library, "sh").json();
  EXPECT_EQ(json["cases"][0]["result"], "wrong");
  EXPECT_EQ(json["cases"][0]["wrong_calls"], Json::array({"alltoallv"}));
  const auto text = document_of(tried.cases, tried.library, "sh").write(Form::text);
  EXPECT_NE(text.find("3 of 11 cases wrong. libcommpass-mpi corrects 0"), std::string::npos) << text;
}

TEST(MpiBugLaunches, RunWrongCasesWithLibcommpassMpi) {
  const test::TemporaryDirectory directory;
  const auto commpass = directory.path("commpass");
  std::ofstream(commpass) << "#!/bin/sh\n[ \"$1 $2 $3\" = 'run --quiet --' ] && shift 3 && PRELOADED=1 exec \"$@\"\n";
  std::filesystem::permissions(commpass, std::filesystem::perms::owner_all);
  const auto tried =
      try_mpi_bugs(fake("case $name$PRELOADED in grid-blocking) tell wrong,alltoall;; *) tell right;; esac", commpass));
  const auto& corrected = find(tried, "grid-blocking");
  EXPECT_EQ(corrected.alone.result, BugResult::wrong);
  ASSERT_TRUE(corrected.preloaded);
  EXPECT_EQ(corrected.preloaded->result, BugResult::right);
  EXPECT_FALSE(find(tried, "graph-blocking").preloaded);
}

TEST(MpiBugLaunches, SayWhatToDoWhereTheyDoNotBegin) {
  const auto sentence = [](const BugLaunches& launches) -> std::string {
    try {
      try_mpi_bugs(launches);
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_NE(sentence({{"/nowhere/mpiexec"}, "program", "false", 1}).find("/nowhere/mpiexec: it cannot be started"),
            std::string::npos);
  for (const auto* commands : {"exit 1", "tell wrong,alltoall"})
    EXPECT_NE(sentence(fake(commands)).find("ranks that it should start did not tell a result"), std::string::npos);
}

TEST(MpiBugs, OfTheDocumentAreThoseThatAreTried) {
  std::string rows = "|---|---|---|---|\n";
  for (const auto& bug : mpi_bug_cases) {
    rows += "| `" + std::string(bug.calls.substr(0, bug.calls.find(' '))) + "`";
    if (const auto blank = bug.calls.find(' '); blank < bug.calls.size()) rows += bug.calls.substr(blank);
    rows += " | " + std::string(bug.neighborhood) + " | " + std::string(bug.wrong_in) + " | " +
            std::string(bug.issues) + " |\n";
  }
  test::expect_table(COMMPASS_TEST_UNMODIFIED, "| calls | neighbourhood | wrong in | issue |", rows);
}

}  // namespace
}  // namespace commpass
