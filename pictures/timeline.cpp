#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <vector>

#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "model/route/catalogue.hpp"
#include "pictures/axis.hpp"
#include "pictures/pictures.hpp"
#include "pictures/svg.hpp"

namespace commpass {

namespace {

constexpr std::size_t rows_max = 18;

/// Ranks of the critical path from its end, then the last and the first rank to finish, then evenly spaced ones.
std::vector<Rank> rows_of(const Trace& trace) {
  std::set<Rank> chosen;
  const auto take = [&](Rank rank) {
    if (chosen.size() < rows_max) chosen.insert(rank);
  };
  for (auto leg = trace.critical.rbegin(); leg != trace.critical.rend(); ++leg) {
    take(leg->to);
    take(leg->from);
  }
  take(static_cast<Rank>(std::ranges::max_element(trace.finish) - trace.finish.begin()));
  take(static_cast<Rank>(std::ranges::min_element(trace.finish) - trace.finish.begin()));
  const auto ranks = trace.finish.size();
  const auto step = std::max<std::size_t>(1, ranks / rows_max);
  for (std::size_t rank = 0; rank < ranks; rank += step) take(static_cast<Rank>(rank));
  return {chosen.begin(), chosen.end()};
}

struct Bar {
  Activity activity;
  int stage;
  Seconds begin, end;
  int spans = 1;
  Bytes bytes = 0;
};

/// The bars of a rank: spans of an activity without a visible gap are one bar.
std::vector<Bar> bars_of(const Trace& trace, Rank rank, Seconds visible_gap) {
  std::vector<Bar> bars;
  for (const auto& span : trace.spans_of(rank)) {
    const auto last =
        std::find_if(bars.rbegin(), bars.rend(), [&](const Bar& bar) { return bar.activity == span.activity; });
    if (last != bars.rend() && last->stage == span.stage && span.begin - last->end <= visible_gap) {
      last->end = std::max(last->end, span.end);
      last->bytes += span.bytes;
      ++last->spans;
    } else {
      bars.push_back({span.activity, span.stage, span.begin, span.end, 1, span.bytes});
    }
  }
  return bars;
}

struct ActivityLook {
  Look look;
  double top, height;  // share of a row
  const char* name;
};

const ActivityLook& look_of(Activity activity) {
  static const ActivityLook looks[] = {{{2, 2}, 0.05, 0.9, "copies"},
                                       {{4, 0}, 0.05, 0.45, "sends"},
                                       {{0, 0}, 0.45, 0.1, "waits"},
                                       {{3, 3}, 0.5, 0.45, "takes in"},
                                       {{0, 4}, 0.05, 0.9, "MPI library"}};
  return looks[static_cast<std::size_t>(activity)];
}

std::string tip_of(const ExchangeView& view, Rank rank, const Bar& bar) {
  const auto stage =
      at(bar.stage) < view.schedule.stages.size()
          ? fmt::format(" in stage {} ({})", bar.stage + 1, view.schedule.stages[at(bar.stage)].info.label)
          : std::string();
  auto tip = fmt::format("rank {} {}{}", rank, look_of(bar.activity).name, stage);
  if (bar.activity == Activity::send)
    tip += fmt::format(": {} {}, {}", bar.spans, bar.spans == 1 ? "message" : "messages",
                       format_bytes(static_cast<double>(bar.bytes)));
  return tip + fmt::format(", from {} to {}", format_seconds(bar.begin), format_seconds(bar.end));
}

/// The end of the send of a leg's message; without a send, the begin of the leg.
Seconds send_end(const Trace& trace, const TraceLeg& leg) {
  Seconds when = leg.begin;
  for (const auto& span : trace.spans_of(leg.from))
    if (span.activity == Activity::send && span.peer == leg.to && span.stage == leg.stage && span.begin >= leg.begin &&
        span.end <= leg.end)
      when = std::max(when, span.end);
  return when;
}

Document numbers_of(const ExchangeView& view, const Trace& trace, const std::vector<Rank>& rows) {
  auto critical = json_table("critical", "from to stage begin_s end_s");
  auto spans = csv_table("rank activity stage begin_s end_s to bytes");
  for (const auto& leg : trace.critical) critical.add({leg.from, leg.to, leg.stage + 1, leg.begin, leg.end});
  for (const auto rank : rows)
    for (const auto& span : trace.spans_of(rank))
      spans.add({rank, name_of(span.activity), span.stage + 1, span.begin, span.end, span.peer < 0 ? Cell() : span.peer,
                 span.activity == Activity::send ? span.bytes : Cell()});
  Document numbers;
  numbers.facts(
      {{"schema_version", 1}, {"strategy", view.strategy}, {"predicted_s", trace.cost.seconds}, {"ranks_drawn", rows}});
  numbers.add(std::move(critical));
  numbers.add(std::move(spans));
  return numbers;
}

/// The end of a stage is that of its last rank: a dashed line with the name of the stage at its left, above the rows.
void draw_stages(Svg& svg, const ExchangeView& view, const Trace& trace, const Axis& axis, double top, double bottom) {
  std::vector<Seconds> ends(view.schedule.stages.size());
  for (const auto& span : trace.spans)
    if (at(span.stage) < ends.size()) ends[at(span.stage)] = std::max(ends[at(span.stage)], span.end);
  constexpr double size = 11, gap = 4;
  double from = axis.from_pixel;
  for (std::size_t s = 0; s < ends.size(); ++s) {
    const double to = std::max(from, axis.at(ends[s]));
    const auto number = fmt::format("stage {}", s + 1),
               name = fmt::format("{} ({})", number, view.schedule.stages[s].info.label);
    const auto& label = text_width(name, size) <= to - from - gap ? name : number;
    if (text_width(label, size) <= to - from - gap)
      svg.text((from + to) / 2, top - 6, label, "dim", Anchor::middle, size);
    if (s + 1 < ends.size()) svg.line(to, top - 14, to, bottom, "axis d4");
    from = to;
  }
}

}  // namespace

Picture draw_timeline(const ExchangeView& view, const Trace& trace, const Frame& frame) {
  const auto rows = rows_of(trace);
  const double width = frame.width;
  constexpr double left = 72, right = 24, row = 22;
  const auto& strategy = view.strategy;
  const Seconds total = trace.cost.seconds > 0 ? trace.cost.seconds : 1e-9;
  std::vector<Rank> path_ranks{trace.critical.empty() ? 0 : trace.critical.front().from};
  for (const auto& leg : trace.critical) path_ranks.push_back(leg.to);
  Svg svg(frame, "When ranks do what: " + strategy,
          fmt::format("What {} of {} ranks do during an exchange with {} that is predicted to take {}. The critical "
                      "path goes from rank {}.",
                      rows.size(), trace.finish.size(), strategy, format_seconds(trace.cost.seconds),
                      join(path_ranks, " to ")));
  double y = svg.head(fmt::format(
      "Predicted, {} of {} ranks: those on the critical path (the bold line, on which the end depends), and "
      "some others. A dashed line is the end of a stage on its last rank.",
      rows.size(), trace.finish.size()));
  Legend legend;
  for (const auto activity : {Activity::send, Activity::receive, Activity::copy, Activity::library, Activity::wait})
    if (std::ranges::any_of(trace.spans, [&](const TraceSpan& s) { return s.activity == activity; }))
      legend.emplace_back(look_of(activity).look, look_of(activity).name);
  y = svg.legend(left, y, width - left - right, legend);
  constexpr double sample = 26, label_size = 12, labels_of_stages = 34;
  svg.line(left, y + 4, left + sample, y + 4, "bold");
  svg.text(
      left + sample + 6, y + 8,
      shorten(fmt::format("critical path, {}: rank {}", format_seconds(trace.cost.seconds), join(path_ranks, " → ")),
              label_size, width - left - right - sample));
  y += labels_of_stages;
  const Axis axis{Scale::linear, 0, total, left, width - right};
  const double bottom = y + row * static_cast<double>(rows.size());
  draw_bottom_axis(svg, axis, bottom + 4, y, "", time_label, frame.ticks(8));
  const auto top_of = [&](Rank rank) {
    return y + row * static_cast<double>(std::ranges::lower_bound(rows, rank) - rows.begin());
  };
  draw_stages(svg, view, trace, axis, y, bottom + 4);
  const Seconds visible_gap = total / (width - left - right) / 2;
  for (const auto rank : rows) {
    const double top = top_of(rank);
    svg.text(left - 8, top + row / 2 + 4, fmt::format("rank {}", rank), "ink", Anchor::end, 11);
    for (const auto& bar : bars_of(trace, rank, visible_gap)) {
      const auto& look = look_of(bar.activity);
      svg.mark(axis.at(bar.begin), top + look.top * row, std::max(0.4, axis.at(bar.end) - axis.at(bar.begin)),
               look.height * row, look.look, tip_of(view, rank, bar));
    }
  }
  std::string path;
  for (const auto& leg : trace.critical) {
    if (!std::ranges::binary_search(rows, leg.from) || !std::ranges::binary_search(rows, leg.to)) {
      path.clear();
      continue;
    }
    const double from = top_of(leg.from) + row / 2, to = top_of(leg.to) + row / 2;
    const auto point = [&](Seconds when, double at_y) { return svg_number(axis.at(when)) + " " + svg_number(at_y); };
    path += fmt::format("{}{}", path.empty() ? "M" : " L", point(leg.begin, from));
    if (leg.from != leg.to) path += " L" + point(send_end(trace, leg), from);
    path += " L" + point(leg.end, to);
  }
  if (!path.empty()) {
    const auto last = trace.critical.back().to;  // it may unpack after its last message
    append(path, " L{} {}", svg_number(axis.at(trace.finish[at(last)])), svg_number(top_of(last) + row / 2));
    svg.path(path, "halo");
    svg.path(path, "bold", "the critical path");
  }
  return std::move(svg).finish(bottom + 34, numbers_of(view, trace, rows));
}

std::string chrome_trace(const ExchangeView& view, const Trace& trace) {
  constexpr double us = 1e6;
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  constexpr std::size_t bytes_of_span = 160;
  text.reserve(bytes_of_span * trace.spans.size());  // growing would need twice the memory
  for (int node = 0; node < view.layout.nodes(); ++node)
    append(text, "{}\n{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":\"node {}\"}}}}",
           node > 0 ? "," : "", node, node);
  for (Rank rank = 0; rank < view.layout.ranks(); ++rank)
    append(text, ",\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"rank {}\"}}}}",
           view.layout.node(rank), rank, rank);
  for (const auto& span : trace.spans) {
    const auto to = span.peer < 0 ? std::string() : fmt::format(",\"to\":{},\"bytes\":{}", span.peer, span.bytes);
    append(text,
           ",\n{{\"ph\":\"X\",\"name\":\"{0}\",\"cat\":\"{0}\",\"pid\":{1},\"tid\":{2},\"ts\":{3:.6f},\"dur\":{4:.6f},"
           "\"args\":{{\"stage\":{5}{6}}}}}",
           name_of(span.activity), view.layout.node(span.rank), span.rank, span.begin * us,
           (span.end - span.begin) * us, span.stage + 1, to);
  }
  text += "\n]}\n";
  return text;
}

namespace {

ExchangeView view_schedule(Pattern pattern, const Layout& layout, std::string strategy, const DataPath& path,
                           const Route& route, Schedule schedule) {
  Rank traced = pattern.ranks;
  for (const auto& edge : pattern.edges)
    if (edge.bytes > 0 && edge.source != edge.destination) traced = std::min(traced, edge.source);
  if (traced == pattern.ranks) traced = 0;
  auto paths = trace_blocks(route, pattern, traced);
  return {std::move(pattern), layout, std::move(strategy), path, std::move(schedule), {}, traced, std::move(paths)};
}

}  // namespace

ExchangeView view_exchange(Pattern pattern, const Layout& layout, const Strategy& strategy) {
  auto tables = make_tables(strategy, layout, pattern);
  const auto route = make_route(strategy, layout, tables);
  auto schedule = make_schedule(*route, strategy.window, pattern, strategy.coalescing);
  auto view =
      view_schedule(std::move(pattern), layout, to_string(strategy), strategy.path, *route, std::move(schedule));
  view.positions = std::move(tables.positions);
  return view;
}

ExchangeView view_route(Pattern pattern, const Layout& layout, const Route& route, const std::string& name) {
  auto schedule = make_schedule(route, {}, pattern);
  return view_schedule(std::move(pattern), layout, name, {}, route, std::move(schedule));
}

Trace trace_view(const ExchangeView& view, const Machine& machine) {
  return trace_exchange(view.schedule, view.layout, machine, Usage::planned, view.path);
}

}  // namespace commpass
