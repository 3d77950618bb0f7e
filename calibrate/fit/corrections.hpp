// Private to exchange_fit.cpp: the parameters that measured exchanges correct.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/machine/machine.hpp"

namespace commpass {

/// A number that exchanges correct: the logarithm of a factor, or microseconds.
struct Correction {
  enum class Kind { factor, microseconds };
  std::string name;    ///< of the parameter, for messages
  double deviation;    ///< standard deviation of its prior: the error of microbenchmarks
  double least, most;  ///< bounds; 0 corrects nothing
  double step;         ///< of the derivative, to the side on which times change
  std::function<void(Machine&, double)> apply;
  Kind kind = Kind::factor;
};

/// The corrections of a machine with stand-ins. Channels and rates that the machine lacks have none. Rates within a
/// node have one nevertheless, which starts where it changes no price.
/// @param has_device  some exchanges have data on devices
std::vector<Correction> corrections_of(const Machine& machine, int ranks_of_node, bool has_device);

/// "times 0.45", "0.8 us"
std::string describe(const Correction& correction, double value);

}  // namespace commpass
