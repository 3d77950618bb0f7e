// Tables of measured times are read strictly, and condensed runs follow from them.
#include "calibrate/fit/measured_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/error.hpp"

namespace commpass {
namespace {

const std::string run_columns =
    "machine,library,date,nodes,ppn,ranks,pattern,bytes_per_pair,kind,algorithm,parameter,phase,seconds,run\n";

std::string run(const std::string& algorithm, const std::string& seconds, const std::string& date = "2025-05") {
  return "dane,mvapich2," + date + ",2,100,200,alltoall,8,full," + algorithm + ",,," + seconds + ",1\n";
}

std::string message_of(const std::string& text) {
  try {
    parse_measured_times(text, "my.csv");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(MeasuredTimes, TakeAllRunsOfAnAlgorithmTogether) {
  const auto times =
      parse_measured_times("# a comment\n" + run_columns + run("direct-pairwise", "3e-4", "2025-06") +
                               run("direct-pairwise", "1e-4") + run("pmpi", "5e-4") + run("direct-pairwise", "2e-4"),
                           "my.csv");
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].algorithm.name, "direct-pairwise");
  EXPECT_EQ(times[0].runs, 3);
  EXPECT_DOUBLE_EQ(times[0].fastest_s, 1e-4);
  EXPECT_DOUBLE_EQ(times[0].median_s, 2e-4);
  EXPECT_EQ(times[0].date, "2025-05..2025-06");
  EXPECT_EQ(times[0].of.ranks(), 200);
}

TEST(MeasuredTimes, CountRunsThatStallAgainstPairwiseMessages) {
  const auto times = parse_measured_times(run_columns + run("direct-pairwise", "1e-3") +
                                              run("direct-nonblocking", "0.16") + run("direct-nonblocking", "9e-4") +
                                              run("direct-nonblocking", "0.012") + run("direct-nonblocking", "0.0105"),
                                          "my.csv");
  EXPECT_EQ(times[0].stalled_share, 0);
  EXPECT_EQ(times[1].stalled_share, 0.5);  // 10 ms more than 1 ms, and not 9.5 ms more
}

TEST(MeasuredTimes, AreTheSameWhenTheyAreCondensed) {
  const auto times = parse_measured_times(run_columns + run("direct-pairwise", "1e-3") +
                                              run("direct-nonblocking", "0.16") + run("direct-nonblocking", "9e-4"),
                                          "my.csv");
  const auto again = parse_measured_times(condensed_table(times), "again.csv");
  ASSERT_EQ(again.size(), times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(again[i].of, times[i].of);
    EXPECT_EQ(again[i].algorithm, times[i].algorithm);
    EXPECT_DOUBLE_EQ(again[i].fastest_s, times[i].fastest_s);
    EXPECT_DOUBLE_EQ(again[i].median_s, times[i].median_s);
    EXPECT_EQ(again[i].runs, times[i].runs);
    EXPECT_EQ(again[i].stalled_share, times[i].stalled_share);
  }
}

TEST(MeasuredTimes, HaveBurstsOfMicrobenchmarksToRanksOfAnotherNode) {
  const std::string columns =
      "machine,library,date,test,memory,locality,variant,active_pairs,messages,bytes,seconds,run\n";
  const auto times = parse_measured_times(columns + "summit,x,2020,ping-pong,host,network,,1,1,4,1e-6,1\n" +
                                              "summit,x,2020,burst,host,network,,1,4,64,2e-6,1\n" +
                                              "summit,x,2020,burst,host,network,,1,40,64,9e-6,1\n",
                                          "bursts.csv");
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].of.pattern, "burst:messages=4");
  EXPECT_EQ(times[0].of.ppn, 40);
  EXPECT_EQ(times[0].algorithm.name, "burst-host");
}

TEST(MeasuredTimes, NeedNoMoreThanWhereWhatHowAndSeconds) {
  const auto times = parse_measured_times(
      "\xEF\xBB\xBFlayout,pattern,bytes_per_pair,algorithm,seconds\r\n4x2x50,alltoall,64,\"two-step,window=1\",2e-3\r\n"
      "4x8,alltoall,64,standard,1e-3\r\n",
      "my.csv");
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].of, (MeasuredCase{"", "", 4, 100, "alltoall", 64, 2}));
  EXPECT_EQ(times[0].algorithm.name, "two-step,window=1");
  EXPECT_EQ(times[1].of, (MeasuredCase{"", "", 4, 8, "alltoall", 64}));
  EXPECT_EQ(parse_measured_times("nodes,ppn,pattern,bytes_per_pair,algorithm,seconds\n2,8,alltoall,64,standard,1e-3\n",
                                 "my.csv")
                .at(0)
                .of.ppn,
            8);
}

TEST(MeasuredTimes, NameFileLineAndColumnOfAnError) {
  using testing::HasSubstr;
  EXPECT_THAT(message_of(run_columns + run("pmpi", "1e-4") + run("pmpi", "fast")),
              HasSubstr("my.csv, line 3, column seconds: 'fast' is no number"));
  EXPECT_THAT(message_of(run_columns + run("pmpi", "-1e-4")), HasSubstr("line 2, column seconds"));
  EXPECT_THAT(message_of(run_columns + run("pmpi", "nan")), HasSubstr("line 2, column seconds"));
  EXPECT_THAT(message_of(run_columns + run("pmpi", "inf")), HasSubstr("line 2, column seconds"));
  EXPECT_THAT(message_of(run_columns + "dane,mvapich2\n"), HasSubstr("my.csv, line 2: 2 fields, the table has 14"));
  const auto condensed = condensed_table(parse_measured_times(run_columns + run("pmpi", "1e-4"), "my.csv"));
  EXPECT_THAT(message_of(condensed + condensed.substr(condensed.find('\n') + 1)),
              HasSubstr("my.csv, line 3: an earlier row has the same algorithm and case"));
  EXPECT_THAT(message_of("a,b\n1,2\n"), HasSubstr("no columns of measured exchanges: a,b"));
  EXPECT_THAT(message_of("# a comment\n"), HasSubstr("my.csv: it has no line of columns"));
  EXPECT_THAT(message_of(run_columns), HasSubstr("no time of a whole exchange"));
  const std::string layouts = "layout,pattern,bytes_per_pair,algorithm,seconds\n";
  for (const auto* const layout : {"4", "4x", "4x2x2x2", "4x0", "axb", "4x99999999"})
    EXPECT_THAT(message_of(layouts + layout + ",alltoall,64,standard,1e-3\n"),
                HasSubstr(std::string("my.csv, line 2, column layout: '") + layout + "' is no layout"));
  EXPECT_THAT(message_of("\xFF\xFEl"), HasSubstr("my.csv: it is written in UTF-16; save it as UTF-8"));
}

}  // namespace
}  // namespace commpass
