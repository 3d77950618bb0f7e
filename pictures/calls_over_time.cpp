#include "pictures/pictures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "pictures/axis.hpp"
#include "pictures/svg.hpp"
#include "selector/environment/interposed_call.hpp"

namespace commpass {

namespace {

constexpr std::size_t strips_max = 12;
constexpr double left = 62, right = 24, line_height = 16, strip_height = 36, apart = 12;

/// A part of the run.
struct Part {
  Seconds from_s, to_s;  ///< the end of the run at most
  std::int64_t calls;
  Seconds seconds;  ///< in these calls
  double share() const { return to_s > from_s ? std::min(seconds / (to_s - from_s), 1.0) : 0; }
};

struct Strip {
  std::size_t number;  ///< from 1
  const AdvisedCall* call;
  const CallPrice* price;  ///< on the first machine; null: no machine, or no price of the call
  std::vector<Part> parts;

  bool is_timed() const { return call->measured_s > 0; }
  double share_max() const {
    double max = 0;
    for (const auto& part : parts) max = std::max(max, part.share());
    return max;
  }
  std::int64_t calls_max() const {
    std::int64_t max = 1;
    for (const auto& part : parts) max = std::max(max, part.calls);
    return max;
  }
  /// Shares of the time by MPI: savings of 'commpass run', and further savings of a changed source.
  double run_saves() const { return part_of_library(price ? price->library_s - price->taken_s : 0); }
  double planned_saves() const { return part_of_library(price ? price->taken_s - price->planned_s : 0); }

 private:
  double part_of_library(Seconds seconds) const {
    return price && price->library_s > 0 ? std::clamp(seconds / price->library_s, 0.0, 1.0) : 0;
  }
};

std::vector<Part> parts_of(const OverTime& over_time, Seconds run_s) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < OverTime::parts; ++i) {
    if (over_time.calls[i] == 0 && over_time.seconds[i] == 0) continue;
    const auto from_s = std::min(static_cast<double>(i) * over_time.part_s, run_s);
    parts.push_back({from_s, std::min(from_s + over_time.part_s, run_s), over_time.calls[i], over_time.seconds[i]});
  }
  return parts;
}

std::vector<Strip> strips_of(const Advice& advice) {
  std::vector<Strip> strips;
  for (std::size_t i = 0; i < advice.calls.size(); ++i) {
    const auto* price = advice.machines.empty() ? nullptr : &advice.machines.front().prices[i];
    if (price && (price->library.empty() || !advice.machines.front().guess.empty())) price = nullptr;
    strips.push_back({i + 1, &advice.calls[i], price,
                      parts_of(spread_over_time(advice.record, advice.calls[i]), advice.record.run_s)});
  }
  return strips;
}

std::string name_of(const Strip& strip) {
  return fmt::format("{} · {} · {}", strip.number, mpi_name_of(strip.call->call), strip.call->site);
}

std::string summary_of(const Strip& strip, const Advice& advice) {
  const auto& call = *strip.call;
  auto text = fmt::format("{} calls on {} ranks{}", call.calls, call.ranks,
                          call.communicators > 1 ? fmt::format(" of {} communicators", call.communicators) : "");
  if (!strip.is_timed()) return text + "; they do not block, so they have no time of their own";
  text += fmt::format("; {} of the run", print_percent(call.measured_s / advice.record.run_s));
  if (!strip.price) return text;
  const auto& machine = advice.machines.front();
  const auto saved = [&](Seconds seconds) { return machine.share(strip.price->library_s - seconds); };
  if (saved(strip.price->planned_s) < shown_share_min) return text + "; nothing to save on " + machine.machine;
  return text + fmt::format("; saves on {}: {} by commpass run, {} changed", machine.machine,
                            print_percent(saved(strip.price->taken_s)), print_percent(saved(strip.price->planned_s)));
}

constexpr Look stays{1, 0}, saved_by_run{4, 1}, saved_by_plans{2, 3}, untimed{0, 4};

/// Draws a part of a strip: from below the remaining time, the savings of a changed source, those of 'commpass run'.
void draw_part(Svg& svg, const Strip& strip, const Part& part, const Axis& across, double bottom, double share_max) {
  const double x = across.at(part.from_s), wide = std::max(across.at(part.to_s) - x, 1.0);
  constexpr double height_min = 1.5;  // visible
  const double whole = strip.is_timed() ? part.share() / share_max
                                        : static_cast<double>(part.calls) / static_cast<double>(strip.calls_max());
  const double high = std::max(whole * strip_height, height_min);
  auto tip = fmt::format("{}, {} to {}: {} call{}", name_of(strip), format_seconds(part.from_s),
                         format_seconds(part.to_s), part.calls, part.calls == 1 ? "" : "s");
  if (strip.is_timed())
    tip += fmt::format(", {} in them, {} of this time", format_seconds(part.seconds), print_percent(part.share()));
  if (!strip.is_timed()) return svg.mark(x, bottom - high, wide, high, untimed, tip);
  const double by_run = high * strip.run_saves(), by_plans = high * strip.planned_saves();
  const double rest = std::max(high - by_run - by_plans, 0.0);
  if (rest > 0) svg.mark(x, bottom - rest, wide, rest, stays, tip);
  if (by_plans > 0) svg.mark(x, bottom - rest - by_plans, wide, by_plans, saved_by_plans, tip);
  if (by_run > 0) svg.mark(x, bottom - high, wide, by_run, saved_by_run, tip);
}

