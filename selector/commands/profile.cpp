// commpass profile: lists, shows, validates, compares and merges machine profiles.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "model/error.hpp"
#include "model/file.hpp"
#include "model/machine/plausibility.hpp"
#include "model/machine/profile.hpp"
#include "model/machine/profile_lookup.hpp"
#include "selector/commands/commands.hpp"
#include "selector/commands/environment.hpp"
#include "selector/commands/output_format.hpp"
#include "selector/report/compare_profiles.hpp"
#include "selector/report/csv.hpp"
#include "selector/report/json_text.hpp"
#include "selector/report/merge_profiles.hpp"
#include "selector/report/profile_origin.hpp"
#include "selector/report/profile_text.hpp"

namespace commpass {

namespace {

std::string path_of(const std::string& name) {
  return find_profile(name, profile_directories(read_environment().profile_places));
}

/// Its verdict in a word or two.
std::string trust_of(const std::string& path) {
  try {
    const auto verdict = read_profile(path).machine.verdict;
    return verdict ? name_of(verdict->trust) : "-";
  } catch (const InputError&) {
    return "no profile";
  }
}

void list(const OutputFormat& format) {
  auto entries = nlohmann::ordered_json::array();
  std::string table = format.csv ? csv_line({"name", "verdict", "path"}) : "";
  for (const auto& path : list_profiles(profile_directories(read_environment().profile_places))) {
    const auto name = std::filesystem::path(path).stem().string(), verdict = trust_of(path);
    entries.push_back({{"name", name}, {"verdict", verdict}, {"path", path}});
    table += format.csv ? csv_line({name, verdict, path}) : fmt::format("{:<20} {:<13} {}\n", name, verdict, path);
  }
  const nlohmann::ordered_json listed{{"schema_version", 1}, {"profiles", entries}};
  fmt::print("{}", format.json ? json_text(listed) : table);
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
  fmt::print("{} is a valid profile.\n", path);
  fmt::print("Verdict: {}.\n", describe_verdict(profile.machine));
  for (const auto& sentence : implausible(profile.machine)) fmt::print("Warning: {}.\n", sentence);
  warn_of_unknown_keys(profile);
}

void compare(const std::string& first, const std::string& second, const OutputFormat& format) {
  const auto print = format.json ? compare_profiles_json : format.csv ? compare_profiles_csv : compare_profiles_table;
  fmt::print("{}", print(read_profile(path_of(first)), read_profile(path_of(second))));
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
  fmt::print("{}: {}.\n", output, describe_verdict(merged.machine));
}

}  // namespace

void add_profile(CLI::App& app, std::function<void()>& command) {
  auto* sub = app.add_subcommand("profile", "list, show, validate, compare or merge machine profiles");
  sub->require_subcommand(1);
  struct Named {
    std::string name;
    bool json = false;
  };
  auto listed = std::make_shared<OutputFormat>();
  auto* list_app = sub->add_subcommand("list", "the profiles that can be named");
  listed->add_to(*list_app);
  list_app->callback([listed, &command] { command = [listed] { list(*listed); }; });
  auto named = std::make_shared<Named>();
  const auto add = [&](const char* verb, const char* summary) {
    auto* verb_app = sub->add_subcommand(verb, summary);
    verb_app->add_option("profile", named->name, "NAME or file")->required();
    return verb_app;
  };
  auto* show_app = add("show", "the parameters of a profile");
  show_app->add_flag("--json", named->json, "the profile itself on stdout");
  show_app->callback([named, &command] { command = [named] { show(named->name, named->json); }; });
  add("validate", "check a profile against the rules")->callback([named, &command] {
    command = [named] { validate(named->name); };
  });

  struct Merging {
    std::vector<std::string> names;
    std::string output;
  };
  auto merging = std::make_shared<Merging>();
  auto* merge_app = sub->add_subcommand("merge", "make one profile of several launches or layouts");
  merge_app->add_option("profiles", merging->names, "NAMEs or files, two or more")->required();
  merge_app->add_option("-o,--output", merging->output, "profile to write")->required();
  merge_app->callback([merging, &command] { command = [merging] { merge(merging->names, merging->output); }; });

  struct Comparison {
    std::string first, second;
    OutputFormat format;
  };
  auto comparison = std::make_shared<Comparison>();
  auto* compare_app = sub->add_subcommand("compare", "how the parameters of two profiles differ");
  compare_app->add_option("first", comparison->first, "NAME or file")->required();
  compare_app->add_option("second", comparison->second, "NAME or file; ratios are second over first")->required();
  comparison->format.add_to(*compare_app);
  compare_app->callback([comparison, &command] {
    command = [comparison] { compare(comparison->first, comparison->second, comparison->format); };
  });
}

}  // namespace commpass
