// Stand-in for runtime/indexed/value_copies.cpp on simulated clusters: loops over values cost their rank time.
#include <cstddef>
#include <cstring>

#include "runtime/execute/memory.hpp"
#include "runtime/indexed/value_runs.hpp"
#include "simulation/work.hpp"

namespace commpass {

namespace {

double copy_rate() { return simulation::cluster().copy_rate_bytes_per_s; }
double reduction_rate() { return simulation::cluster().reduction_rate_bytes_per_s; }

/// Charges all at a rate, and does the work run by run.
template <class Work>
void charge(double rate_bytes_per_s, const ValueRuns& runs, Bytes value_bytes, const void* from, void* to, Work work) {
  double values = 0;
  for (const auto& run : runs) {
    work(static_cast<const std::byte*>(from) + run.from * value_bytes,
         static_cast<std::byte*>(to) + run.to * value_bytes, run.count);
    values += static_cast<double>(run.count);
  }
  simulation::work(static_cast<double>(runs.size()) * simulation::cluster().value_run_s +
                   values * static_cast<double>(value_bytes) / rate_bytes_per_s);
}

template <class Work>
void charge(double rate_bytes_per_s, std::span<const LocalCopy> pieces, Work work) {
  double seconds = 0;
  for (const auto& piece : pieces) {
    work(piece);
    seconds += simulation::cluster().value_run_s + static_cast<double>(piece.bytes) / rate_bytes_per_s;
  }
  simulation::work(seconds);
}

class SimulatedValueMemory final : public Memory {
 public:
  void copy(std::span<const LocalCopy> copies) override {
    charge(copy_rate(), copies, [](const LocalCopy& copy) { std::memcpy(copy.to, copy.from, copy.bytes); });
  }
  void order() override {}
};

}  // namespace

Memory& value_memory() {
  static SimulatedValueMemory memory;
  return memory;
}

void copy_values(const ValueRuns& runs, Bytes value_bytes, const void* from, void* to) {
  charge(copy_rate(), runs, value_bytes, from, to, [&](const std::byte* values, std::byte* places, std::int64_t count) {
    std::memcpy(places, values, static_cast<std::size_t>(count * value_bytes));
  });
}

void add_values(const ValueRuns& runs, Bytes value_bytes, const void* from, void* to, const Addition& add) {
  charge(reduction_rate(), runs, value_bytes, from, to,
         [&](const std::byte* values, std::byte* sums, std::int64_t count) { add(values, sums, count); });
}

void add_pieces(std::span<const LocalCopy> pieces, Bytes value_bytes, const Addition& add) {
  charge(reduction_rate(), pieces,
         [&](const LocalCopy& piece) { add(piece.from, piece.to, static_cast<Bytes>(piece.bytes) / value_bytes); });
}

}  // namespace commpass
