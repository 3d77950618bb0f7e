// commpass wisdom: what was measured and kept, and how to forget it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "model/error.hpp"
#include "model/text.hpp"
#include "selector/choose/wisdom.hpp"
#include "selector/commands/commands.hpp"
#include "selector/commands/output_format.hpp"
#include "selector/report/csv.hpp"

namespace commpass {

namespace {

/// Which entries: those whose parts contain these texts.
struct Arguments {
  std::string file;
  std::string machine, layout, pattern;
  OutputFormat format;
  bool all = false;

  void add_to(CLI::App& app) {
    app.add_option("file", file, "of COMMPASS_WISDOM or Communicator::use_wisdom")->required();
    app.add_option("--machine", machine, "entries whose machine contains this text");
    app.add_option("--layout", layout, "entries whose layout contains this text");
    app.add_option("--pattern", pattern, "entries whose pattern contains this text");
  }
  bool takes(const WisdomKey& key) const {
    const auto contains = [](const std::string& text, const std::string& part) {
      return text.find(part) != std::string::npos;
    };
    return contains(key.machine, machine) && contains(key.layout, layout) && contains(key.pattern, pattern);
  }
  /// @throws InputError also where it is not there
  Wisdom read() const {
    if (!std::filesystem::exists(file)) throw InputError(file, "it is not there", "name a file of wisdom");
    return read_wisdom(file);
  }
};

const char* requests_of(const WisdomEntry& entry) { return entry.new_requests ? "immediate" : "persistent"; }

std::string table_of(const Wisdom& wisdom) {
  std::string text = fmt::format("{:<34} {:<10} {:<8} {:>10}  {:<29} {:<32} {}\n", "strategy", "requests", "planner",
                                 "measured", "layout", "pattern", "machine");
  for (const auto& entry : wisdom.entries)
    text += fmt::format("{:<34} {:<10} {:<8} {:>10}  {:<29} {:<32} {}\n", entry.strategy, requests_of(entry),
                        name_of(entry.planner), format_seconds(entry.seconds), entry.key.layout, entry.key.pattern,
                        entry.key.machine);
  return text + fmt::format("{} of at most {} patterns\n", wisdom.entries.size(), Wisdom::most_entries);
}

std::string csv_of(const Wisdom& wisdom) {
  auto text = csv_line({"machine", "layout", "pattern", "strategy", "requests", "planner", "seconds"});
  for (const auto& entry : wisdom.entries)
    text += csv_line({entry.key.machine, entry.key.layout, entry.key.pattern, entry.strategy, requests_of(entry),
                      name_of(entry.planner), csv_number(entry.seconds)});
  return text;
}

void show(const Arguments& arguments) {
  auto wisdom = arguments.read();
  std::erase_if(wisdom.entries, [&](const WisdomEntry& entry) { return !arguments.takes(entry.key); });
  const auto text = arguments.format.json ? to_json : arguments.format.csv ? csv_of : table_of;
  fmt::print("{}", text(wisdom));
}

void forget(const Arguments& arguments) {
  const bool narrows = !arguments.machine.empty() || !arguments.layout.empty() || !arguments.pattern.empty();
  if (narrows == arguments.all)
    throw InputError("wisdom forget", "it is not said which entries go",
                     "add --machine, --layout or --pattern, or --all for all of them");
  arguments.read();
  const auto gone = forget_wisdom(arguments.file, [&](const WisdomKey& key) { return arguments.takes(key); });
  fmt::print("{}: {} of {} patterns are forgotten.\n", arguments.file, gone.forgotten, gone.known);
}

}  // namespace

void add_wisdom_command(CLI::App& app, std::function<void()>& command) {
  auto* sub = app.add_subcommand("wisdom", "show or forget what was measured and kept (COMMPASS_WISDOM)");
  sub->require_subcommand(1);
  auto shown = std::make_shared<Arguments>(), forgotten = std::make_shared<Arguments>();
  auto* show_app = sub->add_subcommand("show", "what is known, the latest last");
  shown->add_to(*show_app);
  shown->format.add_to(*show_app);
  show_app->callback([=, &command] { command = [=] { show(*shown); }; });
  auto* forget_app = sub->add_subcommand("forget", "take entries out, so that they are measured again");
  forgotten->add_to(*forget_app);
  forget_app->add_flag("--all", forgotten->all, "all entries");
  forget_app->callback([=, &command] { command = [=] { forget(*forgotten); }; });
}

}  // namespace commpass
