// bench calibration: does the calibration give the truth of a simulated cluster back?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/options.hpp"
#include "model/file.hpp"
#include "model/profile.hpp"

namespace commpass::bench {
namespace {

using Json = nlohmann::ordered_json;

/// Errors of one cluster, relative; the largest of each kind.
struct Errors {
  double alpha = 0, beta = 0, alpha_next = 0, switch_point = 0, injection = 0, copy = 0;
};

double relative(double found, double truth) { return std::abs(found / truth - 1); }

/// Compares each described protocol with the calibrated one that holds in its middle.
Errors compare(const nlohmann::json& truth, const Machine& machine) {
  Errors errors;
  for (const auto locality : {Locality::socket, Locality::node, Locality::network}) {
    if (!machine.host.has(locality)) continue;
    const auto& described = truth.at(name_of(locality));
    const auto& channel = *machine.host.find(locality);
    double least = 1;
    for (const auto& protocol : described.at("protocols")) {
      constexpr double beyond = 1 << 22;  // the largest size that is measured
      const double most = protocol.value("max_bytes", beyond);
      const auto& found = channel.protocol(static_cast<Bytes>(std::sqrt(least * most)));
      errors.alpha = std::max(errors.alpha, relative(found.alpha_s, protocol.at("alpha_s")));
      errors.beta = std::max(errors.beta, relative(found.beta_s_per_byte, protocol.at("beta_s_per_byte")));
      const auto time = [&](const auto& p) { return p.at("alpha_s").template get<double>() + p.at("beta_s_per_byte").template get<double>() * most; };
      constexpr double indistinguishable = 0.03;  // where two protocols cost the same there is no switch to be found
      if (protocol.contains("max_bytes") && relative(time(protocol), time(*(&protocol + 1))) > indistinguishable) {
        double nearest = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i + 1 < channel.protocols.size(); ++i)
          nearest = std::min(nearest, relative(static_cast<double>(channel.protocols[i].max_bytes), most));
        errors.switch_point = std::max(errors.switch_point, nearest);
      }
      least = most;
    }
    const double overhead = described.at("send_overhead_s");
    errors.alpha_next = std::max(errors.alpha_next, relative(channel.protocols.front().alpha_next_s, overhead));
  }
  errors.injection = relative(machine.injection_rate_bytes_per_s, truth.at("injection_rate_bytes_per_s"));
  errors.copy = relative(machine.copy_rate_bytes_per_s, truth.at("copy_rate_bytes_per_s"));
  return errors;
}

Json calibration(const Options& options) {
  Json json;
  Errors worst;
  if (!options.json) fmt::print("{:<16} {:>8} {:>8} {:>11} {:>13} {:>10} {:>8}   (largest relative errors)\n", "cluster", "alpha", "beta", "alpha_next", "switches", "injection", "copy");
  const auto all = clusters(options.simulator);
  const auto profiles = calibrate_all(options.simulator, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& cluster = all[i];
    const auto truth = nlohmann::json::parse(read_file(options.simulator.clusters + "/" + cluster.name + ".json"));
    const auto e = compare(truth, read_profile(profiles[i]).machine);
    if (!options.json)
      fmt::print("{:<16} {:>7.2f}% {:>7.2f}% {:>10.2f}% {:>12.2f}% {:>9.2f}% {:>7.2f}%\n", cluster.name, 100 * e.alpha, 100 * e.beta, 100 * e.alpha_next, 100 * e.switch_point, 100 * e.injection, 100 * e.copy);
    json["clusters"].push_back({{"cluster", cluster.name}, {"alpha_error", e.alpha}, {"beta_error", e.beta}, {"alpha_next_error", e.alpha_next}, {"switch_error", e.switch_point}, {"injection_error", e.injection}, {"copy_error", e.copy}});
    worst = {std::max(worst.alpha, e.alpha), std::max(worst.beta, e.beta), std::max(worst.alpha_next, e.alpha_next), std::max(worst.switch_point, e.switch_point), std::max(worst.injection, e.injection), std::max(worst.copy, e.copy)};
  }
  json["summary"] = {{"alpha_error_max", worst.alpha}, {"beta_error_max", worst.beta}, {"injection_error_max", worst.injection}, {"alpha_next_error_max", worst.alpha_next}, {"switch_error_max", worst.switch_point}, {"copy_error_max", worst.copy}};
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  return commpass::bench::run_simulated_benchmark(argc, argv, "calibration", "Compares calibrated profiles of simulated clusters with their descriptions.", commpass::bench::calibration);
}
