// predict: other parameters, sweeps over them, sensitivity, the Pareto front.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "command/run.hpp"
#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"

namespace commpass {
namespace {

using test::contents_of;
using test::expect_one_sentence;
using test::run;
using test::TemporaryDirectory;

test::Result predict_what_if(const std::string& arguments) {
  return run(std::string(COMMPASS_TEST_COMMAND) + " predict --profile lassen " + arguments);
}
Json json_of_prediction(const std::string& arguments) {
  const auto result = predict_what_if(arguments + " --json");
  EXPECT_EQ(result.exit_code, 0) << arguments << ": " << result.err;
  return Json::parse(result.out);
}

const std::string what_if_pattern = " --generate random:ranks=64,bytes=64,degree=16 --ppn 8 ";

TEST(WhatIf, TakesKeysWithoutTheirOuterParts) {
  const auto full = json_of_prediction(what_if_pattern + "--set 'levels.network.*.*.alpha_s*2'");
  const auto brief = json_of_prediction(what_if_pattern + "--set 'network.alpha_s=*2'");
  EXPECT_EQ(brief["ranking"], full["ranking"]);
  EXPECT_NE(brief["ranking"], json_of_prediction(what_if_pattern)["ranking"]);
}

TEST(WhatIf, SweepsAParameterAsIfEachValueWereSet) {
  for (const auto& [range, sign, values] :
       {std::tuple("'network.alpha_s=*0.5..*2'", "*", std::vector<std::string>{"0.5", "1", "2"}),
        std::tuple("'network.alpha_s=*0.5,*2'", "*", std::vector<std::string>{"0.5", "2"}),
        std::tuple("node.up_rate_bytes_per_s=1e9..4e9:+1.5e9", "=", std::vector<std::string>{"1e9", "2.5e9", "4e9"}),
        std::tuple("local.copy_block_s=1e-8..1e-6:3", "=", std::vector<std::string>{"1e-8", "1e-7", "1e-6"})}) {
    const auto swept = json_of_prediction(what_if_pattern + "--sweep " + range);
    const std::string text = range;
    const auto begin = text.find_first_not_of('\'');
    const auto key = text.substr(begin, text.find('=') - begin);
    ASSERT_EQ(swept["points"].size(), values.size()) << range;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto point = swept["points"][i];
      EXPECT_NEAR(point[key + (*sign == '*' ? "*" : "")].get<double>() / std::stod(values[i]), 1, 1e-12) << range;
      const auto set = json_of_prediction(what_if_pattern + "--set '" + key + sign + values[i] + "'");
      EXPECT_EQ(point["chosen"], set["chosen"]) << range;
      EXPECT_NEAR(point["predicted_s"].get<double>() / set["ranking"][0]["predicted_s"].get<double>(), 1, 1e-9)
          << range;
    }
  }
}

TEST(WhatIf, SweepsListsOfValuesAndRanges) {
  const auto values = [](const std::string& sweep, const std::string& key) {
    std::vector<int> result;
    const auto swept = json_of_prediction("--ppn 8 --generate alltoall:ranks=64,bytes=8 --sweep " + sweep);
    for (std::size_t i = 0; i < swept["points"].size(); ++i) result.push_back(swept["points"][i][key].get<int>());
    return result;
  };
  EXPECT_EQ(values("ppn=4,20,40", "ppn"), (std::vector{4, 20, 40}));
  EXPECT_EQ(values("ppn=40,4,8..16,4", "ppn"), (std::vector{4, 8, 16, 40})) << "each once";
  EXPECT_EQ(values("bytes=8,1KiB,ppn=4,8", "bytes"), (std::vector{8, 8, 1024, 1024}));
  EXPECT_EQ(values("bytes=8,1KiB,ppn=4,8", "ppn"), (std::vector{4, 8, 4, 8}));
  EXPECT_EQ(values("bytes=8..512:4", "bytes"), (std::vector{8, 32, 128, 512})) << "at equal ratios";
  EXPECT_EQ(values("ppn=1..3:7", "ppn"), (std::vector{1, 2, 3})) << "of integers each once";
}

TEST(WhatIf, TellsTheBestOfEachRouteAtEachPoint) {
  const auto arguments = what_if_pattern + "--sweep bytes=8..8KiB:x8";
  const auto swept = json_of_prediction(arguments);
  for (std::size_t i = 0; i < swept["points"].size(); ++i) {
    const auto point = swept["points"][i];
    const auto ranking = json_of_prediction(" --ppn 8 --generate random:ranks=64,degree=16,bytes=" +
                                            std::to_string(point["bytes"].get<int>()))["ranking"];
    EXPECT_LE(point["by_route"].at("standard").get<double>(), point["standard_s"].get<double>()) << "of any window";
    double least = 1;
    for (const auto& [route, seconds] : point["by_route"].items()) least = std::min(least, seconds.get<double>());
    EXPECT_EQ(least, ranking[0]["predicted_s"].get<double>()) << "the fastest is the choice of a lone prediction";
  }
  const auto text = predict_what_if(arguments).out;
  const auto table = text.find("best of each route, the fastest marked:");
  ASSERT_NE(table, std::string::npos) << text;
  EXPECT_NE(text.find("* ", table), std::string::npos);
  for (const auto& line : split(text, '\n')) EXPECT_LE(line.size(), text_columns) << line;
}

TEST(WhatIf, ScalesAFixedProblemOverRanks) {
  const auto chosen_s = [](const std::string& arguments) {
    return json_of_prediction(arguments)["points"][0]["predicted_s"].get<double>();
  };
  for (const auto& [whole, scaled] :
       {std::pair("alltoall:ranks=64,bytes=1KiB", "alltoall:ranks=128,bytes=256"),
        std::pair("random:ranks=64,bytes=1KiB,degree=8", "random:ranks=128,bytes=512,degree=8"),
        std::pair("stencil:dims=4x4x4,bytes=1KiB", "stencil:dims=8x4x4,bytes=645")})
    EXPECT_EQ(chosen_s(std::string("--ppn 8 --sweep strong-ranks=128 --generate ") + whole),
              chosen_s(std::string("--ppn 8 --sweep ranks=128 --generate ") + scaled))
        << whole;
  const auto matrix =
      std::string(" --ppn 8 --ranks 16 --matrix ") + COMMPASS_TEST_SOURCE + "/examples/matrices/copter2.mtx.gz";
  EXPECT_EQ(chosen_s("--sweep strong-ranks=32" + matrix), chosen_s("--sweep ranks=32" + matrix));
}

TEST(WhatIf, MergesTheRanksOfAPatternFile) {
  const TemporaryDirectory directory;
  // Ranks 0, 1 and 2, 3 become one each: 5 + 7 bytes remain between them, and 3 within one.
  const auto file =
      directory.write("p.mtx", "%%MatrixMarket matrix coordinate integer general\n4 4 3\n1 3 5\n2 4 7\n1 2 3\n");
  const auto swept = json_of_prediction("--ppn 1 --pattern " + file + " --sweep ranks=2,4");
  EXPECT_EQ(swept["points"][0]["standard_s"], json_of_prediction("--ppn 1 --ranks 2 --pattern " + file +
                                                                 " --strategy standard")["ranking"][0]["predicted_s"]);
  const auto merged = directory.path("merged.mtx");
  ASSERT_EQ(
      run(std::string(COMMPASS_TEST_COMMAND) + " pattern --ranks 2 --pattern " + file + " -o " + merged).exit_code, 0);
  EXPECT_NE(contents_of(merged).find("\n1 2 12\n"), std::string::npos) << contents_of(merged);
  expect_one_sentence(predict_what_if("--ppn 1 --ranks 5 --pattern " + file),
                      {"--ranks 5", "has 4", "cannot be divided"});
}

TEST(Sensitivity, IsThePriceWithTheParameterSetAndTheFactorOfAnotherChoice) {
  const auto named = what_if_pattern + "--strategies 'standard;two-step;three-step' ";
  const auto report = json_of_prediction(named + "--sensitivity");
  const auto plain = json_of_prediction(named);
  EXPECT_EQ(report["chosen"], plain["chosen"]);
  const double own_s = plain["ranking"][0]["predicted_s"].get<double>();
  ASSERT_GE(report["parameters"].size(), 3U);
  int changes = 0;
  for (std::size_t i = 0; i < report["parameters"].size(); ++i) {
    const auto row = report["parameters"][i];
    const auto key = row["parameter"].get<std::string>();
    const auto with_factor = [&](double factor) {
      return json_of_prediction(named + "--set '" + key + "*" + csv_number(factor) + "'");
    };
    for (const auto& [name, factor] : {std::pair("doubled", 2.0), std::pair("halved", 0.5)}) {
      const auto set = with_factor(factor)["ranking"];
      for (std::size_t s = 0; s < set.size(); ++s)
        if (set[s]["strategy"] == report["chosen"]) {
          EXPECT_NEAR(set[s]["predicted_s"].get<double>() / own_s, row[name].get<double>(), 1e-9) << key;
        }
    }
    for (const auto& [name, further] : {std::pair("rise", 1.03), std::pair("fall", 1 / 1.03)}) {
      if (!row.contains(name + std::string("_factor"))) continue;
      ++changes;
      const auto factor = row[name + std::string("_factor")].get<double>();
      EXPECT_NE(with_factor(factor)["chosen"], report["chosen"]) << key;
      EXPECT_EQ(with_factor(factor / further)["chosen"], report["chosen"]) << key << " " << factor;
      EXPECT_EQ(further > 1, factor > 1);
    }
  }
  EXPECT_GE(changes, 1);
}

TEST(Sensitivity, IsInAllForms) {
  const auto text = predict_what_if(what_if_pattern + "--sensitivity").out;
  EXPECT_NE(text.find("\nDoubling "), std::string::npos) << text;
  for (const auto& line : split(text, '\n')) EXPECT_LE(line.size(), text_columns) << line;
  const auto csv = predict_what_if(what_if_pattern + "--sensitivity --csv").out;
  EXPECT_EQ(csv.find("parameter,value_least,value_most,doubled,halved,rise_factor,"), 0U) << csv;
}

TEST(ParetoFront, IsWhatNoStrategyBeatsInAllThree) {
  const auto all = json_of_prediction(what_if_pattern + "--all")["ranking"];
  const auto front = json_of_prediction(what_if_pattern + "--pareto")["front"];
  const auto is_beaten = [&](std::size_t i) {
    bool beaten = false;
    for (std::size_t j = 0; j < all.size(); ++j) {
      bool no_worse = true, better = false;
      for (const auto* key : {"predicted_s", "buffer_bytes", "partners"}) {
        const double own = all[i][key].get<double>(), other = all[j][key].get<double>();
        no_worse = no_worse && other <= own * (1 + 1e-9);
        better = better || other < own * (1 - 1e-9);
      }
      beaten = beaten || (no_worse && better);
    }
    return beaten;
  };
  std::vector<std::string> named;
  for (std::size_t i = 0; i < front.size(); ++i) named.push_back(front[i]["strategy"].get<std::string>());
  EXPECT_GE(named.size(), 3U);
  std::size_t found = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::ranges::find(named, all[i]["strategy"].get<std::string>()) == named.end()) continue;
    ++found;
    EXPECT_FALSE(is_beaten(i)) << all[i]["strategy"].get<std::string>();
  }
  EXPECT_EQ(found, named.size());
  // Each other one is beaten, or equals one of the front.
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool equals = false;
    for (std::size_t f = 0; f < front.size(); ++f)
      equals =
          equals || (std::abs(front[f]["predicted_s"].get<double>() / all[i]["predicted_s"].get<double>() - 1) < 1e-8 &&
                     front[f]["buffer_bytes"] == all[i]["buffer_bytes"] && front[f]["partners"] == all[i]["partners"]);
    EXPECT_TRUE(equals || is_beaten(i)) << all[i]["strategy"].get<std::string>();
  }
}

