// Calls that recur are the trials of strategies: by invented times, and by exchanges whose data is checked.
#include "runtime/choose/one_shot_chooser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/base/error.hpp"
#include "runtime/collectives.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::common_error;
using test::everywhere;
using test::rank_of;
using test::size_of;
using testing::HasSubstr;
using testing::Not;

/// What strategies take in one call after the other, on the slowest rank.
using Times = std::map<std::string, Seconds>;

class OneShotTrialsTest : public testing::Test {
 protected:
  static constexpr HowToChoose by_measuring{PlannerMode::measure, 0.1}, by_price{};

  Decision offer(const std::vector<std::string>& names) {
    ++offers_;
    Decision offer{{names.back(), predicted_s_}};
    for (const auto& name : names) offer.contenders.push_back({name, predicted_s_});
    return offer;
  }
  const Contender& choose(const HowToChoose& how = by_measuring, int digits = 1) {
    return chooser_.choose(
        "", {0, 0, digits}, [&](std::size_t) { return offer(names_); }, how);
  }
  /// Calls until the strategy is no trial any more, at most `most`.
  std::vector<std::string> call(const Times& times, int most = 10000, const HowToChoose& how = by_measuring) {
    std::vector<std::string> run;
    while (static_cast<int>(run.size()) < most) {
      const auto strategy = choose(how).strategy;
      if (!chooser_.is_trial()) break;
      run.push_back(strategy);
      // One rank alone is slow.
      chooser_.note(rank_of() == static_cast<int>(run.size()) % size_of() ? times.at(strategy) : 1e-9);
    }
    return run;
  }

  std::vector<std::string> names_{"usual", "good", "bad", "cheap"};
  std::string told_;
  OwnCommunicator comm_{MPI_COMM_WORLD};
  OneShotChooser chooser_{comm_.get(), [this](const std::string& text) { told_ += text; }};
  int offers_ = 0;
  Seconds predicted_s_ = 1;
};

TEST_F(OneShotTrialsTest, FindTheFastestBeyondDoubt) {
  const auto run = call({{"usual", 2e-5}, {"good", 1e-5}, {"bad", 9e-5}, {"cheap", 3e-5}});
  EXPECT_EQ(choose().strategy, "good");
  EXPECT_TRUE(choose().measured_s);
  EXPECT_EQ(choose(by_price).strategy, "good") << "a known result holds for all";
  EXPECT_EQ(offers_, rank_of() == 0 ? 1 : 0);
  // A round that does not count, and seven that do.
  EXPECT_EQ(run.size(), 8 * names_.size());
  for (std::size_t round = 0; round < 8; ++round) {
    const auto begin = run.begin() + static_cast<std::ptrdiff_t>(round * names_.size());
    EXPECT_EQ(std::set<std::string>(begin, begin + 4), std::set<std::string>(names_.begin(), names_.end()));
  }
  if (rank_of() == 0) {
    EXPECT_THAT(told_, HasSubstr("7 rounds: usual takes 20 us"));
    EXPECT_THAT(told_, HasSubstr("good: 0.500 times as long"));
    EXPECT_THAT(told_, HasSubstr("Chosen: good"));
  }
}

TEST_F(OneShotTrialsTest, KeepTheUsualOneIfNothingIsFaster) {
  call({{"usual", 1e-5}, {"good", 1e-5}, {"bad", 2e-5}, {"cheap", 1e-5}});
  EXPECT_EQ(choose().strategy, "usual");
  if (rank_of() == 0) {
    EXPECT_THAT(told_, HasSubstr("Kept: usual"));
  }
}

TEST_F(OneShotTrialsTest, EndWhereNothingCanBeTold) {
  const auto run = call({{"usual", 1e-5}, {"good", 1e-5}, {"bad", 1e-5}, {"cheap", 1e-5}});
  EXPECT_LE(run.size(), 51 * names_.size());
  EXPECT_FALSE(chooser_.is_trial());
}

// 7 rounds of `bad` would lose 0.7 s.
TEST_F(OneShotTrialsTest, DropContendersThatLoseTooMuch) {
  const auto run = call({{"usual", 2e-5}, {"good", 1e-5}, {"bad", 1e-1}, {"cheap", 3e-5}});
  EXPECT_EQ(std::ranges::count(run, "bad"), 1);
  EXPECT_EQ(choose().strategy, "good");
  if (rank_of() == 0) {
    EXPECT_THAT(told_, HasSubstr("bad: not timed"));
  }
}

