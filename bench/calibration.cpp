// bench calibration: does the calibration give the truth of a simulated cluster back?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "bench/options.hpp"
#include "model/file.hpp"
#include "model/machine/profile.hpp"

namespace commpass::bench {
namespace {

using Json = nlohmann::ordered_json;

/// Errors of one cluster, relative; the largest of each kind.
struct Errors {
  double alpha = 0, beta = 0, alpha_next = 0, switch_point = 0, injection = 0, copy = 0;
  double ejection = std::numeric_limits<double>::quiet_NaN();  ///< no number where clusters have no such limit
};

/// The kinds of errors, what they are called, and the keys of their largest.
struct ErrorKind {
  const char* name;
  double Errors::*member;
};
constexpr ErrorKind error_kinds[] = {{"alpha", &Errors::alpha},           {"beta", &Errors::beta},
                                     {"alpha_next", &Errors::alpha_next}, {"switch", &Errors::switch_point},
                                     {"injection", &Errors::injection},   {"copy", &Errors::copy},
                                     {"ejection", &Errors::ejection}};

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
      const auto time = [&](const auto& p) {
        return p.at("alpha_s").template get<double>() + p.at("beta_s_per_byte").template get<double>() * most;
      };
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
  if (truth.contains("ejection_rate_bytes_per_s"))
    errors.ejection = relative(machine.ejection_rate_bytes_per_s, truth.at("ejection_rate_bytes_per_s"));
  errors.copy = relative(machine.copy_rate_bytes_per_s, truth.at("copy_rate_bytes_per_s"));
  return errors;
}

/// Calibrates on `nodes` nodes of all clusters that the simulator knows, and adds a row for each to what is printed and
/// to `rows`.
void compare_all(const Simulator& simulator, int nodes, bool print, Json& rows, Errors& worst) {
  const auto all = clusters(simulator);
  const auto profiles = calibrate_all(simulator, all, nodes);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto truth = nlohmann::json::parse(read_file(simulator.clusters + "/" + all[i].name + ".json"));
    const auto errors = compare(truth, read_profile(profiles[i]).machine);
    Json row{{"cluster", all[i].name}};
    if (print) fmt::print("{:<16}", all[i].name);
    for (const auto& [name, member] : error_kinds) {
      const double error = errors.*member;
      if (print) fmt::print(" {:>11}", std::isnan(error) ? "-" : fmt::format("{:.2f}%", 100 * error));
      if (!std::isnan(error)) row[fmt::format("{}_error", name)] = error;
      worst.*member = std::fmax(worst.*member, error);  // of a number and none the number
    }
    if (print) fmt::print("\n");
    rows.push_back(std::move(row));
  }
}

Json calibration(const Options& options) {
  Json json;
  Errors worst;
  if (!options.json) {
    fmt::print("{:<16}", "cluster");
    for (const auto& kind : error_kinds) fmt::print(" {:>11}", kind.name);
    fmt::print("   (largest relative errors)\n");
  }
  compare_all(options.simulator, 2, !options.json, json["clusters"], worst);
  // Several nodes have to send for the limit into one of them to show, on clusters that have one.
  constexpr int nodes = 4;
  auto with_limit = options.simulator;
  with_limit.clusters += "/ejection";
  if (std::filesystem::is_directory(with_limit.clusters))
    compare_all(with_limit, nodes, !options.json, json["clusters"], worst);
  for (const auto& [name, member] : error_kinds)
    if (!std::isnan(worst.*member)) json["summary"][fmt::format("{}_error_max", name)] = worst.*member;
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  return commpass::bench::run_simulated_benchmark(
      argc, argv, "calibration", "Compares calibrated profiles of simulated clusters with their descriptions.",
      commpass::bench::calibration);
}
