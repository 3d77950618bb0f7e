#include "selector/commands/output_format.hpp"

namespace commpass {

void OutputFormat::add_to(Command& command) {
  command.add({{"--json", &json, "JSON on stdout"},
               {"--csv", &csv, "the table as comma-separated values, in seconds and bytes", {.excludes = {"--json"}}}});
}

}  // namespace commpass
