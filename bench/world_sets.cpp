#include "bench/world_sets.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "calibrate/fit/counterparts.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "model/machine/profile_lookup.hpp"
#include "model/machine/stand_ins.hpp"

namespace commpass::bench {
namespace {

/// How a machine of the tables is called in a profile, and the sockets of its nodes (docs/validation.md).
struct KnownMachine {
  const char* name;
  const char* profile;
  int sockets;
};

constexpr KnownMachine known_machines[] = {
    {"dane", "dane", 2},     {"tuolumne", "tuolumne", 4}, {"deltaai", "deltaai", 4},          {"delta", "delta", 4},
    {"tioga", "tioga", 4},   {"lassen", "lassen", 2},     {"marenostrum", "marenostrum5", 2}, {"summit", "summit", 2},
    {"quartz", "quartz", 2}, {"fugaku", "fugaku", 1},     {"supermuc-ng", "supermuc-ng", 2}};

KnownMachine known_machine(const std::string& name) {
  const auto* const found = std::ranges::find(known_machines, name, &KnownMachine::name);
  return found == std::end(known_machines) ? KnownMachine{name.c_str(), name.c_str(), 1} : *found;
}

/// The file of a profile; that of `generic` for machines without one.
std::string profile_file(const World& world, const std::string& machine, const std::string& profile) {
  if (const auto found = world.profile_files.find(machine); found != world.profile_files.end()) return found->second;
  const auto path = world.profiles + "/" + profile + ".json";
  return std::filesystem::exists(path) ? path : world.profiles + "/generic.json";
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string factor(double value) { return format_fixed(value, value < 100 ? 2 : 0); }

constexpr const char* none = "–";

/// The line below the head of a table.
std::string separator(int columns) {
  std::string line = "|";
  for (int i = 0; i < columns; ++i) line += "---|";
  return line + "\n";
}

/// The best rule, of the MPI library's own call or of all others.
const std::pair<std::string, Regret>* best_rule(const Judgement& judgement, bool is_of_the_library) {
  const auto found = std::ranges::find_if(
      judgement.rules, [&](const auto& rule) { return is_of_library(rule.first) == is_of_the_library; });
  return found == judgement.rules.end() ? nullptr : &*found;
}

/// Both, and sending directly.
std::vector<std::pair<std::string, Regret>> shown_rules(const Judgement& judgement) {
  std::vector<std::pair<std::string, Regret>> shown;
  if (const auto* const rule = best_rule(judgement, false))
    shown.emplace_back("best fixed rule: " + rule->first, rule->second);
  if (const auto* const rule = best_rule(judgement, true))
    shown.emplace_back("MPI's own call: " + rule->first, rule->second);
  for (const auto& [name, regret] : judgement.rules)
    if (name.starts_with("direct-") || name == "linear" || name == "pairwise")
      shown.emplace_back("always " + name, regret);
  return shown;
}

std::string mean_of(const std::pair<std::string, Regret>* rule) { return rule ? factor(rule->second.gmean) : none; }

}  // namespace

const std::vector<DataSet>& data_sets() {
  static const std::vector<DataSet> sets{{"dane-alltoall", "all-to-alls, 200 to 6400 ranks", "", true},
                                         {"marenostrum-alltoall", "all-to-alls, 32 nodes with a rank each"},
                                         {"lassen-alltoall", "all-to-alls, data on GPUs and in host memory", "", true},
                                         {"lassen-spmv", "products with 12 matrices, data on GPUs"},
                                         {"lassen-bursts", "bursts from one rank"},
                                         {"lassen-mvapich-bursts", "bursts from one rank", "lassen-mvapich"},
                                         {"summit-bursts", "bursts from one rank"},
                                         {"quartz-sdde", "sparse exchanges of 4 B, 64 to 2048 ranks"},
                                         {"tuna-paper", "all-to-alls of up to 16 B, 8192 ranks of Polaris and Fugaku"}};
  return sets;
}

JudgedMachine judged_machine(const World& world, const std::string& machine, const std::string& profile) {
  const auto known = known_machine(machine);
  return {with_stand_ins(read_profile(profile_file(world, machine, profile.empty() ? known.profile : profile)).machine),
          known.sockets};
}

JudgedSet judge_table(const World& world, const DataSet& set, const std::string& path) {
  const auto times = read_measured_times(path);
  std::map<std::string, JudgedMachine> machines;
  std::set<std::string> profiles;
  for (const auto& time : times) {
    if (machines.contains(time.of.machine)) continue;
    auto machine = judged_machine(world, time.of.machine, set.profile);
    profiles.insert(machine.machine.name);
    machines.emplace(time.of.machine, std::move(machine));
  }
  std::set<std::string> names;
  for (const auto& [name, machine] : machines) names.insert(name);
  return {set, join(profiles, ", "), std::move(names), judge(times, machines, path)};
}

std::vector<JudgedSet> judge_world(const World& world) {
  std::vector<JudgedSet> judged;
  for (const auto& set : data_sets())
    judged.push_back(judge_table(world, set, fmt::format("{}/{}.csv", world.tables, set.name)));
  return judged;
}

Json bounded_figures(const std::vector<JudgedSet>& sets) {
  auto json = Json::object();
  for (const auto& judged : sets) {
    const auto& judgement = judged.judgement;
    const auto add = [&](const std::string& figure, double value) { json[judged.set.name + "." + figure] = value; };
    add("times_without_price", judgement.measured - judgement.priced);
    add("median_factor", judgement.median_factor);
    add("p90_factor", judgement.p90_factor);
    add("bias_factor", std::max(judgement.bias, 1 / judgement.bias));
    add("share_beyond_2", 1 - judgement.within_2);
    if (judgement.rank_correlation) add("one_minus_rank_correlation", 1 - *judgement.rank_correlation);
    const auto add_regret = [&](const std::string& choice, const std::optional<Regret>& regret) {
      if (!regret) return;
      add(choice + "_regret_gmean", regret->gmean);
      add(choice + "_regret_worst", regret->worst);
      add(choice + "_stalled_choices_share", regret->stalled_choices);
    };
    add_regret("cheapest", judgement.choice);
    add_regret("cheapest_of_64_in_flight", judgement.limited_choice);
    add_regret("fastest_of_3_tried", judgement.tried_choice);
    add_regret("predict", judgement.free_choice);
    if (judgement.library_factor) add("library_median_factor", *judgement.library_factor);
  }
  return json;
}

DocumentTable prediction_table(const std::vector<JudgedSet>& sets) {
  DocumentTable table{
      "| data set | profile | cases | times | priced | median factor | 90 % within | bias | within 2 | order | MPI's "
      "own call |",
      separator(11)};
  for (const auto& judged : sets) {
    const auto& of = judged.judgement;
    append(table.rows, "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", judged.set.name, judged.profile,
           of.cases, of.measured, of.priced, factor(of.median_factor), factor(of.p90_factor), factor(of.bias),
           percent(of.within_2), of.rank_correlation ? format_fixed(*of.rank_correlation, 2) : none,
           of.library_factor ? factor(*of.library_factor) : none);
  }
  return table;
}

DocumentTable algorithm_table(const std::vector<JudgedSet>& sets) {
  DocumentTable table{"| data set | algorithm | prices | median factor | bias |", separator(5)};
  for (const auto& judged : sets)
    for (const auto& [group, times, median_factor, bias] : errors_by(judged.judgement, ErrorGroup::algorithm))
      append(table.rows, "| {} | {} | {} | {} | {} |\n", judged.set.name, group, times, factor(median_factor),
             factor(bias));
  return table;
}

DocumentTable choice_table(const std::vector<JudgedSet>& sets) {
  DocumentTable table{"| data set | choice | cases | fastest chosen | regret, mean | 95 % | worst | stalls |",
                      separator(8)};
  for (const auto& judged : sets) {
    const auto& of = judged.judgement;
    const auto add = [&](const std::string& what, const std::optional<Regret>& regret) {
      if (regret)
        append(table.rows, "| {} | {} | {} | {} | {} | {} | {} | {} |\n", judged.set.name, what, regret->cases,
               regret->fastest_chosen, factor(regret->gmean), factor(regret->p95), factor(regret->worst),
               percent(regret->stalled_choices));
    };
    add(of.limited_choice ? fmt::format("the cheapest of those measured with at most {} messages in flight",
                                        default_messages_off_node)
                          : "the cheapest of those measured",
        of.limited_choice ? of.limited_choice : of.choice);
    add(fmt::format("the fastest of the {} cheapest of these", tried_algorithms), of.tried_choice);
    if (of.limited_choice) add("the same without that limit", of.choice);
    add("`predict`, where its choice was measured", of.free_choice);
    for (const auto& [name, regret] : shown_rules(of)) add(name, regret);
  }
  return table;
}

DocumentTable readme_table(const std::vector<JudgedSet>& sets) {
  DocumentTable table{"| real cluster | exchanges | predicted ÷ measured | choice | best fixed rule | MPI's own call |",
                      separator(6)};
  for (const auto& judged : sets) {
    const auto& judgement = judged.judgement;
    if (!judgement.choice) continue;
    const auto machine = judged.set.name.substr(0, judged.set.name.find('-'));
    append(table.rows, "| {} | {} | {} | {} | {} | {} |\n", machine, judged.set.what, factor(judgement.median_factor),
           factor((judgement.limited_choice ? judgement.limited_choice : judgement.choice)->gmean),
           mean_of(best_rule(judgement, false)), mean_of(best_rule(judgement, true)));
  }
  return table;
}

}  // namespace commpass::bench
