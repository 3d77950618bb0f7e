#include "pictures/pictures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "pictures/axis.hpp"
#include "pictures/calibration_facts.hpp"
#include "pictures/svg.hpp"

namespace commpass {

namespace {

constexpr double bytes_min = 1, bytes_max = 16 << 20;

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

/// Was the time of a further message of a burst measured? Else it is that of a lone message.
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

/// The sizes of a protocol. At their ends a line bends or jumps.
struct ProtocolRange {
  const Protocol* protocol;
  double from, to;
};

/// The ranges of protocols within the drawn sizes.
std::vector<ProtocolRange> ranges_of(const Channel& channel) {
  std::vector<ProtocolRange> ranges;
  double from = bytes_min;
  for (const auto& protocol : channel.protocols) {
    const double to = std::min(static_cast<double>(protocol.max_bytes), bytes_max);
    if (to >= from) ranges.push_back({&protocol, from, to});
    from = std::max(from, static_cast<double>(protocol.max_bytes) + 1);
    if (from > bytes_max) break;
  }
  return ranges;
}

/// Sizes along the line of a protocol, which is a curve on logarithmic axes.
std::vector<double> sizes_in(double from, double to) {
  std::vector<double> sizes;
  constexpr double ratio = 1.26;
  for (double size = from; size < to; size = std::max(std::floor(size * ratio), size + 1)) sizes.push_back(size);
  sizes.push_back(to);
  return sizes;
}

/// Draws the area between the bounds of a line by its intervals.
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
        const double y = up.clamped(fit->alpha_s[bound] + fit->beta_s_per_byte[bound] * size);
        append(path, "{}{} {}", path.empty() ? "M" : " L", svg_number(across.at(size)), svg_number(y));
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

/// A measured message and the fitted line.
struct Residual {
  const TimedMessage* timed;
  const Line* line;
  double ratio() const { return timed->seconds / line->seconds(timed->bytes) - 1; }
};

/// Residuals of lone messages on the lines of the first machine.
std::vector<Residual> residuals_of(const std::vector<TimedMessage>& timed, const std::vector<Line>& lines) {
  std::vector<Residual> residuals;
  for (const auto& message : timed) {
    const auto line = std::ranges::find_if(
        lines, [&](const Line& l) { return !l.is_next && l.look.overlay == 0 && l.level_name == message.level; });
    if (line != lines.end() && message.bytes <= bytes_max && line->seconds(message.bytes) > 0)
      residuals.push_back({&message, &*line});
  }
  return residuals;
}

void draw_timed(Svg& svg, const Residual& residual, const Axis& across, const Axis& up) {
  const auto& timed = *residual.timed;
  const double x = across.at(timed.bytes);
  svg.line(x, up.clamped(timed.low_s), x, up.clamped(timed.high_s), "ink");
  constexpr double half_side = 2;
  svg.rect(x - half_side, up.clamped(timed.seconds) - half_side, 2 * half_side, 2 * half_side,
           fmt::format("f{}", residual.line->look.color),
           fmt::format("{}, {}: {} measured ({} to {}), {:+.1f} % of the line", residual.line->name,
                       print_bytes(static_cast<Bytes>(timed.bytes)), format_seconds(timed.seconds),
                       format_seconds(timed.low_s), format_seconds(timed.high_s), 100 * residual.ratio()));
}

Document numbers_of(const std::vector<Line>& lines, const std::vector<Residual>& residuals) {
  auto list = json_table("lines", "profile locality message protocols");
  auto measured = json_table("measured", "locality bytes seconds interval_s residual");
  auto points = csv_table("profile locality message bytes seconds");
  for (const auto& line : lines) {
    const auto* const message = line.is_next ? "further" : "lone";
    auto protocols = Json::array();
    for (const auto& protocol : line.channel->protocols) {
      protocols.push_back({{"name", protocol.name},
                           {"alpha_s", line.is_next ? protocol.alpha_next_s : protocol.alpha_s},
                           {"beta_s_per_byte", line.is_next ? protocol.beta_next() : protocol.beta_s_per_byte}});
      if (protocol.max_bytes < std::numeric_limits<Bytes>::max()) protocols.back()["max_bytes"] = protocol.max_bytes;
    }
    list.add({line.machine, line.level_name, message, protocols});
    for (const auto& range : ranges_of(*line.channel))
      for (const auto size : sizes_in(range.from, range.to))
        points.add({line.machine, line.level_name, message, size, line.seconds(size)});
  }
  for (const auto& residual : residuals) {
    const auto& timed = *residual.timed;
    const auto bytes = timed.bytes, seconds = timed.seconds;
    measured.add({timed.level, bytes, seconds, {{timed.low_s, timed.high_s}, ""}, residual.ratio()});
    points.add({residual.line->machine, timed.level, "measured", bytes, seconds});
  }
  Document numbers;
  numbers.fact("schema_version", 1);
  numbers.add(std::move(list));
  if (!residuals.empty()) numbers.add(std::move(measured));
  numbers.add(std::move(points));
  return numbers;
}

}  // namespace

Picture draw_message_times(const Profile& profile, const Profile* other, const Frame& frame) {
  const auto& machine = profile.machine;
  auto lines = lines_of(machine, false);
  if (other)
    for (auto& line : lines_of(other->machine, true)) lines.push_back(std::move(line));
  if (lines.empty())
    throw InputError("profile " + machine.name, "it has no messages in host memory", "use another profile");
  ValueRange times;
  for (const auto& line : lines)
    for (const auto& range : ranges_of(*line.channel))
      for (const auto size : {range.from, range.to})
        if (line.seconds(size) > 0) times.add(line.seconds(size));
  const auto timed = timed_messages(profile);
  const auto residuals = residuals_of(timed, lines);
  for (const auto& residual : residuals) times.add(residual.timed->seconds);
  times.min = std::min(times.min, times.max);
  constexpr double left = 84, right = 24, height = 380;
  const double width = frame.width - left - right;
  const auto title = "What messages cost: " + machine.name + (other ? " and " + other->machine.name : "");
  std::string listed;
  for (const auto& line : lines)
    append(listed, " {} ({}): {} for a byte, {} for 1 MiB.", line.name, line.machine, format_seconds(line.seconds(1)),
           format_seconds(line.seconds(1 << 20)));
  Svg svg(frame, title, "The time of a message over its size, as the profile's fitted lines say." + listed);
  std::string words =
      "Fitted lines of a lone message; dotted: what one more message of a burst costs its sender. Marks: from here on "
      "MPI uses another protocol. Bands, where the profile has them: what the fits leave open.";
  if (!residuals.empty()) words += " Squares: measured, with intervals.";
  double top = svg.head(words);
  Legend legend;
  for (const auto& line : lines) legend.emplace_back(line.look, other ? line.machine + " " + line.name : line.name);
  top = svg.legend(left, top, width, legend, true) + 6;
  const Axis across{Scale::log2, bytes_min, bytes_max, left, left + width};
  constexpr double margin = 1.3;
  const Axis up{Scale::log10, times.min / margin, times.max * margin, top + height, top};
  draw_left_axis(svg, up, left, left + width, time_label, 9);
  draw_bottom_axis(
      svg, across, top + height, top, "bytes of a message",
      [](double v) { return print_bytes(static_cast<Bytes>(v + 0.5)); }, frame.ticks(13));
  const auto fits = fitted_intervals(profile);
  for (const auto& line : lines)
    if (line.machine == machine.name && !line.is_next && line.look.overlay == 0)
      draw_bands(svg, line, fits, across, up);
  for (const auto& line : lines) {
    for (const auto& range : ranges_of(*line.channel)) {
      std::vector<std::pair<double, double>> points;
      for (const auto size : sizes_in(range.from, range.to))
        points.emplace_back(across.at(size), up.at(std::max(line.seconds(size), times.min)));
      svg.curve(points, line.look);
      if (!line.is_next)
        svg.point(points.front().first, points.front().second, line.look,
                  fmt::format("{}, {}: {} from {} on", line.machine, line.name, range.protocol->name,
                              print_bytes(static_cast<Bytes>(range.from))));
    }
  }
  for (const auto& residual : residuals) draw_timed(svg, residual, across, up);
  return std::move(svg).finish(top + height + 48, numbers_of(lines, residuals));
}

}  // namespace commpass