Document numbers_of(const Advice& advice, const std::vector<Strip>& strips) {
  auto calls = json_table("calls", "site call ranks calls measured_s library_s run_s planned_s parts");
  auto lines = csv_table("number site call ranks from_s to_s calls seconds");
  for (const auto& strip : strips) {
    const auto& call = *strip.call;
    const auto priced = [&](Seconds CallPrice::*seconds) { return strip.price ? strip.price->*seconds : Cell(); };
    auto parts = Json::array();
    for (const auto& [from_s, to_s, count, seconds] : strip.parts) {
      parts.push_back({{"from_s", from_s}, {"to_s", to_s}, {"calls", count}, {"seconds", seconds}});
      lines.add({strip.number, call.site, call.call, call.ranks, from_s, to_s, count, seconds});
    }
    calls.add({call.site,
               call.call,
               call.ranks,
               call.calls,
               {strip.is_timed() ? Json(call.measured_s) : Json(), ""},
               priced(&CallPrice::library_s),
               priced(&CallPrice::taken_s),
               priced(&CallPrice::planned_s),
               parts});
  }
  Document numbers;
  numbers.facts({{"schema_version", 1}, {"program", advice.record.program}, {"run_s", advice.record.run_s}});
  if (!advice.machines.empty()) numbers.fact("machine", advice.machines.front().machine);
  numbers.add(std::move(calls));
  numbers.add(std::move(lines));
  return numbers;
}

/// The colours that the strips have.
Legend legend_of(const std::vector<Strip>& strips, const Advice& advice) {
  const auto any = [&](auto is) { return std::ranges::any_of(strips, is); };
  const bool has_prices = any([](const Strip& strip) { return strip.is_timed() && strip.price; });
  Legend legend;
  if (any(&Strip::is_timed)) legend.emplace_back(stays, has_prices ? "stays" : "in the call");
  const auto machine = advice.machines.empty() ? "" : " on " + advice.machines.front().machine;
  if (any([](const Strip& s) { return s.is_timed() && s.planned_saves() > 0; }))
    legend.emplace_back(saved_by_plans, "saved by a changed source alone" + machine);
  if (any([](const Strip& s) { return s.is_timed() && s.run_saves() > 0; }))
    legend.emplace_back(saved_by_run, "saved by commpass run" + machine);
  if (any([](const Strip& s) { return !s.is_timed(); })) legend.emplace_back(untimed, "number of calls");
  return legend;
}

}  // namespace

Picture draw_calls_over_time(const Advice& advice, const Frame& frame) {
  const double width = frame.width;
  const auto strips = strips_of(advice);
  if (strips.empty() || advice.record.run_s <= 0)
    throw InputError(advice.origin, "no exchange was recorded, so there is nothing to draw", "record another run");
  const std::span drawn(strips.data(), std::min(strips.size(), strips_max));
  double share_max = 1e-6;  // any scale if all times are 0
  for (const auto& strip : drawn) share_max = std::max(share_max, strip.share_max());
  std::string listed;
  for (const auto& strip : drawn) append(listed, " {}: {}.", name_of(strip), summary_of(strip, advice));
  Svg svg(frame, "When the program exchanges", "How much of each part of the run passes in which calls." + listed);
  std::string words =
      "Time in calls, apart from waiting for late ranks, on the rank with the most, as a share of each part of the "
      "run. "
      "All strips have one scale.";
  if (strips.size() > drawn.size()) append(words, " The {} that take longest, of {}.", drawn.size(), strips.size());
  double y = svg.head(words);
  y = svg.legend(picture_margin, y, width - 2 * picture_margin, legend_of({drawn.begin(), drawn.end()}, advice)) + 4;
  const Axis across{Scale::linear, 0, advice.record.run_s, left, width - right};
  for (const auto& strip : drawn) {
    constexpr double baseline = 12, size = 12;
    svg.text(picture_margin, y + baseline, shorten(name_of(strip), size, width - 2 * picture_margin), "ink strong");
    svg.text(picture_margin, y + line_height + baseline,
             shorten(summary_of(strip, advice), size, width - 2 * picture_margin), "dim");
    const double top = y + 2 * line_height + 6, bottom = top + strip_height;
    for (const auto height : {top, bottom}) svg.line(left, height, width - right, height, "grid");
    constexpr double label_size = 10;
    svg.text(left - 6, top + 4,
             strip.is_timed() ? print_percent(share_max, share_max < 0.1 ? 1 : 0) : std::to_string(strip.calls_max()),
             "dim", Anchor::end, label_size);
    svg.text(left - 6, bottom + 4, "0", "dim", Anchor::end, label_size);
    for (const auto& part : strip.parts) draw_part(svg, strip, part, across, bottom, share_max);
    y = bottom + apart;
  }
  draw_bottom_axis(svg, across, y, y - 4, "time since MPI_Init", time_label, 8);
  return std::move(svg).finish(y + 48, numbers_of(advice, strips));
}

}  // namespace commpass
