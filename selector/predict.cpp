#include "selector/predict.hpp"

#include "model/machine/profile_lookup.hpp"
#include "model/machine/stand_ins.hpp"
#include "selector/choose/explain.hpp"
#include "selector/environment/environment.hpp"

namespace commpass {

std::vector<Prediction> predict(const Pattern& pattern, const std::string& layout, const Machine& machine,
                                const PredictOptions& options) {
  std::vector<Strategy> strategies;
  for (const auto& text : options.strategies) strategies.push_back(parse_strategy(text));
  const auto ranking =
      rank_strategies(pattern, parse_layout(layout, pattern.ranks), machine, options.model, strategies, options.calls);
  std::vector<Prediction> result;
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    const auto& cost = ranking[i].cost;
    result.push_back({to_string(ranking[i].strategy), cost.seconds, {}, explain(ranking, i, options.calls)});
    for (const auto& stage : cost.stages)
      result.back().stages.push_back({stage.label, stage.messages_max, stage.bytes_max, stage.seconds});
  }
  return result;
}

Machine find_machine(const std::string& profile) {
  const auto environment = read_environment();
  const auto wanted = profile.empty() ? environment.profile.value_or("") : profile;
  return with_stand_ins(
      wanted.empty() ? generic_profile().machine
                     : read_profile(find_profile(wanted, profile_directories(environment.profile_places))).machine);
}

}  // namespace commpass
