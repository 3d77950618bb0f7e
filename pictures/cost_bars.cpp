#include "pictures/pictures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "pictures/axis.hpp"
#include "pictures/svg.hpp"
#include "selector/choose/baseline.hpp"

namespace commpass {

namespace {

struct PartLook {
  const char *key, *name;
  Look look;
};

// By CostPart.
constexpr PartLook parts[cost_part_count] = {
    {"latency", "latency (α)", {1, 0}},
    {"transfer", "bytes (β)", {4, 0}},
    {"sharing", "sharing rates", {5, 1}},
    {"receiving", "taking in messages", {3, 3}},
    {"copying", "packing, unpacking", {2, 2}},
    {"library", "calls", {0, 4}},
    {"staging", "copies to and from devices", {6, 2}},
};

/// To nine digits, since further digits depend on the compiler.
double rounded(double seconds) {
  if (seconds == 0) return 0;
  constexpr int digits = 9;
  const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(std::abs(seconds))));
  return std::round(seconds * scale) / scale;
}

std::vector<const Candidate*> shown(const Report& report, std::size_t top) {
  std::vector<const Candidate*> result;
  for (const auto& row : report.baselines) result.push_back(&row.candidate);
  for (const auto& row : report.rows)
    if (row.is_priced && baseline_of(row.candidate.strategy)) result.push_back(&row.candidate);
  std::ranges::stable_sort(result, {},
                           [](const Candidate* c) { return baseline_of(c->strategy) - baselines().data(); });
  for (const auto* row : shown_rows(report, report.rows.size())) {
    if (top == 0) break;
    if (!row->is_priced || baseline_of(row->candidate.strategy)) continue;
    result.push_back(&row->candidate);
    --top;
  }
  return result;
}

Document numbers_of(const std::vector<const Candidate*>& candidates, const Report& report) {
  auto strategies = json_table("strategies", "strategy predicted_s stages");
  auto lines = csv_table("strategy predicted_s stage label messages_max bytes_max seconds");
  for (const auto& part : parts) lines.columns.push_back({std::string(part.key) + "_s"});
  for (const auto* candidate : candidates) {
    const auto name = to_string(candidate->strategy);
    const auto predicted_s = candidate->cost.seconds;
    auto stages = Json::array();
    for (const auto& stage : candidate->cost.stages) {
      Json of_stage{{"label", stage.label},
                    {"messages_max", stage.messages_max},
                    {"bytes_max", stage.bytes_max},
                    {"seconds", rounded(stage.seconds)}};
      auto& line = lines.add({name, predicted_s, stages.size() + 1, stage.label, stage.messages_max, stage.bytes_max,
                              rounded(stage.seconds)});
      for (std::size_t p = 0; p < stage.parts.size(); ++p) {
        of_stage["parts_s"][parts[p].key] = rounded(stage.parts[p]);
        line.cells.push_back(rounded(stage.parts[p]));
      }
      stages.push_back(std::move(of_stage));
    }
    strategies.add({name, predicted_s, stages});
  }
  Document numbers(report.context);
  numbers.fact("chosen", report.chosen);
  numbers.add(std::move(strategies));
  numbers.add(std::move(lines));
  return numbers;
}

constexpr double bars_left = picture_margin, bars_right = 20;

void draw_stage(Svg& svg, const StageCost& stage, std::size_t number, double from, double to, double y, double height) {
  const double sum = std::accumulate(stage.parts.begin(), stage.parts.end(), 0.0);
  double x = from;
  for (std::size_t p = 0; p < stage.parts.size(); ++p) {
    if (stage.parts[p] <= 0) continue;
    const double next = x + (to - from) * stage.parts[p] / sum;
    svg.mark(x, y, next - x, height, parts[p].look,
             fmt::format("stage {} ({}), {}: {} of {}; up to {} messages and {} from a rank", number, stage.label,
                         parts[p].name, format_seconds(stage.parts[p]), format_seconds(stage.seconds),
                         stage.messages_max, format_bytes(static_cast<double>(stage.bytes_max))));
    x = next;
  }
}

