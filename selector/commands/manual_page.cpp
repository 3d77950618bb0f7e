#include "selector/commands/manual_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "selector/environment/environment.hpp"

namespace commpass {

namespace {

/// Text that roff prints as it is. A line may begin with a mark of a request.
std::string escape(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) result += "\\&";
    if (c == '\\') result += "\\e";
    else if (c == '-') result += "\\-";
    else result += c;
  }
  return result;
}

std::string bold(const std::string& text) { return "\\fB" + escape(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escape(text) + "\\fR"; }

std::string hyphenated(std::string words) {
  std::ranges::replace(words, ' ', '-');
  return words;
}

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string sentence(const std::string& text) {
  if (text.empty()) return "";
  auto result = text;
  result.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(result.front())));
  return escape(result) + (text.ends_with('.') ? "\n" : ".\n");
}

/// The placeholder for the value of a switch.
std::string value_of(const Switch& each) {
  if (!each.rules.one_of.empty()) return join(each.rules.one_of, "|");
  switch (each.rules.offer) {
    case Offer::profiles: return "PROFILE";
    case Offer::strategies: return "STRATEGY";
    case Offer::patterns: return "PATTERN";
    case Offer::files:
    case Offer::programs: break;
  }
  if (std::holds_alternative<int*>(each.target) || std::holds_alternative<std::size_t*>(each.target)) return "N";
  if (std::holds_alternative<Bytes*>(each.target) || std::holds_alternative<std::optional<Bytes>*>(each.target))
    return "SIZE";
  if (std::holds_alternative<double*>(each.target) || std::holds_alternative<std::optional<double>*>(each.target))
    return "NUMBER";
  return "VALUE";
}

std::string name_all(const std::vector<std::string>& switches) {
  std::vector<std::string> names;
  for (const auto& name : switches) names.push_back(bold(name));
  return join(names, ", ");
}

std::string entry_of(const Switch& each) {
  std::vector<std::string> names;
  for (const auto& name : split(each.name, ',')) names.push_back(each.has_hyphens() ? bold(name) : italic(name));
  auto text = ".TP\n" + join(names, ", ");
  if (each.has_hyphens() && each.takes_value()) text += " " + italic(value_of(each));
  if (!each.rules.value_alone.empty()) text += "[=" + italic(value_of(each)) + "]";
  if (!each.has_hyphens() && each.is_list()) text += " ...";
  text += "\n" + sentence(each.help);
  if (each.rules.required) text += "Required.\n";
  if (!each.rules.needs.empty()) text += "Needs " + name_all(each.rules.needs) + ".\n";
  if (!each.rules.excludes.empty()) text += "Not with " + name_all(each.rules.excludes) + ".\n";
  return text;
}

std::string switches_of(const Command& command) {
  std::string text;
  for (const auto& each : command.switches) text += entry_of(each);
  for (const auto& group : command.groups) {
    text += ".PP\n" + bold(group.name) + ": ";
    text += group.most == 1 ? (group.least == 1 ? "exactly one of these is required.\n" : "at most one of these.\n")
                            : fmt::format("at least {} of these.\n", group.least);
    for (const auto& each : group.switches) text += entry_of(each);
  }
  return text;
}

/// Without links and backquotes.
std::string plain(const std::string& markdown) {
  static const std::regex link(R"(\[([^\]]*)\]\([^)]*\))"), quotes("`");
  return std::regex_replace(std::regex_replace(markdown, link, "$1"), quotes, "");
}

std::string environment() {
  std::string text = ".SH ENVIRONMENT\n";
  for (const auto& variable : environment_variables())
    text += fmt::format(".TP\n{} ({})\n{}", bold(variable.name), escape(plain(variable.values)),
                        sentence(plain(variable.meaning)));
  return text;
}

std::string exit_status() {
  return ".SH EXIT STATUS\n"
         ".TP\n\\fB0\\fR\nDone.\n"
         ".TP\n\\fB1\\fR\nBad input, or output that cannot be written; one sentence on standard error says so.\n"
         ".TP\n\\fB2\\fR\nWrong usage.\n"
         ".TP\n\\fB3\\fR\nOf \\fBcommpass doctor\\fR: do not measure now.\n"
         ".PP\n\\fBcommpass run\\fR and \\fBcommpass record\\fR end with the exit code of the program that they "
         "start.\n";
}

}  // namespace

std::string manual_page(const Command& command, const std::string& name, const std::string& version) {
  const bool is_program = !command.version.empty();
  auto text =
      fmt::format(".TH {} 1 \"\" \"{}\" \"User Commands\"\n", escape(upper_case(hyphenated(name))), escape(version));
  // "commpass - finds …": its name stands before it.
  const auto begin = command.about.starts_with("Commpass ") ? std::string("Commpass ").size() : 0;
  const auto about = command.about.substr(begin, command.about.size() - begin - (command.about.ends_with('.') ? 1 : 0));
  text += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}", escape(hyphenated(name)), escape(about), bold(name));
  if (!command.commands.empty()) text += " " + italic("COMMAND");
  text += " [" + italic("OPTION") + " ...]";
  for (const auto& each : command.switches)
    if (!each.has_hyphens()) text += " " + italic(each.name) + (each.is_list() ? " ..." : "");
  text += "\n.SH DESCRIPTION\n" + sentence(command.about);
  if (!command.footer.empty()) text += ".PP\n" + escape(command.footer) + "\n";
  text += ".SH OPTIONS\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nPrint a summary and exit.\n";
  if (is_program) text += ".TP\n\\fB\\-V\\fR, \\fB\\-\\-version\\fR\nPrint the version and exit.\n";
  text += switches_of(command);
  if (!command.commands.empty()) text += ".SH COMMANDS\n";
  for (const auto& each : command.commands) {
    if (is_program) {
      text += fmt::format(".TP\n{}\n{}", bold(name + " " + each.name), sentence(each.about));
      continue;
    }
    text += fmt::format(".SS {} {}\n{}", escape(name), escape(each.name), sentence(each.about));
    text += switches_of(each);
  }
  if (is_program)
    text += ".PP\nEach command has a page of its own: \\fBman commpass predict\\fR.\n" + exit_status() + environment();
  text += ".SH SEE ALSO\n";
  text += is_program ? "The tutorial, the concepts with a glossary, and all other pages are installed in "
                       "\\fIshare/doc/commpass\\fR.\n"
                     : "\\fBcommpass\\fR(1) has the exit codes and the environment variables.\n";
  return text;
}

void write_manual(const Command& program, const std::string& directory) {
  std::error_code ignored;
  std::filesystem::create_directories(directory, ignored);
  write_file(directory + "/" + program.name + ".1", manual_page(program, program.name, program.version));
  for (const auto& each : program.commands)
    write_file(directory + "/" + program.name + "-" + each.name + ".1",
               manual_page(each, program.name + " " + each.name, program.version));
}

}  // namespace commpass
