// How the tables of several commands are printed.
#pragma once

#include <string>

#include "selector/commands/switches.hpp"
#include "selector/report/document.hpp"

namespace commpass {

/// A table for people, unless one of these is set; never both.
struct OutputFormat {
  bool json = false;
  bool csv = false;  ///< comma-separated values, in seconds and bytes

  /// Adds --json and --csv.
  void add_to(Command& command);
  /// The document on stdout, and an explanation below text; beside other forms it is on stderr.
  void print(const Document& document, const std::string& explanation = {}) const;
};

}  // namespace commpass