// Long exchanges lose nothing by being long.
TEST_F(OneShotTrialsTest, AreMadeOfLongExchangesThatDoNotDifferMuch) {
  call({{"usual", 5.001}, {"good", 5}, {"bad", 5.001}, {"cheap", 5.001}});
  EXPECT_EQ(choose().strategy, "good");
}

TEST_F(OneShotTrialsTest, EndWhenTheTimeIsLost) {
  // Each round loses 30 us, and the one that is best alternates, so that nothing is ever beaten.
  std::size_t calls = 0;
  for (; calls < 10000; ++calls) {
    const auto strategy = choose({PlannerMode::measure, 310e-6}).strategy;
    if (!chooser_.is_trial()) break;
    const auto of_round = calls / names_.size() % 2 == 0 ? "usual" : "good";
    chooser_.note(strategy == of_round ? 1e-5 : 2e-5);
  }
  EXPECT_EQ(calls, 12 * names_.size()) << "a round before, and 11 to lose more than 310 us";
  EXPECT_EQ(choose().strategy, "usual");
}

// A call whose exchange has failed is not noted.
TEST_F(OneShotTrialsTest, RepeatTrialsThatWereNotNoted) {
  const auto first = choose().strategy;
  EXPECT_EQ(choose().strategy, first);
  chooser_.note(1e-5);
  EXPECT_NE(choose().strategy, first);
}

TEST_F(OneShotTrialsTest, AreOfCallsThatAskForThemAlone) {
  EXPECT_EQ(choose(by_price).strategy, "cheap");
  EXPECT_FALSE(chooser_.is_trial());
  for (int turn = 0; turn < 100; ++turn) {
    EXPECT_EQ(choose(by_price).strategy, "cheap") << "while others are timed, too";
    EXPECT_FALSE(chooser_.is_trial());
    choose();
    if (chooser_.is_trial()) chooser_.note(1e-5);
  }
  EXPECT_EQ(offers_, rank_of() == 0 ? 2 : 0) << "by price, and then with those to be timed";
}

TEST_F(OneShotTrialsTest, DoNotTakeExchangesOfAnotherClass) {
  predicted_s_ = 1e-12;  // so pricing another class is expensive
  choose();
  chooser_.note(1e-5);
  for (int turn = 0; turn < 10; ++turn) {
    EXPECT_EQ(choose({PlannerMode::measure, 1e-12}, 2).strategy, "cheap") << "the nearest that is decided";
    EXPECT_FALSE(chooser_.is_trial());
  }
}

TEST_F(OneShotTrialsTest, AreMadeOfANewClassAtOnce) {
  predicted_s_ = 1e-12;
  choose(by_price, 1);
  choose(by_measuring, 2);
  EXPECT_TRUE(chooser_.is_trial());
  choose(by_price, 3);
  EXPECT_FALSE(chooser_.is_trial());
  EXPECT_EQ(offers_, rank_of() == 0 ? 2 : 0) << "where nothing is timed, a new class waits";
}

// A strategy that cannot run must not keep its class from being timed.
TEST_F(OneShotTrialsTest, GoOnWithoutStrategiesThatCannotRun) {
  std::set<std::string> run;
  for (int turn = 0; turn < 10000; ++turn) {
    const auto* choice = &choose();
    while (chooser_.is_trial() && (choice->strategy == "good" || choice->strategy == "cheap"))
      choice = &chooser_.choose_another();
    if (!chooser_.is_trial()) break;
    run.insert(choice->strategy);
    chooser_.note(choice->strategy == "bad" ? 1e-5 : 2e-5);
  }
  EXPECT_THAT(run, testing::ElementsAre("bad", "usual"));
  EXPECT_EQ(choose().strategy, "bad");
  EXPECT_TRUE(choose().measured_s);
}

TEST_F(OneShotTrialsTest, EndWithoutTheFirstOne) {
  const auto* choice = &choose();
  while (chooser_.is_trial() && choice->strategy != "usual") {
    chooser_.note(1e-5);
    choice = &choose();
  }
  ASSERT_TRUE(chooser_.is_trial());
  EXPECT_EQ(chooser_.choose_another().strategy, "cheap") << "by price";
  EXPECT_FALSE(chooser_.is_trial());
  EXPECT_EQ(choose().strategy, "cheap");
  EXPECT_FALSE(choose().measured_s);
}

TEST_F(OneShotTrialsTest, EndWhereNothingButTheFirstOneCanBeRun) {
  const auto* choice = &choose();
  while (chooser_.is_trial()) {
    if (choice->strategy != "usual") {
      choice = &chooser_.choose_another();
      continue;
    }
    chooser_.note(1e-5);
    choice = &choose();
  }
  EXPECT_EQ(choose().strategy, "usual");
  EXPECT_FALSE(choose().measured_s) << "nothing was compared";
}

