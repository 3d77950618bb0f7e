// commpass wisdom: kept measurements, and how to forget them.
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "model/base/error.hpp"
#include "selector/choose/wisdom.hpp"
#include "selector/commands/commands.hpp"
#include "selector/commands/switches.hpp"

namespace commpass {

namespace {

/// Which entries: those whose parts contain these texts.
struct WisdomArguments {
  std::string file;
  std::string machine, layout, pattern;
  OutputFormat format;
  bool all = false;

  void add_to(Command& command) {
    command.add({{"file", &file, "of COMMPASS_WISDOM or Communicator::use_wisdom", {.required = true}},
                 {"--machine", &machine, "entries whose machine contains this text"},
                 {"--layout", &layout, "entries whose layout contains this text"},
                 {"--pattern", &pattern, "entries whose pattern contains this text"}});
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

/// For people and CSV: as JSON the entries are printed as the file has them.
Document document_of(const Wisdom& wisdom) {
  Table table{"",
              {{"machine"},
               {"layout"},
               {"pattern"},
               {"strategy", "strategy", -34, {}, 0},
               {"requests", "requests", -10, {}, 1},
               {"planner", "planner", -8, {}, 1},
               {"seconds", "measured", 10, {}, 1},
               {"", "layout", -29},
               {"", "pattern", -32, {}, 1},
               {"", "machine", 0, {}, 1}}};
  for (const auto& [key, strategy, new_requests, planner, seconds] : wisdom.entries)
    table.add({key.machine, key.layout, key.pattern, strategy, new_requests ? "immediate" : "persistent",
               name_of(planner), seconds_cell(seconds), key.layout, key.pattern, key.machine});
  Document document;
  document.add(std::move(table));
  document.text(fmt::format("{} of at most {} patterns\n", wisdom.entries.size(), Wisdom::most_entries));
  return document;
}

void show_entries(const WisdomArguments& arguments) {
  auto wisdom = arguments.read();
  std::erase_if(wisdom.entries, [&](const WisdomEntry& entry) { return !arguments.takes(entry.key); });
  if (arguments.format.json) fmt::print("{}", to_json(wisdom));
  else arguments.format.print(document_of(wisdom));
}

void forget_entries(const WisdomArguments& arguments) {
  const bool narrows = !arguments.machine.empty() || !arguments.layout.empty() || !arguments.pattern.empty();
  if (narrows == arguments.all)
    throw InputError("wisdom forget", "it is not said which entries go",
                     "add --machine, --layout or --pattern, or --all for all of them");
  arguments.read();
  const auto gone = forget_wisdom(arguments.file, [&](const WisdomKey& key) { return arguments.takes(key); });
  fmt::print("{}: {} of {} patterns are forgotten.\n", arguments.file, gone.forgotten, gone.known);
}

}  // namespace

Command wisdom_command() {
  const auto shown = std::make_shared<WisdomArguments>(), forgotten = std::make_shared<WisdomArguments>();
  Command show_command{"show", "show kept measurements, the latest last"};
  shown->add_to(show_command);
  shown->format.add_to(show_command);
  show_command.run = [shown] { show_entries(*shown); };

  Command forget_command{"forget", "take entries out, so that they are measured again"};
  forgotten->add_to(forget_command);
  forget_command.add({{"--all", &forgotten->all, "all entries"}});
  forget_command.run = [forgotten] { forget_entries(*forgotten); };

  Command command{"wisdom", "show or forget kept measurements (COMMPASS_WISDOM)"};
  command.commands = {show_command, forget_command};
  return command;
}

}  // namespace commpass
