#include "selector/commands/calibrate_arguments.hpp"

#include "model/base/error.hpp"
#include "selector/commands/checks.hpp"

namespace commpass {

void LaunchArguments::add_to(Command& command) {
  constexpr int most = 1000;
  command.add({{"--launches",
                &count,
                "number of launches to start, whose profiles are joined: '… -- mpirun -n 2'",
                {.checks = {between(2, most)}, .needs = {"launcher"}}},
               {"launcher",
                &words,
                "with --launches, behind --: what starts the ranks",
                {.needs = {"--launches"}, .offer = Offer::programs}}});
}

void LaunchArguments::require_none() const {
  if (count > 0)
    throw InputError("--launches", "a launcher has started this already",
                     "put the launcher behind it: commpass calibrate --launches 5 -o FILE -- mpirun -n 2");
}

void CalibrateArguments::add_to(Command& command) {
  command.add(
      {output_switch(
           &output,
           "profile to write (default: NAME.json in the user's directory, where programs and commands find it)",
           {".json"}),
       {"--name", &name, "name of the machine (default: " + name + ")", {.checks = {no_control_characters()}}},
       {"--budget", &budget, "time to take, 60s or 2min"},
       {"--ppn", &ppn, "for trying things out: treat the ranks as nodes of this many", {.checks = {positive()}}},
       {"--layout",
        &layout,
        "for trying things out: treat the ranks as laid out so (see 'commpass predict --help')",
        {.excludes = {"--ppn"}}},
       progress_switch(&progress),
       {"--json", &json, "the profile on stdout too"}});
  launches.add_to(command);
}

void DoctorArguments::add_to(Command& command) { command.add({{"--json", &json, "JSON on stdout"}}); }

}  // namespace commpass
