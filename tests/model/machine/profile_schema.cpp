#include "model/machine/profile_schema.hpp"

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

namespace commpass::test {

bool schema_accepts(const std::string& schema_text, const std::string& json_text) {
  using valijson::adapters::NlohmannJsonAdapter;
  const auto document = nlohmann::json::parse(schema_text), json = nlohmann::json::parse(json_text);
  valijson::Schema schema;
  valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(NlohmannJsonAdapter(document), schema);
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  return validator.validate(schema, NlohmannJsonAdapter(json), nullptr);
}

}  // namespace commpass::test
