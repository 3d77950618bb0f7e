// commpass pattern: writes a pattern, or tells what it is like.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "selector/commands/arguments.hpp"
#include "selector/commands/commands.hpp"
#include "selector/report/pattern_report.hpp"

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
  const auto pattern = arguments.pattern.load();
  if (!arguments.output.empty()) write_pattern(pattern, arguments.output);
  if (!arguments.statistics) return;
  const auto layout = arguments.layout.find(pattern.ranks, environment);
  const auto* where = layout ? &*layout : nullptr;
  const auto report = arguments.format.json  ? statistics_json
                      : arguments.format.csv ? statistics_csv
                                             : statistics_table;
  fmt::print("{}", report(statistics(pattern, where), arguments.pattern.describe(), where));
}

}  // namespace

void add_pattern(CLI::App& app, std::function<void()>& command) {
  auto arguments = std::make_shared<PatternOptions>();
  auto* sub = app.add_subcommand("pattern", "write a pattern to a file, or tell what it is like");
  arguments->pattern.add_to(*sub);
  arguments->layout.add_to(*sub);
  auto* actions = sub->add_option_group("ACTION", "at least one of");
  actions->add_option("-o,--output", arguments->output, "Matrix Market file to write");
  auto* statistics =
      actions->add_flag("--statistics", arguments->statistics,
                        "messages and bytes: of the ranks, by size, and, with a layout, within and between nodes");
  actions->require_option(1, 2);
  arguments->format.add_to(*sub);
  for (const auto* option : {"--ppn", "--layout", "--json", "--csv"}) sub->get_option(option)->needs(statistics);
  sub->footer(catalogues_are_elsewhere);
  sub->callback([arguments, &command] { command = [arguments] { run(*arguments); }; });
}

}  // namespace commpass
