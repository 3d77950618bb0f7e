#include "model/pattern/pattern.hpp"

#include <gtest/gtest.h>

#include "model/support.hpp"

namespace commpass {
namespace {

using test::error_of;
using test::expect_sentence;

const std::string sizes_header = "%%MatrixMarket matrix coordinate integer general\n";

class PatternFile : public testing::Test {
 protected:
  Pattern read(const std::string& text) { return read_pattern(directory_.write("p.mtx", text)); }
  test::TemporaryDirectory directory_;
};

TEST_F(PatternFile, HoldsTheBytesFromEachRankToEachOther) {
  const auto pattern = read(sizes_header + "3 3 3\n1 3 100\n3 1 0\n2 2 7\n");
  EXPECT_EQ(pattern.ranks, 3);
  EXPECT_EQ(pattern.edges, (std::vector<Edge>{{0, 2, 100}, {2, 0, 0}, {1, 1, 7}}));
}

TEST_F(PatternFile, MayBeSymmetricOrReal) {
  const auto symmetric = read("%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 5\n3 3 9\n");
  EXPECT_EQ(symmetric.edges, (std::vector<Edge>{{1, 0, 5}, {0, 1, 5}, {2, 2, 9}}));
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e3\n").edges,
            (std::vector<Edge>{{0, 0, 1000}}));
}

TEST_F(PatternFile, IsReadAsItWasWritten) {
  Pattern pattern{4, {{0, 1, 5}, {0, 1, 6}, {3, 2, 0}, {2, 2, Bytes{1} << 53}}};
  write_pattern(pattern, directory_.path("written.mtx"));
  const auto read_back = read_pattern(directory_.path("written.mtx"));
  EXPECT_EQ(read_back.ranks, pattern.ranks);
  EXPECT_EQ(read_back.edges, pattern.edges) << "also two edges of one pair, in their order";
}

TEST_F(PatternFile, ThatIsWrongIsRefused) {
  struct Bad {
    std::string text;
    std::vector<std::string> parts;
  };
  const Bad bad[] = {
      {sizes_header + "3 4 1\n1 1 1\n", {"p.mtx", "3 x 4", "--matrix"}},
      {sizes_header + "3 3 1\n1 2 -5\n", {"p.mtx, entry (1, 2)", "-5 is no number of bytes"}},
      {"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 2.5\n",
       {"p.mtx, entry (1, 2)", "2.5 is no number of bytes"}},
      {sizes_header + "3 3 1\n1 2 9007199254740994\n", {"p.mtx, entry (1, 2)", "is no number of bytes"}},  // 2⁵³ + 2
      {sizes_header + "3 3 1\n1 2 1e300\n", {"p.mtx, entry (1, 2)", "is no number of bytes"}},
      {"%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n", {"p.mtx", "no sizes", "integer"}},
      {"%%MatrixMarket matrix coordinate complex general\n3 3 1\n1 2 1 1\n", {"p.mtx", "no sizes"}},
      {"%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n2 1 4\n", {"p.mtx", "skew-symmetric"}},
      {sizes_header + "200000000 200000000 0\n", {"p.mtx", "200000000 ranks", "at most"}},
      {sizes_header + "3 3 1\n4 1 1\n", {"p.mtx, line 3", "outside"}},
      {"nothing", {"p.mtx", "nothing in it", "Matrix Market"}}};
  for (const auto& [text, parts] : bad) {
    SCOPED_TRACE(text);
    expect_sentence(error_of([&, t = text] { read(t); }), parts);
  }
}

TEST_F(PatternFile, WhoseSizesOverflowIsRefused) {
  std::string text = sizes_header + "1 1 1025\n";
  for (int i = 0; i < 1025; ++i) text += "1 1 9007199254740992\n";  // 1025 · 2⁵³ > 2⁶³
  expect_sentence(error_of([&] { read(text); }), {"p.mtx", "2^63"});
}

TEST_F(PatternFile, SurvivesDamage) {
  test::expect_robust(sizes_header + "3 3 3\n1 3 100\n3 1 0\n2 2 7\n",
                      [this](const std::string& damaged) { read(damaged).validate(); });
}

TEST(PatternCheck, NamesTheEdge) {
  expect_sentence(error_of([] { Pattern{2, {{0, 2, 1}}}.validate(); }), {"edge 0 -> 2", "out of range", "0 to 1"});
  expect_sentence(error_of([] { Pattern{2, {{-1, 1, 1}}}.validate("p"); }), {"p, edge -1 -> 1"});
  expect_sentence(error_of([] { Pattern{2, {{0, 1, -1}}}.validate(); }), {"-1 bytes"});
  expect_sentence(error_of([] { Pattern{}.validate(); }), {"0 ranks"});
  EXPECT_EQ(error_of([] { Pattern{1, {}}.validate(); }), "");
}

TEST_F(PatternFile, HasNoPlaceForPayloads) {
  expect_sentence(error_of([&] {
                    write_pattern({3, {{0, 1, 5, 0}, {0, 2, 5, 0}}}, directory_.path("shared.mtx"));
                  }),
                  {"shared.mtx", "same bytes"});
  EXPECT_TRUE(directory_.names().empty());
}

TEST(APayload, HasOneSize) {
  EXPECT_NO_THROW((Pattern{3, {{0, 1, 5, 0}, {0, 2, 5, 0}, {1, 2, 6, 0}, {0, 2, 7, 1}, {0, 1, 8}}}.validate()));
  expect_sentence(error_of([] {
                    Pattern{3, {{0, 1, 5, 0}, {0, 2, 6, 0}}}.validate();
                  }),
                  {"edge 0 -> 2", "6 bytes of a payload that has 5"});
}

}  // namespace
}  // namespace commpass