// Each of them alone would lose 0.07 s in 7 rounds.
TEST_F(OneShotTrialsTest, LoseNoMoreTogether) {
  const auto run = call({{"usual", 1e-5}, {"good", 1.001e-2}, {"bad", 1.003e-2}, {"cheap", 1.002e-2}});
  EXPECT_EQ(std::ranges::count(run, "bad"), 1);
  EXPECT_EQ(std::ranges::count(run, "cheap"), 1);
  EXPECT_GE(std::ranges::count(run, "good"), 8);
  EXPECT_EQ(choose().strategy, "usual");
}

constexpr HowToChoose by_share{PlannerMode::adaptive};

TEST_F(OneShotTrialsTest, AreAShareOfTheCalls) {
  const Times times{{"usual", 1e-2}, {"good", 5e-3}, {"bad", 9e-2}, {"cheap", 1.2e-2}};
  int trials = 0, bad = 0, others = 0;
  for (int call = 0; call < 20'000; ++call) {
    const auto strategy = choose(by_share).strategy;
    if (chooser_.is_trial()) {
      ++trials;
      bad += strategy == "bad" ? 1 : 0;
      chooser_.note(rank_of() == call % size_of() ? times.at(strategy) : 1e-9);
    } else if (chooser_.calls_left()) {
      EXPECT_EQ(strategy, "cheap") << "the decided one runs between trials";
      ++others;
    } else {
      break;
    }
  }
  EXPECT_EQ(choose(by_share).strategy, "good");
  EXPECT_TRUE(chooser_.is_lasting());
  EXPECT_EQ(bad, 1) << "it is far slower";
  EXPECT_GE(trials, 2 + 7 * 2);
  EXPECT_GE(others, TrialPace::calls_before);
  EXPECT_EQ(offers_, rank_of() == 0 ? 1 : 0);
}

TEST_F(OneShotTrialsTest, WaitForCallsThatAreCountedElsewhere) {
  int counted = 0;
  for (; !chooser_.is_trial() && counted < 100; ++counted) {
    choose(by_share);
    if (!chooser_.is_trial() && counted % 2 == 0 && *chooser_.calls_left() > 0) {
      --*chooser_.calls_left();
      ++counted;
    }
  }
  EXPECT_EQ(counted, TrialPace::calls_before + 1);
}

TEST_F(OneShotTrialsTest, OfAShareEndWhereTheDecidedOneCannotRun) {
  while (choose(by_share), !chooser_.is_trial()) {}
  EXPECT_EQ(chooser_.choose_another().strategy, "cheap");
  EXPECT_FALSE(chooser_.is_trial());
  EXPECT_EQ(choose(by_share).strategy, "cheap");
  EXPECT_FALSE(chooser_.is_trial());
}

TEST_F(OneShotTrialsTest, OfAShareLetAClassThatIsPricedWaitForAnotherPricing) {
  predicted_s_ = 1e-12;
  choose(by_price);
  for (int call = 0; call < 100; ++call) choose(by_share);
  EXPECT_EQ(offers_, rank_of() == 0 ? 1 : 0);
  choose(by_measuring);
  EXPECT_EQ(offers_, rank_of() == 0 ? 2 : 0);
}

TEST_F(OneShotTrialsTest, AreNotMadeOfOneStrategy) {
  names_ = {"alone"};
  EXPECT_EQ(choose().strategy, "alone");
  EXPECT_FALSE(chooser_.is_trial()) << "there is nothing to compare";
}

