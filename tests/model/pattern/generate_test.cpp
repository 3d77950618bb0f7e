#include "model/pattern/generate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "model/support.hpp"

namespace commpass {
namespace {

using test::error_of;
using test::expect_sentence;

std::vector<int> degrees(const Pattern& pattern) {
  std::vector<int> count(static_cast<std::size_t>(pattern.ranks));
  for (const auto& edge : pattern.edges) ++count[static_cast<std::size_t>(edge.source)];
  return count;
}

std::vector<Bytes> sizes(const Pattern& pattern) {
  std::vector<Bytes> result;
  for (const auto& edge : pattern.edges) result.push_back(edge.bytes);
  return result;
}

const char* const samples[] = {"alltoall:ranks=5,bytes=16KiB",
                               "uniform:ranks=6,bytes=99",
                               "normal:ranks=6,bytes=99",
                               "power-law:ranks=6,bytes=1MiB,exponent=1.5",
                               "random:ranks=9,bytes=8,degree=4,seed=3",
                               "fft:ranks=7",
                               "fft:ranks=5,problem=n2",
                               "stencil:dims=3x4,bytes=8,points=box,periodic=no",
                               "allgather:ranks=5,bytes=9"};

TEST(Generators, GiveTheSamePatternForTheSameText) {
  for (const auto* text : samples) {
    const auto pattern = generate_pattern(text);
    EXPECT_EQ(generate_pattern(text).edges, pattern.edges) << text;
    EXPECT_FALSE(pattern.edges.empty()) << text;
    EXPECT_NO_THROW(pattern.validate());
  }
}

TEST(Generators, UseTheSeed) {
  EXPECT_EQ(generate_pattern("uniform:ranks=6,bytes=1000").edges,
            generate_pattern("uniform:seed=1,bytes=1000,ranks=6").edges)
      << "1 is the default";
  for (const std::string text : {"uniform:ranks=6,bytes=1000", "normal:ranks=6,bytes=1000",
                                 "power-law:ranks=6,bytes=1000", "random:ranks=20,bytes=8,degree=3"})
    EXPECT_NE(generate_pattern(text + ",seed=1").edges, generate_pattern(text + ",seed=2").edges) << text;
}

TEST(Generators, DoNotDependOnTheStandardLibrarysDistributions) {
  // The highest 53 bits of mt19937_64, which the standard defines, as a fraction.
  const auto pattern = generate_pattern("uniform:ranks=5,bytes=1000,seed=42");
  std::mt19937_64 engine(42);
  for (const auto& edge : pattern.edges)
    EXPECT_EQ(edge.bytes,
              static_cast<Bytes>(std::floor(static_cast<double>(engine() >> 11) / 9007199254740992.0 * 1001)));
}

TEST(AllToAll, GivesEveryOtherRankTheSame) {
  const auto pattern = generate_pattern("alltoall:ranks=5,bytes=16KiB");
  EXPECT_EQ(pattern.ranks, 5);
  EXPECT_EQ(pattern.edges, test::alltoall(5, 16 * 1024).edges);
}

TEST(UniformSizes, FillTheirRange) {
  const auto drawn = sizes(generate_pattern("uniform:ranks=40,bytes=10"));
  EXPECT_EQ(drawn.size(), 40U * 39U);
  const std::set<Bytes> different(drawn.begin(), drawn.end());
  EXPECT_EQ(different, (std::set<Bytes>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(AllToAllV, IsOneOfTheOthersAndKnowsItsMean) {
  EXPECT_EQ(generate_pattern("alltoallv:ranks=9,bytes=70").edges, generate_pattern("uniform:ranks=9,bytes=70").edges);
  EXPECT_EQ(generate_pattern("alltoallv:ranks=9,bytes=70,sizes=normal,seed=4").edges,
            generate_pattern("normal:ranks=9,bytes=70,seed=4").edges);
  EXPECT_EQ(generate_pattern("alltoallv:ranks=9,bytes=70,sizes=power-law,exponent=3").edges,
            generate_pattern("power-law:ranks=9,bytes=70,exponent=3").edges);
  for (const char* arguments : {"", ",sizes=normal", ",sizes=power-law", ",sizes=power-law,exponent=1.5"}) {
    const auto text = std::string("alltoallv:ranks=400,bytes=5000") + arguments;
    const auto drawn = sizes(generate_pattern(text));
    const double mean = std::accumulate(drawn.begin(), drawn.end(), 0.0) / static_cast<double>(drawn.size());
    const auto expected = parse_alltoallv(text);
    ASSERT_TRUE(expected);
    EXPECT_EQ(expected->ranks, 400);
    EXPECT_NEAR(mean / expected->mean_bytes, 1, 0.05) << text;
    double squares = 0;
    for (const auto size : drawn) squares += static_cast<double>(size) * static_cast<double>(size);
    const double variance = squares / static_cast<double>(drawn.size()) / (mean * mean) - 1;
    EXPECT_NEAR(variance / expected->size_variance, 1, 0.15) << text;
  }
  EXPECT_EQ(parse_alltoallv("alltoallv:ranks=16384,bytes=16KiB")->mean_bytes, 8192);
  EXPECT_EQ(parse_alltoallv("alltoallv:ranks=4,bytes=0,sizes=power-law")->mean_bytes, 0);
  EXPECT_FALSE(parse_alltoallv("alltoall:ranks=4,bytes=8"));
  expect_sentence(error_of([] { parse_alltoallv("alltoallv:ranks=4,bytes=8,sizes=odd"); }),
                  {"'odd' is no value of sizes", "power-law"});
}

TEST(NormalSizes, LieAroundTheMiddleWithASixthAsDeviation) {
  const auto drawn = sizes(generate_pattern("normal:ranks=80,bytes=6000"));
  double sum = 0, squares = 0;
  for (const auto size : drawn) {
    EXPECT_GE(size, 0);
    EXPECT_LE(size, 6000);
    sum += static_cast<double>(size);
    squares += std::pow(static_cast<double>(size) - 3000, 2);
  }
  const auto count = static_cast<double>(drawn.size());
  const double deviation = 1000;
  EXPECT_NEAR(sum / count, 3000, 4 * deviation / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(squares / count), deviation, 0.05 * deviation);
}

TEST(PowerLawSizes, AreFewLargeAndManySmall) {
  const auto drawn = sizes(generate_pattern("power-law:ranks=80,bytes=4096,exponent=2"));
  std::map<bool, int> above_ten;
  for (const auto size : drawn) {
    EXPECT_GE(size, 1);
    EXPECT_LE(size, 4096);
    ++above_ten[size > 10];
  }
  // P(s > x) = x^-(exponent − 1) = 1/10.5 after rounding.
  const double count = static_cast<double>(drawn.size()), p = 1 / 10.5;
  EXPECT_NEAR(above_ten[true] / count, p, 4 * std::sqrt(p * (1 - p) / count));
}

TEST(RandomDestinations, AreDistinctAndNeverOneself) {
  for (const int degree : {0, 1, 7, 19}) {
    const auto pattern = generate_pattern("random:ranks=20,bytes=8,degree=" + std::to_string(degree));
    EXPECT_EQ(degrees(pattern), std::vector(20, degree));
    std::set<std::pair<Rank, Rank>> pairs;
    for (const auto& edge : pattern.edges) {
      EXPECT_NE(edge.source, edge.destination);
      EXPECT_TRUE(pairs.insert({edge.source, edge.destination}).second);
      EXPECT_EQ(edge.bytes, 8);
    }
  }
}

TEST(RandomDestinations, ReachAllRanksAlike) {
  std::vector<int> received(10);
  for (int seed = 1; seed <= 200; ++seed)
    for (const auto& edge : generate_pattern("random:ranks=10,bytes=1,degree=3,seed=" + std::to_string(seed)).edges)
      ++received[static_cast<std::size_t>(edge.destination)];
  const double mean = 200 * 3,
               deviation = std::sqrt(200 * 9 * (1.0 / 3) * (2.0 / 3));  // binomial: 9 others, each with 3/9
  for (const int count : received) EXPECT_NEAR(count, mean, 5 * deviation);
}

/// The bytes of all blocks, those that ranks keep included: each is as large as the others of its rank.
Bytes bytes_with_own_blocks(const Pattern& pattern, const std::set<Rank>& keep_a_block) {
  Bytes sum = 0;
  for (const auto& edge : pattern.edges) sum += edge.bytes;
  for (const Rank rank : keep_a_block) sum += std::ranges::find(pattern.edges, rank, &Edge::source)->bytes;
  return sum;
}

TEST(FftSizes, AreThoseOfTheTunaPaper) {
  // P = 16: ⌈12.5⌉ = 13 blocks of each of the 10 workers, 8 values of 8 bytes each.
  const auto sparse = generate_pattern("fft:ranks=16");
  EXPECT_EQ(bytes_with_own_blocks(sparse, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), 13 * 10 * 8 * 8);
  auto expected = std::vector(16, 0);
  std::fill_n(expected.begin(), 10, 12);
  EXPECT_EQ(degrees(sparse), expected);
  for (const auto& edge : sparse.edges) EXPECT_LT(edge.destination, 13);

  // P = 5: ((5 − 1)·32 + 8)·5 complex numbers of 16 bytes.
  const auto dense = generate_pattern("fft:ranks=5,problem=n2");
  EXPECT_EQ(bytes_with_own_blocks(dense, {0, 1, 2, 3, 4}), ((5 - 1) * 32 + 8) * 5 * 16);
  EXPECT_EQ(degrees(dense), std::vector(5, 4));
  for (const auto& edge : dense.edges) EXPECT_EQ(edge.bytes, edge.source == 4 ? 16 * 8 : 64 * 8);
}

TEST(FftSizes, RoundUpAsThePaperDoes) {
  // P = 3: ⌈2.34⌉ = 3 blocks of ⌈1.875⌉ = 2 workers. P = 8: exactly 5 workers, ⌈6.25⌉ = 7 blocks.
  EXPECT_EQ(degrees(generate_pattern("fft:ranks=3")), (std::vector{2, 2, 0}));
  EXPECT_EQ(degrees(generate_pattern("fft:ranks=8")), (std::vector{6, 6, 6, 6, 6, 0, 0, 0}));
}

TEST(Stencils, OfManyDimensionsHaveTwoNeighboursInEach) {
  EXPECT_EQ(degrees(generate_pattern("stencil:dims=3x3x3x3x3,bytes=8")), std::vector(243, 10));
  EXPECT_EQ(degrees(generate_pattern("stencil:dims=3x3x3x3,bytes=8,points=box")), std::vector(81, 80));
}

TEST(Stencils, HaveTheNeighboursOfAGrid) {
  EXPECT_EQ(degrees(generate_pattern("stencil:dims=4x4x4,bytes=8")), std::vector(64, 6));
  EXPECT_EQ(degrees(generate_pattern("stencil:dims=4x4x4,bytes=8,points=box")), std::vector(64, 26));
  EXPECT_EQ(degrees(generate_pattern("stencil:dims=5x5,bytes=8,points=box")), std::vector(25, 8));
  // Without wrapping, each of the d dimensions has (k−1)·(the others) pairs, and each pair two edges.
  EXPECT_EQ(generate_pattern("stencil:dims=3x4x5,bytes=8,periodic=no").edges.size(),
            2U * (2 * 4 * 5 + 3 * 3 * 5 + 3 * 4 * 4));
  // Neighbours (x ± 1, y) and (x, y ± 1) of the corner of a 3 × 4 grid, the first dimension fastest.
  std::set<Rank> of_corner;
  for (const auto& edge : generate_pattern("stencil:dims=3x4,bytes=8").edges)
    if (edge.source == 0) of_corner.insert(edge.destination);
  EXPECT_EQ(of_corner, (std::set<Rank>{1, 2, 3, 9}));
}

TEST(Stencils, AreSymmetric) {
  for (const auto* text : {"stencil:dims=3x4,bytes=8,points=box,periodic=no", "stencil:dims=4x3x2,bytes=8"}) {
    std::multiset<std::pair<Rank, Rank>> there, back;
    for (const auto& edge : generate_pattern(text).edges) {
      there.insert({edge.source, edge.destination});
      back.insert({edge.destination, edge.source});
    }
    EXPECT_EQ(there, back) << text;
  }
}

TEST(GeneratorText, ThatIsWrongIsRefused) {
  struct Bad {
    const char* text;
    std::vector<std::string> parts;
  };
  const Bad bad[] = {
      {"", {"there is no kind ''", "alltoall", "stencil"}},
      {"nonsense:ranks=3", {"generator nonsense:ranks=3", "there is no kind 'nonsense'", "alltoall"}},
      {"alltoall", {"'ranks' is missing", "alltoall:ranks="}},
      {"alltoall:", {"'ranks' is missing"}},
      {"alltoall:ranks=4", {"'bytes' is missing"}},
      {"alltoall:ranks=4,bytes=8,bytes=8", {"'bytes' is given twice"}},
      {"alltoall:ranks=4,bytes=8,", {"'' is not understood"}},
      {"alltoal:ranks=4,bytes=8", {"there is no kind 'alltoal'", "did you mean alltoall", "commpass patterns"}},
      {"alltoall:ranks=4,byte=8", {"'byte=8' is not understood", "did you mean bytes? Use alltoall:ranks=…,bytes=…"}},
      {"alltoall:ranks=4,bytes", {"'bytes' is not understood", "use alltoall:ranks=…,bytes=…"}},
      {"alltoall:ranks=4,bytes=16k", {"bytes=16k is ambiguous", "write 16KiB (powers of 1024) or 16kB"}},
      {"alltoall:ranks=4,bytes=0.3", {"bytes=0.3 is no whole number of bytes"}},
      {"stencil:dims=4x4,bytes=8,points=fces", {"'fces' is no value of points", "faces or box"}},
      {"alltoall:ranks=4,bytes=8,speed=1", {"'speed=1' is not understood"}},
      {"alltoall:ranks=4,bytes", {"'bytes' is not understood"}},
      {"alltoall:ranks=0,bytes=8", {"ranks=0 is out of range", "1 to"}},
      {"alltoall:ranks=4 bytes=8", {"'ranks=4 bytes=8' is not understood", "alltoall:ranks=…,bytes=…"}},
      {"alltoall:ranks=4;bytes=8", {"'ranks=4;bytes=8' is not understood"}},
      {"alltoall:ranks=4.0,bytes=8", {"ranks=4.0 is out of range", "a whole number from 1 to"}},
      {"alltoall:ranks=-4,bytes=8", {"ranks=-4 is out of range"}},
      {"alltoall:ranks=4294967300,bytes=8", {"ranks=4294967300 is out of range"}},
      {"alltoall:ranks=1000000,bytes=8", {"too many edges"}},
      {"alltoall:ranks=4,bytes=2TiB", {"bytes=2TiB is out of range", "at most 1TiB"}},
      {"alltoall:ranks=4,bytes=-1", {"bytes=-1 is no size"}},
      {"alltoall:ranks=4,bytes=2000GiB", {"bytes=2000GiB is out of range"}},
      {"uniform:ranks=4,bytes=8,seed=-1", {"seed=-1 is out of range"}},
      {"power-law:ranks=4,bytes=8,exponent=1", {"exponent=1 is out of range"}},
      {"power-law:ranks=4,bytes=8,exponent=nan", {"exponent=nan is out of range"}},
      {"random:ranks=4,bytes=8,degree=4", {"degree=4 is out of range", "0 to 3"}},
      {"random:ranks=1000000,bytes=8,degree=999999", {"too many edges"}},
      {"fft:ranks=4,problem=n3", {"'n3' is no value of problem", "n1 or n2"}},
      {"fft:ranks=1000000", {"too many edges"}},
      {"stencil:dims=,bytes=8", {"dims= is out of range"}},
      {"stencil:dims=0x4,bytes=8", {"dims=0x4 is out of range"}},
      {"stencil:dims=4x,bytes=8", {"dims=4x is out of range"}},
      {"stencil:dims=65536x65536,bytes=8", {"dims=65536x65536 is out of range", "at most 1048576 ranks"}},
      {"stencil:dims=1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1,bytes=8",
       {"too many edges"}},
      {"stencil:dims=4,bytes=8,points=star", {"'star' is no value of points", "faces or box"}},
      {"stencil:dims=4,bytes=8,periodic=true", {"'true' is no value of periodic", "yes or no"}}};
  for (const auto& [text, parts] : bad) {
    SCOPED_TRACE(text);
    expect_sentence(error_of([&, t = std::string(text)] { generate_pattern(t); }), parts);
  }
}

TEST(GeneratorText, ForMoreEdgesThanTheCallerTakesIsRefused) {
  EXPECT_EQ(generate_pattern("alltoall:ranks=5,bytes=8", 20).edges.size(), 20U);
  expect_sentence(error_of([] { generate_pattern("alltoall:ranks=5,bytes=8", 19); }), {"too many edges", "at most 19"});
}

/// The most digits that follow each other.
std::size_t longest_number(const std::string& text) {
  std::size_t longest = 0, length = 0;
  for (const char c : text) {
    length = c >= '0' && c <= '9' ? length + 1 : 0;
    longest = std::max(longest, length);
  }
  return longest;
}

TEST(GeneratorText, SurvivesDamage) {
  for (const auto* text : samples)
    test::expect_robust(text, [](const std::string& damaged) {
      constexpr std::size_t small = 2;  // thousands of ranks are a valid wish, and take long
      if (longest_number(damaged) <= small) generate_pattern(damaged).validate();
    });
}

TEST(AllGather, GivesEveryOtherRankTheSameBytes) {
  auto expected = test::alltoall(5, 300);
  for (auto& edge : expected.edges) edge.payload = 0;
  EXPECT_EQ(generate_pattern("allgather:ranks=5,bytes=300").edges, expected.edges);
}

TEST(Generators, GiveAllEdgesOfARankTheSameBytesIfAsked) {
  for (const std::string text : {"random:ranks=20,bytes=8,degree=3", "stencil:dims=3x4,bytes=8"}) {
    auto expected = generate_pattern(text).edges;
    EXPECT_EQ(generate_pattern(text + ",payload=own").edges, expected) << text;
    for (auto& edge : expected) {
      EXPECT_EQ(edge.payload, no_payload);
      edge.payload = 0;
    }
    EXPECT_EQ(generate_pattern(text + ",payload=same").edges, expected) << text;
    expect_sentence(error_of([&] { generate_pattern(text + ",payload=none"); }), {"payload=none", "own or same"});
  }
}

}  // namespace
}  // namespace commpass
