// commpass advise: what a recorded run would gain, here and on other machines.
#include <fmt/core.h>

#include <filesystem>
#include <map>
#include <memory>

#include "model/base/error.hpp"
#include "model/machine/profile.hpp"
#include "model/machine/stand_ins.hpp"
#include "pictures/calls_over_time.hpp"
#include "selector/commands/arguments.hpp"
#include "selector/commands/commands.hpp"
#include "selector/commands/default_profile.hpp"
#include "selector/commands/number_checks.hpp"
#include "selector/commands/picture_arguments.hpp"
#include "selector/environment/environment.hpp"
#include "selector/report/advice.hpp"

namespace commpass {

namespace {

struct AdviceOptions {
  std::string file, patterns, svg;
  std::vector<std::string> profiles;
  LayoutArguments layout;
  int ranks = 0;
  std::size_t top = 20;
  bool json = false;
};

/// Edges of one pair are one entry of a matrix.
Pattern summed(const Pattern& pattern) {
  std::map<std::pair<Rank, Rank>, Bytes> pairs;
  for (const auto& edge : pattern.edges) pairs[{edge.source, edge.destination}] += edge.bytes;
  Pattern result{pattern.ranks, {}};
  for (const auto& [pair, bytes] : pairs) result.edges.push_back({pair.first, pair.second, bytes});
  return result;
}

/// A file for each pattern: "1-alltoallv.mtx", "1-alltoallv-2.mtx".
void write_patterns(const Record& record, const std::vector<AdvisedCall>& calls, const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw InputError(directory, "it cannot be made (" + error.message() + ")", "name another directory");
  for (std::size_t i = 0; i < calls.size(); ++i) {
    int number = 0;
    for (const auto at : calls[i].exchanges) {
      const auto pattern = pattern_of(record, record.exchanges[at]);
      if (!pattern) continue;
      const auto name =
          fmt::format("{}-{}{}.mtx", i + 1, calls[i].call, ++number > 1 ? fmt::format("-{}", number) : "");
      const auto path = (std::filesystem::path(directory) / name).string();
      write_pattern(summed(*pattern), path);
      std::fputs(fmt::format("commpass: wrote {}: {} calls\n", path, record.exchanges[at].calls).c_str(), stderr);
    }
  }
}

void advise_on(const AdviceOptions& arguments) {
  const auto environment = read_environment();
  if (!arguments.svg.empty()) check_picture_path(arguments.svg);
  const auto record = read_record(arguments.file);
  Advice advice{arguments.file, record, advised_calls(record), 0, 0, {}};
  for (; advice.calls.size() > arguments.top; advice.calls.pop_back()) {
    ++advice.calls_left_out;
    advice.left_out_s += advice.calls.back().measured_s;
  }
  const auto asked = arguments.ranks > 0 ? scaled(record, arguments.ranks) : record;
  const auto calls = arguments.ranks > 0 ? scaled_calls(asked, advice.calls, record.ranks()) : advice.calls;
  const auto given = arguments.layout.find(asked.ranks(), environment);
  if (arguments.ranks > 0 && !given)
    throw InputError("--ranks", "it is not said where they sit", "add --ppn N or --layout L");
  auto profiles = arguments.profiles;
  if (profiles.empty() && environment.profile) profiles.push_back(*environment.profile);
  const auto layout = given ? *given : parse_layout(asked.layout);
  if (profiles.empty()) profiles.push_back(find_profile_or_default({}, environment, host_fingerprint(), layout));
  for (const auto& name : profiles) {
    const auto profile = read_profile(find_profile(name, profile_directories(environment.profile_places)));
    advice.machines.push_back(advise(asked, calls, layout, with_stand_ins(profile.machine)));
  }
  arguments.layout.warn_uneven(asked.ranks());
  if (!arguments.patterns.empty()) write_patterns(record, advice.calls, arguments.patterns);
  if (!arguments.svg.empty()) write_picture(draw_calls_over_time(advice), arguments.svg);
  std::fputs((arguments.json ? advice_json(advice) : advice_text(advice)).c_str(), stdout);
}

}  // namespace

Command advise_command() {
  auto arguments = std::make_shared<AdviceOptions>();
  Command command{"advise", "what a run that 'commpass record' wrote down would gain, here and on other machines"};
  command.add({{"file", &arguments->file, "that 'commpass record' has written", {.required = true}},
               {"--profile",
                &arguments->profiles,
                "machine profile: a NAME of 'commpass profile list' or a file; may be repeated",
                {.offer = Offer::profiles}}});
  arguments->layout.add_to(command);
  command.add(
      {{"--ranks",
        &arguments->ranks,
        "the same problem on so many ranks; for exchanges of all with all",
        {.checks = {between(2, most_pattern_ranks)}}},
       {"--top", &arguments->top, "look at the K places that take longest (default: 20)", {.checks = {positive()}}},
       {"--patterns", &arguments->patterns,
        "write their patterns into this directory, for 'commpass predict --pattern'"},
       {"--svg", &arguments->svg,
        "draw when the program exchanges into this file, FILE.svg, and write the numbers to FILE.csv"},
       {"--json", &arguments->json, "JSON on stdout"}});
  command.run = [arguments] { advise_on(*arguments); };
  return command;
}

}  // namespace commpass
