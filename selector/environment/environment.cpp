#include "selector/environment/environment.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "model/machine/layout.hpp"
#include "model/route/catalogue.hpp"
#include "model/route/sparse_strategy.hpp"
#include "model/route/strategy.hpp"
#include "selector/environment/interposed_call.hpp"

extern char** environ;  // NOLINT: POSIX declares it so

namespace commpass {

namespace {

/// A variable, and what its value does to an Environment. Values are checked here, so that an error names its variable.
struct Variable {
  const char* name;
  void (*read)(Environment& environment, const std::string& value);
  bool may_be_empty = false;
  const char* hint = nullptr;  ///< the key of an MPI_Info that goes before it
};

/// Keys of an MPI_Info that exchanges read, and not communicators.
constexpr std::array hints_of_exchanges{"commpass_any_buffers", "commpass_calls", "commpass_counts_differ",
                                        "commpass_planner_seconds"};

/// @throws InputError also for what no exchange that is called once can run
Strategy parse_one_shot(const std::string& text) {
  auto strategy = parse_strategy(text);
  if (pattern_need(strategy) != PatternNeed::nothing)
    throw InputError("strategy " + text,
                     "its ways depend on the whole pattern, which an exchange that is called once does not gather",
                     "use another one");
  return strategy;
}

Interposition parse_interposition(const std::string& text) {
  if (text == "on") return Interposition::on;
  if (text == "record") return Interposition::record;
  if (text == "always") return Interposition::always;
  if (text == "off") return Interposition::off;
  throw InputError("interposition " + text, "it is no such mode", "use off, record, on or always");
}

std::vector<std::string> parse_interposed_calls(const std::string& text) {
  auto names = split(text, ',');
  for (const auto& name : names)
    if (std::ranges::count(interposed_call_names, name) == 0)
      throw InputError("call " + name, "it cannot be taken over",
                       fmt::format("use some of {}", join(interposed_call_names, ", ")));
  return names;
}

void add_prefix(Environment& environment, const std::string& value) {
  if (!value.empty()) environment.profile_places.prefixes.push_back(value);
}

const Variable variables[] = {
    {"COMMPASS_ALLTOALLV_STRATEGY",
     [](Environment& e, const std::string& value) { e.alltoallv_strategy = to_string(parse_one_shot(value)); }, false,
     "commpass_alltoallv_strategy"},
    {"COMMPASS_PROFILE", [](Environment& e, const std::string& value) { e.profile = value; }, false,
     "commpass_profile"},
    {"COMMPASS_PROFILE_PATH",
     [](Environment& e, const std::string& value) { e.profile_places.first = split(value, ':'); }},
    {"COMMPASS_SPARSE_STRATEGY",
     [](Environment& e, const std::string& value) { e.sparse_strategy = to_string(parse_sparse_strategy(value)); },
     false, "commpass_sparse_strategy"},
    {"COMMPASS_ROOT", add_prefix, true},
    {"COMMPASS_DIR", add_prefix, true},
    {"COMMPASS_HOME", add_prefix, true},
    {"COMMPASS_VERSION", [](Environment&, const std::string&) {}, true},
    {"COMMPASS_STRATEGY",
     [](Environment& e, const std::string& value) { e.strategy = to_string(parse_strategy(value)); }, false,
     "commpass_strategy"},
    {"COMMPASS_LAYOUT",
     [](Environment& e, const std::string& value) {
       ranks_of_layout(value);  // throws if it is none
       e.layout = value;
     },
     false, "commpass_layout"},
    {"COMMPASS_MPI", [](Environment& e, const std::string& value) { e.interposition = parse_interposition(value); }},
    {"COMMPASS_MPI_CALLS",
     [](Environment& e, const std::string& value) { e.interposed_calls = parse_interposed_calls(value); }},
    {"COMMPASS_MPI_RECORD", [](Environment& e, const std::string& value) { e.record_file = value; }},
    {"COMMPASS_MPI_REPORT", [](Environment& e, const std::string& value) { e.place_report = value; }},
    {"COMMPASS_PLANNER", [](Environment& e, const std::string& value) { e.planner = parse_planner_mode(value); }, false,
     "commpass_planner"},
    {"COMMPASS_PROGRESS", [](Environment& e, const std::string& value) { e.progress = parse_progress(value); }},
    {"COMMPASS_WISDOM", [](Environment& e, const std::string& value) { e.wisdom = value; }, false, "commpass_wisdom"},
    {"COMMPASS_VERBOSE",
     [](Environment& e, const std::string& value) {
       if (value != "0" && value != "1")
         throw InputError("verbose " + value, "it is neither 0 nor 1", "use one of them");
       e.verbose = value == "1";
     }},
};

/// @param place  the variable or the hint, for errors
/// @throws InputError that names it
void read_value(Environment& environment, const Variable& variable, const std::string& place,
                const std::string& value) {
  if (value.empty() && !variable.may_be_empty) throw InputError(place, "it is empty", "unset it or give it a value");
  try {
    variable.read(environment, value);
  } catch (const InputError& error) {
    std::string what = error.what();
    what.pop_back();  // the full stop
    throw InputError(place, what, "or leave it out");
  }
}

/// Of configuration files, after the XDG Base Directory Specification, by which a path that is not absolute is none.
std::string user_directory(const std::vector<std::string>& entries) {
  const auto absolute = [&](const std::string& prefix) {
    const auto entry = std::ranges::find_if(entries, [&](const auto& e) { return e.starts_with(prefix + "=/"); });
    return entry == entries.end() ? std::string() : entry->substr(prefix.size() + 1);
  };
  if (const auto given = absolute("XDG_CONFIG_HOME"); !given.empty()) return given + "/commpass";
  const auto home = absolute("HOME");
  return home.empty() ? std::string() : home + "/.config/commpass";
}

}  // namespace

Progress parse_progress(const std::string& text) {
  if (text == "auto") return Progress::automatic;
  if (text == "always") return Progress::always;
  if (text == "never") return Progress::never;
  throw InputError("progress " + text, "it is no such mode", "use auto, always or never");
}

Environment parse_environment(const std::vector<std::string>& entries) {
  Environment environment;
  environment.profile_places.user = user_directory(entries);
  for (const auto& entry : entries) {
    if (!entry.starts_with("COMMPASS_")) continue;
    const auto name = entry.substr(0, entry.find('='));
    const auto value = entry.substr(std::min(entry.size(), name.size() + 1));
    const auto variable = std::ranges::find_if(variables, [&](const auto& v) { return name == v.name; });
    if (variable == std::end(variables)) environment.unknown.push_back(name);
    else read_value(environment, *variable, "environment variable " + name, value);
  }
  return environment;
}

Environment read_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry && *entry; ++entry) entries.emplace_back(*entry);
  return parse_environment(entries);
}

