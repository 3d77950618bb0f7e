#include "selector/report/forms.hpp"

#include "model/base/format.hpp"
#include "model/base/json.hpp"

namespace commpass {

std::string context_lines(const ReportContext& context) {
  std::string text;
  for (const auto& [key, value] : context) append(text, "{}: {}\n", key, value);
  return text;
}

std::string inputs_of(const ReportContext& context) {
  std::vector<std::string> inputs;
  for (const auto& [key, value] : context)
    if (key == "profile" || key == "layout" || key == "pattern") inputs.push_back(value);
  return join(inputs, "; ");
}

std::string json_text(const Json& json, int indent) { return json.dump(indent) + "\n"; }

Json json_head(const ReportContext& context) {
  Json json{{"schema_version", 1}, {"context", Json::object()}};
  for (const auto& [key, value] : context) json["context"][key] = value;
  return json;
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::vector<std::string> quoted;
  for (auto field : fields) {
    if (field.find_first_of(",\"\r\n") != std::string::npos) {
      for (auto at = field.find('"'); at != std::string::npos; at = field.find('"', at + 2)) field.insert(at, 1, '"');
      field.insert(0, 1, '"');
      field += '"';
    }
    quoted.push_back(std::move(field));
  }
  return join(quoted, ",") + "\n";
}

std::string csv_number(const std::optional<double>& number) { return number ? fmt::format("{}", *number) : ""; }

std::string fitted(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  const auto end = (width - 1) / 2;
  return text.substr(0, width - 1 - end) + "~" + text.substr(text.size() - end);
}

}  // namespace commpass
