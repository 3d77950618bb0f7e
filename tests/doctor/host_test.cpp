// Facts about a system, read from files as Linux has them.
#include "doctor/host.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "command/run.hpp"
#include "model/machine/profile_origin.hpp"

namespace commpass {
namespace {

class HostFiles : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::string root() const { return directory_.path(""); }

 private:
  test::TemporaryDirectory directory_;
};

TEST_F(HostFiles, TellTheHost) {
  write("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some Processor 3 GHz\nprocessor\t: 1\nmodel name\t: Another\n");
  write("/proc/loadavg", "1.25 0.80 0.60 3/321 4711\n");
  write("/sys/fs/cgroup/cpu.max", "150000 100000\n");
  write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  write("/proc/sys/kernel/yama/ptrace_scope", "1\n");
  write("/proc/stat", "cpu  100 20 30 4000 500 6 7 8 0 0\ncpu0 1 1 1 1\n");
  const auto host = read_host(root());
  EXPECT_EQ(host.processor, "Some Processor 3 GHz");
  EXPECT_EQ(host.load, 1.25);
  EXPECT_EQ(host.quota, 1.5);
  EXPECT_EQ(host.governor, "powersave");
  EXPECT_EQ(host.ptrace_scope, 1);
  // Without idle time (4000) and waits for devices (500).
  EXPECT_DOUBLE_EQ(used_by_all(root()).value(), 171.0 / static_cast<double>(sysconf(_SC_CLK_TCK)));
}

TEST_F(HostFiles, MayBeMissing) {
  const auto host = read_host(root());
  EXPECT_EQ(host.processor, "");
  EXPECT_FALSE(host.load);
  EXPECT_FALSE(host.quota);
  EXPECT_EQ(host.governor, "");
  EXPECT_FALSE(host.ptrace_scope);
  EXPECT_FALSE(used_by_all(root()));
}

TEST_F(HostFiles, MayHaveNoLimit) {
  write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_FALSE(read_host(root()).quota);
}

TEST(ProfileAge, IsInDays) {
  constexpr std::time_t now = 1767225600;  // 2026-01-01
  EXPECT_EQ(age_of("2025-12-30T12:00:00Z", now), 1.5);
  EXPECT_FALSE(age_of("some day", now));
  EXPECT_FALSE(age_of("", now));
}

TEST(Noise, IsAShareOfTheTime) {
  const auto noise = measure_noise(0.01);
  EXPECT_GE(noise.lost, 0);
  EXPECT_LT(noise.lost, 1);
  EXPECT_GE(noise.longest, 0);
  EXPECT_GT(clock_resolution(), 0);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COMMPASS_HAS_OTHER_MALLOC
#endif
#endif
#if defined(__GLIBC__) && !defined(COMMPASS_HAS_OTHER_MALLOC)
TEST(LargeBlocks, AreReturnedToTheSystemUnlessGlibcKeepsThem) {
  const auto timed = time_large_blocks();
  ASSERT_TRUE(timed);
  EXPECT_EQ(timed->keeps_all.page_faults, 0);
  EXPECT_GT(timed->keeps_all.time_s, 0);
  if (std::getenv("MALLOC_TRIM_THRESHOLD_") == nullptr) {
    EXPECT_GT(timed->as_here.page_faults, 0);
  }
}
#endif

}  // namespace
}  // namespace commpass
