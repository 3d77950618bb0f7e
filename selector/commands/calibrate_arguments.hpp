// The switches of `commpass calibrate` and `commpass doctor`, which the front door knows, too: for --help and
// completion it needs no MPI.
#pragma once

#include <string>
#include <vector>

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
  bool json = false;
  LaunchArguments launches;

  void add_to(Command& command);
};

struct DoctorArguments {
  bool json = false;

  void add_to(Command& command);
};

}  // namespace commpass
