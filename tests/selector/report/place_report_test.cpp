#include "selector/report/place_report.hpp"
#include "model/base/json.hpp"

#include <gtest/gtest.h>

#include "model/base/text.hpp"
#include "model/machine/profile.hpp"

namespace commpass {
namespace {

/// Four ranks, which all exchange at one place and half of them at another one.
struct FourRanks {
  Record record{"a.out", "MPI", "2x2", 10, {{0, 1, 2, 3}, {0, 1}}, {}, {}};
  std::vector<WhoRan> ran;

  void add(const std::string& site, std::size_t communicator, Seconds exchange_s, Seconds in_call_s,
           const WhoRan& who) {
    RecordedExchange made{"alltoall", site};
    const auto ranks = static_cast<std::int64_t>(record.communicators[communicator].size());
    made.communicator = communicator;
    made.calls = who.by_library + who.by_ours + who.by_both;
    made.exchange_s = exchange_s;
    made.in_call_s = in_call_s;
    made.equal_bytes = 8;
    made.blocks = made.calls * ranks * ranks;
    made.bytes = made.blocks * 8;
    record.exchanges.push_back(made);
    ran.push_back(who);
  }
  PlaceReport report() const { return report_places(record, ran, Layout::with_ppn(4, 2), nullptr, "no profile"); }
};

TEST(PlaceReport, AddsUpTheRunnersOfTheCallsOfAPlace) {
  FourRanks run;
  run.add("solve", 0, 2, 3, {{4, 10, 7, {0.5, 0.25, 1}, true}, "two-step"});
  run.add("solve", 0, 1, 1, {{0, 5, 0, {0.25, 0.25, 0.5}, true}, "standard"});
  run.add("set_up", 1, 1, 4, {{2, 0, 0, {}, true}, {}});
  const auto report = run.report();
  ASSERT_EQ(report.places.size(), 2U);
  const auto& solve = report.places[0];
  EXPECT_EQ(solve.call.site, "solve");
  EXPECT_EQ(solve.ran.by_library, 4);
  EXPECT_EQ(solve.ran.by_ours, 15);
  EXPECT_EQ(solve.ran.by_both, 7);
  EXPECT_EQ(solve.ran.strategy, "standard");
  EXPECT_DOUBLE_EQ(solve.exchange_s, 3);
  EXPECT_DOUBLE_EQ(solve.waiting_s, 1);
  EXPECT_EQ(solve.ran.saved, (SavedTime{0.75, 0.5, 1.5}));
  const auto& half = report.places[1];
  EXPECT_DOUBLE_EQ(half.exchange_s, 1) << "of those that take part";
  EXPECT_DOUBLE_EQ(half.waiting_s, 3);
  EXPECT_DOUBLE_EQ(report.exchange_s, 3.5) << "of all four ranks";
  EXPECT_EQ(report.saved, (SavedTime{0.75, 0.5, 1.5}));
}

TEST(PlaceReport, PredictsTheTimesOfAdvise) {
  FourRanks run;
  run.add("solve", 0, 2, 3, {{100, 0, 0, {}, true}, {}});
  const auto machine = read_profile(COMMPASS_TEST_PROFILES "/lassen.json").machine;
  const auto layout = Layout::with_ppn(4, 2);
  const auto report = report_places(run.record, run.ran, layout, &machine, "");
  const auto advice = advise(run.record, advised_calls(run.record), layout, machine);
  const auto json = Json::parse(document_of(run.record, report).write(Form::json));
  EXPECT_EQ(json["machine"], machine.name);
  EXPECT_GT(advice.prices[0].library_s, 0);
  EXPECT_DOUBLE_EQ(json["places"][0]["predicted_library_s"].get<double>(), advice.prices[0].library_s);
  EXPECT_DOUBLE_EQ(json["places"][0]["predicted_ours_s"].get<double>(), advice.prices[0].taken_s);
}

TEST(PlaceReport, MarksUnknownValues) {
  FourRanks run;
  run.add("solve", 0, 2, 3, {{0, 9, 0, {}, false}, "two-step"});
  run.add("start", 0, 0, 1, {{3, 0, 0, {}, true}, {}});
  const auto report = run.report();
  const auto json = Json::parse(document_of(run.record, report).write(Form::json));
  EXPECT_TRUE(json["machine"].is_null());
  EXPECT_TRUE(json["saved_s"].is_null());
  EXPECT_EQ(json["unpriced"], "no profile");
  EXPECT_TRUE(json["places"][0]["saved_s"].is_null()) << "the calls were compared with nothing";
  EXPECT_TRUE(json["places"][0]["predicted_ours_s"].is_null());
  EXPECT_TRUE(json["places"][1]["exchange_s"].is_null()) << "of calls that do not block";
  EXPECT_TRUE(json["places"][1]["strategy"].is_null());
  const auto text = document_of(run.record, report).write(Form::text);
  EXPECT_NE(text.find("no machine: no profile"), std::string::npos) << text;
  EXPECT_NE(text.find("saved -; two-step, called from solve"), std::string::npos) << text;
  EXPECT_EQ(document_of(Record{}, {}).write(Form::text), "") << "of no calls";
}

/// The end of the last line.
std::string saved_of(const SavedTime& saved) {
  FourRanks run;
  run.add("solve", 0, 2, 2, {{90, 4, 7, saved, true}, "two-step"});
  const auto text = document_of(run.record, run.report()).write(Form::text);
  const std::string before = "exchanges took 2 s; ";
  const auto found = text.find(before);
  return found == std::string::npos ? text : text.substr(found + before.size());
}

TEST(PlaceReport, TellsSavingsAsAnInterval) {
  EXPECT_EQ(saved_of({0.5, 0.25, 0.75}), "250 ms..750 ms saved\n");
  EXPECT_EQ(saved_of({0.5, 0.5, 0.5}), "500 ms saved\n");
}

TEST(PlaceReport, ShowsALossAsSuch) {
  EXPECT_EQ(saved_of({-0.5, -0.75, -0.25}), "250 ms..750 ms lost\n");
  EXPECT_EQ(saved_of({-0.5, -0.5, -0.5}), "500 ms lost\n") << "of trials alone";
}

TEST(PlaceReport, ShowsTheLossOfAPlaceAsSuch) {
  FourRanks run;
  run.add("solve", 0, 2, 2, {{90, 0, 11, {-0.5, -0.5, -0.5}, true}, "two-step"});
  const auto text = document_of(run.record, run.report()).write(Form::text);
  EXPECT_NE(text.find("\n    lost 500 ms; two-step, called from solve\n"), std::string::npos) << text;
}

TEST(PlaceReport, NamesSavingsThatAreNotDistinguishableFromNothing) {
  EXPECT_EQ(saved_of({0.1, -0.25, 0.5}), "the saving is not distinguishable from 0: -250 ms..500 ms\n");
  EXPECT_EQ(saved_of({}), "nothing was saved or lost\n");
}

TEST(PlaceReport, TakesItsIntervalFromThatOfTheRatio) {
  const auto saved = saved_by_ours(2, {0.5, 0.4, 0.8});
  EXPECT_DOUBLE_EQ(saved.estimate_s, 2);
  EXPECT_DOUBLE_EQ(saved.low_s, 0.5);
  EXPECT_DOUBLE_EQ(saved.high_s, 3);
}

TEST(PlaceReport, SaysIfTimesOfThreadsAreAddedUp) {
  FourRanks run;
  run.add("solve", 0, 20, 20, {{90, 0, 0, {}, true}, {}});
  auto report = run.report();
  EXPECT_EQ(document_of(run.record, report).write(Form::text).find("threads"), std::string::npos);
  report.calls_overlap = true;
  EXPECT_NE(
      document_of(run.record, report).write(Form::text).find("took 20 s, added up over threads that call at once;"),
      std::string::npos);
}

TEST(PlaceReport, SaysIfCallsAreSampled) {
  FourRanks run;
  run.add("solve", 0, 20, 20, {{90, 0, 0, {}, true}, {}});
  auto report = run.report();
  EXPECT_EQ(document_of(run.record, report).write(Form::text).find("samples"), std::string::npos);
  report.are_sampled = true;
  EXPECT_NE(document_of(run.record, report).write(Form::text).find("took 20 s by samples of the calls;"),
            std::string::npos);
}

TEST(PlaceReport, HasLinesOfAPage) {
  FourRanks run;
  const std::string type = "std::vector<std::vector<double, std::allocator<double> >, std::allocator<void> >";
  run.add("void solver::exchange<" + type + ", " + type + ">(" + type + "&) (libsolver.so+0x12345)", 0, 2, 2,
          {{123456, 234567, 7, {0.1, -0.25, 0.5}, true}, "local-then-node,radix=2"});
  const auto text = document_of(run.record, run.report()).write(Form::text);
  for (const auto& line : split(text, '\n')) EXPECT_LE(line.size(), 120U) << line;
  EXPECT_NE(text.find("called from void solver::"), std::string::npos) << text;
  EXPECT_NE(text.find("(libsolver.so+0x12345)"), std::string::npos) << text;
}

}  // namespace
}  // namespace commpass
