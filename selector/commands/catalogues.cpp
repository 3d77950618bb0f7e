// commpass strategies, commpass patterns: the names that arguments take, and their forms.
#include <fmt/core.h>

#include <memory>

#include "model/base/json.hpp"
#include "model/pattern/generate.hpp"
#include "model/route/catalogue.hpp"
#include "model/route/sparse_strategy.hpp"
#include "selector/commands/commands.hpp"
#include "selector/commands/output_format.hpp"
#include "selector/report/forms.hpp"

namespace commpass {

namespace {

void print_json(const Json& json) { fmt::print("{}", json_text(json)); }

/// "meaning; meaning", as one field.
template <class Items, class Describe>
std::string joined(const Items& items, Describe describe) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : "; ") + describe(item);
  return text;
}

void strategies_text() {
  fmt::print(
      "Strategies (window=W: rounds of a stage in flight at once, or 'unlimited'; staggered: a message for each "
      "block):\n");
  for (const auto& row : catalogue()) {
    fmt::print("  {}\n      {}\n      {}\n", row.usage, row.summary, row.source);
    for (const auto& parameter : row.parameters) fmt::print("      {}: {}\n", parameter.name, parameter.meaning);
  }
  fmt::print("\nMemory paths, after all else ('standard@device'); without one, the data lies in host memory:\n");
  for (const auto& row : data_path_rows) fmt::print("  {}\n      {}\n      {}\n", row.usage, row.summary, row.source);
  fmt::print("\nDiscoveries of sparse exchanges, after a '+' ('direct+nbx'):\n");
  for (const auto& row : discoveries()) fmt::print("  {}\n      {}\n      {}\n", row.name, row.summary, row.source);
}

void strategies_json() {
  Json json{
      {"schema_version", 1}, {"strategies", Json::array()}, {"paths", Json::array()}, {"discoveries", Json::array()}};
  for (const auto& row : catalogue()) {
    auto parameters = Json::object();
    for (const auto& parameter : row.parameters) parameters[parameter.name] = parameter.meaning;
    json["strategies"].push_back({{"name", row.name},
                                  {"usage", row.usage},
                                  {"summary", row.summary},
                                  {"source", row.source},
                                  {"parameters", std::move(parameters)}});
  }
  for (const auto& row : data_path_rows)
    json["paths"].push_back(
        {{"name", row.name}, {"usage", row.usage}, {"summary", row.summary}, {"source", row.source}});
  for (const auto& row : discoveries())
    json["discoveries"].push_back({{"name", row.name}, {"summary", row.summary}, {"source", row.source}});
  print_json(json);
}

void strategies_csv() {
  std::string text = csv_line({"kind", "name", "usage", "summary", "source", "parameters"});
  for (const auto& row : catalogue())
    text += csv_line({"strategy", row.name, row.usage, row.summary, row.source,
                      joined(row.parameters, [](const auto& p) { return std::string(p.name) + ": " + p.meaning; })});
  for (const auto& row : data_path_rows)
    text += csv_line({"path", row.name, std::string("STRATEGY") + row.usage, row.summary, row.source, ""});
  for (const auto& row : discoveries())
    text += csv_line({"discovery", row.name, std::string("ROUTE+") + row.name, row.summary, row.source, ""});
  fmt::print("{}", text);
}

std::string default_of(const GeneratorKey& key) {
  return *key.default_value ? fmt::format(" (default {})", key.default_value) : "";
}

void patterns_text() {
  fmt::print("Pattern kinds for --generate:\n");
  for (const auto& generator : generators()) {
    fmt::print("  {}: {}\n", generator.name, generator.summary);
    for (const auto& key : generator.keys) fmt::print("      {}: {}{}\n", key.name, key.meaning, default_of(key));
  }
}

void patterns_json() {
  Json json{{"schema_version", 1}, {"patterns", Json::array()}};
  for (const auto& generator : generators()) {
    auto keys = Json::object();
    for (const auto& key : generator.keys)
      keys[key.name] = {{"meaning", key.meaning}, {"default", *key.default_value ? Json(key.default_value) : Json()}};
    json["patterns"].push_back({{"name", generator.name}, {"summary", generator.summary}, {"keys", std::move(keys)}});
  }
  print_json(json);
}

void patterns_csv() {
  std::string text = csv_line({"name", "summary", "keys"});
  for (const auto& generator : generators())
    text += csv_line({generator.name, generator.summary, joined(generator.keys, [](const auto& key) {
                        return fmt::format("{}: {}{}", key.name, key.meaning, default_of(key));
                      })});
  fmt::print("{}", text);
}

using Print = void (*)();

Command catalogue_command(const char* name, const char* summary, Print text, Print json, Print csv) {
  Command command{name, summary};
  auto format = std::make_shared<OutputFormat>();
  format->add_to(command);
  command.run = [=] { (format->json ? json : format->csv ? csv : text)(); };
  return command;
}

}  // namespace

Command strategies_command() {
  return catalogue_command("strategies", "the strategies that --strategy takes, with their parameters and sources",
                           strategies_text, strategies_json, strategies_csv);
}

Command patterns_command() {
  return catalogue_command("patterns", "the kinds of patterns that --generate takes, with their keys", patterns_text,
                           patterns_json, patterns_csv);
}

}  // namespace commpass
