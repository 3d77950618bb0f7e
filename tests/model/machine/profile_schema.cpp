#include "model/machine/profile_schema.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "model/support.hpp"

namespace commpass::test {

namespace {

using valijson::adapters::NlohmannJsonAdapter;

/// A schema that was read once: that takes most of the time of a validation.
struct ReadSchema {
  explicit ReadSchema(const std::string& text) : document(nlohmann::json::parse(text)) {
    valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(NlohmannJsonAdapter(document), schema);
  }
  nlohmann::json document;
  valijson::Schema schema;
};

}  // namespace

bool schema_accepts(const std::string& schema_path, const std::string& json_text) {
  static std::map<std::string, ReadSchema> known;
  auto found = known.find(schema_path);
  if (found == known.end()) found = known.try_emplace(schema_path, contents_of(schema_path)).first;
  const auto json = nlohmann::json::parse(json_text);
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  return validator.validate(found->second.schema, NlohmannJsonAdapter(json), nullptr);
}

}  // namespace commpass::test
