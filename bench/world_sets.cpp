#include "bench/world_sets.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "bench/counterparts.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "model/machine/profile_lookup.hpp"

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

struct RuleCells {
  std::string name = none, mean = none, worst = none;
};

/// The best rule, of the MPI library's own call or of all others.
RuleCells best_rule(const Judgement& judgement, bool is_of_the_library) {
  for (const auto& [name, regret] : judgement.rules)
    if (is_of_library({name, {}}) == is_of_the_library) return {name, factor(regret.gmean), factor(regret.worst)};
  return {};
}

}  // namespace

const std::vector<DataSet>& data_sets() {
  static const std::vector<DataSet> sets{{"dane-alltoall", "all-to-alls, 200 to 6400 ranks"},
                                         {"marenostrum-alltoall", "all-to-alls, 32 nodes with a rank each"},
                                         {"lassen-alltoall", "all-to-alls, data on GPUs and in host memory"},
                                         {"lassen-spmv", "products with 12 matrices, data on GPUs"},
                                         {"lassen-bursts", "bursts from one rank"},
                                         {"lassen-mvapich-bursts", "bursts from one rank", "lassen-mvapich"},
                                         {"summit-bursts", "bursts from one rank"},
                                         {"quartz-sdde", "sparse exchanges of 4 B, 64 to 2048 ranks"}};
  return sets;
}

JudgedSet judge_table(const World& world, const DataSet& set, const std::string& path) {
  const auto times = read_measured_times(path);
  std::map<std::string, JudgedMachine> machines;
  std::set<std::string> profiles;
  for (const auto& time : times) {
    if (machines.contains(time.of.machine)) continue;
    const auto known = known_machine(time.of.machine);
    const auto file = profile_file(world, time.of.machine, set.profile.empty() ? known.profile : set.profile);
    auto machine = read_profile(file).machine;
    profiles.insert(machine.name);
    machines.emplace(time.of.machine, JudgedMachine{std::move(machine), known.sockets});
  }
  return {set, join(profiles, ", "), judge(times, machines, path)};
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
    add_regret("predict", judgement.free_choice);
    if (judgement.library_factor) add("library_median_factor", *judgement.library_factor);
  }
  return json;
}

std::string prediction_rows(const std::vector<JudgedSet>& sets) {
  std::string rows;
  for (const auto& [set, profile, judgement] : sets)
    append(rows, "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", set.name, profile, judgement.cases,
           judgement.measured, judgement.priced, factor(judgement.median_factor), factor(judgement.p90_factor),
           factor(judgement.bias), percent(judgement.within_2),
           judgement.rank_correlation ? format_fixed(*judgement.rank_correlation, 2) : none);
  return rows;
}

std::string choice_rows(const std::vector<JudgedSet>& sets) {
  std::string rows;
  for (const auto& judged : sets) {
    const auto& judgement = judged.judgement;
    if (!judgement.choice) continue;
    const auto add = [&](const std::string& which, const Judgement& of, const std::optional<Regret>& regret,
                         const std::optional<Regret>& limited) {
      const auto rule = best_rule(of, false), library = best_rule(of, true);
      append(rows, "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", judged.set.name, which,
             regret ? factor(regret->gmean) : none, regret ? factor(regret->worst) : none,
             regret ? percent(regret->stalled_choices) : none, limited ? factor(limited->gmean) : none,
             limited ? factor(limited->worst) : none, rule.name, rule.mean, rule.worst, library.mean);
    };
    add(fmt::format("cheapest of those measured, {}", judgement.choice->cases), judgement, judgement.choice,
        judgement.limited_choice);
    const int free_cases = judgement.free_choice ? judgement.free_choice->cases : 0;
    add(fmt::format("`predict`, {} of {} measured", free_cases, judgement.choice->cases), {}, judgement.free_choice,
        {});
  }
  return rows;
}

std::string readme_rows(const std::vector<JudgedSet>& sets) {
  std::string rows;
  for (const auto& [set, profile, judgement] : sets) {
    if (!judgement.choice) continue;
    const auto machine = set.name.substr(0, set.name.find('-'));
    append(rows, "| {} | {} | {} | {} | {} | {} |\n", machine, set.what, factor(judgement.median_factor),
           factor(judgement.choice->gmean), best_rule(judgement, false).mean, best_rule(judgement, true).mean);
  }
  return rows;
}

}  // namespace commpass::bench
