#include "selector/commands/program_arguments.hpp"

#include "model/base/error.hpp"
#include "selector/commands/switches.hpp"

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
       {"--plan", &plan,
        "print the experiments, their ranks and seconds, and what further ranks would identify; measure nothing"},
       {"--ppn", &ppn, "for trying things out: treat the ranks as nodes of this many", {.checks = {positive()}}},
       {"--layout",
        &layout,
        "for trying things out: treat the ranks as laid out so (see 'commpass predict --help')",
        {.excludes = {"--ppn"}}},
       progress_switch(&progress),
       {"--json", &json, "the profile, or the plan, on stdout too"}});
  launches.add_to(command);
}

void DoctorArguments::add_to(Command& command) {
  command.add(
      {{"--json", &json, "JSON on stdout"},
       {"--mpi-bugs", &mpi_bugs,
        "try known errors of MPI libraries in neighbourhood collectives instead, on 2 and 3 ranks that this starts"},
       {"launcher",
        &launcher,
        "with --mpi-bugs, behind --: what starts ranks, without their number (default: the MPI library's)",
        {.needs = {"--mpi-bugs"}, .offer = Offer::programs}}});
}

void MeasureArguments::add_to(Command& command) {
  pattern.add_to(command);
  selection.add_to(command);
  command.add(
      {{"--repetitions",
        &repetitions,
        "exchanges to time, each strategy (default: 5 seconds for all, at least 7)",
        {.checks = {positive()}}},
       {"--verify", &verify, "check every byte of every strategy first"},
       {"--baseline", &baseline, "also time the plain loop over all neighbours that MPI libraries run"},
       {"--one-shot", &one_shot,
        "run it as an all-to-all that is called once, with sizes that are new each time, beside MPI_Alltoallv"},
       {"--alltoall",
        &alltoall,
        "with --one-shot: all blocks are equal, as all ranks know, beside MPI_Alltoall",
        {.needs = {"--one-shot"}}},
       {"--cartesian",
        &cartesian,
        "run it by the collectives of its neighbourhood, beside the plain loop over all neighbours and MPI's own",
        {.excludes = {"--one-shot"}}},
       {"--reorder",
        &reorder,
        "with --cartesian: also with ranks at places by which less goes between nodes and sockets",
        {.needs = {"--cartesian"}}},
       {"--halo",
        &halo,
        "exchange the halo of an array on the grid of --generate cartesian:…, of which each rank has this number of "
        "cells (100x100x100), each of as many bytes as the pattern's blocks, in each way",
        {.excludes = {"--one-shot", "--cartesian"}}},
       {"--depth", &depth, "of the halo: a number for all dimensions, or one for each (1x1x2)", {.needs = {"--halo"}}},
       sparse_switch(&sparse, "run it as", {"--one-shot", "--cartesian", "--halo"}),
       progress_switch(&progress)});
  launches.add_to(command);
  command.footer = catalogues_are_elsewhere;
}

}  // namespace commpass
