// Choices among a library's own algorithms, and the files that tell them.
#include "selector/choose/tuning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "model/base/json.hpp"
#include "model/machine/profile.hpp"
#include "model/support.hpp"
#include "selector/choose/library_price.hpp"
#include "selector/report/tuning_files.hpp"

namespace commpass {
namespace {

using testing::ElementsAre, testing::HasSubstr;

const TunedRanks& rules_of(const Tuning& tuning, int ranks) {
  return *std::ranges::find(tuning.ranks, ranks, &TunedRanks::ranks);
}

const TuningRule& rule_of(const TunedRanks& tuned, Bytes bytes) {
  const auto next = std::ranges::upper_bound(tuned.alltoall, bytes, {}, &TuningRule::bytes_from);
  return *(next - 1);
}

Machine machine_with_uncertainty(double uncertainty) {
  auto machine = test::small_cluster();
  machine.verdict = Verdict{};
  machine.verdict->uncertainty = uncertainty;
  return machine;
}

TEST(Tuning, IsForPowersOfTwoAndWholeNodes) {
  EXPECT_THAT(tuned_ranks(Layout::with_ppn(40, 8)), ElementsAre(4, 8, 16, 24, 32, 40));
  EXPECT_THAT(tuned_ranks(Layout::with_ppn(7, 3)), ElementsAre(3, 4, 6, 7));
  EXPECT_THAT(tuned_ranks(Layout::with_ppn(5, 1)), ElementsAre(3, 4, 5));
  EXPECT_THAT(tuned_ranks(Layout::with_ppn(2, 2)), ElementsAre());
}

// Each rule against all algorithms, priced anew.
TEST(Tuning, NamesTheCheapestAlgorithm) {
  const auto machine = test::small_cluster();
  const auto all = Layout::with_ppn(64, 8);
  for (const char* library : {"Open MPI 4.1", "MPICH 4"}) {
    const auto offers = offered_algorithms(library, LibraryFunction::alltoall);
    const auto tuning = find_tuning(library, all, machine);
    EXPECT_EQ(tuning.library, library);
    int named = 0;
    for (const auto& tuned : tuning.ranks) {
      ASSERT_EQ(tuned.alltoall.front().bytes_from, 0);
      const auto layout = Layout::with_ppn(tuned.ranks, 8);
      for (Bytes bytes = 1; bytes <= 1 << 20; bytes *= 4) {
        const auto own = library_algorithm(library, LibraryFunction::alltoall, tuned.ranks, static_cast<double>(bytes));
        const auto seconds_of = [&](const LibraryAlgorithm& each) {
          return price_algorithms(std::span(&each, 1), static_cast<double>(bytes), layout, machine)
              .front()
              .cost.seconds;
        };
        Seconds least = seconds_of(own);
        for (const auto& offer : offers) least = std::min(least, seconds_of(offer));
        const auto& rule = rule_of(tuned, bytes);
        named += rule.algorithm ? 1 : 0;
        EXPECT_DOUBLE_EQ(seconds_of(rule.algorithm.value_or(own)), least) << tuned.ranks << " ranks, " << bytes;
      }
    }
    EXPECT_GT(named, 0) << library;
  }
}

TEST(Tuning, LeavesTiesToTheLibrary) {
  const auto count = [](const Tuning& tuning) {
    std::ptrdiff_t named = 0;
    for (const auto& tuned : tuning.ranks)
      named += std::ranges::count_if(tuned.alltoall, [](const TuningRule& rule) { return rule.algorithm.has_value(); });
    return named;
  };
  const auto layout = Layout::with_ppn(64, 8);
  const auto tuning = find_tuning("Open MPI 4.1", layout, machine_with_uncertainty(0.2));
  EXPECT_LT(count(tuning), count(find_tuning("Open MPI 4.1", layout, test::small_cluster())));
  for (const auto& tuned : tuning.ranks)
    for (const auto& rule : tuned.alltoall)
      EXPECT_TRUE(!rule.algorithm || rule.library_s > 1.2 * rule.seconds) << tuned.ranks;
  EXPECT_EQ(count(find_tuning("Open MPI 4.1", layout, machine_with_uncertainty(1e6))), 0);
}

TEST(Tuning, KeepsLimitsOfTheMachineFirst) {
  auto machine = machine_with_uncertainty(0);
  machine.limits.messages_off_node = 32;
  const auto tuning = find_tuning("Open MPI 4.1", Layout::with_ppn(64, 8), machine);
  const auto& tuned = rules_of(tuning, 64);
  for (Bytes bytes = 1; bytes <= 1 << 20; bytes *= 2)
    EXPECT_TRUE(!rule_of(tuned, bytes).algorithm || rule_of(tuned, bytes).algorithm->name != "linear")
        << "it has 56 messages in flight between nodes";
  const auto& large = rule_of(tuned, 8192);
  ASSERT_TRUE(large.algorithm) << "by itself Open MPI takes the linear algorithm";
  EXPECT_EQ(large.algorithm->name, "pairwise");
  EXPECT_STREQ(large.exceeded_limit, "messages_off_node");
  ASSERT_TRUE(tuned.alltoallv == std::nullopt) << "by itself it is pairwise on 64 ranks";
  const auto& fewer = rules_of(tuning, 48);
  ASSERT_TRUE(fewer.alltoallv) << "by itself it is linear on 48 ranks";
  EXPECT_EQ(fewer.alltoallv->name, "pairwise");
}

Tuning two_rules() {
  const auto offers = offered_algorithms("Open MPI 4.1", LibraryFunction::alltoall);
  return {"Open MPI 4.1", {{4, {{0, offers[2]}, {64, {}}}, offers[1]}, {12, {{0, offers[0]}}, {}}}};
}

TEST(TuningFiles, OfOpenMpiAreInItsFormat) {
  const auto text = open_mpi_rules(two_rules(), {{"profile", "mine"}, {"layout", "3 nodes x 4 ranks"}});
  EXPECT_TRUE(text.starts_with("# ")) << text;
  EXPECT_THAT(text, HasSubstr("\n# profile: mine\n# layout: 3 nodes x 4 ranks\n"));
  std::istringstream lines(text);
  std::vector<std::string> numbers;
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find('#'));
    line.erase(line.find_last_not_of(' ') + 1);
    if (!line.empty()) numbers.push_back(line);
  }
  // Collectives; MPI_Alltoall; for fewer ranks, for 4 and more and for 12 and more the sizes of all blocks of a rank.
  EXPECT_THAT(numbers,
              ElementsAre("2", "3", "3", "0", "1", "0 0 0 0", "4", "2", "0 3 0 0", "256 0 0 0", "12", "1", "0 1 0 0",
                          "4", "3", "0", "1", "0 0 0 0", "4", "1", "0 2 0 0", "12", "1", "0 0 0 0"));
}

