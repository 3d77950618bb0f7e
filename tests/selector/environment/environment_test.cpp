#include "selector/environment/environment.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "document_table.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "model/support.hpp"
#include "selector/environment/interposed_call.hpp"

namespace commpass {
namespace {

using test::error_of;
using test::expect_sentence;

TEST(EnvironmentVariables, AreRead) {
  const auto e = parse_environment(
      {"PATH=/bin", "COMMPASS_PROFILE=lassen", "COMMPASS_PROFILE_PATH=/a:/b", "COMMPASS_STRATEGY=tuna,window=1,radix=4",
       "COMMPASS_LAYOUT=2x4", "COMMPASS_PROGRESS=never", "COMMPASS_VERBOSE=1", "COMMPASS_PLANNER=patient",
       "COMMPASS_WISDOM=/w.json", "COMMPASS_MPI=on", "COMMPASS_MPI_CALLS=alltoallv,neighbor_allgather",
       "COMMPASS_MPI_RECORD=/r.json", "COMMPASS_MPI_REPORT=-", "COMMPASS_MPI_LOSS=0.05"});
  EXPECT_EQ(e.trial_loss_share, 0.05);
  EXPECT_EQ(e.record_file, "/r.json");
  EXPECT_EQ(e.place_report, "-");
  EXPECT_EQ(e.interposition, Interposition::on);
  EXPECT_EQ(e.interposed_calls, (std::vector<std::string>{"alltoallv", "neighbor_allgather"}));
  EXPECT_EQ(e.profile, "lassen");
  EXPECT_EQ(e.profile_places.first, (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(e.strategy, "tuna,radix=4") << "in its canonical form";
  EXPECT_EQ(e.layout, "2x4");
  EXPECT_EQ(e.progress, Progress::never);
  EXPECT_EQ(e.planner, PlannerMode::patient);
  EXPECT_EQ(e.wisdom, "/w.json");
  EXPECT_TRUE(e.verbose);
  EXPECT_FALSE(parse_environment({"COMMPASS_VERBOSE=0"}).verbose);
}

TEST(EnvironmentVariables, MayAllBeAbsent) {
  const auto e = parse_environment({"HOME=/", "commpass_profile=x", "XCOMMPASS_PROFILE=x"});
  EXPECT_FALSE(e.profile || e.strategy || e.layout);
  EXPECT_TRUE(e.profile_places.first.empty() && e.profile_places.prefixes.empty() && e.unknown.empty());
  EXPECT_EQ(e.progress, Progress::automatic);
  EXPECT_EQ(e.interposition, Interposition::off);
  EXPECT_FALSE(e.verbose);
}

TEST(EnvironmentVariables, ThatAreEmptyOrWrongAreRefusedByName) {
  struct Bad {
    const char* entry;
    std::vector<std::string> parts;
  };
  const Bad bad[] = {
      {"COMMPASS_PROFILE=", {"environment variable COMMPASS_PROFILE", "it is empty", "unset it"}},
      {"COMMPASS_PROFILE", {"environment variable COMMPASS_PROFILE", "it is empty"}},
      {"COMMPASS_STRATEGY=fastest", {"environment variable COMMPASS_STRATEGY", "there is none of that name"}},
      {"COMMPASS_STRATEGY=tuna,radix=1", {"environment variable COMMPASS_STRATEGY", "radix=1 is out of range"}},
      {"COMMPASS_LAYOUT=4x", {"environment variable COMMPASS_LAYOUT", "'' is no number"}},
      {"COMMPASS_ALLTOALLV_STRATEGY=three-step",
       {"environment variable COMMPASS_ALLTOALLV_STRATEGY", "depend on the whole pattern"}},
      {"COMMPASS_ALLTOALLV_STRATEGY=stfw,n=2,placed",
       {"environment variable COMMPASS_ALLTOALLV_STRATEGY", "depend on the whole pattern"}},
      {"COMMPASS_PLANNER=hasty", {"environment variable COMMPASS_PLANNER", "estimate, adaptive, measure or patient"}},
      {"COMMPASS_WISDOM=", {"environment variable COMMPASS_WISDOM", "it is empty"}},
      {"COMMPASS_VERBOSE=yes", {"environment variable COMMPASS_VERBOSE", "neither 0 nor 1"}},
      {"COMMPASS_MPI=sometimes", {"environment variable COMMPASS_MPI", "off, record, on or always"}},
      {"COMMPASS_MPI_CALLS=alltoallv,bcast",
       {"environment variable COMMPASS_MPI_CALLS", "bcast", "neighbor_alltoallv"}},
      {"COMMPASS_MPI_LOSS=-1", {"environment variable COMMPASS_MPI_LOSS", "number of 0 or more"}},
      {"COMMPASS_PROGRESS=sometimes", {"environment variable COMMPASS_PROGRESS", "auto, always or never"}}};
  for (const auto& [entry, parts] : bad) {
    SCOPED_TRACE(entry);
    expect_sentence(error_of([&, e = std::string(entry)] { parse_environment({e}); }), parts);
  }
}

TEST(EnvironmentVariables, AreTheTableOfTheDocumentation) {
  std::string rows = "|---|---|---|---|---|---|\n";
  for (const auto& v : environment_variables()) {
    const auto code = [](const std::string& text) { return text.empty() ? text : "`" + text + "`"; };
    for (const std::string& cell : {code(v.name), std::string(v.values), std::string(v.meaning), std::string(v.since),
                                    std::string(v.readers), code(v.hint)})
      rows += cell.empty() ? "| " : "| " + cell + " ";
    rows += "|\n";
  }
  test::expect_table(COMMPASS_TEST_DOCUMENTS "/environment.md",
                     "| variable | values | meaning | since | read by | hint |", rows);
}

TEST(EnvironmentVariables, TakeTheValuesThatTheTableLists) {
  int listed = 0;
  for (const auto& v : environment_variables()) {
    const auto words = split(v.values, '`');
    if (words.size() < 4 || !words.front().empty() || !words.back().empty()) continue;  // they are not listed alone
    for (std::size_t i = 1; i < words.size(); i += 2, ++listed)
      EXPECT_NO_THROW(parse_environment({std::string(v.name) + "=" + words[i]})) << v.name << " " << words[i];
  }
  EXPECT_GT(listed, 10);
}

TEST(InterposedCalls, AreTheTableOfTheDocumentation) {
  const auto names = [](CallRole role) {
    std::string text;
    for (std::size_t i = 0; i < interposed_calls; ++i)
      if (interposed_call_roles[i] == role)
        text += (text.empty() ? "`" : ", `") + std::string(interposed_call_names[i]) + "`";
    return text;
  };
  test::expect_table(COMMPASS_TEST_DOCUMENTS "/unmodified.md", "| calls | run by |",
                     "|---|---|\n| " + names(CallRole::taken_over) + " | the faster of MPI and Commpass |\n| " +
                         names(CallRole::planned) +
                         " | the faster of MPI's request and a plan, from start to start |\n| " +
                         names(CallRole::recorded) + " | MPI; they are counted and recorded |\n| `" +
                         join(counted_call_names, "`, `") + "` | MPI; a record counts them |\n");
}

TEST(EnvironmentVariables, OfModuleSystemsArePrefixesOfInstallations) {
  const auto e =
      parse_environment({"COMMPASS_ROOT=/opt/a", "COMMPASS_DIR=/opt/b", "COMMPASS_HOME=", "COMMPASS_VERSION=0.1"});
  EXPECT_EQ(e.profile_places.prefixes, (std::vector<std::string>{"/opt/a", "/opt/b"}));
  EXPECT_TRUE(e.unknown.empty());
}

TEST(EnvironmentVariables, ThatAreUnknownAreReportedOnceAndIgnored) {
  const auto e = parse_environment({"COMMPASS_PROFIL=x", "COMMPASS_=", "COMMPASS_VERBOSE=1"});
  EXPECT_EQ(e.unknown, (std::vector<std::string>{"COMMPASS_PROFIL", "COMMPASS_"}));
  EXPECT_TRUE(e.verbose);
  testing::internal::CaptureStderr();
  warn_unknown(parse_environment({}));
  warn_unknown(e);
  warn_unknown(e);
  const auto told = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(told.starts_with("commpass: COMMPASS_PROFIL, COMMPASS_ are unknown and change nothing; known are "))
      << told;
  EXPECT_NE(told.find("COMMPASS_PROFILE, "), std::string::npos) << told;
  EXPECT_EQ(std::ranges::count(told, '\n'), 1) << told;
}

TEST(UserDirectory, FollowsTheXdgSpecification) {
  const auto of = [](const std::vector<std::string>& entries) {
    return parse_environment(entries).profile_places.user;
  };
  EXPECT_EQ(of({"HOME=/home/a", "XDG_CONFIG_HOME=/conf"}), "/conf/commpass");
  EXPECT_EQ(of({"HOME=/home/a", "XDG_CONFIG_HOME="}), "/home/a/.config/commpass");
  EXPECT_EQ(of({"HOME=/home/a", "XDG_CONFIG_HOME=relative"}), "/home/a/.config/commpass");
  EXPECT_EQ(of({}), "");
}

TEST(EnvironmentVariables, SurviveDamage) {
  for (const auto* text : {"COMMPASS_STRATEGY=stfw,dims=4x4", "COMMPASS_LAYOUT=2x4", "COMMPASS_PROGRESS=auto"})
    test::expect_robust(text, [](const std::string& damaged) { parse_environment({damaged}); });
}

TEST(Progress, IsShownWhenAskedForAndNeverUnderALauncher) {
  EXPECT_TRUE(show_progress(Progress::always));
  EXPECT_FALSE(show_progress(Progress::never));
  setenv("PMI_RANK", "0", 1);
  EXPECT_FALSE(show_progress(Progress::automatic));
  unsetenv("PMI_RANK");
}

}  // namespace
}  // namespace commpass
