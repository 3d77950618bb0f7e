// commpass predict: what each strategy would cost.
#include <fmt/core.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/text.hpp"
#include "model/machine/profile_origin.hpp"
#include "pictures/pictures.hpp"
#include "selector/commands/commands.hpp"
#include "selector/commands/picture_arguments.hpp"
#include "selector/commands/prediction.hpp"
#include "selector/commands/progress_line.hpp"
#include "selector/commands/switches.hpp"

namespace commpass {

namespace {

/// What `predict` does besides the ranking.
struct PredictOutput {
  std::string sweep;
  bool sensitivity = false, pareto = false;
  PictureArguments picture;
  std::string trace;
};

/// What `work` returns, with a line of progress where it takes long.
template <class Work>
auto with_progress(Work work) {
  const ProgressLine line(show_progress(read_environment().progress), describe_pricing);
  return work();
}

/// Warnings about the profile for such a layout.
void tell_of_use(const Profile& profile, const Layout& layout) {
  if (const auto warning = use_warning(profile, {.ranks_per_node = layout.max_ppn()}); !warning.empty())
    std::fputs(wrap_lines("commpass: " + warning + "\n").c_str(), stderr);
}

void print_sweep(const PredictArguments& arguments, const PredictOutput& output) {
  const auto ranges = parse_sweep(output.sweep);
  output.picture.check(output.picture.of_sweep(ranges.size()));
  const auto report = with_progress([&] { return run_sweep(arguments, ranges); });
  output.picture.write(report);
  arguments.selection.format.print(document_of(report));
}

void print_sensitivity(const PredictArguments& arguments, const PictureArguments& picture) {
  picture.check(PictureArguments::of_sensitivity);
  const auto found = with_progress([&] { return find_sensitivity(arguments); });
  tell_of_use(found.profile, found.layout);
  picture.write(found.report);
  arguments.selection.format.print(document_of(found.report));
}

void print_pareto(PredictArguments arguments, const PictureArguments& picture) {
  picture.check(PictureArguments::of_pareto);
  arguments.all = true;
  const auto prediction = with_progress([&] { return make_prediction(arguments); });
  tell_of_use(prediction.profile, prediction.layout);
  picture.write_pareto(prediction.report);
  arguments.selection.format.print(pareto_document(prediction.report));
}

/// The pattern that a picture of messages or a trace needs; nothing where none is asked for.
std::optional<Pattern> drawn_pattern(const PredictArguments& arguments, const PredictOutput& output) {
  const bool is_picture = output.picture.shows_messages();
  if (!is_picture && output.trace.empty()) return std::nullopt;
  auto drawn = find_drawn_pattern(arguments);
  if (!drawn.pattern)
    throw InputError(is_picture ? "--picture " + output.picture.name : "--trace " + output.trace, drawn.why_not,
                     drawn.remedy);
  return std::move(drawn.pattern);
}

void write_trace(const ExchangeView& view, const Machine& machine, const std::string& path) {
  constexpr std::size_t most_messages = 1 << 18;  // they take some hundred MiB
  std::size_t messages = 0;
  for (const auto& stage : view.schedule.stages) messages += stage.messages.size();
  if (messages > most_messages)
    throw InputError("--trace " + path, fmt::format("{} has {} messages, too many to trace", view.strategy, messages),
                     fmt::format("use a strategy or a pattern with at most {}", most_messages));
  write_file(path, chrome_trace(view, trace_view(view, machine)));
}

void print_sparse(const PredictArguments& arguments, const PredictOutput& output) {
  if (!output.sweep.empty())
    throw InputError("--sweep", "sparse exchanges are priced at one point", "predict each point by itself");
  if (output.picture.file.is_asked_for())
    throw InputError("--svg " + output.picture.file.path, "sparse exchanges have no picture", "leave it out");
  if (!output.trace.empty())
    throw InputError("--trace " + output.trace,
                     "a sparse exchange finds its messages while it runs and has no plan to trace", "leave it out");
  const auto& selection = arguments.selection;
  const auto prediction = with_progress([&] { return predict_sparse(arguments); });
  tell_of_use(prediction.profile, prediction.layout);
  selection.layout.warn_uneven(prediction.layout.ranks());
  selection.format.print(document_of(prediction.report, selection.top), prediction.explanation);
}

/// @throws InputError if an input file would be replaced
void check_files(const PredictArguments& arguments, const PredictOutput& output) {
  const auto& picture = output.picture.file;
  for (const auto& file : {picture.file(), output.trace}) refuse_standard_output(file);
  auto inputs = arguments.pattern.files();
  inputs.push_back(arguments.selection.profile);
  check_apart(inputs, {picture.file(), picture.numbers(), output.trace});
}

void predict(const PredictArguments& arguments, const PredictOutput& output) {
  check_files(arguments, output);
  if (!arguments.sparse.empty()) return print_sparse(arguments, output);
  if (!output.sweep.empty()) return print_sweep(arguments, output);
  if (output.sensitivity) return print_sensitivity(arguments, output.picture);
  if (output.pareto) return print_pareto(arguments, output.picture);
  output.picture.check(PictureArguments::of_prediction);
  if (!output.trace.empty()) check_writable(output.trace);
  auto pattern = drawn_pattern(arguments, output);
  const auto prediction = with_progress([&] { return make_prediction(arguments); });
  tell_of_use(prediction.profile, prediction.layout);
  arguments.selection.layout.warn_uneven(prediction.layout.ranks());
  // Before the files: prices are told even where they cannot be written.
  const auto& selection = arguments.selection;
  selection.format.print(document_of(prediction.report, selection.top), prediction.explanation);
  std::optional<ExchangeView> view;
  if (pattern)
    view = view_exchange(std::move(*pattern), prediction.layout, as_run(prediction.report.rows.front().candidate));
  output.picture.write(arguments, prediction, view ? &*view : nullptr);
  if (!output.trace.empty()) write_trace(*view, prediction.profile.machine, output.trace);
}

}  // namespace

Command predict_command() {
  auto arguments = std::make_shared<PredictArguments>();
  auto output = std::make_shared<PredictOutput>();
  Command command{"predict", "what each strategy would cost for a pattern, without running anything"};
  arguments->pattern.add_to(command);
  arguments->selection.add_to(command);
  command.add(
      {{"--one-shot", &arguments->one_shot,
        "as an all-to-all that is called once, with sizes that are new each time (alltoallv), and as "
        "Communicator::alltoallv knows it"},
       sparse_switch(&arguments->sparse, "as", {"--one-shot"}),
       {"--all", &arguments->all,
        "price all strategies in full, also those that the busiest ranks alone show to be too expensive"},
       {"--objective",
        &arguments->objective,
        "the choice takes the least time (the default), memory for forwarded blocks, or partners of a rank; of "
        "equals the fastest",
        {.one_of = {objective_time, objective_memory, objective_partners}, .excludes = {"--sparse", "--explain"}}},
       {"--all-points", &arguments->all_points, "show every strategy that was priced, not only the best of each route"},
       {"--sweep",
        &output->sweep,
        "KEY=a..b[:STEP] or KEY=a,b,c, of several keys with commas between: predict over values of bytes, ranks, "
        "strong-ranks (of a fixed problem), ppn, radix, cap, window, dims, memory or a parameter of the profile "
        "(KEY=*0.5..*2 for factors); STEP is x2, the default, or for example x4, +1, or 5 for five values",
        {.excludes = {"--top", "--explain", "--objective"}}},
       {"--sensitivity",
        &output->sensitivity,
        "change each time and rate of the profile alone: the price of the choice with twice and half of it, and at "
        "which factor another strategy is chosen",
        {.excludes = {"--sweep", "--sparse", "--top", "--explain", "--objective"}}},
       {"--pareto",
        &output->pareto,
        "the strategies that no other one beats in time, memory for forwarded blocks and partners of a rank at once",
        {.excludes = {"--sweep", "--sensitivity", "--sparse", "--top", "--explain", "--objective"}}}});
  output->picture.add_to(command);
  command.add(
      {{"--trace",
        &output->trace,
        "also write the actions of every rank over time, with the choice: JSON for Perfetto and chrome://tracing",
        {.excludes = {"--sweep", "--sensitivity", "--pareto"}}}});
  command.footer = catalogues_are_elsewhere;
  command.run = [arguments, output] { predict(*arguments, *output); };
  return command;
}

}  // namespace commpass
