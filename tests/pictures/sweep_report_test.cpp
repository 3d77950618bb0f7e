// The report of a sweep, its map and its lines.
#include "selector/report/sweep_report.hpp"
#include "model/base/json.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <limits>
#include <regex>

#include "model/base/error.hpp"
#include "pictures/calibration_facts.hpp"
#include "pictures/pictures.hpp"
#include "pictures/svg.hpp"

namespace commpass {
namespace {

SweepPoint point(std::vector<double> values, const char* strategy, Seconds seconds) {
  SweepPoint result;
  result.values = std::move(values);
  if (strategy) {
    Candidate candidate;
    candidate.strategy = parse_strategy(strategy);
    candidate.cost.seconds = seconds;
    result.chosen = candidate;
  } else {
    result.reason = "it is <not> there";
  }
  result.standard_s = 4e-6;
  return result;
}

SweepReport report() {
  return {{{"profile", "p & q"}, {"pattern", "alltoall:ranks=4"}, {"layout", "2 ranks on a node"}},
          {"ranks", "bytes"},
          {},
          {point({4, 8}, "two-step", 1e-6), point({4, 16}, "two-step,window=2", 2e-6), point({4, 32}, "standard", 4e-6),
           point({8, 8}, "stfw,n=2", 1e-6), point({8, 16}, nullptr, 0), point({8, 32}, "standard", 4e-6)}};
}

TEST(Crossovers, AreWhereTheRouteChangesBetweenNeighbours) {
  const auto found = crossovers(report());
  ASSERT_EQ(found.size(), 2U);  // nothing is told across points that do not apply, nor of windows
  EXPECT_EQ(found[0].key, 1U);
  EXPECT_EQ(found[0].before, 1U);
  EXPECT_EQ(found[0].after, 2U);
  EXPECT_EQ(found[1].key, 0U);
  EXPECT_EQ(found[1].before, 0U);
  EXPECT_EQ(found[1].after, 3U);
}

TEST(SweepJson, HasEveryPointAndCrossover) {
  const auto json = Json::parse(document_of(report()).write(Form::json));
  EXPECT_EQ(json["points"].size(), 6U);
  EXPECT_EQ(json["points"][0]["times_faster_than_standard"], 4.0);
  EXPECT_EQ(json["points"][4]["not_applicable"], "it is <not> there");
  EXPECT_EQ(json["crossovers"][0]["at"]["ranks"], 4);
  EXPECT_EQ(json["crossovers"][0]["from"], 16);
  EXPECT_EQ(json["crossovers"][0]["after"], "standard");
}

/// One key, two routes that are chosen, and the call of the MPI library.
SweepReport over_bytes(double uncertainty) {
  SweepReport result{{{"profile", "p"}, {"pattern", "alltoall:ranks=4"}, {"layout", "2x2"}}, {"bytes"}, {}, {}};
  for (const auto& [bytes, chosen, own_s, other, other_s] :
       {std::tuple(8.0, "two-step", 1e-6, "stfw", 2e-6), std::tuple(64.0, "stfw,n=2", 2e-6, "two-step", 3e-6)}) {
    auto next = point({bytes}, chosen, own_s);
    next.by_route = {{route_and_path(next.chosen->strategy), own_s}, {other, other_s}, {"three-step", 9e-6}};
    next.mpi_s = 5e-6;
    next.ties.uncertainty = uncertainty;
    result.points.push_back(std::move(next));
  }
  return result;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto found = text.find(part); found != std::string::npos; found = text.find(part, found + 1)) ++count;
  return count;
}

TEST(SweepLines, AreTheChosenRoutesTheDirectExchangeAndTheLibrarysCall) {
  const auto body = draw_sweep_lines(over_bytes(0)).body;
  for (const auto* name : {">two-step<", ">stfw<", ">standard<", ">mpi<"}) EXPECT_GE(count_of(body, name), 1U) << name;
  EXPECT_EQ(count_of(body, "three-step"), 0U) << "it is chosen nowhere";
  EXPECT_EQ(count_of(body, "class=\"whisker"), 0U) << "the profile has no verdict";
  EXPECT_EQ(count_of(draw_sweep_lines(over_bytes(0.2)).body, "class=\"whisker"), 8U) << "of four lines at two values";
}

TEST(SweepTable, HasThePricesOfRoutesWithTheFastestMarked) {
  const auto text = document_of(over_bytes(0)).write(Form::text);
  EXPECT_NE(text.find("       8       2 us     * 1 us        9 us\n"), std::string::npos) << text;
  EXPECT_NE(text.find("      64     * 2 us       3 us        9 us\n"), std::string::npos) << text;
  EXPECT_EQ(document_of(over_bytes(0)).json()["points"][1]["by_route"]["two-step"], 3e-6);
}

TEST(SweepTable, NamesParametersAndFactorsOfTheProfile) {
  auto factors = over_bytes(0), values = over_bytes(0);
  factors.keys = {"network.alpha_s*"};
  values.keys = {"network.alpha_s="};
  factors.points[0].values = {0.5};
  factors.points[1].values = {2};
  values.points[0].values = {1e-6};
  values.points[1].values = {4e-6};
  EXPECT_NE(document_of(factors).write(Form::text).find("network.alpha_s from *0.5 to *2: two-step gives way to stfw"),
            std::string::npos);
  EXPECT_NE(document_of(values).write(Form::text).find("network.alpha_s from 1 us to 4 us: two-step gives way to stfw"),
            std::string::npos);
  EXPECT_EQ(document_of(factors).json()["points"][0]["network.alpha_s*"], 0.5);
  EXPECT_EQ(document_of(values).json()["points"][1]["network.alpha_s"], 4e-6);
  EXPECT_NE(draw_sweep_lines(factors).body.find("network.alpha_s"), std::string::npos);
}

TEST(SweepNotes, AreNotThoseThatAnotherIncludes) {
  auto swept = over_bytes(0);
  swept.points[0].note = "profile p lacks waits, taken for 3 us";
  swept.points[1].note = "profile p lacks receivers: cheaper than it is; waits, taken for 6 us";
  EXPECT_EQ(notes_of(swept), std::vector{swept.points[1].note});
  std::swap(swept.points[0].note, swept.points[1].note);
  EXPECT_EQ(notes_of(swept), std::vector{swept.points[0].note});
  swept.points[1].note = "profile p lacks copies";
  EXPECT_EQ(notes_of(swept).size(), 2U);
}

TEST(Frame, SetsTheWidthAndLeavesTheTitleOut) {
  const auto narrow = draw_sweep_lines(over_bytes(0), {"sweep", 300, false});
  EXPECT_EQ(narrow.width, 300);
  EXPECT_EQ(narrow.body.find(">" + narrow.title + "<"), std::string::npos);
  EXPECT_NE(draw_sweep_lines(over_bytes(0)).body.find(">" + narrow.title + "<"), std::string::npos);
  EXPECT_NE(svg_document(narrow, "3in").find(" width=\"3in\" role"), std::string::npos);
  EXPECT_EQ(svg_document(narrow, "3in", Paper::print).find("prefers-color-scheme"), std::string::npos);
}

TEST(Pgf, HasEveryElementOfThePicture) {
  const auto picture = draw_sweep_lines(over_bytes(0.2));
  const auto pgf = pgf_document(picture, 252);
  for (const auto& [element, command] : {std::pair("<text", "\\node["), std::pair("<path", "\\path[")})
    EXPECT_GE(count_of(pgf, command), count_of(picture.body, element)) << element;
  EXPECT_NE(pgf.find(fmt::format("[x={:.5f}pt,y=-{:.5f}pt", 252 / picture.width, 252 / picture.width)),
            std::string::npos);
  EXPECT_NE(pgf.find("circle[radius=4]"), std::string::npos) << "of the marks of standard";
  EXPECT_NE(pgf.find("draw=commpass1"), std::string::npos) << "a line in the colour of its route";
}

TEST(StrategyMap, HasTheChoiceAndItsGainInEachCell) {
  const auto picture = draw_strategy_map(report());
  EXPECT_EQ(picture.json, document_of(report()).write(Form::json));
  EXPECT_NE(picture.body.find(">4.0×<"), std::string::npos);
  EXPECT_NE(picture.body.find(">two-step<"), std::string::npos);
  EXPECT_NE(picture.body.find("it is &lt;not&gt; there"), std::string::npos);
  EXPECT_NE(svg_document(picture).find("p &amp; q"), std::string::npos);
}

/// The profile cannot tell two-step from stfw at the first point, and takes it though it is slower than standard.
SweepReport tied() {
  auto result = report();
  result.points[0].standard_s = 0.7e-6;
  result.points[0].ties = {.uncertainty = 0.5,
                           .fastest = parse_strategy("standard"),
                           .fastest_s = 0.7e-6,
                           .strategies = {parse_strategy("standard"), parse_strategy("two-step")}};
  return result;
}

TEST(StrategyMap, HatchesTiesAndCallsNothingSlowerFaster) {
  const auto picture = draw_strategy_map(tied());
  EXPECT_EQ(picture.title, "Chosen strategy for alltoall on p & q");
  EXPECT_NE(picture.body.find(">1.4× slower<"), std::string::npos);
  EXPECT_EQ(picture.body.find(">0."), std::string::npos);
  const auto* const stroke = "l5 -5";
  EXPECT_NE(picture.body.find(stroke), std::string::npos);
  EXPECT_EQ(draw_strategy_map(report()).body.find(stroke), std::string::npos);
  EXPECT_NE(picture.body.find("Hatched: it ties with others"), std::string::npos);
  EXPECT_NE(picture.body.find("cannot tell 2 of them apart (50 %): the simplest is taken"), std::string::npos);
}

TEST(SweepTable, CountsTies) {
  const auto table = document_of(tied()).write(Form::text);
  EXPECT_NE(table.find("predicted        mpi   standard      than standard  ties\n"), std::string::npos) << table;
  EXPECT_NE(table.find("1.43 times slower     2\n"), std::string::npos) << table;
  EXPECT_NE(table.find("2.00 times faster     0\n"), std::string::npos) << table;
  EXPECT_NE(table.find("as fast     0\n"), std::string::npos) << table;
  EXPECT_NE(table.find("\nTies: at 1 of 6 points this profile cannot tell"), std::string::npos) << table;
  EXPECT_EQ(document_of(report()).write(Form::text).find("ies"), std::string::npos)
      << "without ties nothing is said of them";
  const auto json = Json::parse(document_of(tied()).write(Form::json));
  EXPECT_EQ(json["uncertainty"], 0.5);
  EXPECT_EQ(json["points"][0]["tie_count"], 2);
  EXPECT_EQ(json["points"][0]["fastest_by_prediction"], "standard");
  EXPECT_EQ(json["points"][1]["tie_count"], 0);
  EXPECT_NE(document_of(tied()).write(Form::csv).find(",standard,2\n"), std::string::npos)
      << document_of(tied()).write(Form::csv);
}

TEST(SweepPictures, RefuseOtherNumbersOfKeys) {
  EXPECT_THROW(draw_sweep_lines(report()), InputError);
  auto one = report();
  one.keys = {"bytes"};
  EXPECT_THROW(draw_strategy_map(one), InputError);
  one.points = {point({8}, nullptr, 0)};
  one.points[0].standard_s.reset();
  EXPECT_THROW(draw_sweep_lines(one), InputError);
}

/// The labels of the axis below.
std::vector<std::string> labels_of(const std::string& body) {
  std::vector<std::string> labels;
  const std::regex label(R"(<text[^>]*text-anchor="middle"[^>]*>([0-9]+)</text>)");
  for (std::sregex_iterator match(body.begin(), body.end(), label), end; match != end; ++match)
    labels.push_back((*match)[1]);
  return labels;
}

TEST(SweepLines, HaveATickForEachOfFewDimensions) {
  const SweepReport dims{
      {}, {"dims"}, {}, {point({1}, "stfw,n=1", 3e-6), point({2}, "stfw,n=2", 2e-6), point({3}, "stfw,n=3", 1e-6)}};
  EXPECT_EQ(labels_of(draw_sweep_lines(dims).body), (std::vector<std::string>{"1", "2", "3"}));
}

TEST(SweepLines, MayBeMoreThanThereAreLooks) {
  SweepReport many{{}, {"bytes"}, {}, {point({8}, "standard", 1e-6), point({16}, "standard", 2e-6)}};
  for (int radix = 2; radix < 52; ++radix) {
    many.named.push_back("tuna,radix=" + std::to_string(radix));
    for (auto& each : many.points) each.named.emplace_back(1e-6 * radix);
  }
  EXPECT_NE(draw_sweep_lines(many).body.find("tuna,radix=51"), std::string::npos);
}

TEST(SweepJson, KeepsInvalidUtf8Readable) {
  auto named = report();
  named.context[1].second = "file \xff";
  EXPECT_EQ(Json::parse(document_of(named).write(Form::json))["context"]["pattern"], "file \xef\xbf\xbd");
}

TEST(MessageTimes, NameTheProtocolOfEachRangeWhereOneHasNoMessages) {
  Profile profile;
  profile.machine.name = "odd";
  profile.machine.host.by_level[0] =
      Channel{{Protocol{"empty", 0, 1e-6, 1e-10, 1e-6}, Protocol{"short", 512, 1e-6, 1e-10, 1e-6},
               Protocol{"eager", std::numeric_limits<Bytes>::max(), 2e-6, 1e-10, 2e-6}}};
  const auto body = draw_message_times(profile).body;
  EXPECT_EQ(body.find("empty from"), std::string::npos);
  EXPECT_NE(body.find("short from 1 on"), std::string::npos) << body;
  EXPECT_NE(body.find("eager from 513 on"), std::string::npos) << body;
}

TEST(MessageTimes, ShowMeasurementsBesideTheLine) {
  Profile profile;
  profile.machine.name = "calibrated";
  profile.machine.host.by_level[0] = Channel{{Protocol{"eager", std::numeric_limits<Bytes>::max(), 1e-6, 1e-9, 1e-6}}};
  profile.provenance_json =
      R"({"messages":{"socket":{"bytes":[1000,1,"x",64],"seconds":[2.2e-6,1e-6,1,1e-6],"low_s":[2e-6,9e-7,1,2e-6],"high_s":[2.3e-6,2e-6,1]},
                      "network":{"bytes":[8],"seconds":[1],"low_s":[1],"high_s":[1]},"node":3}})";
  const auto timed = timed_messages(profile);
  ASSERT_EQ(timed.size(), 3U) << "a value that is no number, or has no interval, is passed over";
  const auto picture = draw_message_times(profile);
  const auto measured = Json::parse(picture.json)["measured"];
  ASSERT_EQ(measured.size(), 2U) << "the profile has no line between nodes";
  EXPECT_EQ(measured[0]["bytes"], 1000);
  EXPECT_NEAR(measured[0]["residual"].get<double>(), 0.1, 1e-9) << "2.2 us, and the line says 2 us";
  EXPECT_NE(picture.body.find("2.2 us measured (2 us to 2.3 us), +10.0 % of the line"), std::string::npos)
      << picture.body;
  EXPECT_NE(picture.csv.find("calibrated,socket,measured,1000,2.2"), std::string::npos) << picture.csv;
  for (const auto* text : {R"({"messages":3})", R"({"messages":{"socket":{"bytes":3}}})", "no JSON"}) {
    profile.provenance_json = text;
    EXPECT_TRUE(timed_messages(profile).empty());
    EXPECT_FALSE(Json::parse(draw_message_times(profile).json).contains("measured"));
  }
}

