#include "selector/choose/candidate_text.hpp"

#include <nlohmann/json.hpp>
#include <type_traits>

#include "model/error.hpp"

namespace commpass {

namespace {

template <class Value>
nlohmann::json json_of(const std::optional<Value>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

/// nlohmann::json would make any number an integer, whatever becomes of it.
template <class Value>
Value value_of(const nlohmann::json& json) {
  if (std::is_integral_v<Value> && !json.is_number_integer())
    throw Error("candidates as text are damaged: a number is no integer.");
  return json.get<Value>();
}

template <class Value>
std::optional<Value> optional_of(const nlohmann::json& json) {
  return json.is_null() ? std::nullopt : std::optional(value_of<Value>(json));
}

nlohmann::json json_of(const StageCost& stage) {
  return {stage.label, stage.messages_max, stage.bytes_max, stage.seconds, stage.parts, stage.is_staging};
}

StageCost stage_of(const nlohmann::json& json) {
  return {json.at(0).get<std::string>(), value_of<std::int64_t>(json.at(1)),           value_of<Bytes>(json.at(2)),
          json.at(3).get<Seconds>(),     json.at(4).get<decltype(StageCost::parts)>(), json.at(5).get<bool>()};
}

nlohmann::json json_of(const Candidate& candidate) {
  auto stages = nlohmann::json::array();
  for (const auto& stage : candidate.cost.stages) stages.push_back(json_of(stage));
  return {to_string(candidate.strategy),
          candidate.cost.seconds,
          stages,
          json_of(candidate.buffered_blocks_max),
          json_of(candidate.buffered_bytes_max),
          json_of(candidate.bytes_sent),
          json_of(candidate.plan_seconds)};
}

Candidate candidate_of(const nlohmann::json& json) {
  Candidate candidate{parse_strategy(json.at(0).get<std::string>()),
                      {json.at(1).get<Seconds>(), {}},
                      optional_of<std::int64_t>(json.at(3)),
                      optional_of<Bytes>(json.at(4)),
                      optional_of<Bytes>(json.at(5)),
                      optional_of<Seconds>(json.at(6))};
  for (const auto& stage : json.at(2)) candidate.cost.stages.push_back(stage_of(stage));
  return candidate;
}

/// Goes through a text and stops where lists are deeper in each other than those of candidates: reading them would take
/// as much stack.
class DepthCheck final : public nlohmann::json::json_sax_t {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(nlohmann::json::binary_t&) override { return true; }
  bool key(std::string&) override { return true; }
  bool start_object(std::size_t) override { return false; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return ++depth_ <= deepest; }
  bool end_array() override { return --depth_ >= 0; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  static constexpr int deepest = 5;  // the list, a candidate, its stages, a stage, its parts
  int depth_ = 0;
};

}  // namespace

std::string to_text(std::span<const Candidate> candidates) {
  auto json = nlohmann::json::array();
  for (const auto& candidate : candidates) json.push_back(json_of(candidate));
  std::string text;
  nlohmann::json::to_cbor(json, text);
  return text;
}

std::vector<Candidate> parse_candidates(const std::string& text) {
  std::vector<Candidate> candidates;
  DepthCheck check;
  if (!nlohmann::json::sax_parse(text, &check, nlohmann::json::input_format_t::cbor))
    throw Error("candidates as text are damaged.");
  try {
    for (const auto& json : nlohmann::json::from_cbor(text)) candidates.push_back(candidate_of(json));
  } catch (const nlohmann::json::exception& error) {
    throw Error(std::string("candidates as text are damaged: ") + error.what() + ".");
  }
  return candidates;
}

}  // namespace commpass
