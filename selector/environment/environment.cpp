#include "selector/environment/environment.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/named_parameters.hpp"
#include "model/route/catalogue.hpp"
#include "model/route/sparse_strategy.hpp"
#include "model/route/strategy.hpp"
#include "selector/environment/interposed_call.hpp"

extern char** environ;  // NOLINT: POSIX declares it so

namespace commpass {

namespace {

/// Keys of an MPI_Info that only exchanges read.
constexpr std::array hints_of_exchanges{"commpass_any_buffers",   "commpass_calls",     "commpass_counts_differ",
                                        "commpass_deterministic", "commpass_overwrite", "commpass_planner_seconds"};

/// @throws InputError also for a strategy that unplanned exchanges cannot run
Strategy parse_one_shot(const std::string& text) {
  auto strategy = parse_strategy(text);
  if (pattern_need(strategy) != PatternNeed::nothing)
    throw InputError("strategy " + text,
                     "its paths depend on the whole pattern, which an exchange that is called once does not gather",
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
    if (!find_interposed_call(name) && name != counted_calls_name)
      throw InputError("call " + name, "it cannot be taken over",
                       fmt::format("use some of {}, {}", join(interposed_call_names, ", "), counted_calls_name));
  return names;
}

double parse_loss_share(const std::string& text) {
  const auto share = parse_number<double>(text);
  if (!share || !(*share >= 0) || std::isinf(*share))
    throw InputError("loss " + text, "it is not a share of a time", "use a number of 0 or more, as 0.01");
  return *share;
}

void add_prefix(Environment& environment, const std::string& value) {
  if (!value.empty()) environment.profile_places.prefixes.push_back(value);
}

void read_verbose(Environment& environment, const std::string& value) {
  if (value != "0" && value != "1") throw InputError("verbose " + value, "it is neither 0 nor 1", "use one of them");
  environment.verbose = value == "1";
}

constexpr auto *by_all = "command line, programs, libcommpass-mpi", *by_programs = "programs",
               *by_programs_and_interposer = "programs, libcommpass-mpi", *by_interposer = "libcommpass-mpi",
               *no_hint = "";
constexpr auto* prefix_meaning = "prefix of an installation, set by module systems: profiles are looked for there, too";

const EnvironmentVariable variables[] = {
    {"COMMPASS_PROFILE", "name or file", "machine profile", "1.0", by_all, "commpass_profile",
     [](Environment& e, const std::string& value) { e.profile = value; }},
    {"COMMPASS_PROFILE_PATH", "directories, separated by `:`",
     "[where profiles are looked for](profiles.md#where-they-are-found) before all other places", "1.0", by_all,
     no_hint, [](Environment& e, const std::string& value) { e.profile_places.first = split(value, ':'); }},
    {"COMMPASS_ROOT", "directory", prefix_meaning, "1.0", by_all, no_hint, add_prefix, true},
    {"COMMPASS_DIR", "directory", prefix_meaning, "1.0", by_all, no_hint, add_prefix, true},
    {"COMMPASS_HOME", "directory", prefix_meaning, "1.0", by_all, no_hint, add_prefix, true},
    {"COMMPASS_VERSION", "any", "nothing; module systems set it", "1.0", "", no_hint,
     [](Environment&, const std::string&) {}, true},
    {"COMMPASS_STRATEGY", "[strategy](strategies.md)",
     "run this strategy in neighbour and indexed exchanges, and do not choose; `predict` and `measure` have "
     "`--strategy`",
     "1.0", by_programs, "commpass_strategy",
     [](Environment& e, const std::string& value) { e.strategy = to_string(parse_strategy(value)); }},
    {"COMMPASS_ALLTOALLV_STRATEGY", "[strategy](strategies.md)",
     "run all-to-alls that are called once by this strategy", "1.0", by_programs_and_interposer,
     "commpass_alltoallv_strategy",
     [](Environment& e, const std::string& value) { e.alltoallv_strategy = to_string(parse_one_shot(value)); }},
    {"COMMPASS_SPARSE_STRATEGY", "[`ROUTE+DISCOVERY`](strategies.md#sparse-dynamic-data-exchanges)",
     "run this strategy in sparse exchanges, and do not choose", "1.0", by_programs, "commpass_sparse_strategy",
     [](Environment& e, const std::string& value) { e.sparse_strategy = to_string(parse_sparse_strategy(value)); }},
    {"COMMPASS_LIMITS", "[limits](profiles.md#limits)",
     "limits that go before those of the profile: `messages_off_node=32,partners=100`", "1.0", by_all,
     "commpass_limits",
     [](Environment& e, const std::string& value) {
       parse_limits(value);  // throws if they are none
       e.limits = value;
     }},
    {"COMMPASS_PLANNER", "`estimate`, `adaptive`, `measure` or `patient`",
     "choose by prices, or by [timing some or all strategies](cpp.md#measuring-before-planning): of planned exchanges "
     "before they are planned, or by `adaptive` (the default) in the first of them, of all-to-alls and sparse "
     "exchanges "
     "in the calls themselves",
     "1.0", by_programs, "commpass_planner",
     [](Environment& e, const std::string& value) { e.planner = parse_planner_mode(value); }},
    {"COMMPASS_WISDOM", "file", "where measurements are kept for later runs", "1.0", by_programs, "commpass_wisdom",
     [](Environment& e, const std::string& value) { e.wisdom = value; }},
    {"COMMPASS_LAYOUT",
     "`NODESxRANKS`, `GROUPSxNODESxSOCKETSxRANKS`, `node=4,socket=2,core=8` or a node for each rank (`0,0,1`)",
     "treat the ranks as laid out like this", "1.0", by_all, "commpass_layout",
     [](Environment& e, const std::string& value) {
       ranks_of_layout(value);  // throws if it is none
       e.layout = value;
     }},
    {"COMMPASS_VERBOSE", "`0` or `1`",
     "`1`: say on stderr where a strategy that a variable names does not fit, the strategy that runs there, what "
     "[trials "
     "of calls](cpp.md#measuring-before-planning) have found, and which profile is taken if none is named; "
     "libcommpass-mpi reports [who ran which calls](unmodified.md#who-runs-a-call); `0` is the default",
     "1.0", by_programs_and_interposer, no_hint, read_verbose},
    {"COMMPASS_PROGRESS", "`auto`, `always` or `never`",
     "progress on stderr; under an MPI launcher `auto`, the default, means never", "1.0", "command line", no_hint,
     [](Environment& e, const std::string& value) { e.progress = parse_progress(value); }},
    {"COMMPASS_MPI", "`off`, `record`, `on` or `always`",
     "who runs the calls of [an unmodified program](unmodified.md): `off`, the default: MPI; `record`: MPI, "
     "and rank 0 reports the calls; `on`: the faster of MPI and Commpass; `always`: Commpass where it can, for tests",
     "1.0", by_interposer, no_hint,
     [](Environment& e, const std::string& value) { e.interposition = parse_interposition(value); }},
    {"COMMPASS_MPI_CALLS", "[names of calls](unmodified.md#calls), separated by `,`",
     "which calls are taken over or recorded; unset: all", "1.0", by_interposer, no_hint,
     [](Environment& e, const std::string& value) { e.interposed_calls = parse_interposed_calls(value); }},
    {"COMMPASS_MPI_LOSS", "number",
     "how much of the time in the calls that it takes over libcommpass-mpi may lose by [trials](unmodified.md#who-runs-"
     "a-call); `0`: no trials, so that MPI runs all calls; 0.01 is the default",
     "1.0", by_interposer, no_hint,
     [](Environment& e, const std::string& value) { e.trial_loss_share = parse_loss_share(value); }},
    {"COMMPASS_MPI_RECORD", "file", "where rank 0 writes the record in `MPI_Finalize`, with `COMMPASS_MPI=record`",
     "1.0", by_interposer, no_hint, [](Environment& e, const std::string& value) { e.record_file = value; }},
    {"COMMPASS_MPI_REPORT", "file, or `-` for stderr",
     "where rank 0 writes a [report by places](unmodified.md#what-did-it-bring) in `MPI_Finalize`: into a file as "
     "JSON, on stderr as a table",
     "1.0", by_interposer, no_hint, [](Environment& e, const std::string& value) { e.place_report = value; }},
};

/// @param place  the variable or the hint, for errors
/// @throws InputError that names it
void read_value(Environment& environment, const EnvironmentVariable& variable, const std::string& place,
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

/// The directory of configuration files by the XDG Base Directory Specification, which ignores relative paths.
std::string user_directory(const std::vector<std::string>& entries) {
  const auto absolute = [&](const std::string& prefix) {
    for (const auto& entry : entries)
      if (entry.starts_with(prefix + "=/")) return entry.substr(prefix.size() + 1);
    return std::string();
  };
  if (const auto given = absolute("XDG_CONFIG_HOME"); !given.empty()) return given + "/commpass";
  const auto home = absolute("HOME");
  return home.empty() ? std::string() : home + "/.config/commpass";
}

}  // namespace

std::span<const EnvironmentVariable> environment_variables() { return variables; }

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
    if (!key.empty() && key == variable.hint) read_value(environment, variable, "info " + key, value);
}

bool is_hint(const std::string& key) {
  return std::ranges::any_of(variables, [&](const auto& v) { return !key.empty() && key == v.hint; }) ||
         std::ranges::any_of(hints_of_exchanges, [&](const char* hint) { return key == hint; });
}

std::string known_hints() {
  std::vector<std::string> hints;
  for (const auto& variable : variables)
    if (variable.hint != std::string_view(no_hint)) hints.emplace_back(variable.hint);
  hints.insert(hints.end(), hints_of_exchanges.begin(), hints_of_exchanges.end());
  return join(hints, ", ");
}

void warn_unknown(const Environment& environment) {
  static std::atomic<bool> is_reported = false;
  if (environment.unknown.empty() || is_reported.exchange(true)) return;
  std::vector<std::string> known;
  for (const auto& variable : variables) known.emplace_back(variable.name);
  const auto text =
      fmt::format("commpass: {} {}; known are {}.\n", join(environment.unknown, ", "),
                  environment.unknown.size() == 1 ? "is unknown and changes nothing" : "are unknown and change nothing",
                  join(known, ", "));
  std::fputs(text.c_str(), stderr);
}

bool is_launched() {
  return std::getenv("OMPI_COMM_WORLD_RANK") || std::getenv("PMI_RANK") || std::getenv("PMIX_RANK");
}

bool show_progress(Progress progress) {
  if (progress != Progress::automatic) return progress == Progress::always;
  return !is_launched() && isatty(STDERR_FILENO);
}

}  // namespace commpass
