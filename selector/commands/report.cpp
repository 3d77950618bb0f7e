// commpass report: one HTML file of a profile, and of predictions for a pattern.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "model/machine/plausibility.hpp"
#include "pictures/calibration_facts.hpp"
#include "pictures/pictures.hpp"
#include "selector/choose/baseline.hpp"
#include "selector/choose/explain.hpp"
#include "selector/commands/commands.hpp"
#include "selector/commands/default_profile.hpp"
#include "selector/commands/picture_arguments.hpp"
#include "selector/commands/prediction.hpp"
#include "selector/commands/switches.hpp"
#include "selector/report/advice.hpp"
#include "selector/report/profile_text.hpp"
#include "selector/report/summary.hpp"

namespace commpass {

namespace {

struct ReportArguments {
  PredictArguments predict;
  std::string output, record, sweep, other_profile, other_strategy, measured;
};

/// A table of a page alone.
Table page_table(const std::string& caption, const std::vector<std::string>& headings) {
  Table table{.key = {}, .caption = caption};
  for (const auto& heading : headings) table.columns.push_back({.key = {}, .heading = heading});
  return table;
}

Table ranking_table(const Report& report, DataPlace place) {
  auto table =
      page_table("All strategies that were priced. A click on a column's name sorts.",
                 {"strategy", "predicted", "against standard", "tie", "messages per stage", "bytes sent by a rank"});
  std::vector<Candidate> candidates;
  for (const auto& row : report.rows) candidates.push_back(row.candidate);
  for (const auto& row : report.baselines) candidates.push_back(row.candidate);
  const auto* const standard = users_way(candidates, place);
  for (const auto& candidate : candidates) {
    const auto name = to_string(candidate.strategy);
    if (name == report.chosen) table.marked = table.rows.size();
    const auto own = candidate.cost.seconds, others = standard ? standard->cost.seconds : 0;
    const auto speed = own > 0 && others > 0 ? compare_speed(own, others) : "";
    table.add({name, seconds_cell(own),
               speed.empty() ? Cell("-") : Cell(others / own, speed.substr(0, speed.rfind(' '))),
               report.ties.contains(candidate.strategy) ? "~" : "", messages_per_stage(candidate.cost),
               bytes_cell(bytes_per_stage(candidate.cost))});
  }
  return table;
}

/// Part by part, what one strategy spends more than another.
Table parts_table(const Candidate& chosen, const Candidate& other) {
  auto table = page_table("What the two spend their time on, over all stages",
                          {"part", to_string(chosen.strategy), to_string(other.strategy), "difference"});
  const auto sum = [](const Candidate& candidate, std::size_t part) {
    return std::accumulate(candidate.cost.stages.begin(), candidate.cost.stages.end(), 0.0,
                           [&](double total, const StageCost& stage) { return total + stage.parts[part]; });
  };
  const auto add = [&](const std::string& name, Seconds first, Seconds second) {
    const auto difference = second - first;
    table.add({name,
               seconds_cell(first),
               seconds_cell(second),
               {difference, (difference < 0 ? "−" : "+") + format_seconds(std::abs(difference))}});
  };
  for (std::size_t p = 0; p < cost_part_count; ++p)
    add(describe(static_cast<CostPart>(p)), sum(chosen, p), sum(other, p));
  table.marked = table.rows.size();
  add("one exchange", chosen.cost.seconds, other.cost.seconds);
  return table;
}

/// @param other  a strategy to set beside the choice; null: none
void add_messages(Document& page, const DrawnPattern& drawn, const Predicted<Report>& prediction,
                  const Strategy* other) {
  if (!drawn.pattern) {
    page.sentences("There is no matrix, timeline or layout: " + drawn.why_not + ".");
    return;
  }
  const auto view = view_exchange(*drawn.pattern, prediction.layout, as_run(prediction.report.rows.front().candidate));
  page.heading("Messages between ranks");
  page.add(draw_matrices(view));
  page.heading("When ranks do what");
  page.add(draw_timeline(view, trace_view(view, prediction.profile.machine)));
  page.heading("Layout");
  if (view.layout.ranks() <= drawn_ranks_max) page.add(draw_layout(view));
  else page.sentences(view.layout.describe() + ": too many ranks to draw.");
  if (!other) return;
  const auto other_view = view_exchange(*drawn.pattern, prediction.layout, *other);
  page.heading("The same with " + to_string(*other));
  page.add(draw_matrices(other_view, "other-matrix"));
  page.add(draw_timeline(other_view, trace_view(other_view, prediction.profile.machine), "other-timeline"));
}

/// The command that times the exchange on the machine.
std::string measure_command(const PredictArguments& predict, const Layout& layout) {
  const auto& selection = predict.selection;
  auto text = fmt::format("mpirun -n {} commpass measure {}", layout.ranks(), predict.pattern.switches());
  if (!selection.profile.empty()) append(text, " --profile {}", shell_word(selection.profile));
  if (selection.place() == DataPlace::device) append(text, " --memory {}", selection.memory);
  if (selection.calls) append(text, " --calls {}", *selection.calls);
  if (predict.one_shot) text += " --one-shot";
  return text;
}

void add_prediction(Document& page, const ReportArguments& arguments) {
  // The quick parts first, so that their errors are told soon.
  const auto drawn = find_drawn_pattern(arguments.predict);
  std::optional<Candidate> other;
  if (!arguments.other_strategy.empty()) {
    auto named = arguments.predict;
    named.selection.strategies = {arguments.other_strategy};
    named.selection.strategy_list.clear();
    other = make_prediction(named).report.rows.front().candidate;
  }
  const auto prediction = make_prediction(arguments.predict);
  arguments.predict.selection.layout.warn_uneven(prediction.layout.ranks());
  page.add(
      summarize(prediction.report, prediction.profile.machine, measure_command(arguments.predict, prediction.layout)));
  page.heading("The choice");
  auto context = page_table("Predicted exchange", {"what", "value"});
  for (const auto& [key, value] : prediction.report.context) context.add({key, value});
  page.add(context);
  page.sentences(describe_choice(prediction.report) + ".");
  if (!prediction.report.note.empty()) page.sentences("Note: " + prediction.report.note + ".");
  page.add(draw_cost_bars(prediction.report));
  page.add(ranking_table(prediction.report, arguments.predict.selection.place()));
  if (!prediction.report.pruned.empty())
    page.sentences(
        fmt::format("{} more were not priced in full: their busiest ranks alone take too long (--all prices "
                    "them).",
                    prediction.report.pruned.size()));
  std::vector<Candidate> ranking;
  for (const auto& row : prediction.report.rows) ranking.push_back(row.candidate);
  page.heading("Why");
  page.text(explain(ranking, 0, prediction.report.calls, prediction.report.ties));
  const bool is_chosen = other && to_string(other->strategy) == prediction.report.chosen;
  if (is_chosen) page.sentences("Nothing is compared with " + prediction.report.chosen + ": it is the choice.");
  if (other && !is_chosen) {
    page.heading("Against " + to_string(other->strategy));
    Report two;
    two.context = prediction.report.context;
    two.chosen = prediction.report.chosen;
    two.rows = {prediction.report.rows.front(), {*other, {}}};
    page.add(draw_cost_bars(two, 2, "two-bars"));
    page.add(parts_table(two.rows[0].candidate, two.rows[1].candidate));
  }
  add_messages(page, drawn, prediction, other && !is_chosen ? &other->strategy : nullptr);
}

/// What a recorded run is, before anything is said of its calls.
Table run_table(const Record& record) {
  const auto measured_s = measured_in_calls(record);
  auto table = page_table("Recorded run", {"what", "value"});
  table.add({"program", record.program});
  table.add({"MPI library", record.mpi});
  table.add({"layout", parse_layout(record.layout).describe()});
  table.add({"time of the run", format_seconds(record.run_s)});
  table.add({"time in exchanges, apart from waiting for late ranks",
             record.run_s > 0 ? fmt::format("{}, {} of the run", format_seconds(measured_s),
                                            print_percent(measured_s / record.run_s))
                              : "none"});
  return table;
}

/// What each call takes on a machine, by whom.
Table savings_table(const Advice& advice, const MachineAdvice& machine) {
  auto table = page_table(
      "Predicted on " + machine.machine + ", " + machine.layout + ": all calls of a run, by whom they are run",
      {"#", "MPI_...", "by MPI", "by commpass run", "its strategy", "it saves of the run", "by a changed source",
       "their strategy", "they save of the run"});
  for (std::size_t i = 0; i < advice.calls.size(); ++i) {
    const auto& price = machine.prices[i];
    const auto saving = [&](Seconds seconds) {
      return percent_cell(std::max(machine.share(price.library_s - seconds), 0.0));
    };
    table.add({i + 1, advice.calls[i].call, seconds_cell(price.library_s), seconds_cell(price.taken_s),
               price.taken_s < price.library_s ? price.taken : "left to MPI", saving(price.taken_s),
               seconds_cell(price.planned_s), price.planned.empty() ? "none" : price.planned, saving(price.planned_s)});
  }
  return table;
}

void add_machine(Document& page, const Advice& advice, const MachineAdvice& machine) {
  page.heading("What would be saved on " + machine.machine);
  const auto& all = machine.all;
  page.sentences(fmt::format(
      "These calls would take {} of the run there; commpass run would save {} of it, a changed source {}.",
      print_percent(machine.share(all.library_s)), print_percent(machine.share(all.library_s - all.taken_s)),
      print_percent(machine.share(all.library_s - all.planned_s))));
  if (!machine.library_rules.empty()) page.sentences(fmt::format("Note: {}.", describe_library_rules(machine)));
  if (!machine.note.empty()) page.sentences("Note: " + machine.note + ".");
  page.add(savings_table(advice, machine));
}

/// The exchanges of a recorded run, when they were made, and what they cost on the profiles' machines.
void add_record(Document& page, const ReportArguments& arguments, const Record& record,
                const std::vector<const Profile*>& profiles) {
  Advice advice{arguments.record, record, advised_calls(record), 0, 0, {}};
  const auto layout = arguments.predict.selection.layout.find(record.ranks(), read_environment());
  if (!advice.calls.empty()) {
    for (const auto* profile : profiles)
      advice.machines.push_back(
          advise(record, advice.calls, layout ? *layout : parse_layout(record.layout), profile->machine));
    page.add(summarize(advice));
  }
  page.heading("The run");
  page.add(run_table(record));
  if (!record.messages.empty()) {
    auto messages = messages_table(record);
    messages.caption =
        fmt::format("Messages of the program, by place; counting a call takes {}", format_seconds(record.counting_s));
    page.add(messages);
  }
  if (advice.calls.empty()) return page.sentences(describe_no_exchanges(record));
  if (record.run_s > 0) page.add(draw_calls_over_time(advice));
  auto calls = calls_table(advice);
  calls.caption = "Calls of one communicator, from one place of the program; those that take longest first";
  page.add(calls);
  for (const auto& line : describe_others(record)) page.sentences(line + ".");
  for (const auto& machine : advice.machines) add_machine(page, advice, machine);
}

/// Bytes per second.
Cell rate_cell(double beta_s_per_byte) {
  if (beta_s_per_byte <= 0) return "-";
  return {1 / beta_s_per_byte, format_bytes(1 / beta_s_per_byte) + "/s"};
}

/// How sure the lines are, and predictions of exchanges that nothing was fitted to.
void add_calibration(Document& page, const Profile& profile) {
  auto table = page_table("Fits: half of the measured times are nearer to the line than the error",
                          {"level", "protocol", "sizes", "error", "alpha from", "to", "bytes per second from", "to"});
  for (const auto& fit : fitted_intervals(profile))
    table.add({fit.level, fit.protocol, fit.sizes, percent_cell(fit.median_relative_error),
               seconds_cell(fit.alpha_s[0]), seconds_cell(fit.alpha_s[1]), rate_cell(fit.beta_s_per_byte[1]),
               rate_cell(fit.beta_s_per_byte[0])});
  if (!table.rows.empty()) page.add(table);
  const auto held_out = held_out_prices(profile);
  if (held_out.empty()) return;
  page.heading("Exchanges that nothing was fitted to");
  page.add(draw_measured(held_out, "held-out"));
}

void add_profile_section(Document& page, const Profile& profile) {
  page.heading("The profile");
  page.text("Verdict: " + describe_verdict(profile.machine) + "\n");
  for (const auto& sentence : implausible(profile.machine)) page.sentences("Warning: " + sentence + ".");
  auto absent = page_table("What the profile lacks, and what prices use instead", {"parameter", "stands in"});
  for (const auto& [names, stand_in] : absent_parameters(profile.machine)) absent.add({names, stand_in});
  if (!absent.rows.empty()) page.add(absent);
  page.add(draw_message_times(profile));
  auto table = page_table("Messages in host memory: a lone message of s bytes takes alpha + beta·s",
                          {"level", "protocol", "up to", "alpha", "alpha, one more", "bytes per second"});
  for (Level level = 0; level <= profile.machine.outermost(); ++level) {
    if (!profile.machine.host.has(level)) continue;
    for (const auto& protocol : profile.machine.host.find(level)->protocols) {
      const bool is_last = protocol.max_bytes == std::numeric_limits<Bytes>::max();
      table.add({profile.machine.name_of(level), protocol.name,
                 is_last ? Cell("any size") : Cell(protocol.max_bytes, print_bytes(protocol.max_bytes)),
                 seconds_cell(protocol.alpha_s), seconds_cell(protocol.alpha_next_s),
                 rate_cell(protocol.beta_s_per_byte)});
    }
  }
  page.add(table);
  if (has_shared_rates(profile)) page.add(draw_shared_rates(profile));
  add_calibration(page, profile);
}

/// Of three kinds of exchanges, where no pattern is asked for. A profile that knows one node alone has maps of that.
void add_maps(Document& page, const ReportArguments& arguments, const Machine& machine) {
  page.heading("Which strategy is chosen");
  struct Map {
    const char *generator, *ranges, *on_a_node, *id;
  };
  constexpr std::array maps{Map{"alltoall:ranks=64,bytes=1KiB", "ranks=16..4096:x4,bytes=8..128KiB:x4",
                                "ranks=4..64,bytes=8..128KiB:x4", "map-alltoall"},
                            Map{"random:ranks=64,bytes=1KiB,degree=12", "ranks=16..256:x4,bytes=8..128KiB:x16",
                                "ranks=16..64,bytes=8..128KiB:x16", "map-random"},
                            Map{"stencil:dims=4x4x4,bytes=1KiB,points=box", "ranks=64..1024:x4,bytes=8..128KiB:x16",
                                "ranks=16..64,bytes=8..128KiB:x16", "map-stencil"}};
  const bool has_network = machine.host.has(machine.outermost());
  for (const auto& map : maps) {
    auto predict = arguments.predict;
    predict.pattern.generator = map.generator;
    auto& layout = predict.selection.layout;
    constexpr int usual_ppn = 16, all = 1 << 20;
    if (!has_network) layout.ppn = all;
    else if (layout.ppn == 0) layout.ppn = usual_ppn;
    const auto ranges = parse_sweep(has_network ? map.ranges : map.on_a_node);
    page.add(draw_strategy_map(run_sweep(predict, ranges), map.id));
  }
}

std::vector<SweepRange> parse_drawn_sweep(const std::string& text) {
  auto ranges = parse_sweep(text);
  if (ranges.size() > 2) throw InputError("--sweep " + text, "it has too many keys", "sweep one key or two");
  return ranges;
}

void report(const ReportArguments& arguments) {
  check_writable(arguments.output);
  auto inputs = arguments.predict.pattern.files();
  for (const auto& file :
       {arguments.predict.selection.profile, arguments.other_profile, arguments.record, arguments.measured})
    inputs.push_back(file);
  check_apart(inputs, {arguments.output});
  const auto environment = read_environment();
  const auto& predict = arguments.predict;
  const auto& pattern = predict.pattern;
  const bool has_pattern = !pattern.pattern_file.empty() || !pattern.matrix_file.empty() || !pattern.generator.empty();
  const bool has_record = !arguments.record.empty();
  for (const auto& [name, is_given] : {std::pair("--sweep", !arguments.sweep.empty()),
                                       {"--compare-strategy", !arguments.other_strategy.empty()},
                                       {"--layout", !predict.selection.layout.layout.empty() && !has_record},
                                       {"--one-shot", predict.one_shot}})
    if (!has_pattern && is_given)
      throw InputError(name, "there is no pattern to predict", "add --generate, --matrix or --pattern");
  // All that is asked for is read and looked at before much is priced.
  const auto profile = predict.selection.load_profile(environment);
  std::optional<Record> record;
  if (has_record) record = read_record(arguments.record);
  std::optional<Profile> other;
  if (!arguments.other_profile.empty())
    other = read_profile(find_profile_or_default(arguments.other_profile, environment));
  std::vector<MeasuredPrice> measured;
  if (!arguments.measured.empty()) measured = read_measured_prices(read_file(arguments.measured), arguments.measured);
  std::optional<SweepReport> swept;
  if (!arguments.sweep.empty()) swept = run_sweep(predict, parse_drawn_sweep(arguments.sweep));
  const auto title = has_pattern  ? fmt::format("{} on {}", pattern.describe(), profile.machine.name)
                     : has_record ? fmt::format("A run of {} on {}", record->program, profile.machine.name)
                                  : "Machine profile " + profile.machine.name;
  Document page;
  if (has_pattern) add_prediction(page, arguments);
  if (record) {
    std::vector<const Profile*> profiles{&profile};
    if (other) profiles.push_back(&*other);
    add_record(page, arguments, *record, profiles);
  }
  if (swept) {
    page.heading("Sweep");
    page.add(swept->keys.size() == 1 ? draw_sweep_lines(*swept) : draw_strategy_map(*swept));
  }
  if (!measured.empty()) {
    page.heading("Predicted and measured");
    page.add(draw_measured(measured));
  }
  if (!has_pattern && !has_record) add_maps(page, arguments, profile.machine);
  add_profile_section(page, profile);
  if (other) {
    page.heading("Against profile " + other->machine.name);
    page.add(draw_message_times(profile, &*other, "two-messages"));
    page.text(compare_profiles(profile, *other).write(Form::text), "What the profiles differ in");
  }
  const bool is_markdown = arguments.output.ends_with(".md") || arguments.output.ends_with(".md.gz");
  write_file(arguments.output,
             is_markdown ? fmt::format("# {}\n\n{}", title, page.write(Form::markdown)) : html_page(title, page));
}

}  // namespace

Command report_command() {
  auto arguments = std::make_shared<ReportArguments>();
  Command command{"report", "one HTML file with pictures of a profile, and of a prediction for a pattern"};
  arguments->predict.pattern.add_to(command);
  auto& pattern = command.group("PATTERN");
  pattern.least = 0;
  pattern.switches.push_back(
      {"--record", &arguments->record,
       "a file that 'commpass record' has written: when the program exchanges, and what it would save"});
  arguments->predict.selection.add_to(command);
  command.remove({"--csv", "--json", "--markdown", "--latex", "--top", "--explain"});
  command.add({{"--one-shot", &arguments->predict.one_shot, "as an all-to-all that is called once"},
               {"--all", &arguments->predict.all, "price all strategies in full"},
               output_switch(&arguments->output, "the file: FILE.html, or FILE.md", {".html", ".htm", ".md"}, true),
               {"--sweep", &arguments->sweep, "KEY=a..b[:STEP][,KEY=…]: as predict has it; one key or two"},
               {"--compare-strategy",
                &arguments->other_strategy,
                "set this strategy beside the choice",
                {.offer = Offer::strategies}},
               {"--compare-profile",
                &arguments->other_profile,
                "set this profile's messages beside those of --profile",
                {.offer = Offer::profiles}},
               {"--measured", &arguments->measured,
                "a file that 'commpass measure --json' printed: predicted against measured"}});
  command.footer = catalogues_are_elsewhere;
  command.run = [arguments] { report(*arguments); };
  return command;
}

}  // namespace commpass
