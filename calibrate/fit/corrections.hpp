// Private to exchange_fit.cpp: what measured exchanges may correct of a machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/machine/machine.hpp"

namespace commpass {

/// One number that exchanges may correct. It is the logarithm of a factor, or microseconds.
struct Correction {
  enum class Kind { factor, microseconds };
  std::string name;    ///< of what it corrects, for people
  double deviation;    ///< how far off microbenchmarks may be: the standard deviation of its prior
  double least, most;  ///< its bounds; 0 corrects nothing
  double step;         ///< of its derivative: to the side on which times change
  std::function<void(Machine&, double)> apply;
  Kind kind = Kind::factor;
};

/// The corrections of a machine with stand-ins. Those of channels and rates that it lacks are left out, but for rates
/// within a node: these start where they change no price.
/// @param has_device  are there exchanges with data on devices?
std::vector<Correction> corrections_of(const Machine& machine, int ranks_of_node, bool has_device);

/// "times 0.45", "0.8 us"
std::string describe(const Correction& correction, double value);

}  // namespace commpass
