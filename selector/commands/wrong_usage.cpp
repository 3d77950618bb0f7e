#include "selector/commands/wrong_usage.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "model/base/format.hpp"
#include "model/base/nearest_names.hpp"

namespace commpass {

namespace {

std::vector<std::string> names_of(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const auto& each : commands) names.push_back(each.name);
  return names;
}

/// What to do where `words` needs one of its commands.
std::string name_a_command(const Command& command, const std::string& words) {
  constexpr std::size_t listed_max = 6;
  return command.commands.size() <= listed_max ? "use " + either_of(names_of(command.commands))
                                               : fmt::format("'{} --help' lists them", words);
}

/// The words that a command does not know, as a sentence; nothing if there are none.
std::optional<std::string> find_unknown_word(const Named& named) {
  auto unknown = named.app->remaining();
  std::erase(unknown, "--");
  if (unknown.empty()) return std::nullopt;
  const auto is_switch = [](const std::string& word) { return word.size() > 1 && word.starts_with("-"); };
  const auto found = std::ranges::find_if(unknown, is_switch);
  const auto list = fmt::format("'{} --help' lists all", named.words);
  if (found == unknown.end()) return fmt::format("{}: '{}' takes no such word; {}", unknown.front(), named.words, list);
  const auto name = found->substr(0, found->find('='));
  std::vector<std::string> names{"--help"};
  if (!named.command->version.empty()) names.emplace_back("--version");
  for (const auto* each : all_switches(*named.command))
    if (each->has_hyphens()) names.push_back(each->long_name());
  const auto near = did_you_mean(name, names);
  const bool starts_programs = std::ranges::any_of(named.command->switches, [](const Switch& each) {
    return !each.has_hyphens() && each.is_list() && each.rules.offer == Offer::programs;
  });
  if (near.empty() && starts_programs)
    return fmt::format("{}: '{}' has no such switch; write the launcher and the program behind --", name, named.words);
  return fmt::format("{}: '{}' has no such switch; {}{}", name, named.words, near, list);
}

/// The switches that were given.
class Given {
 public:
  explicit Given(const Named& named) : named_(named) {}

  std::size_t count(const std::string& name) const { return named_.app->get_option(name)->count(); }
  std::size_t count(const Switch& each) const { return count(each.long_name()); }

  /// Which rule about several switches is not kept, as a sentence; nothing: all are.
  std::optional<std::string> find_broken_rule() const {
    for (const auto& group : named_.command->groups)
      if (auto broken = broken_by(group)) return broken;
    const auto switches = all_switches(*named_.command);
    for (const auto* each : switches)
      if (each->rules.required && count(*each) == 0)
        return fmt::format("'{}' needs {}: {}", named_.words, each->long_name(), each->help);
    for (const auto* each : switches) {
      if (count(*each) == 0) continue;
      for (const auto& other : each->rules.excludes)
        if (count(other) > 0)
          return fmt::format("{} and {} exclude each other; leave one out", each->long_name(), other);
      for (const auto& other : each->rules.needs)
        if (count(other) == 0)
          return fmt::format("{} needs {}; add it, or leave {} out", each->long_name(), described(other),
                             each->long_name());
    }
    return std::nullopt;
  }

  /// A switch that was given more often than once and takes one value.
  std::optional<std::string> find_repeated() const {
    for (const auto* each : all_switches(*named_.command))
      if (!each->is_list() && !each->rules.last_counts && each->takes_value() && count(*each) > 1)
        return fmt::format("{} is given {} times; give it once", each->long_name(), count(*each));
    return std::nullopt;
  }

 private:
  /// "--matrix", or of a word without hyphens what it is, too.
  std::string described(const std::string& name) const {
    for (const auto* each : all_switches(*named_.command))
      if (each->name == name && !each->has_hyphens()) return fmt::format("{} ({})", name, each->help);
    return name;
  }

  std::optional<std::string> broken_by(const SwitchGroup& group) const {
    std::vector<std::string> all, given;
    for (const auto& each : group.switches) {
      all.push_back(each.long_name());
      if (count(each) > 0) given.push_back(each.long_name());
    }
    if (given.size() < group.least) return fmt::format("'{}' needs {}; add one", named_.words, either_of(all));
    if (given.size() > group.most) return fmt::format("{} exclude each other; use one of them", join(given, " and "));
    return std::nullopt;
  }

  Named named_;
};

}  // namespace

Named named_command(const CLI::App& app, const Command& command) {
  Named named{&command, command.name, &app};
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (const auto& each : named.command->commands) {
      const auto* below = named.app->get_subcommand(each.name);
      if (!below->parsed()) continue;
      named = {&each, named.words + " " + each.name, below};
      goes_on = true;
      break;
    }
  }
  return named;
}

std::optional<std::string> find_empty(const Command&, int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    if (*argv[i] != '\0') continue;
    const bool is_value = i > 1 && *argv[i - 1] == '-';
    return fmt::format("{}: it is empty; give it a value", is_value ? argv[i - 1] : fmt::format("argument {}", i));
  }
  return std::nullopt;
}

std::optional<std::string> find_unknown_command(const Command& command, int argc, const char* const* argv) {
  const auto* at = &command;
  auto words = command.name;
  for (int i = 1; i < argc && !at->commands.empty(); ++i) {
    const std::string word = argv[i];
    if (word.starts_with("-")) return std::nullopt;
    const auto found = std::ranges::find(at->commands, word, &Command::name);
    if (found == at->commands.end()) {
      const auto near = did_you_mean(word, names_of(at->commands));
      const auto list = fmt::format("'{} --help' lists all", words);
      return fmt::format("{}: '{}' has no such command; {}", word, words,
                         near.empty() ? name_a_command(*at, words) : near + list);
    }
    at = &*found;
    words += " " + word;
  }
  return std::nullopt;
}

std::string explain_further_word(const Command& command, const char* const* argv) {
  const std::string first = argv[1];
  const auto* const word = first == "-V" || first == "--version" ? argv[2] : argv[1];
  return fmt::format("{}: '{} --version' takes no other word; leave it out", word, command.name);
}

std::string explain(const CLI::ParseError& error, const CLI::App& app, const Command& command) {
  const auto named = named_command(app, command);
  if (auto unknown = find_unknown_word(named)) return *unknown;
  if (!named.command->commands.empty())
    return fmt::format("'{}' needs a command; {}", named.words, name_a_command(*named.command, named.words));
  const Given given(named);
  if (const auto repeated = given.find_repeated()) return *repeated;
  std::string message = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error))
    return fmt::format("{}: its value is missing; add it", message.substr(0, message.find(':')));
  if (dynamic_cast<const CLI::ValidationError*>(&error)) return message;
  return given.find_broken_rule().value_or(message);
}

}  // namespace commpass
