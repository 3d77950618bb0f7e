// The switches of `commpass measure`, which the front door knows, too: for --help and completion it needs no MPI.
#pragma once

#include <string>

#include "selector/commands/arguments.hpp"
#include "selector/commands/calibrate_arguments.hpp"

namespace commpass {

struct MeasureArguments {
  PatternArguments pattern;
  SelectionArguments selection;
  int repetitions = 0;
  bool verify = false;
  bool baseline = false;
  std::string sparse;      ///< constant or variable; empty: the exchange is known on both sides
  bool one_shot = false;   ///< as an all-to-all that is run once, with sizes that are new each time
  bool cartesian = false;  ///< by the collectives of its neighbourhood
  bool reorder = false;    ///< and also with ranks at other places
  std::string halo;        ///< the extent of an array whose halo is exchanged on the neighbourhood's grid
  std::string depth = "1";
  bool alltoall = false;  ///< and with equal blocks, as all ranks know
  std::string progress;
  LaunchArguments launches;

  void add_to(Command& command);
};

}  // namespace commpass
