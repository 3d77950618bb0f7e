#include "selector/report/summary.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>

#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "selector/choose/baseline.hpp"

namespace commpass {

namespace {

std::string describe_speed(const Report& report, const Comparison* own_call) {
  const auto& candidate = chosen_row(report)->candidate;
  const auto seconds = ranked_seconds(candidate, report.calls);
  auto text = report.chosen + ": " + format_seconds(seconds);
  if (report.calls) append(text, " for planning and {} exchanges", *report.calls);
  if (own_call)
    append(text, ", {} {} ({})", compare_speed(own_call->own_s, own_call->baseline_s),
           describe(*own_call->baseline, *own_call->candidate), format_seconds(own_call->baseline_s));
  return text;
}

std::string describe_certainty(const Report& report, const Machine& machine, const Comparison* own_call) {
  const auto error = relative_error(chosen_row(report)->candidate, report);
  if (!machine.verdict && error == 0)
    return std::string("unknown: the profile has no verdict") +
           (report.note.empty() ? "" : "; the note below names missing parameters");
  auto text = (error < 1 ? "± " : "off by up to ") + format_share(error);
  if (machine.verdict) append(text, ", verdict of the profile: {}", name_of(machine.verdict->trust));
  if (report.ties.strategies.empty()) return text;
  append(text, "; a tie of {} strategies", report.ties.strategies.size());
  if (own_call && report.ties.contains(own_call->baseline->strategy))
    append(text, ", {} among them", describe(*own_call->baseline, *own_call->candidate));
  return text;
}

/// The largest parts of the critical path, and the longest stage.
std::string describe_limits(const Cost& cost) {
  std::array<Seconds, cost_part_count> parts{};
  for (const auto& stage : cost.stages)
    for (std::size_t p = 0; p < parts.size(); ++p) parts[p] += stage.parts[p];
  const auto sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  if (sum <= 0) return "nothing: no rank sends";
  std::array<std::size_t, cost_part_count> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t p) { return parts[p]; });
  constexpr double named_share_min = 0.2;
  std::string text;
  for (const auto p : order)
    if (text.empty() || parts[p] >= named_share_min * sum)
      append(text, "{}{}, {}", text.empty() ? "" : "; ", describe(static_cast<CostPart>(p)),
             format_share(parts[p] / sum));
  const auto longest = std::ranges::max_element(cost.stages, {}, &StageCost::seconds);
  if (cost.stages.size() > 1 && cost.seconds > 0)
    append(text, "; stage {} of {} takes {}", longest - cost.stages.begin() + 1, cost.stages.size(),
           format_share(longest->seconds / cost.seconds));
  return text;
}

std::string describe_next(const Report& report, const Machine& machine, const Comparison* own_call,
                          const std::string& measure) {
  if (chosen_row(report)->candidate.strategy.route == "mpi") return "leave this exchange to MPI";
  if (!machine.verdict || !report.ties.strategies.empty())
    return fmt::format("time it on the machine: `{} --strategies '{}{}'`", measure, report.chosen,
                       own_call ? ";" + to_string(own_call->baseline->strategy) : "");
  return "try it in the unchanged program: `commpass run -- mpirun … PROGRAM`";
}

/// "MPI_Alltoallv" of "alltoallv".
std::string mpi_name(std::string call) {
  if (!call.empty()) call[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(call[0])));
  return "MPI_" + call;
}

/// The function of C that plans such a call: those of "ialltoall" and "alltoallv" are the same.
std::string plan_function(std::string call) {
  if (call.starts_with('i')) call.erase(0, 1);
  if (const auto end = call.rfind("_init"); end != std::string::npos) call.erase(end);
  if (!call.ends_with('v') && !call.ends_with('w')) call += 'v';
  return "commpass_" + call + "_init";
}

}  // namespace

Document::Summary summarize(const Report& report, const Machine& machine, const std::string& measure) {
  const auto compared = comparisons(report);
  const auto mpi = std::ranges::find(compared, "mpi", [](const Comparison& c) { return c.baseline->strategy.route; });
  const auto* const own_call = compared.empty() ? nullptr : mpi == compared.end() ? &compared.front() : &*mpi;
  return {{{"Exchange", inputs_of(report.context)},
           {"Choice", describe_speed(report, own_call)},
           {"How sure", describe_certainty(report, machine, own_call)},
           {"Limited by", describe_limits(chosen_row(report)->candidate.cost)},
           {"Next", describe_next(report, machine, own_call, measure)}}};
}

Document::Summary summarize(const Advice& advice) {
  const auto& record = advice.record;
  const auto& machine = advice.machines.front();
  const auto saving = [&](Seconds seconds) { return print_percent(std::max(machine.share(seconds), 0.0)); };
  const auto saved_s = [](const CallPrice& price) {
    return price.library_s - std::min(price.taken_s, price.planned_s);
  };
  const auto best = std::ranges::max_element(machine.prices, {}, saved_s);
  const auto number = best - machine.prices.begin();
  const bool is_plug = best->library_s - best->taken_s >= best->library_s - best->planned_s;
  Document::Summary summary;
  summary.lines = {
      {"Run", fmt::format("{}; {} ranks, {}; {} of it in exchanges", record.program, record.ranks(),
                          format_seconds(record.run_s),
                          record.run_s > 0 ? print_percent(measured_in_calls(record) / record.run_s) : "unknown")},
      {"Savings", fmt::format("predicted on {}, {}: {} of the run by commpass run, {} by a changed source",
                              machine.machine, machine.layout, saving(machine.all.library_s - machine.all.taken_s),
                              saving(machine.all.library_s - machine.all.planned_s))}};
  if (machine.share(saved_s(*best)) < shown_share_min) {
    summary.lines.emplace_back("Next", "leave the exchanges to MPI");
    return summary;
  }
  const auto& call = advice.calls[static_cast<std::size_t>(number)];
  summary.lines.emplace_back("Most of it", fmt::format("{} called from {}: {} by {}", mpi_name(call.call), call.site,
                                                       saving(saved_s(*best)), is_plug ? best->taken : best->planned));
  summary.lines.emplace_back("Next", is_plug ? "`commpass run -- mpirun … PROGRAM`"
                                             : fmt::format("plan it once by `{}`, then start and wait in each step",
                                                           plan_function(call.call)));
  return summary;
}

}  // namespace commpass
