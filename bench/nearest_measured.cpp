#include "bench/nearest_measured.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>

#include "calibrate/fit/counterparts.hpp"
#include "model/base/text.hpp"

namespace commpass::bench {
namespace {

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::ranges::find(names, name) != names.end();
}

bool starts_with_one_of(const std::string& name, std::initializer_list<const char*> starts) {
  return std::ranges::any_of(starts, [&](const char* start) { return name.starts_with(start); });
}

/// The pieces of a strategy's text.
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

  /// Both forms of an algorithm; the form with about as many messages in flight comes first.
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

  /// The number of groups or leaders nearest to `wanted`, of algorithms whose names begin so.
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
    constexpr double group_ratio_max = 2.01;
    const auto sizes = dims();
    if (sizes.size() > 2) return none(fmt::format("stfw of {} dimensions", sizes.size() == 3 ? "3" : "4 and more"));
    double inside = 1;  // ranks of a node that the low digits cover
    for (const int size : sizes) {
      if (inside * size > of_.ppn) break;
      inside *= size;
    }
    if (inside == 1) return none("stfw across nodes at once");
    const auto groups = nearest_groups({"locality-aware", "node-aware"}, of_.ppn / inside);
    if (!groups) return none("stfw");
    const double ratio = of_.ppn / inside / *groups;
    if (std::max(ratio, 1 / ratio) > group_ratio_max) return none("stfw with groups of other sizes");
    return first_of(
        forms_of(*groups > 1 ? "locality-aware-" : "node-aware-", fmt::format("groups={}", *groups), sizes.back()));
  }

  StrategyText strategy_;
  const MeasuredCase& of_;
  std::span<const MeasuredAlgorithm> measured_;
};

}  // namespace

int messages_in_flight(const MeasuredAlgorithm& algorithm, const MeasuredCase& of) {
  const auto& name = algorithm.name;
  if (name.find("pairwise") != std::string::npos) return 1;
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

NearestMeasured nearest_measured(const std::string& strategy, const MeasuredCase& of,
                                 std::span<const MeasuredAlgorithm> measured) {
  for (const auto& candidate : measured)
    if (counterpart(candidate, of) == strategy) return {candidate, true, {}};
  return Search(strategy, of, measured).find();
}

}  // namespace commpass::bench
