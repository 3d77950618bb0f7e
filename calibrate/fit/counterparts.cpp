#include "calibrate/fit/counterparts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>

#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "model/route/strategy.hpp"

namespace commpass {
namespace {

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::ranges::find(names, name) != names.end();
}

bool starts_with_one_of(const std::string& name, std::initializer_list<const char*> starts) {
  return std::ranges::any_of(starts, [&](const char* start) { return name.starts_with(start); });
}

bool is_pairwise(const MeasuredAlgorithm& algorithm) { return algorithm.name.find("pairwise") != std::string::npos; }

/// G of "groups=G", L of "leaders=L"; 0: the algorithm has neither.
int groups_of(const MeasuredAlgorithm& algorithm) {
  for (const std::string key : {"groups=", "leaders="})
    if (algorithm.parameter.starts_with(key))
      return parse_number<int>(std::string_view(algorithm.parameter).substr(key.size())).value_or(0);
  return 0;
}

/// A strategy's text in pieces.
struct StrategyText {
  std::string name, path;
  std::map<std::string, std::string> options;

  explicit StrategyText(const std::string& text) {
    const auto at = text.find('@');
    if (at != std::string::npos) path = text.substr(at + 1);
    const auto pieces = split(std::string_view(text).substr(0, at), ',');
    name = pieces.front();
    for (const auto& piece : pieces)
      if (const auto equals = piece.find('='); equals != std::string::npos)
        options[piece.substr(0, equals)] = piece.substr(equals + 1);
  }

  std::optional<int> number(const std::string& key) const {
    const auto found = options.find(key);
    return found == options.end() ? std::nullopt : parse_number<int>(found->second);
  }
};

/// Finds the measured algorithm that stands for one strategy.
class Search {
 public:
  Search(const std::string& strategy, const MeasuredCase& of, std::span<const MeasuredAlgorithm> measured)
      : strategy_(strategy), of_(of), measured_(measured) {}

  NearestMeasured find() const {
    const auto& name = strategy_.name;
    if (!strategy_.path.empty()) return on_path();
    if (name == "standard") {
      const auto direct = first_of(forms_of("direct-", "", of_.ranks()));
      return direct.algorithm ? direct : first_of({{is_windowed(of_.ranks()) ? "pairwise" : "linear", ""}});
    }
    if (name == "mpi") return first_of({{"pmpi", ""}, {"library-default", ""}});
    if (name == "tuna" || name == "tuna-node") return first_of({{"bruck", ""}, {"modified-bruck", ""}});
    if (is_one_of(name, {"two-step", "local-then-node", "three-step"}))
      return first_of(forms_of("node-aware-", "groups=1", of_.nodes));
    if (name == "multi-leader") return leaders();
    if (name == "stfw") return dimensions();
    return none(name);
  }

 private:
  static NearestMeasured none(const std::string& what) { return {std::nullopt, false, what}; }

  NearestMeasured first_of(const std::vector<MeasuredAlgorithm>& candidates) const {
    for (const auto& candidate : candidates)
      if (std::ranges::find(measured_, candidate) != measured_.end()) return {candidate, false, {}};
    return none(strategy_.name);
  }

  bool is_windowed(double peers) const {
    const auto window = strategy_.number("window");
    return window && *window < std::sqrt(std::max(2.0, peers));
  }

  /// The form with as many messages in flight first.
  std::vector<MeasuredAlgorithm> forms_of(const std::string& stem, const std::string& parameter, double peers) const {
    std::vector<MeasuredAlgorithm> forms{{stem + "nonblocking", parameter}, {stem + "pairwise", parameter}};
    if (is_windowed(peers)) std::swap(forms[0], forms[1]);
    return forms;
  }

  NearestMeasured on_path() const {
    for (const auto& candidate : measured_) {
      const auto text = counterpart(candidate, of_);
      if (strategy_.name == "standard" && text.substr(text.find('@') + 1) == strategy_.path)
        return {candidate, false, {}};
    }
    return none(strategy_.name);
  }

  /// Of the numbers of groups or leaders of algorithms with such names the one nearest to a number.
  std::optional<int> nearest_groups(std::initializer_list<const char*> starts, double wanted) const {
    std::optional<int> best;
    const auto distance = [&](int groups) { return std::abs(std::log(groups / wanted)); };
    for (const auto& candidate : measured_) {
      const int groups = groups_of(candidate);
      if (groups == 0 || !starts_with_one_of(candidate.name, starts) || candidate.name.starts_with("multileader-node"))
        continue;
      if (!best || distance(groups) < distance(*best) || (distance(groups) == distance(*best) && groups < *best))
        best = groups;
    }
    return best;
  }

  NearestMeasured leaders() const {
    const int leaders = strategy_.number("leaders").value_or(1);
    const auto nearest = nearest_groups({"multileader-"}, leaders);
    if (leaders == 1 || !nearest) return first_of(forms_of("hierarchical-", "leaders=1", of_.nodes));
    return first_of(forms_of("multileader-", fmt::format("leaders={}", *nearest), of_.nodes));
  }

  std::vector<int> dims() const {
    std::vector<int> sizes;
    if (const auto found = strategy_.options.find("dims"); found != strategy_.options.end()) {
      for (const auto& piece : split(found->second, 'x')) sizes.push_back(parse_number<int>(piece).value_or(1));
      return sizes;
    }
    const int count = strategy_.number("n").value_or(2);
    sizes.assign(at(count), static_cast<int>(std::lround(std::pow(of_.ranks(), 1.0 / count))));
    return sizes;
  }

