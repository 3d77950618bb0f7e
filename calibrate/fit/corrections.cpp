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

class Corrections {
 public:
  Corrections(const Machine& machine, int ranks_of_node, bool has_device)
      : machine_(machine), ranks_of_node_(ranks_of_node) {
    add_copies();
    add_channels(&Machine::host, "host");
    if (has_device) {
      add_channels(&Machine::device, "device");
      add_device_copies();
    }
    add_rates();
    all_.push_back({"each batch of messages (operations.batch_s, operations.batch_once_s)", batch_deviation_us, 0,
                    most_batch_us, derivative_step,
                    [](Machine& m, double us) {
                      for (auto* seconds : {&m.operations.batch_s, &m.operations.batch_once_s})
                        *seconds = seconds->value_or(0) + us * 1e-6;
                    },
                    Correction::Kind::microseconds});
  }
  std::vector<Correction> all() && { return std::move(all_); }

 private:
  void add_measured(std::string name, std::function<void(Machine&, double)> apply) {
    all_.push_back(
        {std::move(name), measured_deviation, -measured_bound, measured_bound, derivative_step, std::move(apply)});
  }
  /// @param side  on which times change: 1 or −1
  void add_assumed(std::string name, std::function<void(Machine&, double)> apply, double most, int side) {
    all_.push_back(
        {std::move(name), assumed_deviation, -assumed_bound, most, side * derivative_step, std::move(apply)});
  }

  void add_copies() {
    add_assumed(
        "local.copy_rate_bytes_per_s", [](Machine& m, double x) { m.copy_rate_bytes_per_s *= std::exp(x); },
        assumed_bound, -1);
    add_assumed(
        "local.copy_block_s", [](Machine& m, double x) { m.copy_block_s = m.copy_block_s.value_or(0) * std::exp(x); },
        assumed_bound, 1);
  }

  /// Protocols of all channels within nodes, and of all between nodes.
  void add_channels(MemoryChannels Machine::*memory, const char* memory_name) {
    const Level node = machine_.node_level();
    for (const bool is_within : {true, false}) {
      const Level from = is_within ? 0 : node + 1, end = is_within ? node + 1 : machine_.outermost() + 1;
      const auto each = [=](Machine& m, auto change) {
        for (Level level = from; level < end; ++level)
          if (auto& channel = (m.*memory).by_level[level])
            for (auto& protocol : channel->protocols) change(protocol);
      };
      double most_next = 0;
      bool has_protocols = false;
      Machine copy = machine_;
      each(copy, [&](const Protocol& protocol) {
        has_protocols = true;
        if (protocol.alpha_next_s > 0)
          most_next = std::max(most_next, std::log(protocol.alpha_s / protocol.alpha_next_s));
      });
      if (!has_protocols) continue;
      const auto named = [&](const char* what) {
        return fmt::format("{} of messages in {} memory {} nodes", what, memory_name, is_within ? "within" : "between");
      };
      add_measured(named("alpha_s, alpha_next_s"), [=](Machine& m, double x) {
        each(m, [x](Protocol& p) {
          p.alpha_s *= std::exp(x);
          p.alpha_next_s *= std::exp(x);
        });
      });
      add_measured(named("beta_s_per_byte, beta_next_s_per_byte"), [=](Machine& m, double x) {
        each(m, [x](Protocol& p) {
          p.beta_s_per_byte *= std::exp(x);
          if (p.beta_next_s_per_byte) *p.beta_next_s_per_byte *= std::exp(x);
        });
      });
      add_assumed(
          named("alpha_next_s"),
          [=](Machine& m, double x) {
            each(m, [x](Protocol& p) { p.alpha_next_s = std::min(p.alpha_s, p.alpha_next_s * std::exp(x)); });
          },
          most_next, -1);
      add_assumed(
          named("beta_next_s_per_byte"),
          [=](Machine& m, double x) {
            each(m, [x](Protocol& p) {
              p.beta_next_s_per_byte = std::min(p.beta_next() * std::exp(x), most_of_lone_message * p.beta_s_per_byte);
            });
          },
          assumed_bound, 1);
    }
  }

  void add_device_copies() {
    for (const auto& [copies, name] : {std::pair(&Machine::device_to_host, "copy.device_to_host"),
                                       std::pair(&Machine::host_to_device, "copy.host_to_device")}) {
      if ((machine_.*copies).empty()) continue;
      const auto to_both = copies;
      add_measured(fmt::format("{}.*.alpha_s", name), [to_both](Machine& m, double x) {
        for (auto& copy : m.*to_both) copy.alpha_s *= std::exp(x);
      });
      add_measured(fmt::format("{}.*.beta_s_per_byte", name), [to_both](Machine& m, double x) {
        for (auto& copy : m.*to_both) copy.beta_s_per_byte *= std::exp(x);
      });
    }
  }

  void add_rate(std::string name, double start, std::function<double&(Machine&)> at) {
    add_assumed(
        std::move(name), [start, at = std::move(at)](Machine& m, double x) { at(m) = start * std::exp(x); },
        assumed_bound, -1);
  }

  /// Unknown rates start at the copy rate of all ranks together.
  void add_rates() {
    const Level node = machine_.node_level();
    const double all_copy = ranks_of_node_ * machine_.copy_rate_bytes_per_s;
    const auto known_or = [](double rate, double other) { return std::isfinite(rate) ? rate : other; };
    if (const double up = machine_.levels[node].up_rate_bytes_per_s; std::isfinite(up))
      add_rate("levels.node.up_rate_bytes_per_s", up,
               [node](Machine& m) -> double& { return m.levels[node].up_rate_bytes_per_s; });
    if (!std::isfinite(all_copy)) return;
    add_rate("levels.node.inside_rate_bytes_per_s", known_or(machine_.levels[node].inside_rate_bytes_per_s, all_copy),
             [node](Machine& m) -> double& { return m.levels[node].inside_rate_bytes_per_s; });
    for (Level level = 0; level <= node; ++level)
      if (machine_.host.has(level))
        add_rate(fmt::format("levels.{}.host.aggregate_rate_bytes_per_s", machine_.name_of(level)),
                 known_or(machine_.host.by_level[level]->aggregate_rate_bytes_per_s, all_copy),
                 [level](Machine& m) -> double& { return m.host.by_level[level]->aggregate_rate_bytes_per_s; });
  }

  const Machine& machine_;
  int ranks_of_node_;
  std::vector<Correction> all_;
};

}  // namespace

std::vector<Correction> corrections_of(const Machine& machine, int ranks_of_node, bool has_device) {
  return Corrections(machine, ranks_of_node, has_device).all();
}

std::string describe(const Correction& correction, double value) {
  return correction.kind == Correction::Kind::factor ? fmt::format("times {:.2f}", std::exp(value))
                                                     : fmt::format("{:.2g} us more", value);
}

}  // namespace commpass
