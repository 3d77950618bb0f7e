#include "pictures/message_times.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "pictures/axis.hpp"
#include "pictures/calibration_facts.hpp"
#include "pictures/svg.hpp"
#include "selector/report/forms.hpp"

namespace commpass {

namespace {

constexpr double least_bytes = 1, most_bytes_drawn = 16 << 20;

struct Line {
  std::string machine, name, level_name;
  Look look;
  bool is_next;  // a further message of a burst
  const Channel* channel;

  double seconds(double bytes) const {
    const auto& protocol = channel->protocol(static_cast<Bytes>(bytes));
    return is_next ? protocol.next_seconds(bytes) : protocol.alone_seconds(bytes);
  }
};

/// Where a further message of a burst costs as much as a lone one, nothing was measured that could be drawn.
bool has_next(const Channel& channel) {
  return std::ranges::any_of(channel.protocols,
                             [](const Protocol& p) { return p.alpha_next_s < p.alpha_s * (1 - 1e-9); });
}

std::vector<Line> lines_of(const Machine& machine, bool is_other) {
  constexpr int color_beyond_nodes = 1, first_color = 3;
  std::vector<Line> lines;
  for (Level level = 0; level <= machine.outermost(); ++level) {
    if (!machine.host.has(level)) continue;
    const auto* channel = machine.host.find(level);
    const bool is_outermost = level == machine.outermost();
    const auto name = is_outermost ? place_of(machine, level) : "within a " + machine.name_of(level);
    const int color = is_outermost ? color_beyond_nodes : first_color + level;
    lines.push_back({machine.name, name, machine.name_of(level), {color, is_other ? 1 : 0}, false, channel});
    if (!is_other && has_next(*channel))
      lines.push_back({machine.name, name + ", one more", machine.name_of(level), {color, 2}, true, channel});
  }
  return lines;
}

/// Sizes at which a line bends or jumps: the ends of a protocol's range.
struct ProtocolRange {
  const Protocol* protocol;
  double from, to;
};

/// Of the protocols that some message of those drawn takes.
std::vector<ProtocolRange> ranges_of(const Channel& channel) {
  std::vector<ProtocolRange> ranges;
  double from = least_bytes;
  for (const auto& protocol : channel.protocols) {
    const double to = std::min(static_cast<double>(protocol.max_bytes), most_bytes_drawn);
    if (to >= from) ranges.push_back({&protocol, from, to});
    from = std::max(from, static_cast<double>(protocol.max_bytes) + 1);
    if (from > most_bytes_drawn) break;
  }
  return ranges;
}

/// Points of a protocol's line: on logarithmic axes it is a curve.
std::vector<double> sizes_in(double from, double to) {
  std::vector<double> sizes;
  for (double size = from; size < to; size = std::max(std::floor(size * 1.26), size + 1)) sizes.push_back(size);
  sizes.push_back(to);
  return sizes;
}

/// Between the least and the most that a line may be by its intervals.
void draw_bands(Svg& svg, const Line& line, const std::vector<FittedInterval>& fits, const Axis& across,
                const Axis& up) {
  for (const auto& range : ranges_of(*line.channel)) {
    const auto fit = std::ranges::find_if(fits, [&](const FittedInterval& each) {
      return each.level == line.level_name && each.protocol == range.protocol->name;
    });
    if (fit == fits.end()) continue;
    auto sizes = sizes_in(range.from, range.to);
    std::string path;
    for (const int bound : {1, 0}) {
      for (const auto size : sizes) {
        const double seconds = std::clamp(fit->alpha_s[bound] + fit->beta_s_per_byte[bound] * size, up.first, up.last);
        path +=
            fmt::format("{}{} {}", path.empty() ? "M" : " L", svg_number(across.at(size)), svg_number(up.at(seconds)));
      }
      std::ranges::reverse(sizes);
    }
    svg.path(path + " Z", fmt::format("f{} band", line.look.color),
             fmt::format("{}, {}: alpha {} to {}, {} to {} a byte; median error {:.1f} %", line.name, fit->protocol,
                         format_seconds(fit->alpha_s[0]), format_seconds(fit->alpha_s[1]),
                         format_seconds(fit->beta_s_per_byte[0]), format_seconds(fit->beta_s_per_byte[1]),
                         100 * fit->median_relative_error));
  }
}

/// A message that was timed, and the line that was fitted to it and others.
struct Residual {
  const TimedMessage* timed;
  const Line* line;
  double part() const { return timed->seconds / line->seconds(timed->bytes) - 1; }
};

/// Of the lines of the machine itself, without those of further messages.
std::vector<Residual> residuals_of(const std::vector<TimedMessage>& timed, const std::vector<Line>& lines) {
  std::vector<Residual> residuals;
  for (const auto& message : timed) {
    const auto line = std::ranges::find_if(
        lines, [&](const Line& l) { return !l.is_next && l.look.overlay == 0 && l.level_name == message.level; });
    if (line != lines.end() && message.bytes <= most_bytes_drawn && line->seconds(message.bytes) > 0)
      residuals.push_back({&message, &*line});
  }
  return residuals;
}

void draw_timed(Svg& svg, const Residual& residual, const Axis& across, const Axis& up) {
  const auto& timed = *residual.timed;
  const auto clamped = [&](double seconds) { return up.at(std::clamp(seconds, up.first, up.last)); };
  const double x = across.at(timed.bytes);
  svg.line(x, clamped(timed.low_s), x, clamped(timed.high_s), "ink");
  constexpr double half = 2;
  svg.rect(x - half, clamped(timed.seconds) - half, 2 * half, 2 * half, fmt::format("f{}", residual.line->look.color),
           fmt::format("{}, {}: {} measured ({} to {}), {:+.1f} % of the line", residual.line->name,
                       print_bytes(static_cast<Bytes>(timed.bytes)), format_seconds(timed.seconds),
                       format_seconds(timed.low_s), format_seconds(timed.high_s), 100 * residual.part()));
}

std::string json_of(const std::vector<Line>& lines, const std::vector<Residual>& residuals) {
  Json json{{"schema_version", 1}, {"lines", Json::array()}};
  for (const auto& line : lines) {
    Json entry{
        {"profile", line.machine}, {"locality", line.level_name}, {"message", line.is_next ? "further" : "lone"}};
    for (const auto& protocol : line.channel->protocols) {
      Json of_protocol{{"name", protocol.name},
                       {"alpha_s", line.is_next ? protocol.alpha_next_s : protocol.alpha_s},
                       {"beta_s_per_byte", line.is_next ? protocol.beta_next() : protocol.beta_s_per_byte}};
      if (protocol.max_bytes < std::numeric_limits<Bytes>::max()) of_protocol["max_bytes"] = protocol.max_bytes;
      entry["protocols"].push_back(std::move(of_protocol));
    }
    json["lines"].push_back(std::move(entry));
  }
  if (!residuals.empty()) json["measured"] = Json::array();
  for (const auto& residual : residuals)
    json["measured"].push_back({{"locality", residual.timed->level},
                                {"bytes", residual.timed->bytes},
                                {"seconds", residual.timed->seconds},
                                {"interval_s", {residual.timed->low_s, residual.timed->high_s}},
                                {"residual", residual.part()}});
  return json_text(json, picture_indent);
}

std::string csv_of(const std::vector<Line>& lines, const std::vector<Residual>& residuals) {
  auto text = csv_line({"profile", "locality", "message", "bytes", "seconds"});
  for (const auto& line : lines)
    for (const auto& range : ranges_of(*line.channel))
      for (const auto size : sizes_in(range.from, range.to))
        text += csv_line({line.machine, line.level_name, line.is_next ? "further" : "lone", csv_number(size),
                          csv_number(line.seconds(size))});
  for (const auto& residual : residuals)
    text += csv_line({residual.line->machine, residual.timed->level, "measured", csv_number(residual.timed->bytes),
                      csv_number(residual.timed->seconds)});
  return text;
}

}  // namespace

Picture draw_message_times(const Profile& profile, const Profile* other, const std::string& id) {
  const auto& machine = profile.machine;
  auto lines = lines_of(machine, false);
  if (other)
    for (auto& line : lines_of(other->machine, true)) lines.push_back(std::move(line));
  if (lines.empty())
    throw InputError("profile " + machine.name, "it has no messages in host memory", "use another profile");
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const auto& line : lines)
    for (const auto& range : ranges_of(*line.channel))
      for (const auto size : {range.from, range.to}) {
        if (line.seconds(size) > 0) least = std::min(least, line.seconds(size));
        most = std::max(most, line.seconds(size));
      }
  const auto timed = timed_messages(profile);
  const auto residuals = residuals_of(timed, lines);
  for (const auto& residual : residuals) {
    least = std::min(least, residual.timed->seconds);
    most = std::max(most, residual.timed->seconds);
  }
  least = std::min(least, most);
  constexpr double width = 820, left = 84, right = 24, height = 380;
  const auto title = "What messages cost: " + machine.name + (other ? " and " + other->machine.name : "");
  std::string listed;
  for (const auto& line : lines)
    listed += fmt::format(" {} ({}): {} for a byte, {} for 1 MiB.", line.name, line.machine,
                          format_seconds(line.seconds(1)), format_seconds(line.seconds(1 << 20)));
  Svg svg(id, title, "The time of a message over its size, as the profile's fitted lines say." + listed, width);
  double top = svg.paragraph(
      16, svg.heading() + 6,
      std::string(
          "Fitted lines of a lone message; dotted: what one more message of a burst costs its sender. Marks: from "
          "here on MPI uses another protocol. Bands, where the profile has them: what the fits leave open.") +
          (residuals.empty() ? "" : " Squares: what was measured, and its interval."),
      width - 32, "dim", 12);
  std::vector<std::pair<Look, std::string>> legend;
  for (const auto& line : lines) legend.emplace_back(line.look, other ? line.machine + " " + line.name : line.name);
  top = svg.legend(left, top, width - left - right, legend, true) + 6;
  const Axis across{Scale::log2, least_bytes, most_bytes_drawn, left, width - right};
  constexpr double margin = 1.3;
  const Axis up{Scale::log10, least / margin, most * margin, top + height, top};
  draw_left_axis(
      svg, up, left, width - right, [](double s) { return format_seconds(s); }, 9);
  draw_bottom_axis(
      svg, across, top + height, top, "bytes of a message",
      [](double v) { return print_bytes(static_cast<Bytes>(v + 0.5)); }, 13);
  const auto fits = fitted_intervals(profile);
  for (const auto& line : lines)
    if (line.machine == machine.name && !line.is_next && line.look.overlay == 0)
      draw_bands(svg, line, fits, across, up);
  for (const auto& line : lines) {
    for (const auto& range : ranges_of(*line.channel)) {
      std::vector<std::pair<double, double>> points;
      for (const auto size : sizes_in(range.from, range.to))
        points.emplace_back(across.at(size), up.at(std::max(line.seconds(size), least)));
      svg.curve(points, line.look);
      if (!line.is_next)
        svg.point(points.front().first, points.front().second, line.look,
                  fmt::format("{}, {}: {} from {} on", line.machine, line.name, range.protocol->name,
                              print_bytes(static_cast<Bytes>(range.from))));
    }
  }
  for (const auto& residual : residuals) draw_timed(svg, residual, across, up);
  return std::move(svg).finish(top + height + 48, json_of(lines, residuals), csv_of(lines, residuals));
}

}  // namespace commpass
