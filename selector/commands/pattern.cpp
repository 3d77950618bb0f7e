// commpass pattern: writes a pattern, or tells what it is like.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "model/text.hpp"
#include "selector/arguments.hpp"
#include "selector/commands/commands.hpp"

namespace commpass {

namespace {

struct Arguments {
  PatternArguments pattern;
  std::string output;
  bool statistics = false;
};

void print_statistics(const Pattern& pattern) {
  const auto s = statistics(pattern);
  const auto bytes = [](Bytes count) { return format_bytes(static_cast<double>(count)); };
  fmt::print("ranks: {} ({} neither send nor receive)\n", s.ranks, s.silent_ranks);
  fmt::print("messages: {}, {:.1f} a rank\n", s.messages, static_cast<double>(s.messages) / s.ranks);
  fmt::print("bytes: {}, {} a rank; to itself: {}\n", bytes(s.bytes), bytes(s.bytes / s.ranks), bytes(s.self_bytes));
  fmt::print("busiest sender: {} messages; most bytes sent: {}\n", s.sends_max, bytes(s.send_bytes_max));
  fmt::print("busiest receiver: {} messages; most bytes received: {}\n", s.receives_max, bytes(s.receive_bytes_max));
  fmt::print("message size: {} smallest, {} median, {} largest\n", bytes(s.message_bytes_min), bytes(s.message_bytes_median),
             bytes(s.message_bytes_max));
}

}  // namespace

void add_pattern(CLI::App& app, std::function<void()>& command) {
  auto arguments = std::make_shared<Arguments>();
  auto* sub = app.add_subcommand("pattern", "write a pattern to a file, or tell what it is like");
  arguments->pattern.add_to(*sub);
  auto* actions = sub->add_option_group("ACTION", "at least one of");
  actions->add_option("-o,--output", arguments->output, "Matrix Market file to write");
  actions->add_flag("--statistics", arguments->statistics, "messages and bytes, in total and of the busiest rank");
  actions->require_option(1, 2);
  sub->callback([arguments, &command] {
    command = [arguments] {
      read_environment();
      const auto pattern = arguments->pattern.load();
      if (!arguments->output.empty()) write_pattern(pattern, arguments->output);
      if (arguments->statistics) print_statistics(pattern);
    };
  });
}

}  // namespace commpass
