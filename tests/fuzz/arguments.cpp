// Command lines, one argument a line: each is understood or refused as wrong usage. Nothing is run.
#include "selector/commands/arguments.hpp"

#include <CLI/CLI.hpp>

#include "fuzz/fuzz.hpp"
#include "model/text.hpp"
#include "selector/commands/commands.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commpass;
  CLI::App app;
  app.require_subcommand(1);
  std::function<void()> command;
  add_predict(app, command);
  add_pattern(app, command);
  add_report(app, command);
  add_profile(app, command);
  std::vector<std::string> arguments{"commpass"};
  if (size > 0)
    for (const auto& line : split(fuzz::text_of(data, size), '\n'))
      arguments.push_back(line.substr(0, line.find('\0')));
  std::vector<const char*> argv;
  for (const auto& argument : arguments) argv.push_back(argument.c_str());
  constexpr int bad_input = 1;  // there is none yet
  fuzz::expect(run_command(
                   app, static_cast<int>(argv.size()), argv.data(), [] {}, false) != bad_input);
  return 0;
}
