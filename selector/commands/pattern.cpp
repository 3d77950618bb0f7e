// commpass pattern: writes a pattern, or tells what it is like.
#include <memory>

#include "selector/commands/arguments.hpp"
#include "selector/commands/commands.hpp"
#include "selector/commands/switches.hpp"
#include "selector/report/report.hpp"

namespace commpass {

namespace {

struct PatternOptions {
  PatternArguments pattern;
  LayoutArguments layout;
  std::string output;
  bool statistics = false;
  OutputFormat format;
};

void run(const PatternOptions& arguments) {
  const auto environment = read_environment();
  check_apart(arguments.pattern.files(), {arguments.output});
  if (arguments.statistics) refuse_standard_output(arguments.output);
  const auto pattern = arguments.pattern.load();
  if (!arguments.output.empty()) write_pattern(pattern, arguments.output);
  if (!arguments.statistics) return;
  const auto layout = arguments.layout.find(pattern.ranks, environment);
  arguments.layout.warn_uneven(pattern.ranks);
  const auto* where = layout ? &*layout : nullptr;
  arguments.format.print(document_of(statistics(pattern, where), arguments.pattern.describe(), where));
}

}  // namespace

Command pattern_command() {
  auto arguments = std::make_shared<PatternOptions>();
  Command command{"pattern", "write a pattern to a file, or tell what it is like"};
  arguments->pattern.add_to(command);
  arguments->layout.add_to(command);
  command.groups.push_back(
      {"ACTION",
       "at least one of",
       1,
       2,
       {output_switch(&arguments->output, "Matrix Market file to write", {".mtx"}),
        {"--statistics", &arguments->statistics,
         "messages and bytes: of the ranks, by size, and, with a layout, within and between nodes"}}});
  arguments->format.add_to(command);
  for (const auto* name : {"--ppn", "--layout", "--json", "--csv", "--markdown", "--latex"})
    command.find(name).rules.needs.emplace_back("--statistics");
  command.footer = catalogues_are_elsewhere;
  command.run = [arguments] { run(*arguments); };
  return command;
}

}  // namespace commpass
