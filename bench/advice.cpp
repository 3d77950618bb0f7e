// bench advice: does 'commpass advise' tell the times and savings that programs have? Programs are recorded on few
// ranks of simulated clusters; more ranks run them by MPI's calls and by Commpass.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "bench/options.hpp"
#include "bench/summary.hpp"
#include "model/base/error.hpp"
#include "model/base/json.hpp"
#include "model/machine/profile.hpp"
#include "selector/choose/parallel.hpp"
#include "selector/choose/rivalry.hpp"
#include "selector/report/advice.hpp"

namespace commpass::bench {
namespace {

struct Program {
  const char* name;
  int ranks_max;  ///< blocks of more ranks take the simulator too long
};

constexpr Program programs[] = {{"ring", 128},          {"heat", 128}, {"sparse-product", 128},
                                {"random-sparse", 128}, {"fft", 64},   {"integer-sort", 64}};
constexpr int recorded_ranks[] = {8, 16};
constexpr int simulated_calls = 8;
/// A record stands for a run of as many times more steps.
constexpr int repetitions = 1250;
constexpr double calls = simulated_calls * repetitions;

struct Case {
  const ClusterShape& cluster;
  const std::string& profile;
  std::string program;
  int ranks;
};

std::string run_program(const Options& options, const Case& which, int ranks, const std::string& by,
                        const std::string& file) {
  return simulate(
      options.simulator, which.cluster, ranks, "commpass-recorded",
      fmt::format("{} {} {} '{}' {}", which.program, by, layout_of(which.cluster, ranks), file, simulated_calls));
}

Record record_program(const Options& options, const Case& which, int ranks) {
  const auto file =
      fmt::format("{}/{}-{}-{}-for-{}.record.json", options.simulator.scratch, which.cluster.name, which.program, ranks,
                  which.ranks);  // cases run at the same time
  const auto run = Json::parse(run_program(options, which, ranks, "record", file));
  auto record = read_record(file);
  // Ranks tell each other of each of so few calls, which longer runs do not.
  record.run_s = calls * run.at("work_s").get<double>() + repetitions * measured_in_calls(record);
  for (auto& exchange : record.exchanges) {
    exchange.site = "step";  // the simulator gives each run an object of another name
    exchange.calls *= repetitions;
    exchange.exchange_s *= repetitions;
    exchange.bytes *= repetitions;
    exchange.blocks *= repetitions;
  }
  return record;
}

/// Times of all calls of a program.
struct Times {
  Seconds outside_s = 0, library_s = 0, run_s = 0, changed_s = 0;

  double share(Seconds seconds) const { return (library_s - seconds) / (outside_s + library_s); }
};

/// By the calls of a program that was simulated.
Times measured(const Options& options, const Case& which) {
  const auto run = [&](const char* by) {
    return Json::parse(run_program(options, which, which.ranks, by, which.profile));
  };
  const auto mpi = run("mpi"), always = run("always");
  const auto planned_s = [&] {
    const auto planned = run("planned");
    return planned.at("plan_s").get<double>() + calls * planned.at("call_s").get<double>();
  };
  const Seconds library_s = mpi.at("call_s").get<double>(), ours_s = always.at("call_s").get<double>();
  const auto turns = turns_of(calls, {library_s, ours_s, 0});
  return {calls * mpi.at("work_s").get<double>(), calls * library_s,
          turns.opening_s + (turns.library + turns.both) * library_s + (turns.ours + turns.both) * ours_s,
          mpi.at("is_changing").get<bool>() ? calls * ours_s : planned_s()};
}

struct Advised {
  std::string by;  ///< numbers of ranks of the records
  MachineAdvice advice;
};

Advised advise_by(const Record& record, const std::string& by, const Case& which) {
  const auto layout = parse_layout(layout_of(which.cluster, which.ranks));
  auto machine = read_profile(which.profile).machine;
  machine.mpi_library = "MPICH 4.0";  // whose all-to-alls simulated clusters have
  return {by, advise(record, advised_calls(record), layout, machine)};
}

struct Result {
  std::string cluster, program, by, strategy;
  int ranks = 0;
  Times predicted, measured;

