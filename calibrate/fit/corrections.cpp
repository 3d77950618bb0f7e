#include "calibrate/fit/corrections.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/machine/plausibility.hpp"

namespace commpass {

namespace {

/// Priors and bounds, as logarithms of factors. Ping-pongs measure α and β of lone messages. No microbenchmark measures
/// copies and shared rates while all ranks are busy.
constexpr double measured_deviation = 0.3, assumed_deviation = 1;
constexpr double measured_bound = 1, assumed_bound = 3;
constexpr double derivative_step = 0.1;
constexpr double batch_deviation_us = 2, most_batch_us = 50;

using Apply = std::function<void(Machine&, double)>;
using Corrections = std::vector<Correction>;

void add_measured(Corrections& all, std::string name, Apply apply) {
  all.push_back(
      {std::move(name), measured_deviation, -measured_bound, measured_bound, derivative_step, std::move(apply)});
}

/// @param side  on which times change: 1 or −1
void add_assumed(Corrections& all, std::string name, int side, Apply apply, double most = assumed_bound) {
  all.push_back({std::move(name), assumed_deviation, -assumed_bound, most, side * derivative_step, std::move(apply)});
}

void add_rate(Corrections& all, std::string name, double start, std::function<double&(Machine&)> rate_of) {
  add_assumed(all, std::move(name), -1,
              [start, rate_of = std::move(rate_of)](Machine& m, double x) { rate_of(m) = start * std::exp(x); });
}

/// Protocols of all channels within nodes, and of all between nodes.
void add_channels(Corrections& all, const Machine& machine, MemoryChannels Machine::*memory, const char* memory_name) {
  const Level node = machine.node_level();
  for (const bool is_within : {true, false}) {
    const Level from = is_within ? 0 : node + 1, end = is_within ? node + 1 : machine.outermost() + 1;
    const auto each = [=](Machine& m, auto change) {
      for (Level level = from; level < end; ++level)
        if (auto& channel = (m.*memory).by_level[level])
          for (auto& protocol : channel->protocols) change(protocol);
    };
    double most_next = 0;
    bool has_protocols = false;
    Machine copy = machine;
    each(copy, [&](const Protocol& protocol) {
      has_protocols = true;
      if (protocol.alpha_next_s > 0)
        most_next = std::max(most_next, std::log(protocol.alpha_s / protocol.alpha_next_s));
    });
    if (!has_protocols) continue;
    const auto named = [&](const char* what) {
      return fmt::format("{} of messages in {} memory {} nodes", what, memory_name, is_within ? "within" : "between");
    };
    add_measured(all, named("alpha_s, alpha_next_s"), [=](Machine& m, double x) {
      each(m, [x](Protocol& p) {
        p.alpha_s *= std::exp(x);
        p.alpha_next_s *= std::exp(x);
      });
    });
    add_measured(all, named("beta_s_per_byte, beta_next_s_per_byte"), [=](Machine& m, double x) {
      each(m, [x](Protocol& p) {
        p.beta_s_per_byte *= std::exp(x);
        if (p.beta_next_s_per_byte) *p.beta_next_s_per_byte *= std::exp(x);
      });
    });
    const auto correct_alpha_next = [=](Machine& m, double x) {
      each(m, [x](Protocol& p) { p.alpha_next_s = std::min(p.alpha_s, p.alpha_next_s * std::exp(x)); });
    };
    add_assumed(all, named("alpha_next_s"), -1, correct_alpha_next, most_next);
    add_assumed(all, named("beta_next_s_per_byte"), 1, [=](Machine& m, double x) {
      each(m, [x](Protocol& p) {
        p.beta_next_s_per_byte = std::min(p.beta_next() * std::exp(x), most_of_lone_message * p.beta_s_per_byte);
      });
    });
  }
}

void add_device_copies(Corrections& all, const Machine& machine, std::vector<DeviceCopy> Machine::*copies,
                       const char* name) {
  if ((machine.*copies).empty()) return;
  add_measured(all, fmt::format("{}.*.alpha_s", name), [copies](Machine& m, double x) {
    for (auto& copy : m.*copies) copy.alpha_s *= std::exp(x);
  });
  add_measured(all, fmt::format("{}.*.beta_s_per_byte", name), [copies](Machine& m, double x) {
    for (auto& copy : m.*copies) copy.beta_s_per_byte *= std::exp(x);
  });
}

/// Unknown rates start at the copy rate of all ranks together.
void add_rates(Corrections& all, const Machine& machine, int ranks_of_node) {
  const Level node = machine.node_level();
  const double all_copy = ranks_of_node * machine.copy_rate_bytes_per_s;
  const auto known_or_copy = [&](double rate) { return std::isfinite(rate) ? rate : all_copy; };
  if (const double up = machine.levels[node].up_rate_bytes_per_s; std::isfinite(up))
    add_rate(all, "levels.node.up_rate_bytes_per_s", up,
             [node](Machine& m) -> double& { return m.levels[node].up_rate_bytes_per_s; });
  if (!std::isfinite(all_copy)) return;
  add_rate(all, "levels.node.inside_rate_bytes_per_s", known_or_copy(machine.levels[node].inside_rate_bytes_per_s),
           [node](Machine& m) -> double& { return m.levels[node].inside_rate_bytes_per_s; });
  for (Level level = 0; level <= node; ++level)
    if (machine.host.has(level))
      add_rate(all, fmt::format("levels.{}.host.aggregate_rate_bytes_per_s", machine.name_of(level)),
               known_or_copy(machine.host.by_level[level]->aggregate_rate_bytes_per_s),
               [level](Machine& m) -> double& { return m.host.by_level[level]->aggregate_rate_bytes_per_s; });
}

}  // namespace

std::vector<Correction> corrections_of(const Machine& machine, int ranks_of_node, bool has_device) {
  Corrections all;
  add_assumed(all, "local.copy_rate_bytes_per_s", -1,
              [](Machine& m, double x) { m.copy_rate_bytes_per_s *= std::exp(x); });
  add_assumed(all, "local.copy_block_s", 1,
              [](Machine& m, double x) { m.copy_block_s = m.copy_block_s.value_or(0) * std::exp(x); });
  add_channels(all, machine, &Machine::host, "host");
  if (has_device) {
    add_channels(all, machine, &Machine::device, "device");
    add_device_copies(all, machine, &Machine::device_to_host, "copy.device_to_host");
    add_device_copies(all, machine, &Machine::host_to_device, "copy.host_to_device");
  }
  add_rates(all, machine, ranks_of_node);
  all.push_back({"each batch of messages (operations.batch_s, operations.batch_once_s)", batch_deviation_us, 0,
                 most_batch_us, derivative_step,
                 [](Machine& m, double us) {
                   for (auto* seconds : {&m.operations.batch_s, &m.operations.batch_once_s})
                     *seconds = seconds->value_or(0) + us * 1e-6;
                 },
                 Correction::Kind::microseconds});
  if (machine.operations.skew_s.value_or(0) > 0)
    add_assumed(all, "operations.skew_s", 1, [](Machine& m, double x) { *m.operations.skew_s *= std::exp(x); });
  return all;
}

std::string describe(const Correction& correction, double value) {
  return correction.kind == Correction::Kind::factor ? fmt::format("times {:.2f}", std::exp(value))
                                                     : fmt::format("{:.2g} us more", value);
}

}  // namespace commpass
