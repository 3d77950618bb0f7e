// commpass completion: scripts by which bash and zsh complete commands and switches. They are made from the commands as
// they are declared, so that no list is kept twice.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

#include "model/text.hpp"
#include "selector/commands/commands.hpp"

namespace commpass {

namespace {

/// What may follow a command: its own commands and its switches.
std::string words_of(const Command& command) {
  std::vector<std::string> words;
  for (const auto& each : command.commands) words.push_back(each.name);
  words.emplace_back("--help");
  if (!command.version.empty()) words.emplace_back("--version");
  for (const auto* each : all_switches(command))
    if (each->has_hyphens()) words.push_back(split(each->name, ',').back());
  return fmt::format("{}", fmt::join(words, " "));
}

/// "    'profile list') choices='…' ;;", for a command and those below it.
void print_cases(const Command& command, const std::string& path, std::string& text) {
  fmt::format_to(std::back_inserter(text), "    '{}') choices='{}' ;;\n", path, words_of(command));
  for (const auto& each : command.commands) print_cases(each, path.empty() ? each.name : path + " " + each.name, text);
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

Command completion_command(const Command& all) {
  const auto print = [&all](bool is_zsh) {
    std::string cases;
    print_cases(all, "", cases);
    if (is_zsh) fmt::print(zsh, cases);
    else fmt::print(bash, cases);
  };
  Command command{"completion", "a script that completes commands and switches in bash or zsh"};
  command.commands = {{"bash", "for ~/.bashrc: source <(commpass completion bash)"},
                      {"zsh", "for a folder of fpath: commpass completion zsh > _commpass"}};
  // A shell that is none of them.
  command.add({{"shell",
                [](const std::string&) {},
                "one of those below",
                {.checks = {{"", [](const std::string& shell) {
                               return fmt::format("there is no completion for {}; use bash or zsh", shell);
                             }}}}}});
  command.commands[0].run = [=] { print(false); };
  command.commands[1].run = [=] { print(true); };
  return command;
}

}  // namespace commpass
