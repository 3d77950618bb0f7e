#include "selector/commands/run_command.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <new>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/nearest_names.hpp"
#include "model/base/text.hpp"
#include "selector/commands/manual_page.hpp"
#include "selector/commands/wrong_usage.hpp"
#include "selector/environment/environment.hpp"

namespace commpass {

namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

/// Names the switches that a switch needs or excludes in the order of their names: CLI11 has them by their addresses.
class OrderedFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    auto text = Formatter::make_option_opts(option);
    const auto put_in_order = [&](const std::set<CLI::Option*>& others) {
      std::vector<std::string> names;
      for (const auto* other : others) names.push_back(other->get_name());
      const auto before = join(names, " ");
      std::ranges::sort(names);
      if (const auto at = text.find(before); at != std::string::npos) text.replace(at, before.size(), join(names, " "));
    };
    put_in_order(option->get_needs());
    put_in_order(option->get_excludes());
    return text;
  }
};

/// Each use adds one. CLI11 would split "a,b" into two values if it were told to take many.
CLI::Option* add_each_use(CLI::App& app, const Switch& each, const std::function<void(const std::string&)>& use) {
  return app.add_option_function<std::string>(each.name, use, each.help)
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

/// @param target  Bytes, or none
template <class Size>
CLI::Option* add_size(CLI::App& app, const Switch& each, Size* target) {
  return app
      .add_option_function<std::string>(
          each.name, [target](const std::string& text) { *target = parse_bytes(text).value(); }, each.help)
      ->type_name("SIZE")
      ->check([](const std::string& text) {
        const auto [what, remedy] = size_problem(text);
        return parse_bytes(text) ? "" : fmt::format("'{}' {}; {}", text, what, remedy);
      });
}

CLI::Option* add_option(CLI::App& app, const Switch& each) {
  return std::visit(Overloaded{[&](bool* target) { return app.add_flag(each.name, *target, each.help); },
                               [&](int* target) {
                                 const auto& alone = each.rules.value_alone;
                                 return alone.empty() ? app.add_option(each.name, *target, each.help)
                                                      : app.add_flag(each.name + "{" + alone + "}", *target, each.help);
                               },
                               [&](Bytes* target) { return add_size(app, each, target); },
                               [&](std::optional<Bytes>* target) { return add_size(app, each, target); },
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
        if constexpr (std::is_same_v<Number, int> || std::is_same_v<Number, std::size_t>)
          option->check(refuse_part_of_number<Number>);
      },
      each.target);
  if (const auto& words = each.rules.one_of; !words.empty())
    option->check(
        [words](const std::string& text) {
          return std::ranges::find(words, text) != words.end()
                     ? ""
                     : fmt::format("'{}' is none of its values; use {}", text, either_of(words));
        },
        fmt::format("{{{}}}", join(words, ",")));
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
    auto* option = app.get_option(each->long_name());
    for (const auto& name : each->rules.needs) option->needs(app.get_option(name));
    for (const auto& name : each->rules.excludes) option->excludes(app.get_option(name));
  }
  for (const auto& each : command.commands) build(*app.add_subcommand(each.name, each.about), each);
  if (!command.commands.empty()) app.require_subcommand(1);
  if (!command.footer.empty()) app.footer(command.footer);
  if (!command.version.empty()) app.set_version_flag("-V,--version", command.version, "print the version and exit");
}

/// @return the exit code
int refuse_usage(std::string text, bool speaks) {
  constexpr int wrong_usage = 2;
  text = escape_control_characters(text);
  if (text.find("--help") == std::string::npos) text += "\nRun with --help for more information.";
  if (speaks) std::fputs((text + "\n").c_str(), stderr);
  return wrong_usage;
}

/// "help COMMAND … --man" prints the manual page of a command, "help --man=DIRECTORY" writes all pages.
/// @param words  behind "help"
/// @throws InputError
std::optional<std::string> print_manual(const Command& program, std::vector<std::string> words, bool speaks) {
  const auto is_man = [](const std::string& word) { return word == "--man" || word.starts_with("--man="); };
  const auto man = *std::ranges::find_if(words, is_man);
  std::erase_if(words, is_man);
  const auto* command = &program;
  auto name = program.name;
  for (const auto& word : words) {
    const auto found = std::ranges::find(command->commands, word, &Command::name);
    if (found == command->commands.end()) return fmt::format("{}: '{}' has no such command", word, name);
    command = &*found;
    name += " " + word;
  }
  if (man == "--man=") return "--man: its value is missing; name a directory";
  if (!speaks) return std::nullopt;
  if (man != "--man") write_manual(program, man.substr(std::string("--man=").size()));
  else std::fputs(manual_page(*command, name, program.version).c_str(), stdout);
  return std::nullopt;
}

/// Has all that was printed arrived?
bool flush_output() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

}  // namespace

int run_command(const Command& command, int argc, const char* const* argv, bool speaks) {
  const bool is_help = argc > 1 && !command.commands.empty() && std::string(argv[1]) == "help";
  const bool is_manual = is_help && std::any_of(argv + 2, argv + argc, [](const std::string& word) {
                           return word == "--man" || word.starts_with("--man=");
                         });
  if (is_help && !is_manual) {  // "help predict": "predict --help"
    std::vector<const char*> words{argv[0]};
    words.insert(words.end(), argv + 2, argv + argc);
    words.push_back("--help");
    return run_command(command, static_cast<int>(words.size()), words.data(), speaks);
  }
  constexpr int bad_input = 1;
  std::optional<std::string> message;
  CLI::App app{command.about, command.name};
  app.formatter(std::make_shared<OrderedFormatter>());
  try {
    if (is_manual) {
      if (const auto wrong = print_manual(command, {argv + 2, argv + argc}, speaks))
        return refuse_usage(*wrong, speaks);
    } else {
      build(app, command);
      for (const auto find : {find_empty, find_unknown_command})
        if (const auto wrong = find(command, argc, argv)) return refuse_usage(*wrong, speaks);
      app.parse(argc, argv);
      named_command(app, command).command->run();
      if (speaks) warn_unknown(read_environment());
    }
  } catch (const CLI::CallForVersion&) {
    if (argc > 2) return refuse_usage(explain_further_word(command, argv), speaks);
    if (speaks) std::fputs((command.version + "\n").c_str(), stdout);
  } catch (const CLI::Success& asked) {  // --help
    std::ostringstream out, err;
    app.exit(asked, out, err);
    if (speaks) std::fputs(out.str().c_str(), stdout);
  } catch (const CLI::ParseError& error) {
    return refuse_usage(explain(error, app, command), speaks);
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
