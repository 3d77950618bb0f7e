// commpass advise: what a recorded run would gain, here and on other machines.
#include <fmt/core.h>

#include <filesystem>
#include <map>
#include <memory>

#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "model/machine/named_parameters.hpp"
#include "model/machine/profile.hpp"
#include "model/machine/stand_ins.hpp"
#include "pictures/pictures.hpp"
#include "selector/commands/arguments.hpp"
#include "selector/commands/commands.hpp"
#include "selector/commands/default_profile.hpp"
#include "selector/commands/picture_file.hpp"
#include "selector/commands/switches.hpp"
#include "selector/environment/environment.hpp"
#include "selector/report/advice.hpp"

namespace commpass {

namespace {

struct AdviceOptions {
  std::vector<std::string> files;
  std::string patterns, layout, ppn, ranks;
  PictureFile picture;
  std::vector<std::string> settings;
  std::vector<std::string> profiles;
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

/// Whole numbers, separated by ','. @param text  checked before
std::vector<int> numbers_of(const std::string& text) {
  std::vector<int> numbers;
  for (const auto& word : split(text, ',')) numbers.push_back(*parse_number<int>(word));
  return numbers;
}

Check each_between(std::int64_t least, std::int64_t most) {
  const auto one = between(least, most);
  return {"INT,…", [=](const std::string& text) {
            for (const auto& word : split(text, ','))
              if (auto problem = one.problem(word); !problem.empty()) return problem;
            return std::string();
          }};
}

/// The runs to price: on how many ranks, and where they sit.
struct AskedRun {
  int ranks = 0;  ///< 0: those of the record
  LayoutArguments layout = {};
};

std::vector<AskedRun> asked_runs(const AdviceOptions& arguments) {
  std::vector<AskedRun> runs;
  for (const int ranks : arguments.ranks.empty() ? std::vector{0} : numbers_of(arguments.ranks))
    for (const int ppn : arguments.ppn.empty() ? std::vector{0} : numbers_of(arguments.ppn))
      runs.push_back({ranks, {ppn, arguments.layout}});
  return runs;
}

std::vector<Profile> read_profiles(const AdviceOptions& arguments, const Environment& environment,
                                   const Layout& layout) {
  auto names = arguments.profiles;
  if (names.empty()) names.emplace_back();
  std::vector<Profile> profiles;
  for (const auto& name : names) {
    profiles.push_back(read_profile(find_profile_or_default(name, environment, host_fingerprint, layout)));
    set_parameters(profiles.back(), arguments.settings);
  }
  return profiles;
}

std::vector<Record> read_records(const AdviceOptions& arguments) {
  if (arguments.files.size() > 2)
    throw InputError(arguments.files[2], "it is the third record", "name one, or two of different numbers of ranks");
  if (arguments.files.size() == 2 && arguments.ranks.empty())
    throw InputError(arguments.files[1], "a second record tells how exchanges grow, and no growth is asked for",
                     "add --ranks P, or leave it out");
  std::vector<Record> records;
  for (const auto& file : arguments.files) records.push_back(read_record(file));
  return records;
}

void advise_on(const AdviceOptions& arguments) {
  const auto environment = read_environment();
  refuse_standard_output(arguments.picture.file());
  arguments.picture.check();
  check_apart(arguments.files, {arguments.picture.file(), arguments.picture.numbers()});
  const auto records = read_records(arguments);
  const auto largest = std::ranges::max_element(records, {}, &Record::ranks) - records.begin();
  const auto& record = records[static_cast<std::size_t>(largest)];
  Advice advice{arguments.files[static_cast<std::size_t>(largest)], record, advised_calls(record), 0, 0, {}};
  for (; advice.calls.size() > arguments.top; advice.calls.pop_back()) {
    ++advice.calls_left_out;
    advice.left_out_s += advice.calls.back().measured_s;
  }
  std::vector<Profile> profiles;
  for (const auto& run : asked_runs(arguments)) {
    const auto asked = run.ranks > 0 ? scaled(records, run.ranks) : ScaledRecord{record, ""};
    const auto calls = run.ranks > 0 ? scaled_calls(asked.record, advice.calls, record.ranks()) : advice.calls;
    const int ranks = asked.record.ranks();
    const auto given = run.layout.find(ranks, environment);
    if (run.ranks > 0 && !given)
      throw InputError("--ranks", "it is not said where they sit", "add --ppn N or --layout L");
    const auto layout = given ? *given : parse_layout(asked.record.layout);
    if (profiles.empty()) profiles = read_profiles(arguments, environment, layout);
    for (const auto& profile : profiles) {
      advice.machines.push_back(advise(asked.record, calls, layout, with_stand_ins(profile.machine)));
      advice.machines.back().guess = asked.guess;
    }
    run.layout.warn_uneven(ranks);
  }
  if (!arguments.patterns.empty()) write_patterns(record, advice.calls, arguments.patterns);
  if (arguments.picture.is_asked_for())
    arguments.picture.write(draw_calls_over_time(advice, arguments.picture.frame("calls")));
  std::fputs(document_of(advice).write(arguments.json ? Form::json : Form::text).c_str(), stdout);
}

}  // namespace

Command advise_command() {
  auto arguments = std::make_shared<AdviceOptions>();
  Command command{"advise", "what a run that 'commpass record' wrote down would gain, here and on other machines"};
  command.add({{"file",
                &arguments->files,
                "that 'commpass record' has written; with --ranks a second one, of another number of ranks",
                {.required = true}},
               profile_switch(&arguments->profiles, "; may be repeated"),
               {"--ppn",
                &arguments->ppn,
                "ranks on a node: N, or a list, 32,64",
                {.checks = {each_between(1, most_pattern_ranks)}}},
               layout_switch(&arguments->layout)});
  command.add(
      {{"--ranks",
        &arguments->ranks,
        "the same problem on P ranks, or on each of a list, 64,128; at most 16 times those of the record",
        {.checks = {each_between(2, most_pattern_ranks)}}},
       {"--top", &arguments->top, "look at the K places that take longest (default: 20)", {.checks = {positive()}}},
       {"--patterns", &arguments->patterns,
        "write their patterns into this directory, for 'commpass predict --pattern'"},
       {"--set", &arguments->settings,
        "KEY=VALUE, KEY=*FACTOR or KEY=+SUMMAND: another value of a parameter of the profiles; may be repeated"},
       {"--json", &arguments->json, "JSON on stdout"}});
  arguments->picture.add_to(command, "draw when the program exchanges into this file");
  command.run = [arguments] { advise_on(*arguments); };
  return command;
}

}  // namespace commpass
