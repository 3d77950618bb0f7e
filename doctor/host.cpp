#include "doctor/host.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <thread>

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

}  // namespace commpass