TEST(CalibrationFacts, ComeFromTheProvenance) {
  Profile profile;
  profile.machine.name = "calibrated";
  profile.machine.host.by_level[0] = Channel{{Protocol{"eager", std::numeric_limits<Bytes>::max(), 1e-6, 1e-10, 1e-6}}};
  const auto without = draw_message_times(profile).body;
  EXPECT_EQ(without.find("band"), std::string::npos);
  profile.provenance_json =
      R"({"fits":[{"level":"socket","protocol":"eager","sizes":7,"median_relative_error":0.01,"alpha_interval_s":[9e-7,1.1e-6],"beta_interval_s_per_byte":[9e-11,1.1e-10]},{"level":"node"},3],
          "held_out":[{"exchange":"few","strategy":"standard","predicted_s":1e-6,"measured_s":2e-6},{"strategy":"x"},[]]})";
  const auto fits = fitted_intervals(profile);
  ASSERT_EQ(fits.size(), 1U);
  EXPECT_EQ(fits[0].sizes, 7);
  EXPECT_EQ(fits[0].beta_s_per_byte[1], 1.1e-10);
  EXPECT_NE(draw_message_times(profile).body.find("f3 band"), std::string::npos);
  const auto held_out = held_out_prices(profile);
  ASSERT_EQ(held_out.size(), 1U);
  EXPECT_EQ(held_out[0].exchange, "few");
  for (const auto* text : {"{}", R"({"fits":3,"held_out":{"a":1}})",
                           R"({"held_out":[{"strategy":"standard","predicted_s":1e-6,"measured_s":1.7e308}]})",
                           R"({"fits":[{"alpha_interval_s":[1],"beta_interval_s_per_byte":[2,1]}]})"}) {
    profile.provenance_json = text;
    EXPECT_TRUE(fitted_intervals(profile).empty()) << text;
    EXPECT_TRUE(held_out_prices(profile).empty()) << text;
  }
}

