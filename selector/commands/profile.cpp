// commpass profile: lists, shows, validates, converts, compares and merges machine profiles.
#include <fmt/core.h>

#include <ctime>
#include <filesystem>
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
#include "selector/commands/checks.hpp"
#include "selector/commands/commands.hpp"
#include "selector/commands/output_format.hpp"
#include "selector/environment/environment.hpp"
#include "selector/report/compare_profiles.hpp"
#include "selector/report/merge_profiles.hpp"
#include "selector/report/profile_text.hpp"

namespace commpass {

namespace {

std::string path_of(const std::string& name) {
  return find_profile(name, profile_directories(read_environment().profile_places));
}

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

void list(const OutputFormat& format) {
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
               profile.median_factor ? fmt::format("{:.3g}", *profile.median_factor) : Cell(),
               number_cell(profile.median_factor)});
    if (const auto line = profile.line(); !line.empty()) table.rows.back().below = wrap_lines("  " + line + "\n");
  }
  Document document;
  document.fact("schema_version", 1);
  document.add(std::move(table));
  format.print(document);
}

/// On stderr, so that the JSON of `show` stays one.
void warn_of_unknown_keys(const Profile& profile) {
  if (const auto warning = unknown_keys_warning(profile); !warning.empty())
    fmt::print(stderr, "commpass: {}\n", warning);
}

void show(const std::string& name, bool json) {
  const auto path = path_of(name);
  const auto profile = read_profile(path);
  warn_of_unknown_keys(profile);
  fmt::print("{}", json ? to_json(profile) : describe_profile(profile, path, std::time(nullptr)));
}

void validate(const std::string& name) {
  const auto path = path_of(name);
  const auto profile = read_profile(path);
  if (const auto misread = find_misread(profile.machine, path)) throw *misread;
  fmt::print("{} is a valid profile.\n", path);
  fmt::print("{}", wrap_lines("Verdict: " + describe_verdict(profile.machine) + "\n"));
  for (const auto& sentence : implausible(profile.machine))
    fmt::print("{}", wrap_lines("Warning: " + sentence + ".\n"));
  warn_of_unknown_keys(profile);
}

void convert(const std::string& name, const std::string& output) {
  if (!output.empty()) check_writable(output);
  const auto profile = read_profile(path_of(name));
  warn_of_unknown_keys(profile);
  if (output.empty()) fmt::print("{}", to_json(profile));
  else write_profile(profile, output);
}

void list_parameters(bool markdown) {
  if (markdown) {
    fmt::print("{}", parameter_table());
    return;
  }
  for (const auto& row : machine_parameters())
    fmt::print("{}", wrap_lines(fmt::format("{}: {}{}{}\n", pattern_of(row), row.meaning,
                                            *symbol_of(row.unit) ? ", in " : "", symbol_of(row.unit))));
}

void compare(const std::string& first, const std::string& second, const OutputFormat& format) {
  format.print(compare_profiles(read_profile(path_of(first)), read_profile(path_of(second))));
}

void merge(const std::vector<std::string>& names, const std::string& output) {
  check_writable(output);
  std::vector<NamedProfile> profiles;
  for (const auto& name : names) {
    const auto path = path_of(name);
    profiles.push_back({path, read_profile(path)});
  }
  const auto merged = merge_profiles(profiles);
  write_profile(merged, output);
  fmt::print("{}", wrap_lines(fmt::format("{}: {}\n", output, describe_verdict(merged.machine))));
}

}  // namespace

Command profile_command() {
  struct Named {
    std::string name;
    bool json = false;
  };
  struct Conversion {
    std::string name, output;
  };
  struct Merging {
    std::vector<std::string> names;
    std::string output;
  };
  struct Comparison {
    std::string first, second;
    OutputFormat format;
  };
  const auto listed = std::make_shared<OutputFormat>();
  Command list_command{"list", "the profiles that can be named"};
  listed->add_to(list_command);
  list_command.run = [listed] { list(*listed); };

  const auto shown = std::make_shared<Named>();
  Command show_command{"show", "the parameters of a profile"};
  show_command.add({{"profile", &shown->name, "NAME or file", {.required = true, .offer = Offer::profiles}},
                    {"--json", &shown->json, "the profile itself on stdout"}});
  show_command.run = [shown] { show(shown->name, shown->json); };

  const auto validated = std::make_shared<Named>();
  Command validate_command{"validate", "check a profile against the rules"};
  validate_command.add({{"profile", &validated->name, "NAME or file", {.required = true, .offer = Offer::profiles}}});
  validate_command.run = [validated] { validate(validated->name); };

  const auto converted = std::make_shared<Conversion>();
  Command convert_command{"convert", "write a profile of an older version in the form of this one"};
  convert_command.add(
      {{"profile", &converted->name, "NAME or file", {.required = true, .offer = Offer::profiles}},
       {"-o,--output", &converted->output, "profile to write (default: stdout)", {.checks = {ends_in({".json"})}}}});
  convert_command.run = [converted] { convert(converted->name, converted->output); };

  const auto is_markdown = std::make_shared<bool>(false);
  Command parameters_command{"parameters", "all parameters of a profile: their names and what they are"};
  parameters_command.add({{"--markdown", is_markdown.get(), "the table of docs/profiles.md"}});
  parameters_command.run = [is_markdown] { list_parameters(*is_markdown); };

  Command schema_command{"schema", "the JSON schema of profiles"};
  schema_command.run = [] { fmt::print("{}", profile_schema()); };

  const auto merging = std::make_shared<Merging>();
  Command merge_command{"merge", "make one profile of several launches or layouts"};
  merge_command.add(
      {{"profiles", &merging->names, "NAMEs or files, two or more", {.required = true, .offer = Offer::profiles}},
       {"-o,--output", &merging->output, "profile to write", {.required = true, .checks = {ends_in({".json"})}}}});
  merge_command.run = [merging] { merge(merging->names, merging->output); };

  const auto compared = std::make_shared<Comparison>();
  Command compare_command{"compare", "how the parameters of two profiles differ"};
  compare_command.add({{"first", &compared->first, "NAME or file", {.required = true, .offer = Offer::profiles}},
                       {"second",
                        &compared->second,
                        "NAME or file; ratios are second over first",
                        {.required = true, .offer = Offer::profiles}}});
  compared->format.add_to(compare_command);
  compare_command.run = [compared] { compare(compared->first, compared->second, compared->format); };

  Command command{"profile", "list, show, validate, convert, import, compare or merge machine profiles"};
  command.commands = {list_command,     show_command,    validate_command,   convert_command, merge_command,
                      import_command(), compare_command, parameters_command, schema_command};
  return command;
}

}  // namespace commpass