TEST(WhatIf, RefusesWrongKeysAndValuesInOneSentence) {
  const auto refused = [](const std::string& switches, const std::vector<std::string>& parts) {
    SCOPED_TRACE(switches);
    expect_one_sentence(predict_what_if(what_if_pattern + switches), parts);
  };
  refused("--set network.alpha=1", {"lassen has no parameter network.alpha", "did you mean levels.*.host.*.alpha_s"});
  refused("--set 'network.alpha_s=*x'", {"x is no factor"});
  refused("--set network.alpha_s=+-1", {"cannot be raised by -1", "0 or more"});
  refused("--sweep network.alph=1..2", {"'network.alph' is no key to sweep", "did you mean alpha_s"});
  refused("--sweep netwrk.alpha_s=1e-6", {"--sweep netwrk.alpha_s=1e-06", "no parameter netwrk.alpha_s"});
  refused("--sweep 'network.alpha_s=*2,3'", {"values and factors"});
  refused("--sweep network.alpha_s=0..1", {"'0' is no value of network.alpha_s", "above 0"});
  refused("--sweep 'network.alpha_s=*1e18'", {"--sweep network.alpha_s*1e+18", "cannot be multiplied by 1e+18"});
  refused("--sweep operations.put_s=*2", {"operations.put_s is absent from profile lassen"});
  refused("--sweep ppn=4..8:1", {"'1' is no step"});
  refused("--sweep 4..8", {"'4..8' has no range"});
  expect_one_sentence(predict_what_if("--ppn 8 --generate fft:ranks=64 --sweep strong-ranks=32"),
                      {"this pattern has its bytes"});
  expect_one_sentence(predict_what_if("--ppn 8 --generate alltoall:ranks=4096,bytes=8 --pareto"),
                      {"closed forms do not tell memory and partners", "fewer ranks"});
  for (const auto* two : {"--sensitivity --pareto", "--sensitivity --sweep bytes=8", "--pareto --explain standard"})
    EXPECT_EQ(predict_what_if(what_if_pattern + two).exit_code, 2) << two;
}

