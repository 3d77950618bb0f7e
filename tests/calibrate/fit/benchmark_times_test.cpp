// Times that other benchmarks have printed.
#include "calibrate/fit/benchmark_times.hpp"

#include <gtest/gtest.h>

#include "model/base/error.hpp"

namespace commpass {
namespace {

const BenchmarkPlace network{"network"};

const std::string osu_latency =
    "# OSU MPI Latency Test v7.3\n# Datatype: MPI_CHAR.\n# Size          Avg Latency(us)\n1    1.50\n2    1.51\n4096  "
    "3.25\n";
const std::string osu_bw = "# OSU MPI Bandwidth Test v5.6.2\n# Size      Bandwidth (MB/s)\n1    4.0\n4096  2048.0\n";

std::string with(std::string text, const std::string& part, const std::string& other) {
  return text.replace(text.find(part), part.size(), other);
}

std::string refusal(const std::string& text, const std::optional<BenchmarkPlace>& place = network) {
  try {
    parse_benchmark(text, "times.txt", place);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(BenchmarkTimes, ReadLatenciesOfOsu) {
  const auto times = parse_benchmark(osu_latency, "times.txt", network);
  ASSERT_EQ(times.size(), 3U);
  EXPECT_EQ(times[2].test, BenchmarkTime::Test::ping_pong);
  EXPECT_EQ(times[2].memory, BenchmarkTime::Memory::host);
  EXPECT_EQ(times[2].level, "network");
  EXPECT_EQ(times[2].bytes, 4096);
  EXPECT_DOUBLE_EQ(times[2].seconds, 3.25e-6);
}

TEST(BenchmarkTimes, ReadBandwidthsOfOsuAsTimesOfAMessage) {
  const auto one_way = parse_benchmark(osu_bw, "times.txt", network);
  EXPECT_EQ(one_way.back().test, BenchmarkTime::Test::streams);
  EXPECT_DOUBLE_EQ(one_way.back().seconds, 2e-6);
  const auto both = parse_benchmark(with(osu_bw, "Bandwidth Test", "Bi-Directional Bandwidth Test"), "x", network);
  EXPECT_DOUBLE_EQ(both.back().seconds, 4e-6) << "the sum of both directions is printed";
}

TEST(BenchmarkTimes, ReadHowManyPairsThereWere) {
  const std::string rates =
      "# OSU MPI Multiple Bandwidth / Message Rate Test v5.6.2\n# [ pairs: 28 ] [ window size: 64 ]\n"
      "# Size                  MB/s        Messages/s\n4096   8192.0   2000000.0\n";
  const auto times = parse_benchmark(rates, "times.txt", network);
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].pairs, 28);
  EXPECT_DOUBLE_EQ(times[0].seconds, 28 * 4096 / 8192e6);

  const std::string multi = "# OSU MPI Multi Latency Test v5.6.2\n# Size          Latency (us)\n8   2.5\n";
  EXPECT_EQ(refusal(multi), "times.txt: it does not say of how many pairs it is; name it as networkx28=FILE for 28.");
  const auto told = parse_benchmark(multi, "times.txt", BenchmarkPlace{"network", 14});
  EXPECT_EQ(told.at(0).test, BenchmarkTime::Test::many_pairs);
  EXPECT_EQ(told.at(0).pairs, 14);
}

TEST(BenchmarkTimes, ReadIntelsPingPongs) {
  const std::string imb =
      "#---------------------------------------------------\n# Benchmarking PingPong \n# #processes = 2 \n"
      "#---------------------------------------------------\n       #bytes #repetitions      t[usec]   Mbytes/sec\n"
      "            0         1000         1.10         0.00\n            8         1000         1.20         6.67\n\n"
      "#-----\n# Benchmarking Multi-PingPong \n# ( 28 groups of 2 processes each running simultaneous ) \n#-----\n"
      "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec\n"
      "            8         1000         2.00         2.40         2.20         3.00\n";
  const auto times = parse_benchmark(imb, "imb.txt", network);
  ASSERT_EQ(times.size(), 2U);
  EXPECT_DOUBLE_EQ(times[0].seconds, 1.2e-6);
  EXPECT_EQ(times[1].test, BenchmarkTime::Test::many_pairs);
  EXPECT_EQ(times[1].pairs, 28);
  EXPECT_DOUBLE_EQ(times[1].seconds, 2.2e-6);
}

TEST(BenchmarkTimes, ReadTables) {
  const std::string table =
      "# from somewhere\ntest,memory,locality,active_pairs,messages,bytes,seconds,run\n"
      "ping-pong,host,node,1,1,8,5e-7,1\nburst,device,network,,16,8,1e-5,1\ncopy,d2h,socket,1,1,1024,1.3e-5,1\n"
      "many-pairs-split,host,node,2,1,8,5e-7,1\n";
  const auto times = parse_benchmark(table, "t.csv", std::nullopt);
  ASSERT_EQ(times.size(), 3U) << "a test that tells no parameter is passed over";
  EXPECT_EQ(times[0].level, "node");
  EXPECT_EQ(times[1].memory, BenchmarkTime::Memory::device);
  EXPECT_EQ(times[1].messages, 16);
  EXPECT_EQ(times[2].memory, BenchmarkTime::Memory::to_host);
}

TEST(BenchmarkTimes, OfAnotherProgramAreRefused) {
  for (const auto* const title :
       {"MPI Allreduce Latency Test", "MPI_Put Latency Test", "MPI Multi-threaded Latency Test"})
    EXPECT_EQ(refusal(with(osu_latency, "MPI Latency Test", title))
                  .find(std::string("times.txt, line 1: '# OSU ") + title + " v7.3' tells no parameter of a profile"),
              0U)
        << title;
  EXPECT_EQ(refusal(with(osu_latency, "MPI Latency Test", "MPI-CUDA Latency Test")), "accepted");
  EXPECT_NE(refusal("Linpack: 3 TFlop\n").find("it is no output of a benchmark that is known; use osu_latency"),
            std::string::npos);
  EXPECT_NE(refusal("# Benchmarking Allreduce\n#bytes t[usec]\n8 1\n").find("'Allreduce' tells no parameter"),
            std::string::npos);
}

TEST(BenchmarkTimes, OfATableTellTheirLevelsThemselves) {
  EXPECT_EQ(refusal("test,memory,locality,active_pairs,messages,bytes,seconds\nping-pong,host,node,1,1,8,5e-7\n"),
            "times.txt: a table tells the levels of its rows; name it without network=.");
  EXPECT_EQ(refusal("[ 5] local 10.0.0.1 connected to 10.0.0.2, port 5201\n").find("times.txt: it is no output of a"),
            0U);
}

TEST(BenchmarkTimes, OfTwoBenchmarksInOneFileAreRefused) {
  EXPECT_EQ(refusal(osu_latency + osu_bw),
            "times.txt, line 7: here the output of a second benchmark begins; give each a file of its own.");
}

TEST(BenchmarkTimes, OfIntelsPairsThatAreNotToldOrTookNoTimeAreRefused) {
  const std::string multi =
      "# Benchmarking Multi-PingPong \n# (28 groups of 2 processes)\n#bytes #repetitions t_avg[usec]\n8 1000 2.2\n";
  EXPECT_EQ(parse_benchmark(multi, "imb.txt", network).at(0).pairs, 28);
  for (const auto* const line : {"", "# groups of 2 processes\n"})
    EXPECT_EQ(refusal(with(multi, "# (28 groups of 2 processes)\n", line)),
              "times.txt: it does not say of how many pairs it is; name it as networkx28=FILE for 28.");
  EXPECT_EQ(refusal(with(multi, "2.2", "0.00")),
            "times.txt, line 4: it took no time; give the file as the benchmark wrote it.");
}

TEST(BenchmarkTimes, HaveLinesThatEndAsOnAnySystem) {
  const auto ended = [](std::string text, const std::string& end) {
    for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + end.size()))
      text.replace(at, 1, end);
    return text;
  };
  for (const auto* const end : {"\r\n", "\r"})
    EXPECT_EQ(parse_benchmark(ended(osu_latency, end), "times.txt", network).size(), 3U);
}

