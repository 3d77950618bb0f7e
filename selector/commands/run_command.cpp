#include "selector/commands/run_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <new>
#include <sstream>
#include <type_traits>

#include "model/error.hpp"
#include "model/text.hpp"
#include "selector/commands/environment.hpp"

namespace commpass {

namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

/// Each use adds one. CLI11 would split "a,b" into two values if it were told to take many.
CLI::Option* add_each_use(CLI::App& app, const Switch& each, std::function<void(const std::string&)> use) {
  return app.add_option_function<std::string>(each.name, std::move(use), each.help)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->trigger_on_parse();
}

/// CLI11 2.1 takes -1 for the largest number without a sign, and says what it could not convert.
template <class Number>
std::string refuse_part_of_number(const std::string& text) {
  if (parse_number<Number>(text)) return "";
  constexpr auto most = std::numeric_limits<Number>::max();
  const auto value = parse_number<double>(text);
  return value && *value > static_cast<double>(most) ? fmt::format("'{}' is too large; use at most {}", text, most)
                                                     : fmt::format("'{}' is no whole number; use one", text);
}

CLI::Option* add_option(CLI::App& app, const Switch& each) {
  return std::visit(Overloaded{[&](bool* target) { return app.add_flag(each.name, *target, each.help); },
                               [&](int* target) {
                                 const auto& alone = each.rules.value_alone;
                                 return alone.empty() ? app.add_option(each.name, *target, each.help)
                                                      : app.add_flag(each.name + "{" + alone + "}", *target, each.help);
                               },
                               [&](std::vector<std::string>* target) {
                                 if (!each.has_hyphens()) return app.add_option(each.name, *target, each.help);
                                 return add_each_use(app, each,
                                                     [target](const std::string& text) { target->push_back(text); });
                               },
                               [&](const std::function<void(const std::string&)>& use) {
                                 return app.add_option_function<std::string>(each.name, use, each.help);
                               },
                               [&](auto* target) { return app.add_option(each.name, *target, each.help); }},
                    each.target);
}

void add(CLI::App& app, const Switch& each) {
  auto* option = add_option(app, each);
  option->required(each.rules.required);
  for (const auto& check : each.rules.checks) option->check(check.problem, check.name);
  std::visit(
      [&]<class Value>(const Value&) {
        using Number = std::remove_pointer_t<Value>;
        if constexpr (std::is_integral_v<Number> && !std::is_same_v<Number, bool>)
          option->check(refuse_part_of_number<Number>);
      },
      each.target);
  if (!each.rules.one_of.empty()) option->check(CLI::IsMember(each.rules.one_of));
  if (each.rules.last_counts) option->take_last();
}

/// Makes CLI11's application of a command.
void build(CLI::App& app, const Command& command) {
  for (const auto& each : command.switches) add(app, each);
  for (const auto& group : command.groups) {
    auto* options = app.add_option_group(group.name, group.about);
    for (const auto& each : group.switches) add(*options, each);
    options->require_option(group.least, group.most);
  }
  for (const auto* each : all_switches(command)) {
    auto* option = app.get_option(split(each->name, ',').back());
    for (const auto& name : each->rules.needs) option->needs(app.get_option(name));
    for (const auto& name : each->rules.excludes) option->excludes(app.get_option(name));
  }
  for (const auto& each : command.commands) build(*app.add_subcommand(each.name, each.about), each);
  if (!command.commands.empty()) app.require_subcommand(1);
  if (!command.footer.empty()) app.footer(command.footer);
  if (!command.version.empty()) app.set_version_flag("--version", command.version, "print the version and exit");
}

/// Nothing that an argument names has an empty name: '' is a variable of a shell that was not set. CLI11 2.1 takes it
/// for the name of a group of options, and may then read it for ever.
void refuse_empty(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    if (*argv[i] != '\0') continue;
    const bool is_value = i > 1 && *argv[i - 1] == '-';
    throw CLI::ValidationError(is_value ? argv[i - 1] : fmt::format("argument {}", i), "it is empty; give it a value");
  }
}

/// CLI11 would say that a command is missing.
void refuse_unknown_command(const Command& command, int argc, const char* const* argv) {
  const auto* at = &command;
  for (int i = 1; i < argc && !at->commands.empty(); ++i) {
    const std::string word = argv[i];
    const bool takes_words = std::ranges::any_of(at->switches, [](const Switch& each) { return !each.has_hyphens(); });
    if (takes_words || word.starts_with("-")) return;
    const auto found = std::ranges::find(at->commands, word, &Command::name);
    if (found == at->commands.end()) throw CLI::ExtrasError(at->name, {word});
    at = &*found;
  }
}

/// The command that was named, below the one that the application is.
const Command& named_command(const CLI::App& app, const Command& command) {
  for (const auto& each : command.commands)
    if (const auto* below = app.get_subcommand(each.name); below->parsed()) return named_command(*below, each);
  return command;
}

/// Has all that was printed arrived?
bool flush_output() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

}  // namespace

int run_command(const Command& command, int argc, const char* const* argv, bool speaks) {
  constexpr int bad_input = 1, wrong_usage = 2;
  std::optional<std::string> message;
  CLI::App app{command.about, command.name};
  try {
    build(app, command);
    refuse_empty(argc, argv);
    refuse_unknown_command(command, argc, argv);
    app.parse(argc, argv);
    named_command(app, command).run();
    if (speaks) warn_unknown(read_environment());
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    const bool is_help = app.exit(error, out, err) == 0;
    if (speaks) {
      std::fputs(out.str().c_str(), stdout);
      std::fputs(err.str().c_str(), stderr);
    }
    if (!is_help) return wrong_usage;
  } catch (const std::bad_alloc&) {
    message = "there is not enough memory; use fewer ranks, a sparser pattern or a machine with more memory.";
  } catch (const std::exception& error) {
    message = error.what();
  }
  if (!flush_output())
    message = InputError("output", "it cannot be written", "check where stdout goes and its free space").what();
  if (!message) return 0;
  if (speaks)
    std::fputs(("commpass: " + *message + "\n").c_str(), stderr);  // fmt would throw where stderr cannot be written
  return bad_input;
}

}  // namespace commpass
