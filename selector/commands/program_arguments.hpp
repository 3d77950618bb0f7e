// The arguments of the MPI programs of the command line: calibrate, measure and doctor.
#pragma once

#include <string>
#include <vector>

#include "selector/commands/arguments.hpp"
#include "selector/commands/switches.hpp"

namespace commpass {

/// To start a program several times.
struct LaunchArguments {
  int count = 0;                   ///< 0: this one alone, which mpirun has started
  std::vector<std::string> words;  ///< the launcher and its arguments

  void add_to(Command& command);
  /// @throws InputError where mpirun has started a program that is to start launches
  void require_none() const;
};

struct CalibrateArguments {
  std::string output;  ///< empty: make_default_output()
  std::string name = "this-machine";
  std::string budget = "60s";
  std::string layout;
  int ppn = 0;
  std::string progress;
  bool json = false, plan = false;
  LaunchArguments launches;

  void add_to(Command& command);
};

struct DoctorArguments {
  bool json = false, mpi_bugs = false;
  std::vector<std::string> launcher;

  void add_to(Command& command);
};

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
