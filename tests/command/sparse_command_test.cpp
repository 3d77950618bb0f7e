// commpass predict --sparse: the choice of the library, and refused arguments.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "command/run.hpp"
#include "model/base/json.hpp"
#include "model/machine/profile.hpp"
#include "model/machine/profile_lookup.hpp"
#include "model/machine/stand_ins.hpp"
#include "model/pattern/generate.hpp"
#include "selector/choose/sparse_choice.hpp"

namespace commpass {
namespace {

using test::expect_one_sentence;

test::Result predict_sparse(const std::string& arguments) {
  return test::run(COMMPASS_TEST_COMMAND " predict --profile lassen " + arguments);
}

const std::string random_pattern = "--generate random:ranks=16,bytes=64,degree=4 ";

struct SparseCase {
  const char *pattern, *layout, *sizes;
};

class PredictSparse : public testing::TestWithParam<SparseCase> {};

TEST_P(PredictSparse, IsWhatTheLibraryWouldChooseBy) {
  const auto& [text, layout_text, sizes] = GetParam();
  const auto result =
      predict_sparse(fmt::format("--generate '{}' --layout {} --sparse {} --json", text, layout_text, sizes));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = Json::parse(result.out);
  EXPECT_EQ(json["context"]["sizes"], sizes);
  const auto pattern = generate_pattern(text);
  const auto layout = parse_layout(layout_text, pattern.ranks);
  const auto machine = with_stand_ins(read_profile(std::string(COMMPASS_TEST_PROFILES) + "/lassen.json").machine);
  const auto expected =
      SparseChoice(layout, machine, std::string(sizes) == "constant").rank(traffic_of(pattern, layout));
  ASSERT_EQ(json["ranking"].size(), expected.size());
  EXPECT_EQ(json["chosen"], to_string(expected.front().strategy));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(json["ranking"][i]["strategy"], to_string(expected[i].strategy));
    EXPECT_DOUBLE_EQ(json["ranking"][i]["predicted_s"].get<double>(), expected[i].seconds);
    Seconds sum = 0;
    for (const auto& stage : json["ranking"][i]["stages"]) sum += stage["seconds"].get<double>();
    EXPECT_DOUBLE_EQ(sum, expected[i].seconds);
  }
}

INSTANTIATE_TEST_SUITE_P(Patterns, PredictSparse,
                         testing::Values(SparseCase{"random:ranks=16,bytes=64,degree=4", "4x4", "constant"},
                                         SparseCase{"random:ranks=16,bytes=64,degree=4", "4x2x2", "variable"},
                                         SparseCase{"random:ranks=7,bytes=1KiB,degree=2", "0,0,0,0,1,1,2", "variable"},
                                         SparseCase{"stencil:dims=4x3,bytes=2KiB", "0,1,1,1,1,1,1,1,2,2,2,2",
                                                    "constant"},
                                         SparseCase{"alltoall:ranks=1,bytes=8", "1x1", "constant"},
                                         SparseCase{"alltoall:ranks=6,bytes=8", "1x6", "variable"}));

TEST(SparsePrediction, OfRanksThatSendNothingIsPriced) {
  const test::TemporaryDirectory directory;
  const auto one = directory.write("one.mtx", "%%MatrixMarket matrix coordinate integer general\n6 6 1\n1 4 80\n");
  const auto none = directory.write("none.mtx", "%%MatrixMarket matrix coordinate integer general\n6 6 0\n");
  for (const auto& file : {one, none}) {
    const auto result = predict_sparse("--ppn 2 --sparse constant --json --pattern " + file);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto json = Json::parse(result.out);
    for (const auto& row : json["ranking"])
      EXPECT_GT(row["predicted_s"].get<double>(), 0) << row["strategy"] << ": that nothing comes has to be found, too";
  }
}

TEST(SparsePrediction, OfALargeAllToAllMakesNoEdges) {
  const auto result = predict_sparse("--generate alltoall:ranks=16384,bytes=8 --ppn 32 --sparse constant --top 1");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("more\n"), std::string::npos) << result.out;
}

TEST(SparsePrediction, PricesNamedStrategiesAndTellsWhichHaveNoPrice) {
  const auto named = random_pattern + "--ppn 4 --sparse variable --strategy direct+rma --strategy direct+nbx ";
  const auto json = Json::parse(predict_sparse(named + "--json").out);
  ASSERT_EQ(json["ranking"].size(), 1U);
  EXPECT_EQ(json["ranking"][0]["strategy"], "direct+nbx");
  EXPECT_EQ(json["not_priced"],
            Json::parse(R"([{"strategy": "direct+rma", "reason": "rma needs messages of one size"}])"));
  const auto table = predict_sparse(named).out;
  EXPECT_NE(table.find("  direct+rma has no price: rma needs messages of one size\n"), std::string::npos) << table;
  EXPECT_NE(table.find("* direct+nbx"), std::string::npos) << table;
  const auto csv = predict_sparse(named + "--csv");
  EXPECT_EQ(csv.out.find("strategy,chosen,predicted_s,messages_per_stage\ndirect+nbx,1,"), 0U) << csv.out;
  expect_one_sentence(predict_sparse(random_pattern + "--ppn 4 --sparse variable --strategy direct+rma"),
                      {"direct+rma", "one size"});
}

TEST(SparsePrediction, ExplainsAStrategyStageByStage) {
  const auto text = predict_sparse(random_pattern + "--ppn 4 --sparse constant --top 2 --explain two-step+nbx").out;
  for (const char* part : {"two-step+nbx: ", "  stage 1: among ", "  stage 2: among ", "Not chosen: two-step+nbx is "})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  const auto json = predict_sparse(random_pattern + "--ppn 4 --sparse constant --json --explain direct+nbx");
  EXPECT_FALSE(Json::parse_or_null(json.out).is_null());
  EXPECT_NE(json.err.find("direct+nbx: "), std::string::npos) << json.err;
}

TEST(SparsePrediction, RefusesWhatMeansNothingToIt) {
  const auto sparse = random_pattern + "--ppn 4 --sparse constant ";
  expect_one_sentence(predict_sparse(sparse + "--calls 3"), {"--calls", "no plan"});
  expect_one_sentence(predict_sparse(sparse + "--sweep bytes=8..64"), {"--sweep"});
  expect_one_sentence(predict_sparse(sparse + "--memory device"), {"--memory device"});
  expect_one_sentence(predict_sparse(sparse + "--model postal"), {"--model postal", "burst"});
  expect_one_sentence(predict_sparse(sparse + "--strategy standard"), {"standard", "ROUTE+DISCOVERY"});
  expect_one_sentence(predict_sparse(sparse + "--trace /dev/null"), {"--trace"});
  expect_one_sentence(predict_sparse(sparse + "--svg x.svg"), {"--svg"});
  expect_one_sentence(predict_sparse("--generate alltoallv:ranks=4,bytes=64,sizes=normal --ppn 2 --sparse constant"),
                      {"--sparse constant", "--sparse variable"});
  EXPECT_EQ(predict_sparse(sparse + "--one-shot").exit_code, 2);
  EXPECT_EQ(predict_sparse(random_pattern + "--ppn 4 --sparse some").exit_code, 2);
}

}  // namespace
}  // namespace commpass