  double library_ratio() const { return predicted.library_s / measured.library_s; }
  double changed_ratio() const { return predicted.changed_s / measured.changed_s; }
};

std::vector<Result> run_case(const Options& options, const Case& which) {
  std::vector<Record> records;
  for (const int ranks : recorded_ranks) records.push_back(record_program(options, which, ranks));
  std::vector<Advised> all_advice;
  try {
    all_advice.push_back(advise_by(scaled(records, which.ranks).record,
                                   fmt::format("{}, {}", recorded_ranks[0], recorded_ranks[1]), which));
  } catch (const InputError&) {  // NOLINT(bugprone-empty-catch): the records do not tell of other ranks
  }
  all_advice.push_back(advise_by(record_program(options, which, which.ranks), std::to_string(which.ranks), which));
  const auto truth = measured(options, which);
  std::vector<Result> results;
  for (const auto& [by, advice] : all_advice) {
    const auto& all = advice.all;
    const auto& strategy = advice.prices.at(0).planned;
    auto own = truth;
    if (strategy.empty()) own.changed_s = own.library_s;  // MPI's calls stay
    if (all.taken_s == all.library_s) own.run_s = own.library_s;
    results.push_back({which.cluster.name,
                       which.program,
                       by,
                       strategy,
                       which.ranks,
                       {advice.outside_s, all.library_s, all.taken_s, all.planned_s},
                       own});
  }
  return results;
}

constexpr double percents = 100, us_per_s = 1e6;

/// A row of a table in Markdown.
void print_case(const Result& r) {
  const auto saved = [](const Times& times, Seconds seconds) { return percents * times.share(seconds); };
  const auto us_of = [](Seconds seconds) { return us_per_s * seconds / calls; };
  fmt::print(
      "| {} | {} | {} | {} | {:.1f}, {:.1f} | {:.2f} | {} | {:.1f}, {:.1f} | {:.2f} | {:.1f}, {:.1f} | {:.1f}, {:.1f} "
      "|\n",
      r.cluster, r.program, r.ranks, r.by, us_of(r.predicted.library_s), us_of(r.measured.library_s), r.library_ratio(),
      r.strategy.empty() ? "MPI's" : fmt::format("`{}`", r.strategy), us_of(r.predicted.changed_s),
      us_of(r.measured.changed_s), r.changed_ratio(), saved(r.predicted, r.predicted.run_s),
      saved(r.measured, r.measured.run_s), saved(r.predicted, r.predicted.changed_s),
      saved(r.measured, r.measured.changed_s));
  std::fflush(stdout);
}

Json summary_of(const std::vector<Result>& results) {
  std::vector<double> library, changed, overstated{0}, untrue{0};
  constexpr double nothing_share = 0.01;
  for (const auto& r : results) {
    library.push_back(factor_of(r.library_ratio()));
    changed.push_back(factor_of(r.changed_ratio()));
    for (const auto seconds : {&Times::run_s, &Times::changed_s}) {
      const double predicted = r.predicted.share(r.predicted.*seconds), is = r.measured.share(r.measured.*seconds);
      overstated.push_back(predicted - is);
      if (is < nothing_share) untrue.push_back(predicted);
    }
  }
  return {{"library_factor_median", quantile(library, 0.5)},
          {"library_factor_worst", quantile(library, 1)},
          {"changed_factor_median", quantile(changed, 0.5)},
          {"changed_factor_worst", quantile(changed, 1)},
          {"saving_overstated_max", quantile(overstated, 1)},
          {"saving_untrue_max", quantile(untrue, 1)},
          {"cases", results.size()}};
}

Json bench_advice(const Options& options) {
  if (!options.json)
    fmt::print(
        "| cluster | program | ranks | recorded on | a call by MPI: predicted, measured us | ratio | a changed source "
        "| "
        "predicted, measured us | ratio | `commpass run` saves %: predicted, measured | a changed source saves %: "
        "predicted, measured |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  auto all = clusters(options.simulator);
  constexpr std::size_t quick_clusters = 2;
  constexpr int quick_ranks = 64;
  if (options.quick) all.resize(std::min(all.size(), quick_clusters));
  const auto profiles = calibrate_all(options.simulator, all);
  std::vector<Case> cases;
  for (const int ranks : {64, 128})
    for (std::size_t i = 0; i < all.size(); ++i)
      for (const auto& program : programs)
        if (ranks <= (options.quick ? quick_ranks : program.ranks_max))
          cases.push_back({all[i], profiles[i], program.name, ranks});
  std::vector<std::vector<Result>> of_cases(cases.size());
  std::vector<Result> results;
  in_parallel(
      cases.size(), [&](std::size_t i) { of_cases[i] = run_case(options, cases[i]); },
      [&](std::size_t i) {
        for (const auto& result : of_cases[i]) {
          results.push_back(result);
          if (!options.json) print_case(result);
        }
      });
  Json json;
  for (const auto& r : results)
    json["cases"].push_back({{"cluster", r.cluster},
                             {"program", r.program},
                             {"ranks", r.ranks},
                             {"by", r.by},
                             {"predicted_library_s", r.predicted.library_s},
                             {"library_s", r.measured.library_s},
                             {"predicted_changed_s", r.predicted.changed_s},
                             {"changed_s", r.measured.changed_s}});
  json["summary"] = summary_of(results);
  if (!options.json) fmt::print("\n{}\n", json["summary"].dump(2));
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  return commpass::bench::run_simulated_benchmark(
      argc, argv, "advice",
      "What 'commpass advise' tells of recorded programs, against their times on simulated clusters.",
      commpass::bench::bench_advice);
}