TEST(BenchmarkTimes, OfFilesThatAreCutAreRefused) {
  EXPECT_EQ(refusal("# OSU MPI Latency Test v7.3\n"),
            "times.txt: it has no line '# Size …': it is cut; give the whole file.");
  EXPECT_EQ(refusal(osu_latency + "8192"), "times.txt, line 7: the line is cut; give the whole file.");
  EXPECT_EQ(refusal(osu_latency.substr(0, osu_latency.find("1    1.50"))),
            "times.txt: it has no times: it is cut; give the whole file.");
  EXPECT_EQ(refusal("test,memory,locality,active_pairs,messages,bytes,seconds\nping-pong,host,node,1", std::nullopt),
            "times.txt, line 2: it has 4 of 7 columns; give the whole file.");
}

TEST(BenchmarkTimes, WhoseLastNumberMayBeCutAreRefused) {
  EXPECT_EQ(
      refusal(osu_latency + "8192    4"),
      "times.txt, line 7: the line has no end, so its last number may be cut; give the whole file, or end the line.");
}

TEST(BenchmarkTimes, MayBeginWithAByteOrderMark) {
  EXPECT_EQ(parse_benchmark("\xEF\xBB\xBF" + osu_latency, "times.txt", network).size(), 3U);
  EXPECT_EQ(refusal("\xFF\xFE#"), "times.txt: it is written in UTF-16; save it as UTF-8.");
}

