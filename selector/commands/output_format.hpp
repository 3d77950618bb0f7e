// The switches that say in which form a table is printed, declared once.
#pragma once

#include "selector/commands/switches.hpp"

namespace commpass {

/// A table for people, unless one of these is set; never both.
struct OutputFormat {
  bool json = false;
  bool csv = false;  ///< comma-separated values, in seconds and bytes

  /// Adds --json and --csv.
  void add_to(Command& command);
};

}  // namespace commpass
