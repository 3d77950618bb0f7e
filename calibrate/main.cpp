// `commpass calibrate`: measures this machine and writes its profile.
#include <fmt/core.h>
#include <mpi.h>

#include <cstdio>

#include "calibrate/calibrate.hpp"
#include "calibrate/fit/plan.hpp"
#include "measure/mpi_program.hpp"
#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/detect_layout.hpp"
#include "runtime/mpi/launcher.hpp"
#include "runtime/mpi/mpi_library.hpp"
#include "runtime/mpi/ranks.hpp"
#include "selector/commands/default_profile.hpp"
#include "selector/commands/program_arguments.hpp"
#include "selector/environment/environment.hpp"
#include "selector/report/document.hpp"
#include "selector/report/profile_text.hpp"

namespace {

/// Prints on stderr. fmt::print may throw, on this rank alone.
void print_note(const std::string& text) { std::fputs(commpass::wrap_lines(text).c_str(), stderr); }

/// Reads seconds: "60s", "2min", "90".
double parse_duration(const std::string& text) {
  constexpr double minute = 60;
  double unit = 1;
  std::string number = text;
  if (text.ends_with("min")) {
    unit = minute;
    number.resize(text.size() - 3);
  } else if (text.ends_with("s")) {
    number.pop_back();
  }
  const auto value = commpass::parse_number<double>(number);
  constexpr double day_s = 86400;
  if (!value || !(*value > 0 && *value <= day_s))
    throw commpass::InputError("--budget " + text, "it is no duration", "use for example 60s or 2min, at most a day");
  return *value * unit;
}

/// The experiments with their seconds, and what further ranks would identify.
commpass::Document plan_document(const commpass::Layout& layout, const commpass::CalibrateArguments& arguments) {
  using namespace commpass;
  if (layout.ranks() < 2)
    throw InputError("--plan", "the layout has one rank, and messages need two", "give --layout, or start more ranks");
  const auto machine = machine_like(layout, arguments.name);
  const auto budget_s = parse_duration(arguments.budget);
  Table experiments{"experiments",
                    {{"seconds", "seconds", 8, {}, 0},
                     {"ranks", "ranks", 6},
                     {"parameters", "parameters", -1},
                     {"method", "by", -1}}};
  Table lacking{"not_identified", {{"parameters", {}, -1, {}, 0}, {"needs", {}, -1}}};
  for (const auto& [parameters, method, ranks, part, needs] : plan_calibration(layout.on(machine), machine)) {
    const auto seconds = budget_s * part;
    if (needs.empty()) experiments.add({Cell(Json(seconds), format_fixed(seconds, 1)), ranks, parameters, method});
    else lacking.add({parameters, "needs " + needs});
  }
  Document document({{"layout", layout.describe()}, {"budget", format_seconds(budget_s)}});
  document.add(std::move(experiments));
  const bool lacks = !lacking.rows.empty();
  if (lacks) document.text("\nThese ranks do not identify:\n");
  document.add(std::move(lacking));
  document.paragraph(lacks ? "Parameters that are not identified are absent from the profile, and have stand-ins.\n"
                           : "These ranks identify all parameters.\n");
  return document;
}

void run(commpass::CalibrateArguments arguments) {
  using namespace commpass;
  require_own_launcher();
  const Rank rank = rank_in(MPI_COMM_WORLD);
  const int ranks = ranks_in(MPI_COMM_WORLD);
  Environment environment;
  CalibrationOptions options;
  options.name = arguments.name;
  std::optional<Layout> layout;
  bool shown = false;
  all_or_none(MPI_COMM_WORLD, [&] {
    arguments.launches.require_none();
    environment = read_environment();
    options.budget_s = parse_duration(arguments.budget);
    if (arguments.ppn > 0) layout = Layout::with_ppn(ranks, arguments.ppn);
    else if (const auto text = arguments.layout.empty() ? environment.layout.value_or("") : arguments.layout;
             !text.empty())
      layout = arguments.plan ? parse_layout(text) : parse_layout(text, ranks);
    if (arguments.plan) return;
    shown = show_progress(arguments.progress.empty() ? environment.progress : parse_progress(arguments.progress));
    if (rank != 0) return;
    if (arguments.output.empty()) arguments.output = make_default_output(arguments.name, environment);
    check_writable(arguments.output);  // before measuring
    if (const auto warning = replaced_warning(arguments.output, fingerprint_here()); !warning.empty())
      print_note("commpass: " + warning + ".\n");
  });
  const bool is_given = layout.has_value();
  if (!layout) layout = detect_layout(MPI_COMM_WORLD);
  if (arguments.plan)
    return all_or_none(MPI_COMM_WORLD, [&] {
      if (rank == 0)
        fmt::print("{}", plan_document(*layout, arguments).write(arguments.json ? Form::json : Form::text));
    });
  if (shown)
    options.progress = [](const std::string& what, double fraction) {
      print_note(fmt::format("[{:3.0f}%] {}\n", 100 * std::min(1.0, fraction), what));
    };

  const auto result = calibrate(MPI_COMM_WORLD, *layout, options);
  all_or_none(MPI_COMM_WORLD, [&] {
    if (rank != 0) return;
    write_profile(result.profile, arguments.output);
    if (arguments.json) std::fputs(to_json(result.profile).c_str(), stdout);
    for (const auto& each : result.held_out)
      print_note(fmt::format("commpass: held-out exchange '{}' by {}: {} predicted, {} measured, error {}\n",
                             each.exchange, each.strategy, format_seconds(each.predicted_s),
                             format_seconds(each.measured_s), format_error(each.error())));
    if (!result.no_time_for.empty())
      print_note(fmt::format("commpass: no time was left of the budget for {}; use a larger --budget\n",
                             join(result.no_time_for, ", ")));
    if (!result.measured_again.empty())
      print_note(fmt::format("commpass: measured again: {}\n", result.measured_again));
    for (const auto& [node, times_as_long, host] : result.slow_nodes)
      print_note(
          fmt::format("commpass: node {} ({}) takes {} times as long as the others; look at it, or leave it out\n",
                      node, host, format_fixed(times_as_long, 1)));
    print_note("commpass: verdict: " + describe_verdict(result.profile.machine) + "\n");
    print_note(fmt::format("commpass: wrote {} ({}{}); see it with 'commpass profile show {}'\n", arguments.output,
                           layout->describe(), is_given ? ", as told and not as it is" : "", arguments.output));
  });
}

}  // namespace

int main(int argc, char** argv) {
  commpass::CalibrateArguments arguments;
  commpass::Command command{"commpass calibrate",
                            "Measures this machine and writes its profile: mpirun -n N commpass calibrate"};
  arguments.add_to(command);
  command.run = [&] { run(arguments); };
  return commpass::run_mpi_command(command, argc, argv);
}