TEST(BenchmarkTimes, WithoutTheTitleOfTheirBenchmarkAreRefused) {
  EXPECT_EQ(refusal(osu_latency.substr(osu_latency.find("# Datatype"))),
            "times.txt, line 2: there is no title '# OSU …' above it; give the file as the benchmark wrote it.");
}

TEST(BenchmarkTimes, OfBuffersInTwoMemoriesAreRefused) {
  const auto buffers = [](const std::string& line) { return with(osu_latency, "# Datatype: MPI_CHAR.", line); };
  EXPECT_EQ(
      refusal(buffers("# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)")),
      "times.txt, line 2: one of its buffers is on a device, the other in host memory; give a file of D D or H H.");
  EXPECT_EQ(refusal(buffers("# Send Buffer on MANAGED (M) and Receive Buffer on MANAGED (M)")),
            "times.txt, line 2: its buffers are in managed memory; give a file of D D or H H.");
  EXPECT_EQ(parse_benchmark(buffers("# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)"), "x", network)
                .at(0)
                .memory,
            BenchmarkTime::Memory::device);
}

TEST(BenchmarkTimes, ThatNoMachineHasAreRefused) {
  const std::string columns = "test,memory,locality,active_pairs,messages,bytes,seconds\n";
  const auto row = [&](const std::string& end) {
    return refusal(columns + "ping-pong,host,node,1,1," + end, std::nullopt);
  };
  EXPECT_EQ(row("8,3.2\n"),
            "times.txt, line 2: 8 B would take 3.2 s, which is too slow for any machine; give seconds of "
            "one way, and bytes.");
  EXPECT_EQ(row("8,3.2e-12\n"),
            "times.txt, line 2: 8 B would take 0.0032 ns, which is too fast for any machine; give "
            "seconds of one way, and bytes.");
  EXPECT_NE(row("1073741824,1e-5\n").find("too fast for any machine"), std::string::npos);
  EXPECT_NE(row("8,-1e-6\n").find("line 2: '-1e-6' is no number of 0 or more"), std::string::npos);
  EXPECT_NE(row("8,inf\n").find("line 2: 'inf' is no number of 0 or more"), std::string::npos);
  EXPECT_NE(row("8,0\n").find("line 2: it took no time"), std::string::npos);
  EXPECT_EQ(row("8,1e-6\n"), "accepted");
  EXPECT_EQ(refusal(with(osu_latency, "1.50", "0.0000015")),
            "times.txt, line 4: 1 B would take 0.0015 ns, which is too fast for any machine; give the file as the "
            "benchmark wrote it.");
  EXPECT_EQ(refusal(columns + "ping-pong,host,netwrok,1,1,8,1e-6\n", std::nullopt),
            "times.txt, line 2: there is no level 'netwrok'; use cache, numa, socket, node, group or network.");
}

TEST(BenchmarkTimes, InOtherUnitsAreRefused) {
  EXPECT_EQ(refusal(with(osu_latency, "Latency(us)", "Latency(ms)")),
            "times.txt, line 3: its column is not in (us); give the file as the benchmark wrote it.");
  EXPECT_EQ(refusal(with(osu_bw, "(MB/s)", "(GB/s)")),
            "times.txt, line 2: its column is not in MB/s; give the file as the benchmark wrote it.");
  EXPECT_NE(refusal(with(osu_latency, "3.25", "3,25")).find("'3,25' is no number of 0 or more"), std::string::npos);
}

TEST(BenchmarkTimes, OfAFileWhoseRanksAreNotToldAreRefused) {
  EXPECT_EQ(refusal(osu_latency, std::nullopt),
            "times.txt: it does not say where its ranks were; name it as LEVEL=FILE, for example network=times.txt.");
}

TEST(BenchmarkTimes, OfTablesThatLackAColumnOrHaveAnUnknownTestAreRefused) {
  EXPECT_EQ(
      refusal("# a, b\n", std::nullopt),
      "times.txt: it has no line of column names; write test,memory,locality,active_pairs,messages,bytes,seconds.");
  EXPECT_EQ(refusal("test,memory\n", std::nullopt),
            "times.txt, line 1: it has no column 'locality'; write "
            "test,memory,locality,active_pairs,messages,bytes,seconds.");
  EXPECT_NE(
      refusal("test,memory,locality,active_pairs,messages,bytes,seconds\npong,host,node,1,1,8,1e-6\n", std::nullopt)
          .find("there is no test 'pong'"),
      std::string::npos);
}

}  // namespace
}  // namespace commpass
