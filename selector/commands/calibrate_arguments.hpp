// The switches of `commpass calibrate` and `commpass doctor`, which the front door knows, too: for --help and
// completion it needs no MPI.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace commpass {

struct CalibrateArguments {
  std::string output, name;
  std::string budget = "60s";
  std::string layout;
  int ppn = 0;
  std::string progress;
  bool json = false;
  int launches = 0;                   ///< 0: this one, which mpirun has started
  std::vector<std::string> launcher;  ///< that starts them, with its arguments

  void add_to(CLI::App& app);
};

struct DoctorArguments {
  bool json = false;

  void add_to(CLI::App& app);
};

}  // namespace commpass
