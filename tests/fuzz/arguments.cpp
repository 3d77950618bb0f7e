// Command lines, one argument a line: each is understood or refused as wrong usage. Nothing is run.
#include "fuzz/fuzz.hpp"
#include "model/base/text.hpp"
#include "selector/commands/commands.hpp"
#include "selector/commands/run_command.hpp"

namespace {

void run_nothing(commpass::Command& command) {
  command.run = [kept = command.run] {};
  for (auto& each : command.commands) run_nothing(each);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commpass;
  Command all{"commpass", ""};
  all.commands = {predict_command(), pattern_command(), report_command(), profile_command()};
  run_nothing(all);
  std::vector<std::string> arguments{"commpass"};
  if (size > 0)
    for (const auto& line : split(fuzz::text_of(data, size), '\n'))
      arguments.push_back(line.substr(0, line.find('\0')));
  std::vector<const char*> argv;
  for (const auto& argument : arguments) argv.push_back(argument.c_str());
  constexpr int bad_input = 1;  // there is none yet
  fuzz::expect(run_command(all, static_cast<int>(argv.size()), argv.data(), false) != bad_input);
  return 0;
}
