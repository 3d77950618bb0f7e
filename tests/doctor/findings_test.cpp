// What doctor makes of the facts of a machine.
#include "doctor/findings.hpp"
#include "model/base/json.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

namespace commpass {
namespace {

RankFacts quiet_rank(int cpu) { return {{cpu}, {0.001, 1e-6}, 0.0, false}; }

/// Nothing is wrong: four ranks on two hosts of two processors.
Facts quiet_machine() {
  Facts facts{{.processor = "Some Processor",
               .cpus = 2,
               .quota = {},
               .load = 0.0,
               .governor = "performance",
               .ptrace_scope = 0},
              Layout::regular(2, 1, 2),
              {quiet_rank(0), quiet_rank(1), quiet_rank(0), quiet_rank(1)},
              {},
              {},
              {},
              30e-9};
  facts.mpi.library = "Open MPI v4.1.4";
  facts.mpi.single_copies = SingleCopies::allowed;
  facts.profile.name = "here";
  facts.profile.age_days = 3;
  return facts;
}

Finding about(const Facts& facts, const std::string& subject) {
  const auto findings = judge(facts);
  const auto found = std::ranges::find(findings, subject, &Finding::subject);
  if (found == findings.end()) {
    ADD_FAILURE() << "nothing is said about " << subject;
    return {};
  }
  return *found;
}

TEST(Doctor, FindsNothingWrongWithAQuietMachine) {
  const auto findings = judge(quiet_machine());
  for (const auto& finding : findings) {
    EXPECT_EQ(finding.state, State::good) << finding.subject << ": " << finding.text;
    EXPECT_EQ(finding.remedy, "") << finding.subject;
    EXPECT_NE(finding.text, "") << finding.subject;
  }
  EXPECT_TRUE(may_measure(findings));
}

TEST(Doctor, NamesATimerByWhichMessagesAreLate) {
  auto facts = quiet_machine();
  EXPECT_EQ(about(facts, "in flight").text, "not tried: all ranks are on one node");
  facts.flight.messages = 64;
  EXPECT_EQ(about(facts, "in flight").text, "64 messages of each rank to other nodes at once come in time");
  facts.flight.late = LateMessages{64, 7, 20, 0.16, 16};
  const auto late = about(facts, "in flight");
  EXPECT_EQ(late.state, State::attention);
  EXPECT_EQ(late.text,
            "with 64 messages of each rank to other nodes at once 7 of 20 exchanges took 160 ms longer, as if messages "
            "were lost and sent again after a timer");
  EXPECT_EQ(late.remedy, "calibrate here, or set COMMPASS_LIMITS=messages_off_node=16");
}

TEST(Doctor, NamesThresholdsWhereLargeBlocksAreExpensive) {
  auto facts = quiet_machine();
  EXPECT_EQ(about(facts, "large blocks").text, "not timed");
  facts.large_blocks = LargeBlocks{{1e-3, 0}, {0.6e-3, 0}};
  EXPECT_EQ(about(facts, "large blocks").state, State::good);
  EXPECT_EQ(about(facts, "large blocks").text, "4 blocks of 4 MiB are allocated, written and freed in 1 ms");
  facts.large_blocks = LargeBlocks{{4e-3, 4096}, {1e-3, 0}};
  const auto slow = about(facts, "large blocks");
  EXPECT_EQ(slow.state, State::attention);
  EXPECT_EQ(slow.text,
            "4 blocks of 4 MiB are allocated, written and freed in 4 ms, and in 1 ms where glibc keeps freed memory: "
            "else it returns large blocks to the system, and takes 4096 page faults to have them again");
  EXPECT_EQ(slow.remedy,
            "set MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=1073741824 for programs that free large blocks "
            "and allocate them again, on all ranks");
}

TEST(Doctor, TellsOfAMachineThatIsSlowerOrFasterThanItsProfile) {
  auto facts = quiet_machine();
  EXPECT_EQ(about(facts, "messages").text, "not timed: one rank alone (start it under mpirun)");
  facts.profile.pace = {{"socket", "on a socket", 3e-7}, {"network", "between nodes", 2e-6}};
  facts.paces = {{"socket", "on a socket", 4e-7}, {"network", "between nodes", 1.5e-6}};
  EXPECT_EQ(about(facts, "messages").text, "8 B take 400 ns on a socket, 1.5 us between nodes");
  EXPECT_EQ(about(facts, "messages").state, State::good);

  facts.paces = {{"socket", "on a socket", 7.5e-7}, {"node", "between sockets", 1}, {"network", "between nodes", 1e-6}};
  EXPECT_EQ(about(facts, "messages").state, State::attention);
  EXPECT_EQ(
      about(facts, "messages").text,
      "a message of 8 B on a socket takes 750 ns now, and took 300 ns when the profile was measured: the machine is "
      "slower than it was");
  EXPECT_NE(about(facts, "messages").remedy, "");
  facts.paces.back().seconds = 5e-7;
  EXPECT_NE(about(facts, "messages").text.find("between nodes takes 500 ns now"), std::string::npos) << "differs most";
  EXPECT_NE(about(facts, "messages").text.find("faster"), std::string::npos);

  // A profile of another machine is told of once.
  facts.profile.warning = "measured elsewhere";
  EXPECT_EQ(about(facts, "messages").state, State::good);
}

TEST(Doctor, NamesTheDevices) {
  auto facts = quiet_machine();
  EXPECT_EQ(about(facts, "devices").text, "none");
  facts.devices = {"CUDA", {"some GPU", "another GPU"}, ""};
  EXPECT_EQ(about(facts, "devices").text, "2 of CUDA: some GPU, another GPU; one kernel copies many blocks");
  EXPECT_EQ(about(facts, "devices").state, State::good);
}

/// A fault of a quiet machine, the line that shows it, and its severity.
struct Illness {
  const char* subject;
  State state;
  void (*infect)(Facts&);
};

void PrintTo(const Illness& illness, std::ostream* stream) { *stream << illness.subject; }

class EveryIllness : public testing::TestWithParam<Illness> {};

TEST_P(EveryIllness, HasALineWithItsRemedy) {
  auto facts = quiet_machine();
  GetParam().infect(facts);
  const auto finding = about(facts, GetParam().subject);
  EXPECT_EQ(finding.state, GetParam().state) << finding.text;
  EXPECT_NE(finding.remedy, "");
  EXPECT_EQ(may_measure(judge(facts)), GetParam().state != State::stop);
  const auto sick = std::ranges::count_if(judge(facts), [](const auto& each) { return each.state != State::good; });
  EXPECT_EQ(sick, 1) << "one cause, one line";
}

INSTANTIATE_TEST_SUITE_P(
    Doctor, EveryIllness,
    testing::Values(
        Illness{"MPI library", State::stop,
                [](Facts& f) {
                  f.mpi.launcher = "PMI_SIZE";
                  f.mpi.launched_ranks = 8;
                }},
        Illness{"single copies", State::attention, [](Facts& f) { f.mpi.single_copies = SingleCopies::refused; }},
        Illness{"devices", State::attention,
                [](Facts& f) {
                  f.devices = {"CUDA", {"some GPU"}, "CUDA: its kernel for many pieces does not copy as it should."};
                }},
        Illness{"ranks per core", State::stop, [](Facts& f) { f.ranks[3].cpus = f.ranks[2].cpus; }},
        Illness{"ranks per core", State::stop, [](Facts& f) { f.host.quota = 1.5; }},
        Illness{"binding", State::attention,
                [](Facts& f) {
                  f.ranks[1].cpus = {0, 1};
                }},
        Illness{"load", State::attention, [](Facts& f) { f.ranks[2].others = 0.2; }},
        Illness{"load", State::stop, [](Facts& f) { f.ranks[2].others = 1; }},
        Illness{"noise", State::attention, [](Facts& f) { f.ranks[1].noise.lost = 0.05; }},
        Illness{"noise", State::stop, [](Facts& f) { f.ranks[1].noise.lost = 0.5; }},
        Illness{"frequency", State::attention,
                [](Facts& f) {
                  f.host.governor = "powersave";
                  f.ranks[0].saves_power = true;
                }},
        Illness{"clock", State::attention, [](Facts& f) { f.clock_resolution = 1e-3; }},
        Illness{"profile", State::attention, [](Facts& f) { f.profile.choice = ProfileChoice::built_in; }},
        Illness{"profile", State::attention, [](Facts& f) { f.profile.problem = "it is broken"; }},
        Illness{"profile", State::attention, [](Facts& f) { f.profile.age_days = 1000; }},
        Illness{"profile", State::attention, [](Facts& f) { f.profile.warning = "it was measured elsewhere"; }}),
    [](const auto& each) {
      auto name = std::to_string(each.index) + each.param.subject;
      std::erase(name, ' ');
      return name;
    });

TEST(Doctor, SaysWhichProfileIsTakenWhereNoneIsNamed) {
  auto facts = quiet_machine();
  facts.profile.choice = ProfileChoice::measured_here;
  EXPECT_EQ(about(facts, "profile").text, "here, which was measured on this machine (none is named), 3 days old");
  facts.profile.choice = ProfileChoice::built_in;
  facts.profile.name = "generic";
  EXPECT_NE(about(facts, "profile").text.find("programs take the built-in 'generic'"), std::string::npos);
}

TEST(Doctor, NamesTheRankThatLosesMost) {
  auto facts = quiet_machine();
  facts.ranks[2].noise = {0.25, 3e-3};
  EXPECT_EQ(about(facts, "noise").text, "rank 2 loses 25.0 % of its time to other work; at most 3 ms at once");
}

TEST(Doctor, CountsTheRanksOfEachHostForItself) {
  auto facts = quiet_machine();
  facts.layout = Layout(std::vector{0, 0, 1, 1, 1});
  facts.ranks.push_back({{0, 1}, {}, 0.0, false});
  EXPECT_EQ(about(facts, "ranks per core").text, "3 ranks share 2 processors of a host and take turns");
}

TEST(Doctor, NeedsNoBindingOfARankThatIsAlone) {
  auto facts = quiet_machine();
  facts.layout = Layout::regular(1, 1, 1);
  facts.ranks = {{{0, 1}, {}, 0.0, false}};
  facts.mpi.single_copies = SingleCopies::not_tried;
  EXPECT_EQ(about(facts, "binding").state, State::good);
  EXPECT_EQ(about(facts, "single copies").state, State::good);
}

TEST(Doctor, DrawsNodesAndSockets) {
  EXPECT_EQ(picture(Layout::regular(1, 2, 2)), "1 node x 4 ranks, 2 sockets\n  node 0   [0 1 | 2 3]\n");
  const auto large = picture(Layout::regular(20, 1, 100));
  EXPECT_NE(large.find("… 84 more]"), std::string::npos) << large;
  EXPECT_NE(large.find("and 12 nodes more"), std::string::npos) << large;
}

TEST(Doctor, TellsTheSameInJson) {
  auto facts = quiet_machine();
  facts.ranks[0].others = 2;
  const auto findings = judge(facts);
  const auto json = Json::parse(document_of(findings, facts.layout).write(Form::json));
  EXPECT_FALSE(json["may_measure"].get<bool>());
  ASSERT_EQ(json["findings"].size(), findings.size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    EXPECT_EQ(json["findings"][i]["subject"], findings[i].subject);
    EXPECT_EQ(json["findings"][i]["text"], findings[i].text);
    EXPECT_EQ(json["findings"][i]["remedy"], findings[i].remedy);
  }
  EXPECT_NE(document_of(findings, facts.layout).write(Form::text).find("STOP  load"), std::string::npos);
}

}  // namespace
}  // namespace commpass