const std::string own_rules =
    R"({"collective=bcast":{"algorithm=B":{}},"collective=alltoall":{"comm_type=intra":{"is_sendbuf_inplace=yes":)"
    R"({"algorithm=R":{}},"is_sendbuf_inplace=no":{"comm_size<8":{"algorithm=S":{}},"comm_size=any":{"algorithm=P":{}}}},)"
    R"("comm_type=inter":{"algorithm=I":{}}}})";

TEST(TuningFiles, OfMpichReplaceItsRulesOfAlltoall) {
  const auto offers = offered_algorithms("MPICH 4", LibraryFunction::alltoall);
  const Tuning tuning{"MPICH 4", {{4, {{0, offers[2]}, {64, {}}}, {}}, {12, {{0, offers[0]}}, {}}}};
  const auto text = mpich_rules(tuning, mpich_own_rules(own_rules, "own"), {{"profile", "a */ b"}});
  ASSERT_TRUE(text.starts_with("/*\n")) << text;
  const auto end = text.find("*/");
  EXPECT_THAT(text.substr(0, end), HasSubstr("profile: a * / b"));
  const auto json = Json::parse(text.substr(end + 2));
  EXPECT_EQ(json["collective=bcast"].dump(), R"({"algorithm=B":{}})");
  const auto& alltoall = json["collective=alltoall"];
  EXPECT_EQ(alltoall["comm_type=inter"].dump(), R"({"algorithm=I":{}})");
  EXPECT_EQ(alltoall["comm_type=intra"]["is_sendbuf_inplace=yes"].dump(), R"({"algorithm=R":{}})");
  const std::string own = R"({"comm_size<8":{"algorithm=S":{}},"comm_size=any":{"algorithm=P":{}}})";
  EXPECT_EQ(
      alltoall["comm_type=intra"]["is_sendbuf_inplace=no"].dump(),
      R"({"comm_size<=3":)" + own +
          R"(,"comm_size<=11":{"avg_msg_size<=63":{"algorithm=MPIR_Alltoall_intra_brucks":{}},"avg_msg_size=any":)" +
          own + R"(},"comm_size=any":{"avg_msg_size=any":{"algorithm=MPIR_Alltoall_intra_scattered":{}}}})");
}

TEST(TuningFiles, OfMpichFindItsRulesInItsLibrary) {
  const std::string other = R"({"collective=alltoall":{"comm_type=intra":{"composition=C":{}}}})";
  const auto library = std::string(
                           "\x7f"
                           "ELF\0",
                           5) +
                       other + '\0' + "text" + own_rules + '\0' + "more";
  EXPECT_EQ(mpich_own_rules(library, "libmpich.so"), Json::parse(own_rules));
  for (const auto& wrong : {std::string(), std::string("no rules"), other, std::string("{"), std::string("[]"),
                            std::string("\x7f"
                                        "ELF\0",
                                        5) +
                                other + '\0',
                            own_rules.substr(1)})
    try {
      mpich_own_rules(wrong, "libmpich.so");
      ADD_FAILURE() << wrong;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("libmpich.so"));
    }
}

}  // namespace
}  // namespace commpass
