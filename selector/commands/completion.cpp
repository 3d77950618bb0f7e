// commpass completion: scripts by which bash and zsh complete commands, switches and values. They are made from the
// commands as they are declared, so that no list is kept twice.
#include <fmt/core.h>

#include <cstdio>
#include <map>

#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "model/pattern/generate.hpp"
#include "model/route/catalogue.hpp"
#include "selector/commands/commands.hpp"

namespace commpass {

namespace {

/// A case of a shell's `case`: patterns that have one consequence.
using Cases = std::map<std::string, std::vector<std::string>>;

/// What a script has to know of the commands.
struct Facts {
  std::vector<std::string> groups;  ///< commands that have commands, as patterns
  std::string choices;              ///< for each command the words that may follow it, as cases
  Cases values;                     ///< of switches, by command and switch
  Cases places;                     ///< of words that are known by their place, by command
};

/// The words that may follow a command: its own commands and its switches.
std::string words_of(const Command& command) {
  std::vector<std::string> words;
  for (const auto& each : command.commands) words.push_back(each.name);
  words.emplace_back("--help");
  if (!command.version.empty()) words.emplace_back("--version");
  for (const auto* each : all_switches(command))
    if (each->has_hyphens()) words.push_back(each->long_name());
  return join(words, " ");
}

/// What the script does to complete a value, as text of a shell; empty: the shell offers files.
std::string completion_of(const Switch& each) {
  auto words = each.rules.one_of.empty() ? each.rules.words : each.rules.one_of;
  switch (each.rules.offer) {
    case Offer::profiles: return "values=$(\"$program\" profile list 2>/dev/null | cut -d\" \" -f1)";
    case Offer::strategies:
      for (const auto& row : catalogue()) words.emplace_back(row.name);
      return fmt::format("values='{}'", join(words, " "));
    case Offer::patterns:
      for (const auto& generator : generators()) words.push_back(std::string(generator.name) + ":");
      return fmt::format("goes_on=yes values='{}'", join(words, " "));
    case Offer::files:
    case Offer::programs: break;
  }
  return words.empty() ? "" : fmt::format("values='{}'", join(words, " "));
}

/// @param path  the words that lead to the command, without the program's name
void collect(const Command& command, const std::string& path, Facts& facts) {
  facts.choices += fmt::format("    '{}') choices='{}' ;;\n", path, words_of(command));
  if (!command.commands.empty() && !path.empty()) facts.groups.push_back(path);
  for (const auto* each : all_switches(command)) {
    const auto completion = completion_of(*each);
    if (!each->has_hyphens()) {
      if (!completion.empty()) facts.places[completion].push_back("'" + path + "'");
    } else if (each->takes_value()) {
      for (const auto& name : split(each->name, ','))
        facts.values[completion.empty() ? "is_file=yes" : completion].push_back(fmt::format("'{} {}'", path, name));
    }
  }
  for (const auto& each : command.commands) collect(each, path.empty() ? each.name : path + " " + each.name, facts);
}

/// "help" is followed by the names of commands.
void collect_help(const Command& all, Facts& facts) {
  facts.groups.emplace_back("help");
  const auto add = [&](const std::string& path, const std::vector<Command>& commands) {
    std::vector<std::string> names;
    for (const auto& each : commands) names.push_back(each.name);
    facts.choices += fmt::format("    '{}') choices='{}' ;;\n", path, join(names, " "));
  };
  add("help", all.commands);
  for (const auto& each : all.commands)
    if (!each.commands.empty()) add("help " + each.name, each.commands);
}

std::string text_of(const Cases& cases) {
  std::string text;
  for (const auto& [consequence, patterns] : cases)
    text += fmt::format("    {}) {} ;;\n", join(patterns, "|"), consequence);
  return text;
}

/// What bash and zsh write alike: the choices, values and kinds of words behind the typed words.
constexpr auto* look_up = R"(  case $typed in
@choices@  esac
  case "$typed $previous" in
@values@  esac
  if [[ -z $values$is_file && $current != -* ]]; then
    case $typed in
@places@    esac
  fi
)";

/// The commands that were typed are those words that stand at the front; the words behind a command are looked up.
constexpr auto* bash = R"(# bash completion for commpass, made by 'commpass completion bash'.
_commpass() {
  local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local typed= choices= values= is_file= goes_on= before= i
  # bash takes '=' for a word of its own.
  if [[ $current == = ]]; then current=
  elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} == -* ]] && break
    [[ $i != 1 && ! $typed =~ ^(@groups@)$ ]] && break
    typed+=${typed:+ }${COMP_WORDS[i]}
  done
@look up@  COMPREPLY=()
  if [[ -n $values ]]; then
    [[ $current == *,* ]] && before=${current%,*},
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$values" -- "${current##*,}")
    [[ -n $goes_on ]] && compopt -o nospace 2>/dev/null
  elif [[ -z $is_file ]] && [[ $current == -* || -z $typed || $typed =~ ^(@groups@|help .*)$ ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")
  fi
}
complete -o default -F _commpass commpass
)";

constexpr auto* zsh = R"(#compdef commpass
# zsh completion for commpass, made by 'commpass completion zsh'.
_commpass() {
  local program=${words[1]} current=${words[CURRENT]} previous=${words[CURRENT - 1]}
  local typed= choices= values= is_file= goes_on= i
  if [[ $current == --*=* ]]; then
    previous=${current%%=*}
    compset -P '*='
  fi
  for ((i = 2; i < CURRENT; ++i)); do
    [[ ${words[i]} == -* ]] && break
    [[ $i != 2 && ! $typed =~ '^(@groups@)$' ]] && break
    typed+=${typed:+ }${words[i]}
  done
@look up@  if [[ -n $values ]]; then
    compset -P '*,'
    if [[ -n $goes_on ]]; then compadd -S '' -- ${=values}; else compadd -- ${=values}; fi
  elif [[ -z $is_file ]] && [[ $current == -* || -z $typed || $typed =~ '^(@groups@|help .*)$' ]]; then
    compadd -- ${=choices}
  else
    _files
  fi
}
_commpass "$@"
)";

void replace_all(std::string& text, const std::string& mark, const std::string& by) {
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size()))
    text.replace(at, mark.size(), by);
}

void print_script(const char* script, const Command& all) {
  Facts facts;
  collect(all, "", facts);
  collect_help(all, facts);
  std::string text = script;
  replace_all(text, "@look up@", look_up);
  replace_all(text, "@groups@", join(facts.groups, "|"));
  replace_all(text, "@choices@", facts.choices);
  replace_all(text, "@values@", text_of(facts.values));
  replace_all(text, "@places@", text_of(facts.places));
  std::fputs(text.c_str(), stdout);
}

}  // namespace

Command completion_command(const Command& all) {
  Command command{"completion", "a script that completes commands, switches and values in bash or zsh"};
  command.commands = {{"bash", "for ~/.bashrc: source <(commpass completion bash)"},
                      {"zsh", "for a folder of fpath: commpass completion zsh > _commpass"}};
  command.commands[0].run = [&all] { print_script(bash, all); };
  command.commands[1].run = [&all] { print_script(zsh, all); };
  return command;
}

}  // namespace commpass