TEST(CalibrationFacts, CountNoMoreSizesThanThereAreNumbers) {
  Profile profile;
  profile.provenance_json =
      R"({"fits":[{"sizes":1e300,"alpha_interval_s":[0,1],"beta_interval_s_per_byte":[0,1]},{"sizes":-1e300,"alpha_interval_s":[0,1],"beta_interval_s_per_byte":[0,1]}]})";
  const auto fits = fitted_intervals(profile);
  ASSERT_EQ(fits.size(), 2U);
  EXPECT_EQ(fits[0].sizes, std::numeric_limits<int>::max());
  EXPECT_EQ(fits[1].sizes, 0);
}

TEST(MeasuredPrices, ComeFromTheJsonOfMeasure) {
  const auto prices = read_measured_prices(
      R"({"ranking":[{"strategy":"standard","predicted_s":1e-6,"measured_s":2e-6},{"strategy":"mpi","measured_s":1e-6},{"strategy":"two-step","predicted_s":1.1e-6,"measured_s":1e-6}]})",
      "f");
  ASSERT_EQ(prices.size(), 2U);
  const auto picture = draw_measured(prices);
  EXPECT_NE(picture.description.find("1 within 15 %"), std::string::npos) << picture.description;
  EXPECT_NE(picture.description.find("50 % off"), std::string::npos) << picture.description;
  for (const auto* text : {"", "[]", "{}", R"({"ranking":[{"strategy":1}]})",
                           R"({"ranking":[{"strategy":"x","predicted_s":0,"measured_s":1}]})",
                           R"({"ranking":[{"strategy":"x","predicted_s":1,"measured_s":1.7e308}]})",
                           R"({"ranking":[{"strategy":"x","predicted_s":1e-300,"measured_s":1}]})"})
    EXPECT_THROW(read_measured_prices(text, "f"), InputError) << text;
}

}  // namespace
}  // namespace commpass
