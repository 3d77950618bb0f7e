// A command and its switches as data. run_command (selector/commands/run_command.hpp) reads a command line by them;
// --help and completion are made from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/base/types.hpp"
#include "model/pattern/pattern.hpp"
#include "selector/report/document.hpp"

namespace commpass {

/// A rule for the text of a value.
struct Check {
  std::string name;                                        ///< behind the kind of the value in --help; may be empty
  std::function<std::string(const std::string&)> problem;  ///< the error and the remedy; empty: none
};

/// Where a value goes. Its type is the kind of the value: bool is a flag without a value, Bytes a size ("64KiB"). A
/// list is a switch that may be repeated, and takes one value each time; without hyphens it is all words that follow.
/// A function is called with the text.
using Target = std::variant<bool*, int*, std::size_t*, Bytes*, std::optional<Bytes>*, double*, std::optional<double>*,
                            std::string*, std::vector<std::string>*, std::function<void(const std::string&)>>;

/// What a shell offers for a value besides the words that a switch takes.
enum class Offer { files, profiles, strategies, patterns, programs };

/// All that is not the same for most switches.
struct SwitchRules {
  bool required = false;
  std::vector<Check> checks = {};
  std::vector<std::string> one_of = {};    ///< the only values
  std::vector<std::string> needs = {};     ///< switches of the command without which this one is refused
  std::vector<std::string> excludes = {};  ///< those with which it is refused; one of the two names the other
  std::string value_alone = {};            ///< a value that it has without one; others are written --NAME=VALUE
  bool last_counts = false;                ///< of several uses the last; else a second use is refused
  std::vector<std::string> words = {};     ///< the values that there are, where the command refuses others itself
  Offer offer = Offer::files;
};

struct Switch {
  std::string name;  ///< "--json" or "-o,--output"; without hyphens: a word that is known by its place
  Target target;
  std::string help;
  SwitchRules rules = {};

  /// Is it named like this? A short or a long name, with its hyphens.
  bool is_named(const std::string& one_name) const;
  /// It has a name with hyphens, and is not known by its place.
  bool has_hyphens() const { return name.starts_with('-'); }
  /// Its long name, if it has one.
  std::string long_name() const;
  bool is_list() const { return std::holds_alternative<std::vector<std::string>*>(target); }
  /// A value may follow it as a word of its own.
  bool takes_value() const { return !std::holds_alternative<bool*>(target) && rules.value_alone.empty(); }
};

// Switches of several commands.
Switch profile_switch(Target target, const std::string& more = {});
Switch layout_switch(std::string* layout);
Switch progress_switch(std::string* progress);
/// @param how  "as" or "run it as"
Switch sparse_switch(std::string* sizes, const std::string& how, const std::vector<std::string>& excludes);

/// Switches of which some must be given.
struct SwitchGroup {
  std::string name, about;
  std::size_t least = 1, most = 1;
  std::vector<Switch> switches = {};
};

struct Command {
  std::string name;  ///< as it is typed; that of the outermost is the program's: "commpass"
  std::string about;
  std::vector<Switch> switches = {};
  std::vector<SwitchGroup> groups = {};
  std::vector<Command> commands = {};  ///< of which one must be named
  std::string footer = {};             ///< last line of --help
  std::string version = {};            ///< what --version prints; empty: there is none
  std::function<void()> run = {};      ///< keeps the targets of the switches alive

  void add(std::vector<Switch> more);
  /// @throws std::out_of_range, as remove and group, for a name that there is not
  Switch& find(const std::string& switch_name);
  SwitchGroup& group(const std::string& group_name);
  /// Without these, of which no other switch tells any more.
  void remove(const std::vector<std::string>& switch_names);
};

/// Those of the command and of its groups, in the order of --help.
std::vector<const Switch*> all_switches(const Command& command);

/// Text for people, unless one of these is set; never two.
struct OutputFormat {
  bool json = false;
  bool csv = false;  ///< comma-separated values, in seconds and bytes
  bool markdown = false, latex = false;

  Form form() const {
    return json ? Form::json : csv ? Form::csv : markdown ? Form::markdown : latex ? Form::latex : Form::text;
  }
  /// Adds --json, --csv, --markdown and --latex.
  void add_to(Command& command);
  /// The document on stdout, and an explanation below text; beside other forms it is on stderr.
  void print(const Document& document, const std::string& explanation = {}) const;
};

Check positive();
Check between(std::int64_t least, std::int64_t most);

/// Refuses texts that are not shown as one line, and blank ones.
Check no_control_characters();

/// Refuses a name of a file with another ending than these, such as ".json". A name without an ending is taken, and
/// ".gz" behind it.
Check ends_in(const std::vector<std::string>& endings);
/// -o, for a file with one of these endings.
Switch output_switch(std::string* output, const std::string& help, const std::vector<std::string>& endings,
                     bool is_required = false);

/// Standard output is no place for a file where a command prints something else there.
/// @throws InputError if `output` is "-"
void refuse_standard_output(const std::string& output);

/// No output is an input or another output, by whatever name. Empty names are none.
/// @throws InputError
void check_apart(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

/// A word as a shell reads it.
std::string shell_word(const std::string& word);

/// @throws InputError if a message is too large, or messages that are to be of one size are not
void require_plain_messages(const Pattern& pattern, bool constant_size);

}  // namespace commpass