void apply_hint(Environment& environment, const std::string& key, const std::string& value) {
  for (const auto& variable : variables)
    if (variable.hint && key == variable.hint) read_value(environment, variable, "info " + key, value);
}

bool is_hint(const std::string& key) {
  return std::ranges::any_of(variables, [&](const auto& v) { return v.hint && key == v.hint; }) ||
         std::ranges::any_of(hints_of_exchanges, [&](const char* hint) { return key == hint; });
}

std::string known_hints() {
  std::string text;
  const auto add = [&](const std::string& hint) { text += (text.empty() ? "" : ", ") + hint; };
  for (const auto& variable : variables)
    if (variable.hint) add(variable.hint);
  for (const auto* hint : hints_of_exchanges) add(hint);
  return text;
}

void warn_unknown(const Environment& environment) {
  static std::atomic<bool> told = false;
  if (environment.unknown.empty() || told.exchange(true)) return;
  std::string text = "commpass: ";
  for (const auto& name : environment.unknown) text += (&name == environment.unknown.data() ? "" : ", ") + name;
  text += environment.unknown.size() == 1 ? " is unknown and changes nothing" : " are unknown and change nothing";
  text += "; known are ";
  for (const auto& v : variables) text += (&v == variables ? "" : ", ") + std::string(v.name);
  std::fputs((text + ".\n").c_str(), stderr);
}

bool is_launched() {
  return std::getenv("OMPI_COMM_WORLD_RANK") || std::getenv("PMI_RANK") || std::getenv("PMIX_RANK");
}

bool show_progress(Progress progress) {
  if (progress != Progress::automatic) return progress == Progress::always;
  return !is_launched() && isatty(STDERR_FILENO);
}

}  // namespace commpass
