// Stand-in for runtime/indexed/value_copies.cpp on simulated clusters: loops over values cost their rank time.
#include <cstddef>
#include <cstring>

#include "runtime/execute/memory.hpp"
#include "runtime/indexed/value_runs.hpp"
#include "simulation/work.hpp"

namespace commpass {

namespace {

/// Charges all, and does the work run by run.
template <class Work>
void charge(const ValueRuns& runs, Bytes value_bytes, const void* from, void* to, Work work) {
  double values = 0;
  for (const auto& run : runs) {
    work(static_cast<const std::byte*>(from) + run.from * value_bytes,
         static_cast<std::byte*>(to) + run.to * value_bytes, run.count);
    values += static_cast<double>(run.count);
  }
  simulation::work(static_cast<double>(runs.size()) * simulation::cluster().value_run_s +
                   values * static_cast<double>(value_bytes) / simulation::cluster().copy_rate_bytes_per_s);
}

class SimulatedValueMemory final : public Memory {
 public:
  void copy(std::span<const LocalCopy> copies) override {
    double seconds = 0;
    for (const auto& [from, to, bytes] : copies) {
      std::memcpy(to, from, bytes);
      seconds +=
          simulation::cluster().value_run_s + static_cast<double>(bytes) / simulation::cluster().copy_rate_bytes_per_s;
    }
    simulation::work(seconds);
  }
  void order() override {}
};

}  // namespace

Memory& value_memory() {
  static SimulatedValueMemory memory;
  return memory;
}

void copy_values(const ValueRuns& runs, Bytes value_bytes, const void* from, void* to) {
  charge(runs, value_bytes, from, to, [&](const std::byte* values, std::byte* places, std::int64_t count) {
    std::memcpy(places, values, static_cast<std::size_t>(count * value_bytes));
  });
}

void add_values(const ValueRuns& runs, Bytes value_bytes, const void* from, void* to, const Addition& add) {
  charge(runs, value_bytes, from, to,
         [&](const std::byte* values, std::byte* sums, std::int64_t count) { add(values, sums, count); });
}

}  // namespace commpass
