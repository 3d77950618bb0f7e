#include "selector/commands/measure_arguments.hpp"

#include <CLI/CLI.hpp>

#include "selector/commands/number_checks.hpp"

namespace commpass {

void MeasureArguments::add_to(CLI::App& app) {
  pattern.add_to(app);
  selection.add_to(app);
  app.add_option("--repetitions", repetitions,
                 "exchanges to time, each strategy (default: 5 seconds for all, at least 7)")
      ->check(positive_number, "POSITIVE");
  app.add_flag("--verify", verify, "check every byte of every strategy first");
  app.add_flag("--baseline", baseline, "also time the plain loop over all neighbours that MPI libraries run");
  auto* one_shot_flag = app.add_flag(
      "--one-shot", one_shot,
      "run it as an all-to-all that is called once, with sizes that are new each time, beside MPI_Alltoallv");
  app.add_flag("--alltoall", alltoall, "with --one-shot: all blocks are equal, as all ranks know, beside MPI_Alltoall")
      ->needs(one_shot_flag);
  auto* cartesian_flag = app.add_flag(
      "--cartesian", cartesian,
      "run it by the collectives of its neighbourhood, beside the plain loop over all neighbours and MPI's own");
  cartesian_flag->excludes(one_shot_flag);
  app.add_flag("--reorder", reorder,
               "with --cartesian: also with ranks at places by which less goes between nodes and sockets")
      ->needs(cartesian_flag);
  auto* halo_option =
      app.add_option("--halo", halo,
                     "exchange the halo of an array on the grid of --generate cartesian:…, of which each rank "
                     "has so many cells (100x100x100) of as many bytes as the pattern's blocks, in each way");
  halo_option->excludes(one_shot_flag)->excludes(cartesian_flag);
  app.add_option("--depth", depth, "of the halo: a number for all dimensions, or one for each (1x1x2)")
      ->needs(halo_option);
  app.add_option("--sparse", sparse,
                 "run it as a sparse dynamic data exchange, whose receivers know nothing, with messages of one size "
                 "(constant) or of any (variable); strategies are those of such exchanges")
      ->check(CLI::IsMember({"constant", "variable"}))
      ->excludes(one_shot_flag)
      ->excludes(cartesian_flag)
      ->excludes(halo_option);
  app.add_option("--progress", progress, "auto, always or never");
  launches.add_to(app);
  app.footer(catalogues_are_elsewhere);
}

}  // namespace commpass
