#include "selector/commands/arguments.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "model/machine/named_parameters.hpp"
#include "model/machine/plausibility.hpp"
#include "model/machine/stand_ins.hpp"
#include "model/pattern/generate.hpp"
#include "model/pattern/matrix_file.hpp"
#include "model/pattern/matrix_pattern.hpp"
#include "model/pattern/metis_partition.hpp"
#include "selector/choose/grid_strategies.hpp"
#include "selector/commands/default_profile.hpp"
#include "selector/commands/switches.hpp"

namespace commpass {

void PatternArguments::add_to(Command& command) {
  command.groups.push_back(
      {"PATTERN",
       "the bytes between ranks: one of",
       1,
       1,
       {{"--pattern", &pattern_file,
         "P x P matrix of the bytes that each rank sends to each (Matrix Market, table, PETSc), or rows 'from to "
         "bytes'"},
        {"--matrix", &matrix_file,
         "sparse matrix (Matrix Market or PETSc, gzipped or not): the exchange of its product with a vector"},
        {"--generate", &generator, "KIND:key=value,… (kinds below)", {.offer = Offer::patterns}}}});
  const Check is_positive{"", [](const std::string& text) {
                            return parse_bytes(text) == 0 ? "no file has so few bytes; use 1 or more" : "";
                          }};
  command.add(
      {{"--ranks",
        &ranks,
        "ranks that share the matrix, or to which those of a pattern file are merged",
        {.checks = {positive()}, .excludes = {"--generate"}}},
       {"--partition",
        &partition,
        "who owns which rows: block (consecutive ones, the default) or metis (so that few bytes move)",
        {.one_of = {"block", "metis"}, .needs = {"--matrix"}}},
       {"--value-bytes",
        &value_bytes,
        "size of one vector entry (default: 8 B), or of what a pattern file counts (default: 1 B)",
        {.excludes = {"--generate"}}},
       {"--share-values",
        &share_values,
        "a value that several ranks need travels once as far as it goes the same way; without it, as often as it is "
        "needed",
        {.needs = {"--matrix"}}},
       {"--max-input-bytes",
        &max_input_bytes,
        "refuse a pattern or matrix file that holds more than this, unpacked (default: " +
            print_bytes(most_matrix_bytes) + ")",
        {.checks = {is_positive}}}});
}

namespace {

constexpr Bytes usual_value_bytes = 8;  // a double

/// @param owner  of each row
void warn_idle(const std::vector<Rank>& owner, int ranks, const std::string& matrix) {
  static std::atomic<bool> told = false;
  std::vector<bool> owns(static_cast<std::size_t>(ranks));
  for (const auto rank : owner) owns[static_cast<std::size_t>(rank)] = true;
  const auto idle = std::ranges::count(owns, false);
  if (idle == 0 || told.exchange(true)) return;
  std::fputs(fmt::format("commpass: {} of {} ranks own no row of {}, which has {}; they send and receive nothing.\n",
                         idle, ranks, matrix, owner.size())
                 .c_str(),
             stderr);
}

}  // namespace

Pattern PatternArguments::load(int default_ranks) const {
  if (!generator.empty()) return generate_pattern(generator);
  if (!pattern_file.empty()) {
    auto pattern = read_pattern(pattern_file, max_input_bytes, value_bytes);
    if (ranks > pattern.ranks)
      throw InputError(fmt::format("--ranks {}", ranks), fmt::format("{} has {}", pattern_file, pattern.ranks),
                       "use at most these: ranks are merged, and cannot be divided");
    return ranks > 0 ? merge_ranks(pattern, ranks) : pattern;
  }
  const int count = ranks > 0 ? ranks : default_ranks;
  if (count < 1) throw InputError("--matrix " + matrix_file, "the number of ranks is missing", "add --ranks N");
  if (count > most_pattern_ranks)
    throw InputError(fmt::format("--ranks {}", count), "a pattern of this number of ranks takes too long to price",
                     fmt::format("use at most {}", most_pattern_ranks));
  const auto matrix = read_matrix(matrix_file, max_input_bytes);
  const auto owner =
      partition == "metis" ? metis_partition(matrix, count, matrix_file) : block_partition(matrix.rows, count);
  warn_idle(owner, count, matrix_file);
  return (share_values ? shared_value_pattern : matrix_pattern)(matrix, owner, count,
                                                                value_bytes.value_or(usual_value_bytes), matrix_file);
}

std::optional<Alltoall> PatternArguments::large_alltoall() const {
  constexpr int most_with_edges = 1024;  // a million of them
  const auto alltoall = parse_alltoall(generator);
  return alltoall && alltoall->ranks > most_with_edges ? alltoall : std::nullopt;
}

std::optional<RaggedAlltoall> PatternArguments::one_shot_alltoall() const { return parse_alltoallv(generator); }

std::optional<CartesianPattern> PatternArguments::cartesian() const { return parse_cartesian(generator); }

std::string PatternArguments::switches() const {
  if (!generator.empty()) return "--generate " + shell_word(generator);
  auto text = pattern_file.empty() ? "--matrix " + shell_word(matrix_file) : "--pattern " + shell_word(pattern_file);
  if (!pattern_file.empty() && ranks > 0) append(text, " --ranks {}", ranks);
  if (pattern_file.empty() && partition != "block") append(text, " --partition {}", partition);
  if (value_bytes) append(text, " --value-bytes {}", *value_bytes);
  if (share_values) text += " --share-values";
  return text;
}

std::string PatternArguments::describe() const {
  if (!generator.empty()) return generator;
  if (!pattern_file.empty())
    return pattern_file + (value_bytes ? fmt::format(", {} bytes a value", *value_bytes) : "") +
           (ranks > 0 ? fmt::format(", merged to {} ranks", ranks) : "");
  return fmt::format("{}, {} partition, {} bytes a value{}", matrix_file, partition,
                     value_bytes.value_or(usual_value_bytes), share_values ? ", shared" : "");
}

void LayoutArguments::add_to(Command& command) {
  command.add({{"--ppn", &ppn, "ranks on a node", {.checks = {positive()}}}, layout_switch(&layout)});
}

std::optional<Layout> LayoutArguments::find(int ranks, const Environment& environment) const {
  if (ppn > 0) return Layout::with_ppn(ranks, ppn);
  const auto text = !layout.empty() ? layout : environment.layout.value_or("");
  if (text.empty()) return std::nullopt;
  return parse_layout(text, ranks);
}

bool LayoutArguments::warn_uneven(int ranks) const {
  if (ppn == 0 || ranks % ppn == 0) return false;
  const auto what = ppn > ranks ? fmt::format("is more than all {} ranks, which are on one node", ranks)
                                : fmt::format("does not divide {} ranks; the last node has {}", ranks, ranks % ppn);
  std::fputs(fmt::format("commpass: --ppn {} {}.\n", ppn, what).c_str(), stderr);
  return true;
}

void SelectionArguments::add_to(Command& command) {
  const Check are_few{"", [](const std::string& text) {
                        return parse_number<double>(text).value_or(0) > most_calls
                                   ? fmt::format("{} are too many; use at most {}", text, most_calls)
                                   : "";
                      }};
  command.add({profile_switch(&profile, " (default: the one that was measured on this machine)"),
               {"--set", &settings,
                "KEY=VALUE, KEY=*FACTOR or KEY=+SUMMAND: another value of a parameter of 'commpass profile "
                "parameters'; may be repeated"}});
  layout.add_to(command);
  command.add(
      {{"--model", &model, "burst (default), max-rate or postal", {.words = {"burst", "max-rate", "postal"}}},
       {"--memory",
        &memory,
        "where the data is: host (default) or device",
        {.one_of = {name_of(DataPlace::host), name_of(DataPlace::device)}}},
       {"--calls",
        &calls,
        "how often the exchange will run: weighs the time to plan it against that of the exchanges (default: so often "
        "that planning does not matter)",
        {.checks = {positive(), are_few}}},
       {"--top", &top, "rows of the table: the K best", {.checks = {positive()}}},
       {"--strategy", &strategies, "price just this one; may be repeated", {.offer = Offer::strategies}},
       {"--strategies",
        &strategy_list,
        "'all', or several: standard,two-step or 'standard;stfw,n=2'",
        {.words = {"all"}, .offer = Offer::strategies}},
       {"--explain", &explain, "tell what this strategy spends its time on", {.offer = Offer::strategies}}});
  format.add_to(command);
}

std::string SelectionArguments::find_profile(const Environment& environment) const {
  return find_profile_or_default(profile, environment);
}

namespace {

/// A report loads more than once.
void warn_misread(const Machine& machine, const std::string& path) {
  static std::atomic<bool> told = false;
  if (const auto misread = find_misread(machine, path); misread && !told.exchange(true))
    std::fputs(fmt::format("commpass: {}\n", misread->what()).c_str(), stderr);
}

}  // namespace

Profile SelectionArguments::read_set_profile(const Environment& environment) const {
  const auto path = find_profile(environment);
  auto loaded = read_profile(path);
  warn_misread(loaded.machine, path);
  if (environment.limits) loaded.machine.limits = parse_limits(*environment.limits, loaded.machine.limits);
  set_parameters(loaded, settings);
  return loaded;
}

Profile SelectionArguments::load_profile(const Environment& environment) const {
  auto loaded = read_set_profile(environment);
  loaded.machine = with_stand_ins(std::move(loaded.machine));
  return loaded;
}

void SelectionArguments::add_settings(std::vector<std::pair<std::string, std::string>>& context) const {
  if (!settings.empty()) context.emplace_back("set", join(settings, "; "));
  if (const auto limits = read_environment().limits) context.emplace_back("limits", *limits + " (COMMPASS_LIMITS)");
}

CostModel SelectionArguments::cost_model() const { return parse_cost_model(model); }

std::vector<std::string> SelectionArguments::strategy_names() const {
  auto names = strategies;
  if (!strategy_list.empty() && strategy_list != "all")
    for (const auto& text : split_strategies(strategy_list)) names.push_back(text);
  return names;
}

std::vector<Strategy> SelectionArguments::named_strategies(const std::optional<CartesianPattern>& cartesian) const {
  std::vector<Strategy> result;
  for (const auto& text : strategy_names())
    result.push_back(parse_strategy(cartesian ? on_grid(text, cartesian->neighborhood) : text));
  for (const auto& strategy : result) require_place(strategy, place());
  return result;
}

void require_place(const Strategy& strategy, DataPlace place) {
  if (place == DataPlace::host && !strategy.path.is_host())
    throw InputError("strategy " + to_string(strategy), "its data is on devices",
                     "add --memory device, or leave '" + to_string(strategy.path) + "' out");
}

}  // namespace commpass
