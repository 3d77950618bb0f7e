// commpass profile import: a profile from what other benchmarks have printed.
#include "calibrate/fit/import_profile.hpp"

#include <fmt/core.h>

#include <memory>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/plausibility.hpp"
#include "selector/commands/commands.hpp"
#include "selector/commands/number_checks.hpp"
#include "selector/report/profile_text.hpp"

namespace commpass {

namespace {

struct ImportArguments {
  std::vector<std::string> files;
  std::string output;
  ImportedOrigin origin;
};

/// "network=FILE", "networkx28=FILE" or FILE. A file whose name has '=' is given with a directory.
struct NamedFile {
  std::optional<BenchmarkPlace> place;
  std::string path;
};

NamedFile parse_named_file(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || text.find('/') < equals) return {std::nullopt, text};
  BenchmarkPlace place{text.substr(0, equals)};
  // "networkx28": the number behind the last x.
  if (const auto x = place.level.rfind('x'); x != std::string::npos)
    if (const auto pairs = parse_number<int>(place.level.substr(x + 1)); pairs && *pairs > 0) {
      place.pairs = pairs;
      place.level.resize(x);
    }
  if (!is_level_name(place.level))
    throw InputError(text, fmt::format("'{}' is no level", place.level),
                     "use LEVEL=FILE, for example network=latency.txt");
  return {place, text.substr(equals + 1)};
}

/// Messages within a node are cheaper than those between nodes, whose price they have where none were timed.
bool knows_node(const Machine& machine) {
  for (Level level = 0; level <= machine.node_level(); ++level)
    if (machine.host.has(level)) return true;
  return false;
}

void import(const ImportArguments& arguments) {
  check_writable(arguments.output);
  auto origin = arguments.origin;
  std::vector<BenchmarkTime> times;
  for (const auto& text : arguments.files) {
    const auto [place, path] = parse_named_file(text);
    const auto of_file = parse_benchmark(read_file(path), path, place);
    times.insert(times.end(), of_file.begin(), of_file.end());
    origin.files.push_back(text.substr(0, text.size() - path.size()) + path.substr(path.rfind('/') + 1));
  }
  auto profile = import_profile(times, origin);
  auto provenance = Json::parse(profile.provenance_json);
  if (const auto missing = missing_parts(profile.machine); !missing.empty()) provenance["missing"] = missing;
  profile.provenance_json = provenance.dump();
  write_profile(profile, arguments.output);
  fmt::print("{}", wrap_lines(fmt::format("{}: made of {} times\n", arguments.output, times.size())));
  if (!knows_node(profile.machine))
    fmt::print("{}", wrap_lines("Warning: there are no ping-pongs within a node, where messages are priced like those "
                                "between nodes; give node=FILE, too.\n"));
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
               {"--name", &origin.name, "of the machine", {.required = true}},
               {"-o,--output", &arguments->output, "profile to write", {.required = true}},
               {"--source", &origin.source, "where the times are published, or who measured them"},
               {"--site", &origin.site, "where the machine is"},
               {"--machine", &origin.machine, "what it is"},
               {"--processor", &origin.processor, "of a node"},
               {"--network", &origin.network, "between nodes"},
               {"--mpi-library", &origin.mpi_library, "with its version"},
               {"--ppn", &origin.ranks_per_node, "ranks on a node", {.checks = {positive()}}},
               {"--note", &origin.note, "what else its users have to know"},
               {"--pairs-in-step", &origin.pairs_in_step, "pairs at once all send, then all receive"}});
  command.run = [arguments] { import(*arguments); };
  return command;
}

}  // namespace commpass
