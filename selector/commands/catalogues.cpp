// commpass strategies, commpass patterns: the names that arguments take, and their forms.
#include <fmt/core.h>

#include <memory>

#include "model/base/format.hpp"
#include "model/pattern/generate.hpp"
#include "model/route/catalogue.hpp"
#include "model/route/sparse_strategy.hpp"
#include "selector/commands/commands.hpp"
#include "selector/commands/switches.hpp"

namespace commpass {

namespace {

/// What a strategy or a pattern takes: an object of JSON, and "name: meaning" for people and CSV.
class Meanings {
 public:
  void add(const std::string& name, const std::string& words, Json value) {
    json_[name] = std::move(value);
    list_.push_back(name + ": " + words);
  }
  Cell json() const { return json_; }
  Cell field() const { return join(list_, "; "); }
  std::string lines() const {
    std::string text;
    for (const auto& each : list_) text += "      " + each + "\n";
    return text;
  }

 private:
  Json json_ = Json::object();
  std::vector<std::string> list_;
};

Document strategies() {
  auto strategies = json_table("strategies", "name usage summary source parameters");
  auto paths = json_table("paths", "name usage summary source");
  auto found = json_table("discoveries", "name summary source");
  auto lines = csv_table("kind name usage summary source parameters");
  std::string text =
      "Strategies (window=W: rounds of a stage in flight at once, or 'unlimited'; staggered: a message for each "
      "block; shared: messages within a node go through its memory):\n";
  const auto add_text = [&](const std::string& usage, const std::string& summary, const std::string& source) {
    append(text, "  {}\n      {}\n      {}\n", usage, summary, source);
  };
  for (const auto& row : catalogue()) {
    Meanings parameters;
    for (const auto& parameter : row.parameters) parameters.add(parameter.name, parameter.meaning, parameter.meaning);
    add_text(row.usage, row.summary, row.source);
    text += parameters.lines();
    strategies.add({row.name, row.usage, row.summary, row.source, parameters.json()});
    lines.add({"strategy", row.name, row.usage, row.summary, row.source, parameters.field()});
  }
  text += "\nMemory paths, after all else ('standard@device'); without one, the data lies in host memory:\n";
  for (const auto& row : data_path_rows) {
    add_text(row.usage, row.summary, row.source);
    paths.add({row.name, row.usage, row.summary, row.source});
    lines.add({"path", row.name, std::string("STRATEGY") + row.usage, row.summary, row.source});
  }
  text += "\nDiscoveries of sparse exchanges, after a '+' ('direct+nbx'):\n";
  for (const auto& row : discoveries()) {
    add_text(row.name, row.summary, row.source);
    found.add({row.name, row.summary, row.source});
    lines.add({"discovery", row.name, std::string("ROUTE+") + row.name, row.summary, row.source});
  }
  Document document;
  document.fact("schema_version", 1);
  document.text(text);
  for (auto* table : {&strategies, &paths, &found, &lines}) document.add(std::move(*table));
  return document;
}

Document patterns() {
  Table table{"patterns", {{"name"}, {"summary"}, csv_column("keys"), json_column("keys")}};
  std::string text = "Pattern kinds for --generate:\n";
  for (const auto& generator : generators()) {
    Meanings keys;
    for (const auto& key : generator.keys) {
      const auto* const usual = key.default_value;
      keys.add(key.name, key.meaning + (*usual ? fmt::format(" (default {})", usual) : std::string()),
               {{"meaning", key.meaning}, {"default", *usual ? Json(usual) : Json()}});
    }
    append(text, "  {}: {}\n{}", generator.name, generator.summary, keys.lines());
    table.add({generator.name, generator.summary, keys.field(), keys.json()});
  }
  Document document;
  document.fact("schema_version", 1);
  document.text(text);
  document.add(std::move(table));
  return document;
}

Command catalogue_command(const char* name, const char* summary, Document (*make)()) {
  Command command{name, summary};
  auto format = std::make_shared<OutputFormat>();
  format->add_to(command);
  command.run = [=] { format->print(make()); };
  return command;
}

}  // namespace

Command strategies_command() {
  return catalogue_command("strategies", "the strategies that --strategy takes, with their parameters and sources",
                           strategies);
}

Command patterns_command() {
  return catalogue_command("patterns", "the kinds of patterns that --generate takes, with their keys", patterns);
}

}  // namespace commpass
