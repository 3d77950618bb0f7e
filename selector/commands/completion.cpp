// commpass completion: scripts by which bash and zsh complete commands and switches. They are made from the commands as
// they are declared, so that no list is kept twice.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iterator>
#include <memory>

#include "selector/commands/commands.hpp"

namespace commpass {

namespace {

/// What may follow a command: its own commands and its switches.
std::string words_of(const CLI::App& app) {
  std::string words;
  const auto out = std::back_inserter(words);
  for (const auto* sub : app.get_subcommands([](const CLI::App* sub) { return !sub->get_name().empty(); }))
    fmt::format_to(out, "{}{}", words.empty() ? "" : " ", sub->get_name());
  // An option of a group belongs to the group, and only the group knows of it.
  const auto switches = [&](const CLI::App& owner, const auto& self) -> void {
    for (const auto* option : owner.get_options())
      for (const auto& name : option->get_lnames())
        if (&owner == &app || name != "help") fmt::format_to(out, "{}--{}", words.empty() ? "" : " ", name);
    for (const auto* group : owner.get_subcommands([](const CLI::App* sub) { return sub->get_name().empty(); }))
      self(*group, self);
  };
  switches(app, switches);
  return words;
}

/// "    'profile list') choices='…' ;;", for a command and those below it.
void print_cases(const CLI::App& app, const std::string& path, std::string& text) {
  fmt::format_to(std::back_inserter(text), "    '{}') choices='{}' ;;\n", path, words_of(app));
  for (const auto* sub : app.get_subcommands([](const CLI::App* sub) { return !sub->get_name().empty(); }))
    print_cases(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), text);
}

/// The commands that were typed are those words that stand at the front; what follows a command is looked up.
constexpr auto* bash = R"(# bash completion for commpass, made by 'commpass completion bash'.
_commpass() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} typed= choices= i
  for ((i = 1; i < COMP_CWORD && i <= 2; ++i)); do
    [[ ${{COMP_WORDS[i]}} == -* ]] && break
    [[ $i == 2 && $typed != profile && $typed != wisdom && $typed != completion ]] && break
    typed+=${{typed:+ }}${{COMP_WORDS[i]}}
  done
  case $typed in
{}  esac
  COMPREPLY=()
  if [[ $current == -* || -z $typed || $typed == profile || $typed == wisdom || $typed == completion ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")
  fi
}}
complete -o default -F _commpass commpass
)";

constexpr auto* zsh = R"(#compdef commpass
# zsh completion for commpass, made by 'commpass completion zsh'.
_commpass() {{
  local current=${{words[CURRENT]}} typed= choices= i
  for ((i = 2; i < CURRENT && i <= 3; ++i)); do
    [[ ${{words[i]}} == -* ]] && break
    [[ $i == 3 && $typed != profile && $typed != wisdom && $typed != completion ]] && break
    typed+=${{typed:+ }}${{words[i]}}
  done
  case $typed in
{}  esac
  if [[ $current == -* || -z $typed || $typed == profile || $typed == wisdom || $typed == completion ]]; then
    compadd -- ${{=choices}}
  else
    _files
  fi
}}
_commpass "$@"
)";

}  // namespace

void add_completion(CLI::App& app, std::function<void()>& command) {
  auto* sub = app.add_subcommand("completion", "a script that completes commands and switches in bash or zsh");
  sub->require_subcommand(1);
  // A shell that is none of them. CLI11 would say only that it was not expected.
  sub->add_option_function<std::string>(
         "shell", [](const std::string&) {}, "one of those below")
      ->check([](const std::string& shell) {
        return fmt::format("there is no completion for {}; use bash or zsh", shell);
      });
  const auto add = [&](const char* shell, const char* summary, bool is_zsh) {
    sub->add_subcommand(shell, summary)->callback([&app, &command, is_zsh] {
      command = [&app, is_zsh] {
        std::string cases;
        print_cases(app, "", cases);
        if (is_zsh) fmt::print(zsh, cases);
        else fmt::print(bash, cases);
      };
    });
  };
  add("bash", "for ~/.bashrc: source <(commpass completion bash)", false);
  add("zsh", "for a folder of fpath: commpass completion zsh > _commpass", true);
}

}  // namespace commpass