/// The output of a command on a terminal of some columns; `script` makes one.
std::string on_terminal(const std::string& command, int columns, const std::string& variables) {
  const auto inner = "stty cols " + std::to_string(columns) + "; " COMMPASS_TEST_COMMAND " " + command;
  return run("TERM=xterm " + variables + " script -qec '" + inner + "' /dev/null").out;
}

TEST(Terminal, GetsTablesOfItsWidthAndTheChoiceInBold) {
  const std::string command = "predict --profile lassen --ppn 4 --generate alltoall:ranks=8,bytes=64";
  const std::string bold = "\x1b[1m* ";
  const auto shown = on_terminal(command, 60, "");
  EXPECT_NE(shown.find(bold), std::string::npos) << shown;
  EXPECT_NE(shown.find("a wider terminal, a file and --csv also have: messages"), std::string::npos) << shown;
  const auto plain = on_terminal(command, 60, "NO_COLOR=1");
  EXPECT_EQ(plain.find('\x1b'), std::string::npos) << plain;
  for (const auto& line : split(plain, '\n'))  // "√" has three bytes, and a line ends with a carriage return
    EXPECT_LE(line.size(), 60U + 3) << line;
  const auto file = run(COMMPASS_TEST_COMMAND " " + command).out;
  EXPECT_EQ(file.find('\x1b'), std::string::npos);
  EXPECT_NE(file.find("in flight"), std::string::npos) << "a file has all columns";
  const auto launched = on_terminal(command, 60, "PMI_RANK=0");
  EXPECT_EQ(launched.find('\x1b'), std::string::npos) << "a launcher may write it into a file";
  EXPECT_NE(launched.find("in flight"), std::string::npos) << launched;
}

TEST(Advise, TakesOtherParametersOfTheMachine) {
  const std::string record =
      " advise " COMMPASS_TEST_SOURCE "/tests/fuzz/corpus/record/three-ranks.json --profile lassen";
  const auto plain = run(COMMPASS_TEST_COMMAND + record + " --json"),
             slower = run(COMMPASS_TEST_COMMAND + record + " --json --set 'alpha_s=*10'");
  ASSERT_EQ(slower.exit_code, 0) << slower.err;
  const auto seconds = [](const std::string& json) {
    return Json::parse(json)["machines"][0]["calls"][0]["planned_s"].get<double>();
  };
  EXPECT_GT(seconds(slower.out), seconds(plain.out));
  expect_one_sentence(run(COMMPASS_TEST_COMMAND + record + " --set nothing=1"),
                      {"--set nothing=1", "no parameter nothing"});
}

}  // namespace
}  // namespace commpass
