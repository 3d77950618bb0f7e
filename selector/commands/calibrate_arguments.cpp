#include "selector/commands/calibrate_arguments.hpp"

#include <CLI/CLI.hpp>

namespace commpass {

void CalibrateArguments::add_to(CLI::App& app) {
  app.add_option("-o,--output", output, "profile to write")->required();
  app.add_option("--name", name, "name of the machine");
  app.add_option("--budget", budget, "time to take, 60s or 2min");
  auto* ppn_option = app.add_option("--ppn", ppn, "for trying things out: treat the ranks as nodes of this many")
                         ->check(CLI::PositiveNumber);
  app.add_option("--layout", layout,
                 "for trying things out: treat the ranks as laid out so (see 'commpass predict --help')")
      ->excludes(ppn_option);
  app.add_option("--progress", progress, "auto, always or never");
  app.add_flag("--json", json, "the profile on stdout too");
  constexpr int most_launches = 1000;
  auto* launches_option =
      app.add_option("--launches", launches, "start so many launches, and join what they find: '… -- mpirun -n 2'")
          ->check(CLI::Range(2, most_launches));
  auto* launcher_option = app.add_option("launcher", launcher, "with --launches, behind --: what starts the ranks");
  launches_option->needs(launcher_option);
  launcher_option->needs(launches_option);
}

void DoctorArguments::add_to(CLI::App& app) { app.add_flag("--json", json, "JSON on stdout"); }

}  // namespace commpass
