#include "selector/commands/output_format.hpp"

#include <CLI/CLI.hpp>

namespace commpass {

void OutputFormat::add_to(CLI::App& app) {
  auto* json_flag = app.add_flag("--json", json, "JSON on stdout");
  app.add_flag("--csv", csv, "the table as comma-separated values, in seconds and bytes")->excludes(json_flag);
}

}  // namespace commpass
