#include "doctor/host.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <malloc.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <thread>
#include <vector>

#include "model/base/text.hpp"
#include "model/machine/profile_lookup.hpp"

namespace commpass {

namespace {

/// The first line of a file; empty if there is none.
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// "200000 100000": 200000 microseconds of processor time in each 100000; "max 100000": without limit.
std::optional<double> quota_in(const std::string& line) {
  const auto words = split(line, ' ');
  if (words.size() != 2) return {};
  const auto time = parse_number<double>(words[0]), period = parse_number<double>(words[1]);
  if (!time || !period || *period <= 0) return {};
  return *time / *period;
}

}  // namespace

Host read_host(const std::string& root) {
  Host host;
  host.processor = processor_model(root + "/proc/cpuinfo");
  host.cpus = static_cast<int>(std::thread::hardware_concurrency());
  host.quota = quota_in(first_line(root + "/sys/fs/cgroup/cpu.max"));
  host.load = parse_number<double>(split(first_line(root + "/proc/loadavg"), ' ').front());
  host.governor = first_line(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  host.ptrace_scope = parse_number<int>(first_line(root + "/proc/sys/kernel/yama/ptrace_scope"));
  return host;
}

std::optional<Seconds> used_by_all(const std::string& root) {
  // cpu, then ticks: user, nice, system, idle, waiting for devices, interrupts, soft interrupts, stolen.
  std::ifstream file(root + "/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft_interrupts = 0, stolen = 0;
  if (!(file >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft_interrupts >> stolen))
    return {};
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return (user + nice + system + interrupts + soft_interrupts + stolen) / ticks;
}

Seconds used_by_this_process() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr double micro = 1e-6;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + micro * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

namespace {

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// The compiler cannot leave it out, nor calculate it at once.
Seconds time_piece(int steps) {
  volatile std::uint64_t state = 1;
  const auto begin = Clock::now();
  for (int i = 0; i < steps; ++i) state = state * 6364136223846793005U + 1442695040888963407U;
  return since(begin);
}

int steps_in(Seconds piece) {
  constexpr int trial = 10000, trials = 20;
  Seconds least = std::numeric_limits<Seconds>::infinity();
  for (int i = 0; i < trials; ++i) least = std::min(least, time_piece(trial));
  return std::max(1, static_cast<int>(piece / least * trial));
}

}  // namespace

Noise measure_noise(Seconds duration) {
  constexpr Seconds piece = 20e-6;
  const int steps = steps_in(piece);
  std::vector<Seconds> times;
  times.reserve(static_cast<std::size_t>(2 * duration / piece) + 1);
  for (const auto begin = Clock::now(); times.empty() || since(begin) < duration;) times.push_back(time_piece(steps));
  std::ranges::sort(times);
  const auto quick = times[times.size() / 10];
  Seconds all = 0;
  for (const auto time : times) all += time;
  const auto undisturbed = static_cast<double>(times.size()) * quick;
  return {std::max(0.0, 1 - undisturbed / all), times.back() - quick};
}

Seconds clock_resolution() {
  constexpr int readings = 100;
  Seconds least = std::numeric_limits<Seconds>::infinity();
  for (int i = 0; i < readings; ++i) {
    const auto begin = Clock::now();
    Seconds step = 0;
    while (step <= 0) step = since(begin);
    least = std::min(least, step);
  }
  return least;
}

namespace {

using Round = LargeBlocks::Round;

std::int64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/// @return is all memory there?
bool run_round(Round& round) {
  constexpr auto bytes = static_cast<std::size_t>(LargeBlocks::block_bytes);
  const auto faults_before = page_faults();
  const auto begin = std::chrono::steady_clock::now();
  std::array<void*, LargeBlocks::blocks> blocks{};
  for (auto*& block : blocks) {
    block = std::malloc(bytes);  // NOLINT(cppcoreguidelines-no-malloc): it is malloc that is timed
    if (!block) return false;
    std::memset(block, 1, bytes);
    asm volatile("" : : "r"(block) : "memory");  // the compiler cannot leave it out
  }
  for (auto* const block : blocks) std::free(block);  // NOLINT(cppcoreguidelines-no-malloc)
  round.time_s =
      std::min(round.time_s, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  round.page_faults = page_faults() - faults_before;
  return true;
}

/// In a process of its own.
std::optional<Round> time_rounds(bool keeps_all) {
  constexpr int rounds = 6;  // the first ones raise glibc's thresholds, and take all pages for the first time
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return {};
  const auto child = fork();
  if (child == 0) {
#ifdef __GLIBC__
    if (keeps_all) {
      mallopt(M_MMAP_THRESHOLD, static_cast<int>(mmap_threshold));
      mallopt(M_TRIM_THRESHOLD, static_cast<int>(trim_threshold));
    }
#endif
    Round round{std::numeric_limits<Seconds>::infinity(), 0};
    bool is_complete = true;
    for (int i = 0; i < rounds && is_complete; ++i) is_complete = run_round(round);
    const bool is_told = is_complete && write(ends[1], &round, sizeof round) == sizeof round;
    _exit(is_told ? 0 : 1);
  }
  close(ends[1]);
  Round round;
  const bool is_told = child > 0 && read(ends[0], &round, sizeof round) == sizeof round;
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return is_told ? std::optional(round) : std::nullopt;
}

}  // namespace

std::optional<LargeBlocks> time_large_blocks() {
#ifdef __GLIBC__
  const auto as_here = time_rounds(false), keeps_all = time_rounds(true);
  if (as_here && keeps_all) return LargeBlocks{*as_here, *keeps_all};
#endif
  return {};
}

}  // namespace commpass
