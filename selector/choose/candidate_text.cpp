#include "selector/choose/candidate_text.hpp"

#include <type_traits>

#include "model/base/error.hpp"
#include "model/base/json.hpp"
#include "model/machine/parameters.hpp"

namespace commpass {

namespace {

template <class Value>
Json json_of(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

/// get alone would drop the fraction of a number.
template <class Value>
Value value_of(const Json& json) {
  if (std::is_integral_v<Value> && !json.is_number_integer())
    throw Error("candidates as text are damaged: a number is no integer.");
  return json.get<Value>();
}

template <class Value>
std::optional<Value> optional_of(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(value_of<Value>(json));
}

Json json_of(const std::optional<Demand>& demand) {
  return demand ? Json{demand->messages_off_node, demand->messages, demand->partners} : Json();
}

Json json_of(const StageCost& stage) {
  return {stage.label, stage.messages_max, stage.bytes_max, stage.seconds, stage.parts, stage.is_staging};
}

StageCost stage_of(const Json& json) {
  StageCost stage{json.at(0).get<std::string>(),
                  value_of<std::int64_t>(json.at(1)),
                  value_of<Bytes>(json.at(2)),
                  json.at(3).get<Seconds>(),
                  {},
                  json.at(5).get<bool>()};
  for (std::size_t i = 0; i < stage.parts.size(); ++i) stage.parts[i] = json.at(4).at(i).get<Seconds>();
  return stage;
}

Json json_of(const Candidate& candidate) {
  auto stages = Json::array();
  for (const auto& stage : candidate.cost.stages) stages.push_back(json_of(stage));
  return {to_string(candidate.strategy),
          candidate.cost.seconds,
          std::move(stages),
          json_of(candidate.buffered_blocks_max),
          json_of(candidate.buffered_bytes_max),
          json_of(candidate.bytes_sent),
          json_of(candidate.plan_seconds),
          json_of(candidate.demand),
          candidate.limited_window ? Json(candidate.limited_window->rounds) : Json(),
          candidate.exceeded_limit ? Json(candidate.exceeded_limit) : Json(),
          candidate.cost.sampling_error};
}

std::optional<Demand> demand_of(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return Demand{value_of<std::int64_t>(json.at(0)), value_of<std::int64_t>(json.at(1)),
                value_of<std::int64_t>(json.at(2))};
}

/// The text of the table's row.
const char* limit_of(const Json& json) {
  return json.is_null() ? nullptr : parameter_named(MachineParameter::Place::limits, json.get<std::string>()).key;
}

Candidate candidate_of(const Json& json) {
  Candidate candidate{parse_strategy(json.at(0).get<std::string>()),
                      {json.at(1).get<Seconds>(), {}},
                      optional_of<std::int64_t>(json.at(3)),
                      optional_of<Bytes>(json.at(4)),
                      optional_of<Bytes>(json.at(5)),
                      optional_of<Seconds>(json.at(6))};
  candidate.demand = demand_of(json.at(7));
  if (!json.at(8).is_null()) candidate.limited_window = Window{value_of<int>(json.at(8))};
  candidate.exceeded_limit = limit_of(json.at(9));
  candidate.cost.sampling_error = json.at(10).get<double>();
  for (const auto& stage : json.at(2)) candidate.cost.stages.push_back(stage_of(stage));
  return candidate;
}

}  // namespace

std::string to_text(std::span<const Candidate> candidates) {
  auto json = Json::array();
  for (const auto& candidate : candidates) json.push_back(json_of(candidate));
  return json.dump();
}

std::vector<Candidate> parse_candidates(const std::string& text) {
  std::vector<Candidate> candidates;
  const auto json = Json::parse_or_null(text);
  if (!json.is_array()) throw Error("candidates as text are damaged.");
  try {
    for (const auto& each : json) candidates.push_back(candidate_of(each));
  } catch (const JsonError& error) {
    throw Error(std::string("candidates as text are damaged: ") + error.what());
  }
  return candidates;
}

}  // namespace commpass