class RecurringCalls : public testing::Test {
 protected:
  void TearDown() override { unsetenv("COMMPASS_PLANNER"); }
  static Communicator open() {
    return Communicator(MPI_COMM_WORLD, test::some_machine(), {Layout::with_ppn(size_of(), 2)});
  }
  /// All ranks send `bytes` + their rank to each of the `reach` next ones.
  static bool exchange(Communicator& on, int reach, int turn, const AlltoallvOptions& options) {
    const auto n = static_cast<std::size_t>(size_of());
    std::vector<int> send_counts(n), receive_counts(n), send_places(n), receive_places(n);
    const auto bytes = [&](int from) { return 40 + from; };
    for (int step = 0; step < reach; ++step) {
      send_counts[static_cast<std::size_t>((rank_of() + step) % size_of())] = bytes(rank_of());
      const int from = (rank_of() + size_of() - step) % size_of();
      receive_counts[static_cast<std::size_t>(from)] = bytes(from);
    }
    int sent = 0, received = 0;
    for (std::size_t i = 0; i < n; ++i) {
      send_places[i] = std::exchange(sent, sent + send_counts[i]);
      receive_places[i] = std::exchange(received, received + receive_counts[i]);
    }
    std::vector<unsigned char> out(static_cast<std::size_t>(sent)), in(static_cast<std::size_t>(received));
    for (std::size_t to = 0; to < n; ++to)
      for (int i = 0; i < send_counts[to]; ++i)
        out[static_cast<std::size_t>(send_places[to] + i)] =
            static_cast<unsigned char>(rank_of() * 31 + static_cast<int>(to) * 7 + i + turn);
    on.alltoallv(out.data(), send_counts, send_places, MPI_BYTE, in.data(), receive_counts, receive_places, MPI_BYTE,
                 options);
    for (std::size_t from = 0; from < n; ++from)
      for (int i = 0; i < receive_counts[from]; ++i)
        if (in[static_cast<std::size_t>(receive_places[from] + i)] !=
            static_cast<unsigned char>(static_cast<int>(from) * 31 + rank_of() * 7 + i + turn))
          return false;
    return true;
  }
  static std::vector<std::byte> content(int source, int destination, int turn) {
    return std::vector<std::byte>(static_cast<std::size_t>(8 + source),
                                  static_cast<std::byte>(source * 31 + destination * 7 + turn));
  }
  static bool sparse(Communicator& on, int turn, const SparseOptions& options) {
    std::vector<std::byte> out;
    std::vector<SendEdge> sends;
    std::set<Rank> to{(rank_of() + 1) % size_of(), (rank_of() + 2) % size_of()};
    for (const auto destination : to) {
      const auto data = content(rank_of(), destination, turn);
      sends.push_back({destination, static_cast<Bytes>(out.size()), static_cast<Bytes>(data.size())});
      out.insert(out.end(), data.begin(), data.end());
    }
    const auto received = on.sparse_alltoallv(out.data(), sends, options);
    bool is_right = received.size() == to.size();
    for (const auto& message : received) {
      const auto data = content(message.source, rank_of(), turn);
      is_right = is_right && std::ranges::equal(message.bytes, data);
    }
    return is_right;
  }
};

constexpr Seconds more_than_is_lost = 1000;  // on a machine that others use, too

TEST_F(RecurringCalls, OfAllToAllsAreTimedAndDeliver) {
  auto communicator = open();
  AlltoallvOptions options;
  options.planner = PlannerMode::measure;
  options.planner_seconds = more_than_is_lost;
  options.block_bytes = 41;  // of one class from the first call on
  std::set<std::string> run;
  std::string last;
  for (int turn = 0; turn < 450; ++turn) {
    ASSERT_TRUE(everywhere(exchange(communicator, std::min(3, size_of()), turn, options))) << turn;
    last = communicator.last_alltoallv_strategy();
    run.insert(last);
  }
  if (size_of() == 1) return;
  EXPECT_TRUE(run.contains("mpi") && run.contains("standard"));
  EXPECT_GE(run.size(), 3u);
  for (int turn = 0; turn < 20; ++turn) {
    ASSERT_TRUE(everywhere(exchange(communicator, std::min(3, size_of()), turn, options)));
    EXPECT_EQ(communicator.last_alltoallv_strategy(), last) << "it is over";
  }
}

// Ranks count the same calls, whether these are settled on each of them or not.
TEST_F(RecurringCalls, ByAShareDeliver) {
  auto communicator = open();
  AlltoallvOptions options;
  options.planner = PlannerMode::adaptive;
  std::vector<int> out(static_cast<std::size_t>(2 * size_of())), in(out.size());
  for (int turn = 0; turn < 5000; ++turn) {
    const int odd = (turn + rank_of()) % 2;  // another buffer than in the call before
    for (int to = 0; to < size_of(); ++to) out[static_cast<std::size_t>(odd + to)] = turn + 100 * rank_of() + to;
    communicator.alltoall(out.data() + odd, 1, MPI_INT, in.data() + odd, 1, MPI_INT, options);
    bool is_right = true;
    for (int from = 0; from < size_of(); ++from)
      is_right = is_right && in[static_cast<std::size_t>(odd + from)] == turn + 100 * from + rank_of();
    ASSERT_TRUE(turn % 50 == 0 ? everywhere(is_right) : is_right) << turn;
    if (turn % 7 != 0) continue;
    ASSERT_TRUE(everywhere(exchange(communicator, std::min(3, size_of()), turn, options))) << turn;
    ASSERT_TRUE(everywhere(sparse(communicator, turn, {.strategy = {}, .planner = PlannerMode::adaptive})));
  }
}

