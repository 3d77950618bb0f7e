#include "selector/candidate_text.hpp"

#include <nlohmann/json.hpp>

#include "model/error.hpp"

namespace commpass {

namespace {

using Json = nlohmann::json;

template <class Value>
Json json_of(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

template <class Value>
std::optional<Value> optional_of(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<Value>());
}

Json json_of(const StageCost& stage) { return {stage.label, stage.messages_max, stage.bytes_max, stage.seconds, stage.parts}; }

StageCost stage_of(const Json& json) {
  return {json.at(0).get<std::string>(), json.at(1).get<std::int64_t>(), json.at(2).get<Bytes>(), json.at(3).get<Seconds>(), json.at(4).get<decltype(StageCost::parts)>()};
}

Json json_of(const Candidate& candidate) {
  auto stages = Json::array();
  for (const auto& stage : candidate.cost.stages) stages.push_back(json_of(stage));
  return {to_string(candidate.strategy), candidate.cost.seconds,           stages, json_of(candidate.buffered_blocks_max), json_of(candidate.buffered_bytes_max),
          json_of(candidate.bytes_sent), json_of(candidate.plan_seconds)};
}

Candidate candidate_of(const Json& json) {
  Candidate candidate{parse_strategy(json.at(0).get<std::string>()), {json.at(1).get<Seconds>(), {}}, optional_of<std::int64_t>(json.at(3)), optional_of<Bytes>(json.at(4)),
                      optional_of<Bytes>(json.at(5)), optional_of<Seconds>(json.at(6))};
  for (const auto& stage : json.at(2)) candidate.cost.stages.push_back(stage_of(stage));
  return candidate;
}

}  // namespace

std::string to_text(std::span<const Candidate> candidates) {
  auto json = Json::array();
  for (const auto& candidate : candidates) json.push_back(json_of(candidate));
  std::string text;
  Json::to_cbor(json, text);
  return text;
}

std::vector<Candidate> parse_candidates(const std::string& text) {
  std::vector<Candidate> candidates;
  try {
    for (const auto& json : Json::from_cbor(text)) candidates.push_back(candidate_of(json));
  } catch (const Json::exception& error) {
    throw Error(std::string("candidates as text are damaged: ") + error.what() + ".");
  }
  return candidates;
}

}  // namespace commpass
