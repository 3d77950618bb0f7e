// commpass profile: lists, shows, validates, converts, compares and merges machine profiles.
#include <fmt/core.h>

#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/parameter_documents.hpp"
#include "model/machine/parameters.hpp"
#include "model/machine/plausibility.hpp"
#include "model/machine/profile.hpp"
#include "model/machine/profile_lookup.hpp"
#include "model/machine/profile_origin.hpp"
#include "selector/commands/commands.hpp"
#include "selector/commands/default_profile.hpp"
#include "selector/commands/switches.hpp"
#include "selector/environment/environment.hpp"
#include "selector/report/profile_text.hpp"

namespace commpass {

namespace {

/// Of all commands.
struct ProfileArguments {
  std::string name, second, output;
  std::vector<std::string> names;
  OutputFormat format;
  bool markdown = false;
};

std::string path_of(const std::string& name) { return find_profile_or_default(name, read_environment()); }

/// Of the exchanges that `profile import` held out.
std::optional<double> held_out_factor(const Json& provenance) {
  const Json* found = &provenance;
  for (const auto* const key : {"exchanges", "median_factor_held_out", "after"}) {
    if (!found->is_object()) return std::nullopt;
    found = found->find(key);
    if (!found) return std::nullopt;
  }
  return found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

/// What the list tells of a profile besides its name and path.
struct ListedProfile {
  std::string verdict = "no profile";  ///< in a word or two
  std::string site{}, processor{}, network{}, missing{};
  int ranks_per_node = 0;                 ///< 0: not told
  std::optional<double> median_factor{};  ///< by which predictions of exchanges that an import held out are off

  explicit ListedProfile(const std::string& path) {
    try {
      const auto profile = read_profile(path);
      verdict = profile.machine.verdict ? name_of(profile.machine.verdict->trust) : "-";
      missing = missing_parts(profile.machine);
      const auto provenance = Json::parse(profile.provenance_json);
      const auto text = [&](const char* key) {
        const auto* const found = provenance.find(key);
        return found && found->is_string() ? found->get<std::string>() : std::string();
      };
      site = text("site");
      processor = text("processor");
      network = text("network");
      if (const auto* const found = provenance.find("ranks_per_node"))
        ranks_per_node = found->integer<int>().value_or(0);
      median_factor = held_out_factor(provenance);
    } catch (const InputError&) {  // its line says so
    }
  }
  /// "LLNL; 2 x Intel…; Omni-Path; up to 112 ranks a node; lacks receivers", as far as it is known.
  std::string line() const {
    std::vector<std::string> parts;
    for (const auto& part : {site, processor, network})
      if (!part.empty()) parts.push_back(part);
    if (ranks_per_node > 0) parts.push_back(fmt::format("up to {} ranks a node", ranks_per_node));
    if (!missing.empty()) parts.push_back("lacks " + missing);
    if (median_factor)
      parts.push_back(fmt::format("held-out exchanges are off by a median factor of {:.3g}", *median_factor));
    return join(parts, "; ");
  }
};

void list(const ProfileArguments& arguments) {
  Table table{"profiles",
              {{"name", {}, -20, {}, 0},
               {"verdict", {}, -13, {}, 1},
               {"path", {}, -1, {}, 1},
               {"site"},
               {"processor"},
               {"network"},
               csv_column("ranks_per_node"),
               {"missing"},
               json_column("ranks_per_node"),
               csv_column("median_factor"),
               json_column("median_factor")}};
  for (const auto& path : list_profiles(profile_directories(read_environment().profile_places))) {
    const ListedProfile profile(path);
    const auto ranks = profile.ranks_per_node > 0 ? profile.ranks_per_node : Cell();
    table.add({std::filesystem::path(path).stem().string(), profile.verdict, path, profile.site, profile.processor,
               profile.network, ranks, profile.missing, ranks,
               profile.median_factor ? fmt::format("{:.3g}", *profile.median_factor) : Cell(), profile.median_factor});
    if (const auto line = profile.line(); !line.empty()) table.rows.back().below = wrap_lines("  " + line + "\n");
  }
  Document document;
  document.fact("schema_version", 1);
  document.add(std::move(table));
  arguments.format.print(document);
}

/// On stderr, so that the JSON of `show` stays one.
void warn_of_unknown_keys(const Profile& profile) {
  if (const auto warning = unknown_keys_warning(profile); !warning.empty())
    fmt::print(stderr, "commpass: {}\n", warning);
}

void show(const ProfileArguments& arguments) {
  const auto path = path_of(arguments.name);
  const auto profile = read_profile(path);
  warn_of_unknown_keys(profile);
  fmt::print("{}", arguments.format.json ? to_json(profile) : describe_profile(profile, path, std::time(nullptr)));
}

void validate(const ProfileArguments& arguments) {
  const auto path = path_of(arguments.name);
  const auto profile = read_profile(path);
  if (const auto misread = find_misread(profile.machine, path)) throw *misread;
  fmt::print("{} is a valid profile.\n", path);
  fmt::print("{}", wrap_lines("Verdict: " + describe_verdict(profile.machine) + "\n"));
  for (const auto& sentence : implausible(profile.machine))
    fmt::print("{}", wrap_lines("Warning: " + sentence + ".\n"));
  warn_of_unknown_keys(profile);
}

void convert(const ProfileArguments& arguments) {
  if (!arguments.output.empty()) check_writable(arguments.output);
  const auto profile = read_profile(path_of(arguments.name));
  warn_of_unknown_keys(profile);
  if (arguments.output.empty()) fmt::print("{}", to_json(profile));
  else write_profile(profile, arguments.output);
}

void list_parameters(const ProfileArguments& arguments) {
  if (arguments.markdown) return fmt::print("{}", markdown_of(parameter_table()));
  for (const auto& row : machine_parameters())
    fmt::print("{}", wrap_lines(fmt::format("{}: {}{}{}\n", pattern_of(row), row.meaning,
                                            *symbol_of(row.unit) ? ", in " : "", symbol_of(row.unit))));
}

void print_schema(const ProfileArguments&) { fmt::print("{}", profile_schema()); }

void compare(const ProfileArguments& arguments) {
  arguments.format.print(
      compare_profiles(read_profile(path_of(arguments.name)), read_profile(path_of(arguments.second))));
}

void merge(const ProfileArguments& arguments) {
  check_writable(arguments.output);
  std::vector<NamedProfile> profiles;
  for (const auto& name : arguments.names) {
    const auto path = path_of(name);
    profiles.push_back({path, read_profile(path)});
  }
  const auto merged = merge_profiles(profiles);
  write_profile(merged, arguments.output);
  fmt::print("{}", wrap_lines(fmt::format("{}: {}\n", arguments.output, describe_verdict(merged.machine))));
}

/// The word for a profile.
Switch profile_word(const char* name, Target target, const char* help = "NAME or file") {
  return {name, std::move(target), help, {.required = true, .offer = Offer::profiles}};
}

}  // namespace

Command profile_command() {
  Command command{"profile", "list, show, validate, convert, import, compare or merge machine profiles"};
  const auto add = [&](const char* name, const char* about, auto run,
                       const std::function<std::vector<Switch>(ProfileArguments&)>& switches_of = {}) -> Command& {
    const auto arguments = std::make_shared<ProfileArguments>();
    auto& added = command.commands.emplace_back(Command{name, about});
    if (switches_of) added.switches = switches_of(*arguments);
    if (added.name == "list" || added.name == "compare") arguments->format.add_to(added);
    added.run = [arguments, run] { run(*arguments); };
    return added;
  };
  using Arguments = ProfileArguments;
  add("list", "the profiles that can be named", list);
  add("show", "the parameters of a profile", show, [](Arguments& arguments) {
    return std::vector{profile_word("profile", &arguments.name),
                       Switch{"--json", &arguments.format.json, "the profile itself on stdout"}};
  });
  add("validate", "check a profile against the rules", validate,
      [](Arguments& arguments) { return std::vector{profile_word("profile", &arguments.name)}; });
  add("convert", "write a profile of an older version in the form of this one", convert, [](Arguments& arguments) {
    return std::vector{profile_word("profile", &arguments.name),
                       output_switch(&arguments.output, "profile to write (default: stdout)", {".json"})};
  });
  add("merge", "make one profile of several launches or layouts", merge, [](Arguments& arguments) {
    return std::vector{profile_word("profiles", &arguments.names, "NAMEs or files, two or more"),
                       output_switch(&arguments.output, "profile to write", {".json"}, true)};
  });
  command.commands.push_back(import_command());
  add("compare", "how the parameters of two profiles differ", compare, [](Arguments& arguments) {
    return std::vector{profile_word("first", &arguments.name),
                       profile_word("second", &arguments.second, "NAME or file; ratios are second over first")};
  });
  add("parameters", "all parameters of a profile: their names and what they are", list_parameters,
      [](Arguments& arguments) {
        return std::vector{Switch{"--markdown", &arguments.markdown, "the table of docs/profiles.md"}};
      });
  add("schema", "the JSON schema of profiles", print_schema);
  return command;
}

}  // namespace commpass