// Nothing that is timed is waited for by a rank that waits for an exchange of these here.
TEST_F(RecurringCalls, MakeProgressOnExchangesInFlight) {
  auto communicator = open();
  AlltoallvOptions options;
  options.planner = PlannerMode::measure;
  for (int turn = 0; turn < 60; ++turn) {
    const std::vector<Rank> to{(rank_of() + 1) % size_of()};
    const int value = turn;
    auto pending = communicator.start_sparse_alltoall(&value, to, sizeof value, {.strategy = "local-then-node+nbx"});
    if ((rank_of() + turn) % 2 == 0) pending.wait();
    ASSERT_TRUE(everywhere(exchange(communicator, size_of(), turn, options)));
  }
}

TEST_F(RecurringCalls, OfSparseExchangesAreTimedAndDeliver) {
  auto communicator = open();
  SparseOptions options;
  options.planner = PlannerMode::patient;
  options.planner_seconds = more_than_is_lost;
  const std::vector<std::byte> out(12);
  std::string explanation;
  // On a busy machine trials last for all their rounds, 50 of each of the strategies.
  for (int turn = 0; turn < 1200 && explanation.find("timed") == std::string::npos; ++turn) {
    ASSERT_TRUE(everywhere(sparse(communicator, turn, options))) << turn;
    if (turn % 100 != 99) continue;
    auto started = communicator.start_sparse_alltoall(out.data(), std::vector<Rank>{(rank_of() + 1) % size_of()}, 12);
    started.wait();
    explanation = started.explanation();
  }
  EXPECT_EQ(explanation.find("timed") != std::string::npos, size_of() > 1) << explanation;
}

TEST_F(RecurringCalls, OfEqualSizesKeepTheirWindowsRight) {
  auto communicator = open();
  SparseOptions options;
  options.planner = PlannerMode::patient;
  for (int turn = 0; turn < 200; ++turn) {
    const Bytes bytes = turn % 3 == 0 ? 100 : 60;
    const std::vector<char> out(static_cast<std::size_t>(bytes), static_cast<char>(turn + rank_of()));
    const auto received =
        communicator.sparse_alltoall(out.data(), std::vector<Rank>{(rank_of() + 1) % size_of()}, bytes, options);
    ASSERT_EQ(received.size(), 1u);
    const int from = (rank_of() + size_of() - 1) % size_of();
    ASSERT_EQ(static_cast<Bytes>(received[0].bytes.size()), bytes);
    ASSERT_EQ(static_cast<char>(received[0].bytes.back()), static_cast<char>(turn + from));
  }
}

// Wrong arguments of one rank in a sparse exchange fail on all, whatever is timed, and the next one is right.
TEST_F(RecurringCalls, ThatFailAreTriedAgain) {
  auto communicator = open();
  SparseOptions options;
  options.planner = PlannerMode::measure;
  for (int turn = 0; turn < 40; ++turn) {
    if (turn % 3 == 1) {
      const char byte = 0;
      const std::vector<SendEdge> sends{{rank_of() == 0 ? size_of() : 0, 0, 1}};
      EXPECT_THAT(common_error([&] { communicator.sparse_alltoallv(&byte, sends, options); }),
                  HasSubstr("out of range"));
    }
    ASSERT_TRUE(everywhere(sparse(communicator, turn, options))) << turn;
  }
}

TEST_F(RecurringCalls, AreTimedAsTheEnvironmentOfRankZeroSays) {
  for (const bool is_asked_for : {true, false}) {
    if (rank_of() == 0 && is_asked_for) setenv("COMMPASS_PLANNER", "measure", 1);
    auto communicator = open();
    unsetenv("COMMPASS_PLANNER");
    std::set<std::string> run;
    for (int turn = 0; turn < 8; ++turn) {
      ASSERT_TRUE(everywhere(exchange(communicator, size_of(), turn, {.strategy = {}, .block_bytes = 40})));
      run.insert(communicator.last_alltoallv_strategy());
    }
    EXPECT_EQ(run.size() > 1, is_asked_for && size_of() > 1);
  }
}

TEST_F(RecurringCalls, RefuseNoTime) {
  auto communicator = open();
  AlltoallvOptions options;
  options.planner_seconds = 0;
  EXPECT_THAT(common_error([&] { exchange(communicator, 1, 0, options); }), HasSubstr("planner_seconds"));
}

}  // namespace
}  // namespace commpass
