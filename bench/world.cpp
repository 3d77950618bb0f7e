// bench world: how good are predictions and choices on real clusters? Judges them by published measurements.
#include "bench/few_nodes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "bench/options.hpp"
#include "bench/world_sets.hpp"
#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/text.hpp"

namespace commpass::bench {
namespace {

struct WorldOptions : OutputOptions {
  World world{COMMPASS_WORLD_TABLES, COMMPASS_WORLD_PROFILES};
  std::vector<std::string> profiles, tables;
  std::string condensed, group;
  bool has_rows = false;
};

void print_regret(const std::string& what, const std::optional<Regret>& regret) {
  if (!regret) return;
  const auto& worst = regret->worst_case;
  fmt::print(
      "  {:<46} {:>4} cases, fastest {:>3}  mean {:>6.2f}  95 % {:>7.2f}  worst {:>7.2f} ({} nodes x {}, {}, {})", what,
      regret->cases, regret->fastest_chosen, regret->gmean, regret->p95, regret->worst, worst.nodes, worst.ppn,
      worst.pattern, format_bytes(static_cast<double>(worst.bytes)));
  fmt::print("  stalls {:.1f} % of choices, {:.1f} % of runs{}\n", 100 * regret->stalled_choices,
             100 * regret->stalled_runs, regret->ties > 0 ? fmt::format("; {} ties", regret->ties) : "");
}

/// The three best rules, and those that programs follow without a library.
bool is_shown(const std::string& rule, std::size_t place) {
  constexpr std::size_t shown = 3;
  return place < shown || std::ranges::any_of(std::array{"pmpi", "library-default", "direct-", "linear", "pairwise"},
                                              [&](const char* start) { return rule.starts_with(start); });
}

void print_row(const JudgedCase& row) {
  fmt::print("  {} nodes x {}, {}, {} B{}\n", row.of.nodes, row.of.ppn, row.of.pattern, row.of.bytes,
             row.free_choice ? ", predict chooses " + *row.free_choice : "");
  for (const auto& time : row.times)
    fmt::print("    {:<44} {:<28} predicted {:>8}  fastest {:>8}  median {:>8}  factor {:.2f}{}\n",
               time.algorithm.text(), time.strategy, format_seconds(time.predicted_s), format_seconds(time.fastest_s),
               format_seconds(time.median_s), time.predicted_s / time.fastest_s, time.is_stalled ? "  stalls" : "");
}

ErrorGroup error_group(const std::string& name) {
  if (name == "nodes") return ErrorGroup::nodes;
  return name == "bytes" ? ErrorGroup::bytes : ErrorGroup::algorithm;
}

void print(const JudgedSet& judged, const WorldOptions& options) {
  const auto& j = judged.judgement;
  fmt::print("{}: {}, profile {}\n", judged.set.name, judged.set.what, judged.profile);
  fmt::print("  {} cases, {} of {} times have a price; {} of these stall and are left out of the errors\n", j.cases,
             j.priced, j.measured, j.stalled);
  fmt::print("  predicted / fastest run: median factor {:.2f}, 90 % within {:.2f}, bias {:.2f}, within 2 {:.0f} %",
             j.median_factor, j.p90_factor, j.bias, 100 * j.within_2);
  if (j.rank_correlation) fmt::print(", rank correlation in a case {:.2f}", *j.rank_correlation);
  if (j.library_factor) fmt::print(", MPI library's call {:.2f}", *j.library_factor);
  fmt::print("\n");
  print_regret("cheapest of those measured", j.choice);
  print_regret(fmt::format("cheapest, at most {} messages in flight", default_messages_off_node), j.limited_choice);
  print_regret(fmt::format("fastest of the {} cheapest{}", tried_algorithms, j.limited_choice ? " of these" : ""),
               j.tried_choice);
  print_regret(fmt::format("predict, {} the same strategy", j.same_as_chosen), j.free_choice);
  for (const auto& [what, count] : j.not_measured) fmt::print("    predict, not measured: {} ({})\n", what, count);
  for (std::size_t i = 0; i < j.rules.size(); ++i)
    if (is_shown(j.rules[i].first, i)) print_regret("always " + j.rules[i].first, j.rules[i].second);
  for (const auto& [why, count] : j.not_priced) fmt::print("    no price: {} ({})\n", why, count);
  if (!options.group.empty())
    for (const auto& [group, times, median_factor, bias] : errors_by(j, error_group(options.group)))
      fmt::print("    {:<40} {:>4} times  median factor {:>6.2f}  bias {:>6.2f}\n", group, times, median_factor, bias);
  if (options.has_rows)
    for (const auto& row : j.rows) print_row(row);
  fmt::print("\n");
}

void print(const FewNodes& judged) {
  const auto& fit = judged.fit;
  fmt::print("{}, profile {}, exchanges of few nodes imported: {} times of {} cases\n", judged.set, judged.profile,
             fit.times, fit.cases);
  fmt::print("  held out of these: median factor {:.2f} before, {:.2f} after\n", fit.before, fit.after);
  for (const auto& sentence : fit.corrected) fmt::print("    {}\n", sentence);
  for (const auto& [nodes, times, blind, corrected] : judged.errors)
    fmt::print(
        "  {:<8} nodes {:>5} times  median factor {:.2f}, 90 % within {:.2f}, bias {:.2f}; imported {:.2f}, "
        "{:.2f}, {:.2f}\n",
        nodes, times, blind.median, blind.p90, blind.bias, corrected.median, corrected.p90, corrected.bias);
  fmt::print("\n");
}

Json to_json(const FactorError& error) {
  return {{"median_factor", error.median}, {"p90_factor", error.p90}, {"bias", error.bias}};
}

Json to_json(const FewNodes& judged) {
  Json json{{"profile", judged.profile},
            {"times", judged.fit.times},
            {"held_out", {{"median_factor_before", judged.fit.before}, {"median_factor_after", judged.fit.after}}},
            {"corrected", judged.fit.corrected}};
  for (const auto& [nodes, times, blind, corrected] : judged.errors)
    json["nodes"][nodes] = Json{{"times", times}, {"blind", to_json(blind)}, {"imported", to_json(corrected)}};
  return json;
}

/// "MACHINE=FILE".
void read_profile_names(WorldOptions& options) {
  for (const auto& text : options.profiles) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw InputError("--profile " + text, "it names no machine", "write MACHINE=FILE");
    options.world.profile_files[text.substr(0, equals)] = text.substr(equals + 1);
  }
}

Json world(WorldOptions& options) {
  read_profile_names(options);
  std::vector<JudgedSet> sets;
  for (const auto& table : options.tables)
    sets.push_back(judge_table(options.world, {table, "table of the user"}, table));
  if (options.tables.empty()) sets = judge_world(options.world);
  for (const auto& named : options.world.profile_files)
    if (std::ranges::none_of(sets, [&](const JudgedSet& set) { return set.machines.contains(named.first); }))
      throw InputError("--profile " + named.first + "=" + named.second, "no table has times of this machine",
                       "name one as the tables do");
  Json json{{"schema_version", 1}, {"context", {{"tables", options.world.tables}}}, {"summary", bounded_figures(sets)}};
  for (const auto& judged : sets) {
    if (!options.json) print(judged, options);
    auto& own = json["sets"][judged.set.name] = to_json(judged.judgement, options.has_rows);
    own["profile"] = judged.profile;
  }
  if (!options.tables.empty()) return json;
  const auto few_nodes = judge_few_nodes(options.world);
  for (const auto& judged : few_nodes) {
    if (!options.json) print(judged);
    json["few_nodes"][judged.set] = to_json(judged);
  }
  const auto figures = bounded_figures(few_nodes);
  for (const auto& [figure, value] : figures.items()) json["summary"][figure] = value;
  return json;
}

Json condense(const WorldOptions& options) {
  if (options.tables.size() != 1)
    throw InputError("--condense", "it takes the runs of one table", "name one table with --data FILE");
  const auto times = read_measured_times(options.tables.front());
  write_file(options.condensed, condensed_table(times));
  return {{"summary", {{"times", times.size()}}}};
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  using namespace commpass::bench;
  WorldOptions options;
  commpass::Command command{"bench-world",
                            "How good predictions and choices are, by published measurements of real clusters"};
  command.add({{"--profile", &options.profiles, "MACHINE=FILE: the profile of a machine of the tables"},
               {"--data", &options.tables, "judge by this table (docs/validation.md has its columns)"},
               {"--rows", &options.has_rows, "also each case, with all prices and the choice"},
               {"--by", &options.group, "errors of prices by this", {.one_of = {"algorithm", "nodes", "bytes"}}},
               {"--condense",
                &options.condensed,
                "write the table of --data with a row for all runs of an algorithm",
                {.needs = {"--data"}}}});
  return run_benchmark(std::move(command), argc, argv, "world", options,
                       [&] { return options.condensed.empty() ? world(options) : condense(options); });
}
