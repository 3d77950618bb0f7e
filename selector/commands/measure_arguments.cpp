#include "selector/commands/measure_arguments.hpp"

#include "selector/commands/checks.hpp"

namespace commpass {

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
