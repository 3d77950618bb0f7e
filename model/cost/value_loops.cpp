#include "model/cost/value_loops.hpp"

#include <algorithm>

#include "model/cost/batch_times.hpp"

namespace commpass {

std::optional<Seconds> value_run_seconds(const Machine& machine) {
  // In profiles that do not know it: 0.6 ns for single values of 8 bytes, and 1.6 to 2.3 ns for others of up to 128
  // bytes, on one x86 processor (docs/benchmarks.md, "Indexed exchanges").
  constexpr Seconds most_run_s = 2e-9;
  if (machine.value_run_s || !machine.copy_block_s) return machine.value_run_s;
  return std::min(*machine.copy_block_s, most_run_s);
}

Seconds value_loop_seconds(const Machine& machine, double runs, double bytes) {
  return bytes / machine.copy_rate_bytes_per_s + runs * value_run_seconds(machine).value_or(0);
}

Seconds reduction_loop_seconds(const Machine& machine, double runs, double bytes) {
  return value_loop_seconds(machine, runs, 0) + reduction_seconds(machine, bytes, 0);
}

Machine with_value_loops(Machine machine) {
  machine.copy_block_s = value_run_seconds(machine);
  machine.datatype_rate_bytes_per_s.reset();
  return machine;
}

SharingPrice price_of_sharing(const Machine& machine, int ranks) {
  constexpr double unmeasured_edge_bytes = 64;  // worth an edge: a piece takes a cache line
  constexpr int copies = 2;
  SharingPrice price;
  const auto* network = machine.host.find(machine.outermost());
  if (network)
    price.byte_s = std::max(network->protocols.back().beta_s_per_byte, ranks / injection_rate_bytes_per_s(machine));
  const auto run_s = value_run_seconds(machine);
  if (!run_s) {
    price.edge_s = unmeasured_edge_bytes * price.byte_s;
    return price;
  }
  price.run_s = *run_s;
  price.copied_byte_s = 1 / machine.copy_rate_bytes_per_s;
  price.edge_s = copies * price.run_s;
  return price;
}

}  // namespace commpass