  NearestMeasured dimensions() const {
    constexpr double largest_ratio = 2.01;  // of sizes of groups
    const auto sizes = dims();
    if (sizes.size() > 2) return none(fmt::format("stfw of {} dimensions", sizes.size() == 3 ? "3" : "4 and more"));
    double inside = 1;  // ranks of the part of a node that the low digits cover
    for (const int size : sizes) {
      if (inside * size > of_.ppn) break;
      inside *= size;
    }
    if (inside == 1) return none("stfw across nodes at once");
    const auto groups = nearest_groups({"locality-aware", "node-aware"}, of_.ppn / inside);
    if (!groups) return none("stfw");
    const double ratio = of_.ppn / inside / *groups;
    if (std::max(ratio, 1 / ratio) > largest_ratio) return none("stfw with groups of other sizes");
    return first_of(
        forms_of(*groups > 1 ? "locality-aware-" : "node-aware-", fmt::format("groups={}", *groups), sizes.back()));
  }

  StrategyText strategy_;
  const MeasuredCase& of_;
  std::span<const MeasuredAlgorithm> measured_;
};

/// The text of a strategy stands for itself.
std::string strategy_named(const std::string& text) {
  try {
    return to_string(parse_strategy(text));
  } catch (const InputError&) {
    return {};
  }
}

std::string sparse_counterpart(const std::string& name) {
  if (is_one_of(name, {"direct-allreduce", "direct-nbx", "two-step-allreduce", "two-step-nbx"})) {
    const auto hyphen = name.rfind('-');
    return name.substr(0, hyphen) + "+" + name.substr(hyphen + 1);
  }
  if (name == "rma") return "direct+rma";
  return {};
}

}  // namespace

std::string counterpart(const MeasuredAlgorithm& algorithm, const MeasuredCase& of) {
  const auto& name = algorithm.name;
  if (of.pattern.starts_with("sdde")) return sparse_counterpart(name);
  const int groups = groups_of(algorithm);
  const std::string window = name.ends_with("pairwise") ? ",window=1" : "";
  if (is_one_of(name, {"direct-nonblocking", "linear", "pmpi-alltoallv"})) return "standard";
  if (is_one_of(name, {"direct-pairwise", "pairwise"})) return "standard,window=1";
  if (name == "modified-bruck") return "tuna,radix=2";
  if (name == "tuna" && algorithm.parameter == "best radix") return "tuna,radix=auto";
  if (is_one_of(name, {"node-aware-nonblocking", "node-aware-pairwise"})) return "two-step" + window;
  if (is_one_of(name, {"hierarchical-nonblocking", "hierarchical-pairwise"})) return "multi-leader,leaders=1" + window;
  if (is_one_of(name, {"multileader-nonblocking", "multileader-pairwise"}) && groups > 0)
    return fmt::format("multi-leader,leaders={}{}", groups, window);
  if (is_one_of(name, {"locality-aware-nonblocking", "locality-aware-pairwise"}) && groups > 0 && of.ppn % groups == 0)
    return fmt::format("stfw,dims={}x{}{}", of.ppn / groups, groups * of.nodes, window);
  if (is_one_of(name,
                {"mpi-alltoallv-device", "isend-irecv-device", "nonblocking-device", "direct-device", "burst-device"}))
    return "standard@device";
  if (is_one_of(name, {"mpi-alltoallv-staged", "isend-irecv-staged", "direct-staged"})) return "standard@staged";
  if (name == "pairwise-device") return "standard,window=1@device";
  if (is_one_of(name, {"mpix-alltoallv", "mpix-alltoall"})) return "two-step";
  // More processes than these only add processes that wait.
  if (name == "node-aware-staged" && algorithm.parameter == "processes=8 aggregation=node") return "three-step@staged";
  if (name == "burst-host") return "standard";
  return is_of_library(name) ? std::string() : strategy_named(name);
}

int messages_in_flight(const MeasuredAlgorithm& algorithm, const MeasuredCase& of) {
  const auto& name = algorithm.name;
  if (is_pairwise(algorithm)) return 1;
  if (is_one_of(name, {"direct-nonblocking", "linear", "pmpi-alltoallv"}) ||
      starts_with_one_of(name, {"mpi-alltoallv", "isend-irecv", "nonblocking"}))
    return (of.nodes - 1) * of.ppn;
  if (starts_with_one_of(name, {"node-aware", "hierarchical", "mpix"})) return of.nodes - 1;
  if (const int groups = groups_of(algorithm);
      groups > 0 && starts_with_one_of(name, {"locality-aware", "multileader"}))
    return (of.nodes - 1) * groups;
  return 1;
}

bool is_library_alltoall(const MeasuredAlgorithm& algorithm) {
  return is_one_of(algorithm.name, {"pmpi", "pmpi-alltoall", "library-default"});
}

bool is_of_library(const std::string& algorithm) {
  return starts_with_one_of(algorithm, {"pmpi", "library-default", "mpi-"}) || algorithm == "mpi";
}

NearestMeasured nearest_measured(const std::string& strategy, const MeasuredCase& of,
                                 std::span<const MeasuredAlgorithm> measured) {
  for (const auto& candidate : measured)
    if (counterpart(candidate, of) == strategy) return {candidate, true, {}};
  return Search(strategy, of, measured).find();
}

}  // namespace commpass