/// Draws bars on one scale. @return the y below
double draw_bars(Svg& svg, const std::vector<const Candidate*>& candidates, const Report& report, double y,
                 const Frame& frame) {
  Seconds longest = 0;
  for (const auto* candidate : candidates)
    longest = std::max(longest, candidate->cost.seconds * (1 + relative_error(*candidate, report)));
  if (longest <= 0) longest = 1e-6;  // any scale
  const Axis axis{Scale::linear, 0, longest, bars_left, frame.width - bars_right};
  constexpr double row = 50, bar = 18;
  const double end = y + row * static_cast<double>(candidates.size());
  draw_bottom_axis(svg, axis, end, y, "", time_label, frame.ticks(7));
  const auto chosen =
      std::ranges::find(report.rows, report.chosen, [](const ReportRow& r) { return to_string(r.candidate.strategy); });
  for (const auto* candidate : candidates) {
    const auto name = to_string(candidate->strategy);
    const bool is_chosen = name == report.chosen;
    auto label = fmt::format("{} · {}", name, format_seconds(candidate->cost.seconds));
    if (is_chosen) label += " · chosen";
    else if (chosen != report.rows.end() && chosen->candidate.cost.seconds > 0 && baseline_of(candidate->strategy))
      label += fmt::format(" · {} times the chosen one",
                           format_fixed(candidate->cost.seconds / chosen->candidate.cost.seconds, 2));
    const bool is_tie = report.ties.contains(candidate->strategy);
    if (is_tie) label += " · tie";
    constexpr double label_size = 12;
    svg.text(bars_left, y + 15, shorten(label, label_size, frame.width - bars_left), is_chosen ? "ink strong" : "ink");
    Seconds begin = 0;
    for (std::size_t s = 0; s < candidate->cost.stages.size(); ++s) {
      const auto& stage = candidate->cost.stages[s];
      const double from = axis.at(begin), to = axis.at(begin += std::max(0.0, stage.seconds));
      draw_stage(svg, stage, s + 1, from, to, y + 21, bar);
      if (s > 0) svg.line(from, y + 19, from, y + 23 + bar, "cut");
      const auto number = std::to_string(s + 1);
      if (candidate->cost.stages.size() > 1 && to - from > text_width(number, 9) + 3)
        svg.text((from + to) / 2, y + 21 + bar + 9, number, "dim", Anchor::middle, 9);
    }
    const auto seconds = candidate->cost.seconds, error = relative_error(*candidate, report);
    if (is_tie && seconds > 0) svg.hatch(bars_left, y + 21, axis.at(seconds) - bars_left, bar);
    if (error > 0)
      svg.whisker(axis.at(seconds * std::max(0.0, 1 - error)), y + 21 + bar / 2, axis.at(seconds * (1 + error)),
                  y + 21 + bar / 2);
    y += row;
  }
  return end + 24;
}

}  // namespace

Picture draw_cost_bars(const Report& report, std::size_t top, const Frame& frame) {
  const auto candidates = shown(report, top);
  const auto is_baseline = [](const Candidate* c) { return baseline_of(c->strategy) != nullptr; };
  Seconds longest_own = 0, longest_baseline = 0;
  std::vector<const Candidate*> own;
  for (const auto* candidate : candidates) {
    auto& longest = is_baseline(candidate) ? longest_baseline : longest_own;
    longest = std::max(longest, candidate->cost.seconds);
    if (!is_baseline(candidate)) own.push_back(candidate);
  }
  std::vector<std::string> listed;
  for (const auto* candidate : candidates)
    listed.push_back(to_string(candidate->strategy) + " " + format_seconds(candidate->cost.seconds));
  Svg svg(frame, "What strategies spend their time on",
          fmt::format("Predicted time of one exchange by strategy, stage and cost part: {}. Chosen: {}.",
                      join(listed, ", "), report.chosen));
  const bool has_error =
      std::ranges::any_of(candidates, [&](const Candidate* c) { return relative_error(*c, report) > 0; });
  double y = svg.head(fmt::format(
      "Predicted, one exchange: {}. Numbers below a bar are stages; each is divided as the critical path to its last "
      "finish is.{}{}",
      inputs_of(report.context), has_error ? " A line at the end of a bar: the uncertainty of the prediction." : "",
      report.ties.strategies.empty() ? "" : " Hatched: a tie with the fastest by prediction."));
  Legend legend;
  for (std::size_t p = 0; p < std::size(parts); ++p)
    if (std::ranges::any_of(candidates, [&](const Candidate* c) {
          return std::ranges::any_of(c->cost.stages, [&](const StageCost& stage) { return stage.parts[p] > 0; });
        }))
      legend.emplace_back(parts[p].look, parts[p].name);
  y = svg.legend(bars_left, y, frame.width - 2 * bars_left, legend) + 2;
  constexpr double enlarged_ratio_min = 2.5;
  const bool enlarges = !own.empty() && longest_baseline > enlarged_ratio_min * longest_own;
  auto first = candidates;
  if (enlarges) std::erase_if(first, [&](const Candidate* c) { return !is_baseline(c) && c != own.front(); });
  y = draw_bars(svg, first, report, y, frame);
  if (enlarges) {
    svg.text(bars_left, y + 20, "Enlarged", "ink strong");
    y = draw_bars(svg, own, report, y + 28, frame);
  }
  if (const auto tied = describe_ties(report); !tied.empty())
    y = svg.paragraph(y + 14, "Chosen: " + report.chosen + ". " + tied + ".");
  if (!report.note.empty()) y = svg.paragraph(y + 14, "Note: " + report.note + ".");
  return std::move(svg).finish(y + 8, numbers_of(candidates, report));
}

}  // namespace commpass
