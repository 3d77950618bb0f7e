#include "selector/commands/switches.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "selector/environment/environment.hpp"

namespace commpass {

bool Switch::is_named(const std::string& one_name) const {
  const auto names = split(name, ',');
  return std::ranges::find(names, one_name) != names.end();
}

std::string Switch::long_name() const { return split(name, ',').back(); }

Switch profile_switch(Target target, const std::string& more) {
  return {"--profile",
          std::move(target),
          "machine profile: a NAME of 'commpass profile list' or a file" + more,
          {.offer = Offer::profiles}};
}

Switch layout_switch(std::string* layout) {
  return {"--layout",
          layout,
          "NODESxRANKS, GROUPSxNODESxSOCKETSxRANKS, node=4,socket=2,core=8, or a node for each rank: 0,0,1",
          {.excludes = {"--ppn"}}};
}

Switch progress_switch(std::string* progress) {
  return {"--progress", progress, "auto, always or never", {.words = {"auto", "always", "never"}}};
}

Switch sparse_switch(std::string* sizes, const std::string& how, const std::vector<std::string>& excludes) {
  return {"--sparse",
          sizes,
          how +
              " a sparse dynamic data exchange, whose receivers know nothing, with messages of one size (constant) or "
              "of any (variable); strategies are those of such exchanges",
          {.one_of = {"constant", "variable"}, .excludes = excludes}};
}

void Command::add(std::vector<Switch> more) {
  switches.insert(switches.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

Switch& Command::find(const std::string& switch_name) {
  const auto find_in = [&](std::vector<Switch>& list) {
    const auto found = std::ranges::find_if(list, [&](const Switch& each) { return each.is_named(switch_name); });
    return found == list.end() ? nullptr : &*found;
  };
  if (auto* found = find_in(switches)) return *found;
  for (auto& each : groups)
    if (auto* found = find_in(each.switches)) return *found;
  throw std::out_of_range(name + " has no switch " + switch_name);
}

SwitchGroup& Command::group(const std::string& group_name) {
  const auto found = std::ranges::find(groups, group_name, &SwitchGroup::name);
  if (found == groups.end()) throw std::out_of_range(name + " has no group " + group_name);
  return *found;
}

void Command::remove(const std::vector<std::string>& switch_names) {
  const auto is_gone = [&](const std::string& each) {
    return std::ranges::find(switch_names, each) != switch_names.end();
  };
  for (const auto& each : switch_names) {
    find(each);
    std::erase_if(switches, [&](const Switch& one) { return one.is_named(each); });
  }
  for (auto& each : switches) {
    std::erase_if(each.rules.needs, is_gone);
    std::erase_if(each.rules.excludes, is_gone);
  }
}

std::vector<const Switch*> all_switches(const Command& command) {
  std::vector<const Switch*> result;
  for (const auto& each : command.switches) result.push_back(&each);
  for (const auto& group : command.groups)
    for (const auto& each : group.switches) result.push_back(&each);
  return result;
}

void OutputFormat::add_to(Command& command) {
  command.add({{"--json", &json, "JSON on stdout"},
               {"--csv", &csv, "the table as comma-separated values, in seconds and bytes", {.excludes = {"--json"}}},
               {"--markdown", &markdown, "Markdown on stdout, for people", {.excludes = {"--json", "--csv"}}},
               {"--latex",
                &latex,
                "the tables for LaTeX, the rest as comments",
                {.excludes = {"--json", "--csv", "--markdown"}}}});
}

namespace {

/// Of a terminal on stdout; anything else gets all columns, and no colours. A launcher gives its programs terminals
/// and may write into a file. NO_COLOR: https://no-color.org.
TextStyle terminal_style() {
  if (is_launched() || !::isatty(STDOUT_FILENO)) return {};
  winsize size{};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  const char *const no_color = std::getenv("NO_COLOR"), *const terminal = std::getenv("TERM");
  return {is_known ? size.ws_col : std::size_t{0},
          !(no_color && *no_color) && terminal && std::string_view(terminal) != "dumb"};
}

}  // namespace

void OutputFormat::print(const Document& document, const std::string& explanation) const {
  const auto style = terminal_style();
  const auto words =
      wrap_lines(form() == Form::text && !explanation.empty() ? "\n" + explanation : explanation, style.columns);
  std::fputs(document.write(form(), style).c_str(), stdout);
  std::fputs(words.c_str(), form() == Form::text ? stdout : stderr);
}

Check positive() {
  return {"POSITIVE", [](const std::string& text) {
            const auto number = parse_number<double>(text);
            return number && *number > 0 ? "" : fmt::format("'{}' is no number above 0; use one", text);
          }};
}

Check between(std::int64_t least, std::int64_t most) {
  return {fmt::format("INT in [{} - {}]", least, most), [=](const std::string& text) {
            const auto number = parse_number<std::int64_t>(text);
            return number && *number >= least && *number <= most
                       ? ""
                       : fmt::format("'{}' is no whole number from {} to {}; use one", text, least, most);
          }};
}

Check no_control_characters() {
  return {"", [](const std::string& text) {
            if (has_control_characters(text))
              return fmt::format("'{}' has control characters; leave them out", escape_control_characters(text));
            return text.find_first_not_of(' ') == std::string::npos ? "it is blank; give it a value" : std::string();
          }};
}

Check ends_in(const std::vector<std::string>& endings) {
  return {"", [=](const std::string& name) {
            std::filesystem::path path(name);
            if (path.extension() == ".gz") path.replace_extension();
            const auto ending = path.extension().string();
            const bool is_known = ending.empty() || std::ranges::find(endings, ending) != endings.end();
            return is_known ? ""
                            : fmt::format("'{}' ends in '{}', of which no file can be written; end it in {}",
                                          escape_control_characters(name), ending, join(endings, " or "));
          }};
}

Switch output_switch(std::string* output, const std::string& help, const std::vector<std::string>& endings,
                     bool is_required) {
  return {"-o,--output", output, help, {.required = is_required, .checks = {ends_in(endings)}}};
}

namespace {

bool are_one_file(const std::string& first, const std::string& second) {
  namespace fs = std::filesystem;
  std::error_code none;
  if (fs::equivalent(first, second, none)) return !fs::is_character_file(first, none);  // not /dev/null
  return !fs::exists(first, none) && fs::weakly_canonical(first, none) == fs::weakly_canonical(second, none);
}

}  // namespace

void refuse_standard_output(const std::string& output) {
  if (output == "-") throw InputError("output -", "something else is printed to standard output", "write it to a file");
}

void check_apart(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].empty()) continue;
    for (const auto& input : inputs)
      if (!input.empty() && are_one_file(input, outputs[i]))
        throw InputError(outputs[i], "it is read, too", "write to another file");
    for (std::size_t k = 0; k < i; ++k)
      if (!outputs[k].empty() && are_one_file(outputs[k], outputs[i]))
        throw InputError(outputs[i], "two outputs have this name", "give each a file of its own");
  }
}

void require_plain_messages(const Pattern& pattern, bool constant_size) {
  for (const auto& edge : pattern.edges) {
    if (edge.bytes > std::numeric_limits<int>::max())
      throw InputError("--sparse", fmt::format("a message has {} bytes", edge.bytes), "use fewer than 2^31");
    if (constant_size && edge.bytes != pattern.edges.front().bytes)
      throw InputError("--sparse constant",
                       fmt::format("there are messages of {} and of {} bytes", pattern.edges.front().bytes, edge.bytes),
                       "use --sparse variable");
  }
}

std::string shell_word(const std::string& word) {
  const auto is_plain = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) || std::strchr("-_./=,:+@%", letter);
  };
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

}  // namespace commpass
