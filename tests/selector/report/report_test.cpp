// The whole text of a table, of rows made by hand.
#include "selector/report/report.hpp"

#include <gtest/gtest.h>

#include <map>

#include "model/base/json.hpp"
#include "model/route/catalogue.hpp"
#include "selector/report/summary.hpp"

namespace commpass {
namespace {

ReportRow row(const std::string& strategy, Seconds seconds, const std::vector<std::pair<std::int64_t, Bytes>>& stages) {
  ReportRow result{{parse_strategy(strategy), {seconds, {}}}, {}};
  for (const auto& [messages, bytes] : stages)
    result.candidate.cost.stages.push_back({"stage", messages, bytes, 0, {}});
  return result;
}

TEST(TableReport, IsAsWideAsItsNamesAndAddsUpTheStages) {
  Report report;
  report.context = {{"profile", "mine"}, {"layout", "2 nodes"}};
  report.rows = {row("stfw,dims=4x4", 10e-6, {{3, 1000}, {4, 1048}}), row("standard", 12e-6, {{9, 512}}),
                 row("two-step", 14e-6, {})};
  report.chosen = "stfw,dims=4x4";
  EXPECT_EQ(document_of(report).write(Form::text),
            "profile: mine\nlayout: 2 nodes\n\n"
            "  strategy        predicted  messages per stage    bytes sent\n"
            "* stfw,dims=4x4       10 us                 3+4         2 KiB\n"
            "= standard            12 us                   9         512 B\n"
            "  two-step            14 us                   0           0 B\n"
            "\nChosen: stfw,dims=4x4, 1.20 times faster than sending directly (standard)\n");
}

// A table cut short, or without them, still ends with what programs do today.
TEST(TableReport, AlwaysShowsBaselines) {
  Report report;
  report.rows = {row("two-step", 10e-6, {{1, 8}}), row("stfw,n=2", 11e-6, {{1, 8}}), row("stfw,n=3", 12e-6, {{1, 8}}),
                 row("mpi", 15e-6, {{1, 8}})};
  report.baselines = {row("standard", 88e-6, {{1, 8}})};
  report.chosen = "two-step";
  EXPECT_EQ(document_of(report, 1).write(Form::text),
            "\n  strategy   predicted  messages per stage    bytes sent\n"
            "* two-step       10 us                   1           8 B\n"
            "= mpi            15 us                   1           8 B\n"
            "= standard       88 us                   1           8 B\n"
            "  2 more points are not shown (a larger --top shows them)\n"
            "\nChosen: two-step, 1.50 times faster than the MPI library's collective (mpi), 8.80 times faster than\n"
            "  sending directly (standard)\n");
}

/// Four ties, of which mpi is the simplest.
Report tied() {
  Report report;
  report.rows = {row("mpi", 4.3e-6, {{1, 8}}), row("standard", 4.26e-6, {{1, 8}}),
                 row("standard,window=8", 4.4e-6, {{1, 8}}), row("two-step", 5e-6, {{1, 8}, {1, 8}}),
                 row("stfw,n=2", 9e-6, {{1, 8}, {1, 8}})};
  std::vector<Candidate> ranking;
  for (const auto& each : report.rows) ranking.push_back(each.candidate);
  report.ties = find_ties(ranking, 0.38);
  report.chosen = "mpi";
  return report;
}

TEST(TableReport, NamesTheFastestBesideTheChoice) {
  Report report;
  report.rows = {row("two-step", 10e-6, {{1, 8}}), row("stfw,n=2", 11e-6, {{1, 8}})};
  report.baselines = {row("mpi", 15e-6, {{1, 8}})};
  report.chosen = "two-step";
  EXPECT_FALSE(regret_of(report)) << "nothing is measured";
  report.rows[0].measured_s = 4e-6;
  report.rows[1].measured_s = 5e-6;
  report.baselines[0].measured_s = 2e-6;
  EXPECT_DOUBLE_EQ(regret_of(report)->value, 2);
  EXPECT_EQ(describe_choice(report),
            "Chosen: two-step, 2.00 times slower than the MPI library's collective (mpi), regret 2.000 (its time over "
            "that of the fastest, mpi: 2 us)");
  report.baselines[0].measured_s = 8e-6;
  EXPECT_EQ(describe_choice(report),
            "Chosen: two-step, 2.00 times faster than the MPI library's collective (mpi), regret 1.000 (its time over "
            "that of the fastest)");
  // With planning, 3 calls take 18, 16 and 24 us.
  report.calls = 3;
  report.rows[0].measured_plan_s = 6e-6;
  report.rows[1].measured_plan_s = 1e-6;
  report.baselines[0].measured_plan_s = 0;
  EXPECT_DOUBLE_EQ(regret_of(report)->value, 18.0 / 16);
  EXPECT_EQ(regret_of(report)->fastest, &report.rows[1]);
  EXPECT_DOUBLE_EQ(comparisons(report)[0].baseline_s, 24e-6);
}

TEST(TableReport, SaysThatTheSimplestOfTiesIsChosen) {
  EXPECT_EQ(document_of(tied()).write(Form::text),
            "\n   strategy            predicted  messages per stage    bytes sent\n"
            "*~ mpi                    4.3 us                   1           8 B\n"
            "=~ standard              4.26 us                   1           8 B\n"
            " ~ standard,window=8      4.4 us                   1           8 B\n"
            " ~ two-step                 5 us                 1+1          16 B\n"
            "   stfw,n=2                 9 us                 1+1          16 B\n"
            "  ~ ties with the fastest by prediction (uncertainty of this profile: 38 %)\n"
            "\nChosen: mpi. Fastest by prediction: standard, 4.26 us, but this profile cannot tell 4 of them apart\n"
            "  (38 %): the simplest is taken. It is 1.01 times slower than sending directly (standard, a tie)\n");
  auto fastest = tied();
  std::swap(fastest.rows[0], fastest.rows[1]);
  fastest.chosen = "standard";
  EXPECT_EQ(describe_choice(fastest),
            "Chosen: standard. Fastest by prediction, tied with 3 more: this profile cannot tell them apart (38 %). It "
            "is 1.01 times faster than the MPI library's collective (mpi, a tie)");
}

std::map<std::string, std::string> summary_of(const Report& report, const Machine& machine = {}) {
  const auto summary = summarize(report, machine, "mpirun -n 4 commpass measure");
  EXPECT_LE(summary.lines.size(), 5U);
  return {summary.lines.begin(), summary.lines.end()};
}

TEST(Summary, SetsTheChoiceBesideTheCallOfMpiAndNamesItsLimits) {
  Report report;
  report.context = {{"profile", "mine"}, {"layout", "2 nodes"}, {"model", "burst"}, {"pattern", "file.mtx"}};
  report.rows = {row("two-step", 10e-6, {{1, 8}, {1, 8}}), row("standard", 12e-6, {{1, 8}})};
  report.baselines = {row("mpi", 15e-6, {{1, 8}})};
  report.chosen = "two-step";
  auto& stages = report.rows[0].candidate.cost.stages;
  stages[0].seconds = 3e-6;
  stages[1].seconds = 7e-6;
  stages[0].parts[0] = 2e-6;  // latency
  stages[1].parts[0] = 4e-6;
  stages[1].parts[1] = 3e-6;  // bytes
  stages[1].parts[2] = 1e-6;  // too little to be named
  auto found = summary_of(report);
  EXPECT_EQ(found["Exchange"], "mine; 2 nodes; file.mtx");
  EXPECT_EQ(found["Choice"], "two-step: 10 us, 1.50 times faster than the MPI library's collective (15 us)");
  EXPECT_EQ(found["How sure"], "unknown: the profile has no verdict");
  EXPECT_EQ(found["Limited by"],
            "latency of its messages (alpha), 60 %; bytes of its messages (beta), 30 %; stage 2 of 2 takes 70 %");
  EXPECT_EQ(found["Next"], "time it on the machine: `mpirun -n 4 commpass measure --strategies 'two-step;mpi'`");
  Machine machine;
  machine.verdict = Verdict{Trust::good, 0.05, "why", ""};
  report.ties = find_ties(std::vector{report.rows[0].candidate, report.baselines[0].candidate}, 0.05);
  found = summary_of(report, machine);
  EXPECT_EQ(found["How sure"], "± 5.0 %, verdict of the profile: good");
  EXPECT_EQ(found["Next"], "try it in the unchanged program: `commpass run -- mpirun … PROGRAM`");
  report.calls = 20;
  report.rows[0].candidate.plan_seconds = 100e-6;
  EXPECT_EQ(summary_of(report, machine)["Choice"],
            "two-step: 300 us for planning and 20 exchanges, as fast as the MPI library's collective (300 us)");
}

TEST(Summary, NamesTies) {
  Machine machine;
  machine.verdict = Verdict{Trust::usable, 0.38, "why", ""};
  auto report = tied();
  EXPECT_EQ(summary_of(report, machine)["How sure"],
            "± 38 %, verdict of the profile: usable; a tie of 4 strategies, sending "
            "directly among them");
  EXPECT_EQ(summary_of(report, machine)["Next"], "leave this exchange to MPI");
  EXPECT_EQ(summary_of(report, machine)["Limited by"], "nothing: no rank sends");
  std::swap(report.rows[0], report.rows[3]);
  report.chosen = "two-step";
  EXPECT_EQ(summary_of(report, machine)["Next"],
            "time it on the machine: `mpirun -n 4 commpass measure --strategies 'two-step;mpi'`");
}

TEST(JsonReport, ContainsTies) {
  const auto json = Json::parse(document_of(tied(), 1).write(Form::json));
  EXPECT_EQ(json["chosen"], "mpi");
  EXPECT_EQ(json["fastest_by_prediction"], "standard");
  EXPECT_EQ(json["uncertainty"], 0.38);
  EXPECT_EQ(json["ties"], Json({"mpi", "standard", "standard,window=8", "two-step"}));
  auto sure = tied();
  sure.ties = {.uncertainty = 0, .fastest = parse_strategy("mpi"), .strategies = {}};
  EXPECT_EQ(Json::parse(document_of(sure).write(Form::json))["ties"], Json::array());
}

std::vector<std::string> shown_names(const Report& report, std::size_t top = 0) {
  std::vector<std::string> names;
  for (const auto* each : shown_rows(report, top)) names.push_back(to_string(each->candidate.strategy));
  return names;
}

TEST(TableReport, ShowsTheBestPointOfEachRoute) {
  Report report;
  for (const char* name : {"stfw,n=6", "stfw,n=5", "stfw,n=4", "tuna,radix=2", "two-step", "tuna,radix=4"})
    report.rows.push_back(row(name, 1e-6 * static_cast<double>(10 + report.rows.size()), {{1, 8}}));
  report.baselines = {row("standard", 88e-6, {{1, 8}})};
  report.chosen = "stfw,n=6";
  report.ties.fastest = parse_strategy("stfw,n=4");  // by another order than that of the rows
  report.shows_all_points = false;
  using Names = std::vector<std::string>;
  EXPECT_EQ(shown_names(report), (Names{"stfw,n=6", "stfw,n=4", "tuna,radix=2", "two-step", "standard"}));
  EXPECT_NE(document_of(report).write(Form::text).find("  2 more points are not shown (--all-points shows them)\n"),
            std::string::npos);
  report.ties.fastest.reset();
  EXPECT_EQ(shown_names(report, 2), (Names{"stfw,n=6", "tuna,radix=2", "standard"})) << "K rows, then the baselines";
  report.shows_all_points = true;
  EXPECT_EQ(shown_names(report, 2), (Names{"stfw,n=6", "stfw,n=5", "standard"}));
  EXPECT_EQ(shown_names(report).size(), 7U);
  report.rows.push_back(row("stfw,n=6@staged", 30e-6, {{1, 8}}));
  report.shows_all_points = false;
  EXPECT_EQ(shown_names(report), (Names{"stfw,n=6", "tuna,radix=2", "two-step", "stfw,n=6@staged", "standard"}))
      << "another path of data is another way";
}

TEST(TableReport, HasTenRowsWithTheBaselinesAmongThem) {
  Report report;
  for (const char* name : {"stfw,n=6", "tuna,radix=2", "two-step", "tuna-node,radix=2", "three-step", "split,cap=2KiB",
                           "local-then-node", "multi-leader,leaders=1", "two-step-socket", "mpi", "standard,window=8"})
    report.rows.push_back(row(name, 1e-6 * static_cast<double>(10 + report.rows.size()), {{1, 8}}));
  report.rows.push_back(row("standard", 88e-6, {{1, 8}}));
  report.chosen = "stfw,n=6";
  report.shows_all_points = false;
  const auto names = shown_names(report);
  EXPECT_EQ(names.size(), table_rows_max);
  EXPECT_EQ(names[7], "multi-leader,leaders=1") << "the slowest routes give way";
  EXPECT_EQ(names[8], "mpi");
  EXPECT_EQ(names[9], "standard");
}

// Where times were measured these are compared; where planning counts, with it.
TEST(TableReport, ComparesWithBaselinesByKnownTimes) {
  Report report;
  report.rows = {row("two-step", 10e-6, {}), row("standard", 20e-6, {})};
  report.chosen = "two-step";
  const auto comparison = [&] {
    const auto text = describe_choice(report);
    return text.substr(0, text.find(", regret"));
  };
  report.calls = 1;
  report.rows[0].candidate.plan_seconds = 90e-6;
  report.rows[1].candidate.plan_seconds = 30e-6;
  EXPECT_EQ(comparison(), "Chosen: two-step, 2.00 times slower than sending directly (standard)");
  report.rows[0].measured_s = 30e-6;
  EXPECT_EQ(comparison(), "Chosen: two-step") << "the other was not measured";
  report.rows[1].measured_s = 600e-6;
  EXPECT_EQ(comparison(), "Chosen: two-step, 20.0 times faster than sending directly (standard)");
  report.rows[1].measured_s = 30.1e-6;
  EXPECT_EQ(comparison(), "Chosen: two-step, as fast as sending directly (standard)");
  report.chosen = "standard";
  EXPECT_EQ(comparison(), "Chosen: standard");
}

// Where one row was measured, or planned, others may have no such number.
TEST(TableReport, HasColumnsForValuesOfSomeRows) {
  Report report;
  report.rows = {row("standard", 10e-6, {{1, 8}}), row("two-step", 12e-6, {{1, 8}})};
  report.rows[0].candidate.plan_seconds = 30e-6;
  report.rows[0].measured_s = 8e-6;
  report.rows[0].measured_plan_s = 60e-6;
  report.chosen = "two-step";
  const auto text = document_of(report).write(Form::text);
  EXPECT_NE(text.find("  strategy        plan  measured plan   predicted    measured       error  messages per stage   "
                      " bytes sent\n"
                      "= standard       30 us          60 us       10 us        8 us        +25%                   1   "
                      "        8 B\n"
                      "* two-step           -              -       12 us           -           -                   1   "
                      "        8 B\n"),
            std::string::npos)
      << text;
}

TEST(TableOfCalls, TellsTheChoiceByItselfAndTheTimesOfOthers) {
  CallReport report;
  report.context = {{"profile", "mine"}};
  report.rows = {{"direct+nbx", 10e-6, 8e-6}, {"two-step+nbx", {}, 16e-6}};
  report.chosen = "direct+nbx";
  report.chosen_s = 10e-6;
  report.baseline_kind = "By hand";
  report.baselines = {{"barrier", {}, 20e-6}};
  const std::string table =
      "profile: mine\n\n"
      "  strategy       predicted    measured       error\n"
      "* direct+nbx         10 us        8 us        +25%\n"
      "  two-step+nbx                   16 us\n"
      "\nChosen: direct+nbx, 10 us with the overhead of choosing, regret 1.250 (its time over that of the fastest)\n"
      "By hand, barrier: 20 us; the choice is 2.00 times faster than that\n";
  EXPECT_EQ(document_of(report).write(Form::text), table);
  report.barrier_s = 1e-6;
  EXPECT_EQ(document_of(report).write(Form::text), table) << "only both together";
  report.tally_s = 2e-6;
  EXPECT_EQ(document_of(report).write(Form::text),
            table + "A non-blocking barrier alone: 1 us; the reduction that ends nbx in its place: 2 us\n");
  EXPECT_EQ(CallReport{}.regret(), 1);
  report.baselines.push_back({"ibarrier", {}, 5e-6});
  EXPECT_DOUBLE_EQ(report.regret(), 2) << "baselines count, too";
}

}  // namespace
}  // namespace commpass
