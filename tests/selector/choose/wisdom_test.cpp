// Measurements are kept, and a file of them is whole at any time.
#include "selector/choose/wisdom.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "model/base/file.hpp"
#include "model/pattern/pattern_digest.hpp"
#include "model/support.hpp"

namespace {

// The calls by which a file is written, one after another: at one of them the disk is full, or the process ends.
int calls_left = -1;  // before that; negative: never
bool process_ends = false;
constexpr int ended = 9;

bool fails_now() {
  if (calls_left < 0 || calls_left-- > 0) return false;
  if (process_ends) _exit(ended);
  errno = ENOSPC;
  return true;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int mkstemp(char* name) { return fails_now() ? -1 : next<int(char*)>("mkstemp")(name); }
int fchmod(int file, mode_t mode) { return fails_now() ? -1 : next<int(int, mode_t)>("fchmod")(file, mode); }
std::FILE* fdopen(int file, const char* mode) {
  return fails_now() ? nullptr : next<std::FILE*(int, const char*)>("fdopen")(file, mode);
}
std::size_t fwrite(const void* from, std::size_t size, std::size_t count, std::FILE* file) {
  const auto write = next<std::size_t(const void*, std::size_t, std::size_t, std::FILE*)>("fwrite");
  if (calls_left < 0) return write(from, size, count, file);
  write(from, size, count / 2, file);
  std::fflush(file);  // so that half of it is there
  return fails_now()
             ? count / 2
             : count / 2 + write(static_cast<const char*>(from) + size * (count / 2), size, count - count / 2, file);
}
int fclose(std::FILE* file) {
  const bool fails = calls_left >= 0 && fails_now();
  const int result = next<int(std::FILE*)>("fclose")(file);
  return fails ? EOF : result;
}
int fsync(int file) { return fails_now() ? -1 : next<int(int)>("fsync")(file); }
int rename(const char* from, const char* to) noexcept {
  return fails_now() ? -1 : next<int(const char*, const char*)>("rename")(from, to);
}

}  // extern "C"

namespace commpass {
namespace {

using test::error_of;
using test::expect_sentence;

WisdomEntry entry(const std::string& pattern, const std::string& strategy = "standard",
                  PlannerMode planner = PlannerMode::measure) {
  return {{"machine", "2x4", pattern}, strategy, false, planner, 1e-6};
}

Wisdom some_wisdom() {
  Wisdom wisdom;
  wisdom.learn(entry("aa"));
  wisdom.learn({{"other \"machine\"\n", "3x1", "bb"}, "tuna,radix=4", true, PlannerMode::patient, 0.1});
  return wisdom;
}

TEST(Wisdom, ComesBackAsItWasWritten) { EXPECT_EQ(parse_wisdom(to_json(some_wisdom()), "it"), some_wisdom()); }

TEST(Wisdom, IsFoundByItsKeyAndHowPatientItWas) {
  auto wisdom = some_wisdom();
  EXPECT_EQ(wisdom.find(entry("aa").key, PlannerMode::estimate)->strategy, "standard");
  EXPECT_TRUE(wisdom.find(entry("aa").key, PlannerMode::measure));
  EXPECT_FALSE(wisdom.find(entry("aa").key, PlannerMode::patient));
  EXPECT_TRUE(wisdom.find(wisdom.entries[1].key, PlannerMode::patient));
  for (const auto part : {&WisdomKey::machine, &WisdomKey::layout, &WisdomKey::pattern}) {
    auto other = entry("aa").key;
    other.*part += "x";
    EXPECT_FALSE(wisdom.find(other, PlannerMode::estimate));
  }
}

TEST(Wisdom, IsReplacedByLaterWisdomAndBounded) {
  auto wisdom = some_wisdom();
  wisdom.learn(entry("aa", "mpi"));
  EXPECT_EQ(wisdom.entries.size(), 2U);
  EXPECT_EQ(wisdom.find(entry("aa").key, PlannerMode::measure)->strategy, "mpi");
  for (std::size_t i = 0; i < Wisdom::most_entries; ++i) wisdom.learn(entry(std::to_string(i)));
  EXPECT_EQ(wisdom.entries.size(), Wisdom::most_entries);
  EXPECT_FALSE(wisdom.find(entry("aa").key, PlannerMode::measure));
  EXPECT_EQ(parse_wisdom(to_json(wisdom), "it"), wisdom);
}

TEST(Wisdom, ThatIsNoneIsRefused) {
  const auto with = [](const std::string& key, const std::string& value) {
    std::string text = R"({"schema": 1, "entries": [{"machine": "m", "layout": "l", "pattern": "p", )";
    for (const auto& [name, usual] : {std::pair<std::string, std::string>{"strategy", "\"standard\""},
                                      {"requests", "\"persistent\""},
                                      {"planner", "\"measure\""},
                                      {"seconds", "1e-6"}})
      text += "\"" + name + "\": " + (name == key ? value : usual) + (name == "seconds" ? "}]}" : ", ");
    return text;
  };
  EXPECT_EQ(parse_wisdom(with("", ""), "it").entries.size(), 1U);
  const std::pair<std::string, const char*> bad[] = {
      {"", "it is no JSON object"},
      {"[1", "it is no JSON object"},
      {"{}", "its schema is not 1"},
      {R"({"schema": 2, "entries": []})", "its schema is not 1"},
      {R"({"schema": 1})", "it has no list of at most"},
      {R"({"schema": 1, "entries": [3]})", "entry 0: it is no object of 7 keys"},
      {with("strategy", "\"fastest\""), "entry 0: strategy fastest"},
      {with("strategy", "1"), "entry 0: strategy is no text"},
      {with("requests", "\"none\""), "entry 0: requests none"},
      {with("planner", "\"hasty\""), "entry 0: planner hasty"},
      {with("seconds", "\"1\""), "entry 0: seconds is no number"},
      {with("seconds", "-1"), "entry 0: seconds are not above 0"}};
  auto repeated = some_wisdom();
  repeated.entries.push_back(repeated.entries.front());
  repeated.entries.back().seconds *= 2;
  expect_sentence(
      error_of([&] { parse_wisdom(to_json(repeated), "some.json"); }),
      {"some.json: entry " + std::to_string(some_wisdom().entries.size()), "an earlier entry has the same"});
  for (const auto& [text, what] : bad) {
    SCOPED_TRACE(text);
    expect_sentence(error_of([&, t = text] { parse_wisdom(t, "some.json"); }),
                    {"some.json", what, "delete the file, or name another one"});
  }
}

class WisdomFile : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(directory_);
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  bool is_alone() const {
    return std::distance(std::filesystem::directory_iterator(directory_), std::filesystem::directory_iterator()) == 1;
  }
  struct Versions {
    Wisdom before, after;
  };
  /// Writes an entry. @return what the file holds, and will hold with another one
  Versions write_first() const {
    add_wisdom(path_, entry("aa"));
    Versions versions{read_wisdom(path_), read_wisdom(path_)};
    versions.after.learn(entry("bb"));
    return versions;
  }

