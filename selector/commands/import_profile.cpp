// commpass profile import: a profile from what other benchmarks have printed.
#include "calibrate/fit/import_profile.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <system_error>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/named_parameters.hpp"
#include "model/machine/plausibility.hpp"
#include "selector/commands/commands.hpp"
#include "selector/commands/switches.hpp"
#include "selector/report/profile_text.hpp"

namespace commpass {

namespace {

struct ImportArguments {
  std::vector<std::string> files, exchanges, settings;
  std::string output;
  ImportedOrigin origin;
  int sockets = 0;  ///< 0: not told
};

/// "network=FILE", "networkx28=FILE" or FILE. A file whose name has '=' is given with a directory.
struct NamedFile {
  std::optional<BenchmarkPlace> place;
  std::string path;
};

NamedFile parse_named_file(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || text.find('/') < equals) return {std::nullopt, text};
  constexpr const char* remedy = "use LEVEL=FILE, for example network=latency.txt, or networkx28=FILE for 28 pairs";
  BenchmarkPlace place{text.substr(0, equals)};
  // "networkx28": the number behind the last x.
  if (const auto x = place.level.rfind('x'); x != std::string::npos && is_imported_level(place.level.substr(0, x))) {
    place.pairs = parse_number<int>(place.level.substr(x + 1));
    if (!place.pairs || *place.pairs < 1)
      throw InputError(text, fmt::format("'{}' is no number of pairs", place.level.substr(x + 1)), remedy);
    place.level.resize(x);
  }
  if (!is_imported_level(place.level))
    throw InputError(text, fmt::format("'{}' is no level", place.level), imported_levels_remedy());
  if (equals + 1 == text.size()) throw InputError(text, "it names no file", remedy);
  return {place, text.substr(equals + 1)};
}

/// Messages within a node are cheaper than those between nodes, whose price they would have.
bool knows_node(const Machine& machine) {
  for (Level level = 0; level <= machine.node_level(); ++level)
    if (machine.host.has(level)) return true;
  return false;
}

std::string name_of_file(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Nothing where no exchanges were given.
std::optional<ExchangeFit> import_exchanges(Profile& profile, const ImportArguments& arguments) {
  if (arguments.exchanges.empty()) return std::nullopt;
  ImportedExchanges exchanges;
  if (arguments.sockets > 0) exchanges.sockets = arguments.sockets;
  for (const auto& path : arguments.exchanges) {
    check_apart({path}, {arguments.output});
    const auto of_file = read_measured_times(path);
    exchanges.times.insert(exchanges.times.end(), of_file.begin(), of_file.end());
    exchanges.files.push_back(name_of_file(path));
  }
  return correct_by_exchanges(profile, exchanges);
}

std::string describe(const ExchangeFit& fit) {
  const auto error = fmt::format("median factor {:.2f} before, {:.2f} after", fit.before, fit.after);
  if (!fit.is_better())
    return fmt::format("Warning: the exchanges correct nothing: held-out ones are predicted no better ({}).\n", error);
  return fmt::format(
      "Corrected by {} exchanges in {} cases; {}: {}\n", fit.times, fit.cases,
      fit.is_held_out ? "predictions of held-out ones are off by" : "none was held out; predictions are off by", error);
}

void import(const ImportArguments& arguments) {
  check_writable(arguments.output);
  auto origin = arguments.origin;
  std::vector<BenchmarkTime> times;
  std::vector<std::string> paths;
  for (const auto& text : arguments.files) {
    const auto [place, path] = parse_named_file(text);
    check_apart({path}, {arguments.output});
    std::error_code none;
    for (const auto& other : paths)
      if (std::filesystem::equivalent(path, other, none))
        throw InputError(text, "this file was given before", "give each level a file of its own");
    const auto of_file = parse_benchmark(read_file(path), path, place);
    times.insert(times.end(), of_file.begin(), of_file.end());
    paths.push_back(path);
    origin.files.push_back(text.substr(0, text.size() - path.size()) + name_of_file(path));
  }
  auto profile = import_profile(times, origin);
  if (!knows_node(profile.machine) && origin.ranks_per_node != 1)
    throw InputError(join(origin.files, ", "), "there are no ping-pongs within a node",
                     "give node=FILE, too, or --ppn 1 if a node has one rank");
  if (const auto misread = find_misread(profile.machine, join(origin.files, ", "))) throw *misread;
  set_parameters(profile, arguments.settings);
  const auto fit = import_exchanges(profile, arguments);
  auto provenance = Json::parse(profile.provenance_json);
  if (!arguments.settings.empty()) provenance["set"] = arguments.settings;
  if (const auto missing = missing_parts(profile.machine); !missing.empty()) provenance["missing"] = missing;
  profile.provenance_json = provenance.dump();
  write_profile(profile, arguments.output);
  fmt::print("{}", wrap_lines(fmt::format("{}: made of {} times\n", arguments.output, times.size())));
  if (const auto* left_out = provenance.find("left_out"))
    for (const auto& what : *left_out)
      fmt::print("{}", wrap_lines(fmt::format("Warning: left out: {}.\n", what.get<std::string>())));
  if (fit) fmt::print("{}", wrap_lines(describe(*fit)));
  if (fit && !fit->left_out.empty())
    fmt::print("{}",
               wrap_lines(fmt::format("Exchanges left out, which no strategy does: {}\n", join(fit->left_out, ", "))));
  for (const auto& sentence : implausible(profile.machine))
    fmt::print("{}", wrap_lines("Warning: " + sentence + ".\n"));
}

}  // namespace

Command import_command() {
  const auto arguments = std::make_shared<ImportArguments>();
  auto& origin = arguments->origin;
  Command command{"import", "make a profile of what OSU's or Intel's benchmarks have printed, or of tables of times"};
  command.add({{"files",
                &arguments->files,
                "tables of microbenchmarks, or LEVEL=FILE of osu_latency, osu_bw, osu_bibw, osu_mbw_mr, osu_multi_lat, "
                "IMB PingPong or "
                "Multi-PingPong; LEVELxPAIRS=FILE where the file does not tell of how many pairs it is",
                {.required = true}},
               {"--exchanges", &arguments->exchanges,
                "tables of exchanges that were measured on few nodes, which correct what microbenchmarks do not "
                "identify"},
               {"--sockets",
                &arguments->sockets,
                "of a node, among which the ranks of these exchanges are spread",
                {.checks = {positive()}, .needs = {"--exchanges"}}},
               {"--set", &arguments->settings,
                "KEY=VALUE: a parameter that is known otherwise, of 'commpass profile parameters'; may be repeated"},
               {"--name", &origin.name, "of the machine", {.required = true, .checks = {no_control_characters()}}},
               output_switch(&arguments->output, "profile to write", {".json"}, true),
               {"--source",
                &origin.source,
                "where the times are published, or who measured them",
                {.checks = {no_control_characters()}}},
               {"--site", &origin.site, "where the machine is", {.checks = {no_control_characters()}}},
               {"--machine", &origin.machine, "what it is", {.checks = {no_control_characters()}}},
               {"--processor", &origin.processor, "of a node", {.checks = {no_control_characters()}}},
               {"--network", &origin.network, "between nodes", {.checks = {no_control_characters()}}},
               {"--mpi-library", &origin.mpi_library, "with its version", {.checks = {no_control_characters()}}},
               {"--nodes", &origin.nodes, "nodes of the benchmarks", {.checks = {positive()}}},
               {"--ppn", &origin.ranks_per_node, "ranks on a node", {.checks = {positive()}}},
               {"--note", &origin.note, "further information for its users", {.checks = {no_control_characters()}}},
               {"--pairs-in-step", &origin.pairs_in_step, "pairs at once all send, then all receive"}});
  command.run = [arguments] { import(*arguments); };
  return command;
}

}  // namespace commpass
