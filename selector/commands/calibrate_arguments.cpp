#include "selector/commands/calibrate_arguments.hpp"

#include <CLI/CLI.hpp>

#include "model/error.hpp"
#include "selector/commands/number_checks.hpp"

namespace commpass {

void LaunchArguments::add_to(CLI::App& app) {
  constexpr int most = 1000;
  auto* count_option =
      app.add_option("--launches", count, "start so many launches, and join what they find: '… -- mpirun -n 2'")
          ->check(CLI::Range(2, most));
  auto* words_option = app.add_option("launcher", words, "with --launches, behind --: what starts the ranks");
  count_option->needs(words_option);
  words_option->needs(count_option);
}

void LaunchArguments::require_none() const {
  if (count > 0)
    throw InputError("--launches", "a launcher has started this already",
                     "put the launcher behind it: commpass calibrate --launches 5 -o FILE -- mpirun -n 2");
}

void CalibrateArguments::add_to(CLI::App& app) {
  app.add_option("-o,--output", output, "profile to write")->required();
  app.add_option("--name", name, "name of the machine");
  app.add_option("--budget", budget, "time to take, 60s or 2min");
  auto* ppn_option = app.add_option("--ppn", ppn, "for trying things out: treat the ranks as nodes of this many")
                         ->check(positive_number, "POSITIVE");
  app.add_option("--layout", layout,
                 "for trying things out: treat the ranks as laid out so (see 'commpass predict --help')")
      ->excludes(ppn_option);
  app.add_option("--progress", progress, "auto, always or never");
  app.add_flag("--json", json, "the profile on stdout too");
  launches.add_to(app);
}

void DoctorArguments::add_to(CLI::App& app) { app.add_flag("--json", json, "JSON on stdout"); }

}  // namespace commpass
