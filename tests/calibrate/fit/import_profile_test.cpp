// Profiles from times that other benchmarks have printed: the parameters that made the times come out again.
#include "calibrate/fit/import_profile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/base/error.hpp"
#include "model/base/json.hpp"

namespace commpass {
namespace {

using Kind = BenchmarkTime::Test;
using Memory = BenchmarkTime::Memory;

constexpr Bytes largest = Bytes{4} << 20;

/// Two protocols, which switch at 8 KiB.
Seconds alone(Bytes bytes) {
  const auto size = static_cast<double>(bytes);
  return bytes <= 8192 ? 1e-6 + 4e-10 * size : 5e-6 + 1e-10 * size;
}

std::vector<BenchmarkTime> ping_pongs(const std::string& level, double times_as_long = 1) {
  std::vector<BenchmarkTime> times;
  for (Bytes bytes = 1; bytes <= largest; bytes *= 2)
    times.push_back({.level = level, .bytes = bytes, .seconds = times_as_long * alone(bytes)});
  return times;
}

void add(std::vector<BenchmarkTime>& times, const std::vector<BenchmarkTime>& more) {
  times.insert(times.end(), more.begin(), more.end());
}

Machine import(const std::vector<BenchmarkTime>& times) { return import_profile(times, {.name = "some"}).machine; }

TEST(ImportedProfile, HasTheProtocolsOfItsPingPongs) {
  auto times = ping_pongs("network");
  add(times, ping_pongs("socket", 0.25));
  const auto machine = import(times);
  ASSERT_EQ(machine.levels.size(), 3U);
  EXPECT_EQ(machine.levels[0].name, "socket");
  EXPECT_EQ(machine.levels[1].name, "node");
  EXPECT_FALSE(machine.host.has(1));
  for (const Bytes bytes : {Bytes{8}, Bytes{4096}, Bytes{65536}, largest}) {
    EXPECT_NEAR(machine.host.by_level[2]->protocol(bytes).alone_seconds(static_cast<double>(bytes)) / alone(bytes), 1,
                0.02);
    EXPECT_NEAR(machine.host.by_level[0]->protocol(bytes).alone_seconds(static_cast<double>(bytes)) / alone(bytes),
                0.25, 0.005);
  }
}

std::string refusal(const std::vector<BenchmarkTime>& times) {
  try {
    import(times);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ImportedProfile, IsNotMadeOfLevelsThatAreSwapped) {
  auto times = ping_pongs("network", 0.25);
  add(times, ping_pongs("node"));
  for (auto& time : times) time.where = time.level + ".txt, line 4";
  EXPECT_EQ(refusal(times),
            "node.txt, line 4: small messages of the level node take 4.0 times as long as those of network; name the "
            "levels of the files the other way round, or leave this level out.");
}

TEST(ImportedProfile, IsNotMadeOfTimesThatDoNotGrow) {
  auto times = ping_pongs("network");
  for (auto& time : times) {
    time.seconds = 2e-6;
    time.where = "latency.txt, line 4";
  }
  EXPECT_EQ(refusal(times),
            "latency.txt, line 4: messages of 1 B take 2 us, and those of 4 MiB no longer; give one-way "
            "times of single messages by their size.");
}

TEST(ImportedProfile, LeavesOutDeviceMessagesThatDoNotGrow) {
  auto times = ping_pongs("network");
  auto of_device = ping_pongs("node");
  for (auto& time : of_device) {
    time.memory = BenchmarkTime::Memory::device;
    time.seconds = 2e-6;
  }
  add(times, of_device);
  const auto profile = import_profile(times, {.name = "some"});
  EXPECT_TRUE(profile.machine.host.has(1));
  EXPECT_FALSE(profile.machine.device.has(0));
  EXPECT_EQ(Json::parse(profile.provenance_json).at("left_out").front().get<std::string>(),
            "node device: messages of 1 B take 2 us, and those of 4 MiB no longer");
}

/// All pairs at once, `later_s` later than one, and beyond `collapse_bytes` ten times slower.
std::vector<BenchmarkTime> pairs_at_once(const std::string& level, Seconds later_s, double times_as_long = 1,
                                         Bytes collapse_bytes = largest) {
  std::vector<BenchmarkTime> times;
  for (auto time : ping_pongs(level, times_as_long)) {
    time.test = Kind::many_pairs;
    time.pairs = 32;
    time.seconds = (time.bytes > collapse_bytes ? 10 : 1) * time.seconds + later_s;
    times.push_back(time);
  }
  return times;
}

// The pair of a ping-pong may be next to the network's interface, and most ranks of an exchange are not.
TEST(ImportedProfile, TakesLatenciesFromAllPairsAtOnce) {
  constexpr Seconds later_s = 5e-7;
  auto times = ping_pongs("network");
  const auto lone = import(times);
  add(times, pairs_at_once("network", later_s));
  const auto all = import(times);
  for (const Bytes bytes : {Bytes{8}, Bytes{1024}, Bytes{65536}}) {
    const auto seconds = [&](const Machine& machine) {
      return machine.host.by_level[1]->protocol(bytes).alone_seconds(static_cast<double>(bytes));
    };
    EXPECT_NEAR(seconds(all) - seconds(lone), later_s, 0.05 * later_s) << bytes;
  }
}

// Pages that were never written are all the same one, which one pair reads from the cache, and many fight for.
TEST(ImportedProfile, LeavesOutSizesAtWhichTheRateOfAllPairsCollapses) {
  constexpr Bytes collapse_bytes = 262144;
  const auto beyond_collapse = [](const std::vector<BenchmarkTime>& pairs) {
    auto times = ping_pongs("network");
    for (auto time : ping_pongs("node", 0.25)) {
      if (time.bytes > collapse_bytes) time.seconds /= 3;
      times.push_back(time);
    }
    add(times, pairs);
    return import(times).host.by_level[0]->protocol(1 << 20).alone_seconds(1 << 20) / (0.25 * alone(1 << 20));
  };
  EXPECT_NEAR(beyond_collapse({}), 1.0 / 3, 0.05);
  EXPECT_NEAR(beyond_collapse(pairs_at_once("node", 0, 0.25)), 1.0 / 3, 0.05);
  EXPECT_NEAR(beyond_collapse(pairs_at_once("node", 0, 0.25, collapse_bytes)), 1, 0.05);
}

TEST(ImportedProfile, LeavesOutThoseSizesOnTheLevelsFurtherOutWithinNodesToo) {
  constexpr Bytes collapse_bytes = 262144;
  auto times = ping_pongs("network");
  for (const auto* level : {"socket", "node"})
    for (auto time : ping_pongs(level, 0.25)) {
      if (time.bytes > collapse_bytes) time.seconds /= 3;
      times.push_back(time);
    }
  const auto on_node = [&] {
    const auto machine = import(times);
    return machine.host.by_level[1]->protocol(1 << 20).alone_seconds(1 << 20) / (0.25 * alone(1 << 20));
  };
  EXPECT_NEAR(on_node(), 1.0 / 3, 0.05);
  add(times, pairs_at_once("socket", 0, 0.25, collapse_bytes));
  EXPECT_NEAR(on_node(), 1, 0.05);
}

TEST(ImportedProfile, DoesNotFollowRunsThatWereDisturbed) {
  auto times = ping_pongs("network");
  add(times, ping_pongs("network"));
  add(times, ping_pongs("network", 7));
  const auto machine = import(times);
  EXPECT_NEAR(machine.host.by_level[1]->protocol(1024).alone_seconds(1024) / alone(1024), 1, 0.02);
}

TEST(ImportedProfile, LeavesOutMessagesThatTellOfMemoryOnly) {
  auto times = ping_pongs("network");
  const auto without = import(times);
  times.push_back({.level = "network", .bytes = largest * 64, .seconds = 1});
  EXPECT_EQ(import(times), without);
}

TEST(ImportedProfile, TakesTheNextMessageFromBursts) {
  auto times = ping_pongs("network");
  for (Bytes bytes = 1; bytes <= largest; bytes *= 2)
    for (const int messages : {1, 2, 4, 8})
      times.push_back({.test = Kind::burst,
                       .level = "network",
                       .messages = messages,
                       .bytes = bytes,
                       .seconds = alone(bytes) + (messages - 1) * 0.5 * alone(bytes)});
  const auto machine = import(times);
  for (const Bytes bytes : {Bytes{8}, Bytes{65536}})
    EXPECT_NEAR(machine.host.by_level[1]->protocol(bytes).next_seconds(static_cast<double>(bytes)) / alone(bytes), 0.5,
                0.02);
}

TEST(ImportedProfile, TakesWhatANodeInjectsFromManyPairs) {
  constexpr double both_ways = 20e9;
  constexpr int pairs = 32;
  auto times = ping_pongs("network");
  for (Bytes bytes = 4096; bytes <= largest; bytes *= 4)
    for (const int active : {1, pairs})
      times.push_back({.test = Kind::many_pairs,
                       .level = "network",
                       .pairs = active,
                       .bytes = bytes,
                       .seconds = std::max(alone(bytes), active * static_cast<double>(bytes) / both_ways)});
  EXPECT_NEAR(import(times).levels[0].up_rate_bytes_per_s, both_ways / 2, 1e7);
  const auto in_step = import_profile(times, {.name = "some", .pairs_in_step = true}).machine;
  EXPECT_NEAR(in_step.levels[0].up_rate_bytes_per_s, both_ways, 1e7);
}

// Where the time of one pair is not given a ping-pong's stands in; streams go one way.
TEST(ImportedProfile, TakesWhatANodeInjectsFromStreams) {
  auto times = ping_pongs("network");
  times.push_back(
      {.test = Kind::streams, .level = "network", .pairs = 32, .bytes = 65536, .seconds = 32 * 65536 / 20e9});
  EXPECT_NEAR(import(times).levels[0].up_rate_bytes_per_s, 20e9, 1e7);
}

TEST(ImportedProfile, HasNoRateThatPairsDoNotReach) {
  auto times = ping_pongs("network");
  for (const int active : {1, 32})
    times.push_back(
        {.test = Kind::many_pairs, .level = "network", .pairs = active, .bytes = 65536, .seconds = alone(65536)});
  EXPECT_TRUE(std::isinf(import(times).levels[0].up_rate_bytes_per_s));
}

TEST(ImportedProfile, TakesCopiesOfFewBytesToTakeNoLongerThanThoseOfMore) {
  auto times = ping_pongs("network");
  for (Bytes bytes = 1; bytes <= largest; bytes *= 2) {
    const auto copy = 1e-5 + 5e-11 * static_cast<double>(bytes);
    times.push_back({.test = Kind::copy,
                     .memory = Memory::to_host,
                     .level = "socket",
                     .bytes = bytes,
                     .seconds = bytes < 32768 ? 16 * copy : copy});
  }
  const auto machine = import(times);
  ASSERT_EQ(machine.device_to_host.size(), 1U);
  EXPECT_NEAR(machine.device_to_host[0].beta_s_per_byte, 5e-11, 5e-12);
  EXPECT_LT(machine.device_to_host[0].alpha_s, 1.3e-5);
}

TEST(ImportedProfile, CountsDevicesByTheProcessesThatCopyAtOnce) {
  auto times = ping_pongs("network");
  for (Bytes bytes = 4096; bytes <= largest; bytes *= 2) {
    times.push_back(  // 28 pairs that send tell of no devices
        {.test = Kind::many_pairs, .level = "network", .pairs = 28, .bytes = bytes, .seconds = 2 * alone(bytes)});
    for (const int of_device : {1, 2, 5})
      times.push_back({.test = Kind::copy,
                       .memory = Memory::to_host,
                       .level = "socket",
                       .variant = "all per-gpu=" + std::to_string(of_device) + " pinned",
                       .pairs = 4 * of_device,
                       .bytes = bytes,
                       .seconds = 1e-5 * of_device + 5e-11 * static_cast<double>(bytes * of_device)});
  }
  const auto machine = import(times);
  EXPECT_EQ(machine.devices_per_node, 4);
  ASSERT_EQ(machine.device_to_host.size(), 3U);
  for (const auto& copy : machine.device_to_host) {
    EXPECT_NEAR(copy.alpha_s, 1e-5 * copy.processes, 1e-8) << copy.processes;
    EXPECT_NEAR(copy.beta_s_per_byte, 5e-11, 1e-13) << copy.processes;
  }
}

TEST(ImportedProfile, NeedsPingPongsBetweenNodes) {
  EXPECT_EQ(refusal(ping_pongs("node")),
            "import: there are no ping-pongs of host memory of 4 sizes between nodes; give network=FILE of a latency "
            "benchmark.");
}

TEST(ImportedProfile, RefusesLevelsThatItDoesNotKnow) {
  auto times = ping_pongs("network");
  add(times, ping_pongs("rack"));
  EXPECT_EQ(refusal(times), "import: there is no level 'rack'; use cache, numa, socket, node, group or network.");
}

}  // namespace
}  // namespace commpass