  const std::string directory_ = testing::TempDir() + "/wisdom-" + std::to_string(getpid());
  const std::string path_ = directory_ + "/w.json";
};

TEST_F(WisdomFile, NeedNotBeThereYet) {
  EXPECT_TRUE(read_wisdom(path_).entries.empty());
  add_wisdom(path_, entry("aa"));
  add_wisdom(path_, entry("bb"));
  EXPECT_EQ(read_wisdom(path_).entries, (std::vector{entry("aa"), entry("bb")}));
}

TEST_F(WisdomFile, ThatIsBrokenStaysAsItIs) {
  write_file(path_, "rubbish\n");
  expect_sentence(error_of([&] { add_wisdom(path_, entry("aa")); }), {path_});
  EXPECT_EQ(read_file(path_), "rubbish\n");
}

TEST_F(WisdomFile, IsAsItWasOrCompleteIfWritingFails) {
  const auto [before, after] = write_first();
  int failed = 0;
  constexpr int most = 20;
  for (int step = 0; step < most; ++step) {
    calls_left = step;
    bool threw = false;
    try {
      add_wisdom(path_, entry("bb"));
    } catch (const InputError&) {
      threw = true;
    }
    const bool was_reached = calls_left < 0;
    calls_left = -1;
    EXPECT_EQ(read_wisdom(path_), threw ? before : after) << step;
    EXPECT_TRUE(is_alone()) << step;
    if (!was_reached) break;
    failed += threw;
    write_file(path_, to_json(before));
  }
  EXPECT_GE(failed, 5);  // to make, open, write, sync and rename it
}

TEST_F(WisdomFile, IsAsItWasOrCompleteWhenTheProcessEnds) {
  const auto [before, after] = write_first();
  int times = 0;
  constexpr int most = 20;
  for (int step = 0; step < most; ++step) {
    const auto child = fork();
    if (child == 0) {
      calls_left = step;
      process_ends = true;
      add_wisdom(path_, entry("bb"));
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) == 0) break;
    ++times;
    EXPECT_EQ(WEXITSTATUS(status), ended);
    EXPECT_EQ(read_wisdom(path_), before) << step;
  }
  EXPECT_GE(times, 6);
  EXPECT_EQ(read_wisdom(path_), after);
}

TEST_F(WisdomFile, LosesNothingOfWritersThatAreThereAtOnce) {
  constexpr int writers = 4, entries_each = 6;
  for (int writer = 0; writer < writers; ++writer)
    if (fork() == 0) {
      for (int i = 0; i < entries_each; ++i) add_wisdom(path_, entry(std::to_string(writer) + "-" + std::to_string(i)));
      _exit(0);
    }
  for (int writer = 0; writer < writers; ++writer) {
    int status = 0;
    ASSERT_GT(wait(&status), 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(read_wisdom(path_).entries.size(), std::size_t{writers * entries_each});
  EXPECT_TRUE(is_alone());
}

TEST_F(WisdomFile, IsWrittenAlsoWhereAnotherHoldsTheLockForever) {
  const int directory = open(directory_.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(flock(directory, LOCK_EX), 0);
  add_wisdom(path_, entry("aa"));
  close(directory);
  EXPECT_EQ(read_wisdom(path_).entries.size(), 1U);
}

TEST_F(WisdomFile, ForgetsWhatItIsTold) {
  for (const char* pattern : {"aa", "bb", "cc"}) add_wisdom(path_, entry(pattern));
  const auto gone = forget_wisdom(path_, [](const WisdomKey& key) { return key.pattern == "bb"; });
  EXPECT_EQ(gone.known, 3U);
  EXPECT_EQ(gone.forgotten, 1U);
  EXPECT_EQ(read_wisdom(path_).entries, (std::vector{entry("aa"), entry("cc")}));
}

TEST(PatternDigest, IsTheSameInAnyOrderAndOfPartsTheirSum) {
  PatternDigest one, other, part;
  one.add(0, 1, 8, 1);
  one.add(1, 0, 16, 2);
  other.add(1, 0, 16, 2);
  part.add(0, 1, 8, 1);
  for (std::size_t i = 0; i < part.sums.size(); ++i) other.sums[i] += part.sums[i];
  EXPECT_EQ(one.text(), other.text());
  EXPECT_EQ(one.text().size(), 32U);
}

TEST(PatternDigest, TellsEdgesApart) {
  const auto of = [](Rank source, Rank destination, Bytes bytes, int sharers) {
    PatternDigest digest;
    digest.add(source, destination, bytes, sharers);
    return digest.text();
  };
  for (const auto& text : {of(1, 0, 8, 1), of(0, 2, 8, 1), of(0, 1, 9, 1), of(0, 1, 8, 2)})
    EXPECT_NE(text, of(0, 1, 8, 1));
  PatternDigest twice;
  twice.add(0, 1, 8, 1);
  twice.add(0, 1, 8, 1);
  EXPECT_NE(twice.text(), of(0, 1, 8, 1));
}

}  // namespace
}  // namespace commpass
