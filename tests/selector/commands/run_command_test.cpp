// What a command line means, by the data of a command's switches.
#include "selector/commands/run_command.hpp"

#include <gtest/gtest.h>

namespace commpass {
namespace {

constexpr int done = 0, wrong_usage = 2;

/// A command with a switch of each kind.
struct Example {
  bool flag = false, other = false;
  int number = 0, seed = 0;
  std::size_t top = 0;
  double share = 0;
  std::optional<double> calls;
  std::string text, memory = "host", used, place;
  std::vector<std::string> each, words;
  int runs = 0;

  Command command() {
    Command result{"example", "An example"};
    result.add({{"--flag", &flag, "a flag"},
                {"--other", &other, "another", {.needs = {"--flag"}}},
                {"--number", &number, "a number", {.excludes = {"--other"}}},
                {"--top", &top, "a number from 0 on"},
                {"--share", &share, "a fraction"},
                {"--calls", &calls, "a fraction or nothing"},
                {"-t,--text", &text, "a text", {.last_counts = true}},
                {"--memory", &memory, "one of two", {.one_of = {"host", "device"}}},
                {"--each", &each, "may be repeated"},
                {"--seed", &seed, "may stand alone", {.value_alone = "1"}},
                {"--use", [this](const std::string& value) { used = value; }, "calls a function"},
                {"words", &words, "all that follows"}});
    result.run = [this] { ++runs; };
    return result;
  }
};

int run(const Command& command, std::vector<const char*> words) {
  words.insert(words.begin(), "program");
  return run_command(command, static_cast<int>(words.size()), words.data(), false);
}

TEST(CommandLine, SetsWhatItsSwitchesPointTo) {
  Example example;
  EXPECT_EQ(run(example.command(),
                {"--number", "3",      "a",   "--flag",   "--top=4", "--share", "0.5",  "--calls", "2", "-t",
                 "one",      "--text", "two", "--memory", "device",  "--use",   "this", "--",      "b", "-c"}),
            done);
  EXPECT_EQ(example.runs, 1);
  EXPECT_TRUE(example.flag);
  EXPECT_FALSE(example.other);
  EXPECT_EQ(example.number, 3);
  EXPECT_EQ(example.top, 4U);
  EXPECT_EQ(example.share, 0.5);
  EXPECT_EQ(example.calls, 2);
  EXPECT_EQ(example.text, "two");
  EXPECT_EQ(example.memory, "device");
  EXPECT_EQ(example.used, "this");
  EXPECT_EQ(example.words, (std::vector<std::string>{"a", "b", "-c"}));
}

TEST(CommandLine, KeepsWhatRepeatedSwitchesSayInOnePieceEach) {
  Example example;
  EXPECT_EQ(run(example.command(), {"--each", "stfw,n=2", "--each", "standard"}), done);
  EXPECT_EQ(example.each, (std::vector<std::string>{"stfw,n=2", "standard"}));
  EXPECT_EQ(run(Example().command(), {"--number", "1", "--number", "2"}), wrong_usage);
}

TEST(CommandLine, GivesASwitchAloneItsOwnValue) {
  Example alone, named;
  EXPECT_EQ(run(alone.command(), {"--seed"}), done);
  EXPECT_EQ(alone.seed, 1);
  EXPECT_EQ(run(named.command(), {"--seed=7"}), done);
  EXPECT_EQ(named.seed, 7);
}

TEST(CommandLine, IsRefusedWhereSwitchesDoNotGoTogetherInAnyOrder) {
  for (const std::vector<const char*>& words :
       std::vector<std::vector<const char*>>{{"--other"},
                                             {"--flag", "--number", "1", "--other"},
                                             {"--other", "--flag", "--number", "1"},
                                             {"--memory", "disk"},
                                             {"--number", "three"},
                                             {"--number", "3.5"},
                                             {"--number", "3000000000"},
                                             {"--seed=1.5"},
                                             {"--top", "-1"},
                                             {"--use"},
                                             {"--text", ""},
                                             {"--nothing"}}) {
    Example example;
    EXPECT_EQ(run(example.command(), words), wrong_usage) << words[0];
    EXPECT_EQ(example.runs, 0);
  }
  Example both;
  EXPECT_EQ(run(both.command(), {"--other", "--flag"}), done);
}

TEST(CommandLine, HasAsManySwitchesOfAGroupAsItSays) {
  std::string a, b;
  Command command{"example", "An example"};
  command.groups.push_back({"GROUP", "one of", 1, 1, {{"--a", &a, "a"}, {"--b", &b, "b"}}});
  command.add({{"--more", &a, "more of a", {.needs = {"--a"}}}});
  command.run = [] {};
  EXPECT_EQ(run(command, {}), wrong_usage);
  EXPECT_EQ(run(command, {"--a", "1", "--b", "2"}), wrong_usage);
  EXPECT_EQ(run(command, {"--b", "2", "--more", "3"}), wrong_usage);
  EXPECT_EQ(run(command, {"--more", "3", "--a", "1"}), done);
  command.group("GROUP").least = 0;
  EXPECT_EQ(run(command, {}), done);
}

TEST(CommandLine, RunsTheCommandThatItNames) {
  std::string ran;
  Command one{"one", "the first"}, two{"two", "the second"}, outer{"outer", "both"};
  one.run = [&] { ran += "one "; };
  two.run = [&] { ran += "two "; };
  outer.commands = {one, two};
  Command all{"program", "all"};
  all.commands = {outer};
  EXPECT_EQ(run(all, {"outer", "two"}), done);
  EXPECT_EQ(ran, "two ");
  for (const auto& words : std::vector<std::vector<const char*>>{{}, {"outer"}, {"outer", "three"}, {"one"}})
    EXPECT_EQ(run(all, words), wrong_usage);
  EXPECT_EQ(ran, "two ");
}

TEST(Switches, ThatAreRemovedAreNamedByNoOther) {
  Example example;
  auto command = example.command();
  command.remove({"--flag", "--number"});
  EXPECT_EQ(run(command, {"--other"}), done) << "it no longer needs --flag";
  EXPECT_EQ(run(command, {"--number", "1"}), wrong_usage);
  EXPECT_THROW(command.remove({"--flag"}), std::out_of_range);
  EXPECT_THROW(command.group("GROUP"), std::out_of_range);
  EXPECT_EQ(&command.find("-t"), &command.find("--text"));
}

}  // namespace
}  // namespace commpass
