// What the system tells of the host on which a process runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

struct Host {
  std::string processor;            ///< its model; empty: not told
  int cpus = 0;                     ///< online; 0: not told
  std::optional<double> quota;      ///< processors that may be used at a time (control group); nothing: all
  std::optional<double> load;       ///< mean number of processes that ran or waited to, in the last minute
  std::string governor;             ///< of the frequency; empty: not told
  std::optional<int> ptrace_scope;  ///< of the kernel: 0 lets ranks read each other's memory
};

/// @param root  in front of /proc and /sys, for tests
Host read_host(const std::string& root = "");

/// Processor time that all processes of the host have used since it was started; nothing if the system does not tell.
std::optional<Seconds> used_by_all(const std::string& root = "");
/// Processor time of this process alone.
Seconds used_by_this_process();

/// The processors on which this process may run, ascending; empty: not told.
std::vector<int> allowed_cpus();

}  // namespace commpass
