// Protocols: ping-pongs, their segments, and the switches between them.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <utility>

#include "calibrate/calibration.hpp"
#include "calibrate/fit/fit.hpp"
#include "calibrate/fit/switches.hpp"
#include "model/median.hpp"

namespace commpass {

namespace {

struct PingPong {
  Level level{};
  Bytes bytes = 0;
  auto operator<=>(const PingPong&) const = default;
};
using PingPongs = std::map<PingPong, Series>;

Seconds time_ping_pong(Calibration& calibration, const PingPong& what, int round, int repetitions) {
  // Pairs take turns, so that the result does not depend on a single core.
  constexpr std::size_t pairs_max = 4;
  const auto& pairs = calibration.pairs(what.level);
  const auto& [first, second] = pairs[at(round) % std::min(pairs.size(), pairs_max)];
  return calibration.bench.ping_pong(first, second, what.bytes, repetitions);
}

void time_ping_pongs(Calibration& calibration, PingPongs& ping_pongs, double share,
                     int rounds_max = std::numeric_limits<int>::max()) {
  calibration.sampler.sample_all(
      ping_pongs, share,
      [&](const PingPong& what, int round, int repetitions) {
        return time_ping_pong(calibration, what, round, repetitions);
      },
      rounds_max);
}

/// Log-uniform sizes, one drawn from each of `bins` bins, and the ends.
std::vector<Bytes> draw_sizes(Bytes largest) {
  constexpr int bins = 44;
  std::mt19937_64 random(1);
  const double logarithm = std::log(static_cast<double>(largest));
  std::vector<Bytes> sizes{1, largest};
  for (int bin = 0; bin < bins; ++bin)
    sizes.push_back(std::llround(std::exp(logarithm * (bin + uniform(random)) / bins)));
  return sizes;
}

std::vector<SizePoint> points_of(const PingPongs& ping_pongs, Level level) {
  std::vector<SizePoint> result;
  for (const auto& [what, series] : ping_pongs)
    if (what.level == level) result.push_back({what.bytes, series.time()});
  return result;
}

/// Bisects between the last size of a segment and the first of the next.
void narrow_switch(Calibration& calibration, PingPongs& ping_pongs, Level level, std::vector<Segment>& segments,
                   std::size_t index) {
  Bytes low = segments[index].max_bytes, high = calibration.options.largest_bytes;
  for (const auto& point : points_of(ping_pongs, level))
    if (point.bytes > low) high = std::min(high, point.bytes);
  const double share = switch_share.of(level, calibration.levels).end;
  constexpr double distinguishable_ratio = 0.03;
  constexpr int samples = 5;
  segments[index].max_bytes = bisect(low, high, [&](Bytes bytes) {
    const double before = segments[index].line.at(bytes), after = segments[index + 1].line.at(bytes);
    // If the lines hardly differ, or the share is spent, the largest size known to be below stays the limit.
    if (calibration.sampler.has_spent(share) || std::abs(after / before - 1) < distinguishable_ratio) return true;
    auto& series = ping_pongs[{level, bytes}];
    for (int i = 0; i < samples; ++i)
      calibration.sampler.sample(series, [&](int repetitions) {
        return time_ping_pong(calibration, {level, bytes}, i, repetitions);
      });
    const double time = series.time();
    return std::abs(std::log(time / before)) > std::abs(std::log(time / after));
  });
}

/// Segments of the drawn sizes, and of further sizes beside unexplained ones.
std::vector<Segment> find_segments(Calibration& calibration, PingPongs& ping_pongs, Level level) {
  constexpr int rounds_max = 3;
  for (int round = 0;; ++round) {
    const auto points = points_of(ping_pongs, level);
    auto segments = fit_segments(points);
    PingPongs further;
    for (const Bytes size : sizes_beside_unexplained(points, segments)) further[{level, size}];
    const double end = switch_share.of(level, calibration.levels).middle();
    if (further.empty() || round == rounds_max || calibration.sampler.has_spent(end)) return segments;
    time_ping_pongs(calibration, further, end);
    ping_pongs.merge(further);
  }
}

/// Samples sizes until each has twice the largest number of samples.
/// @return was there time?
bool double_samples(Calibration& calibration, const std::vector<PingPongs::iterator>& sizes, double share) {
  std::size_t most = 0;
  for (const auto& size : sizes) most = std::max(most, size->second.samples.size());
  for (std::size_t number = 0; number < 2 * most; ++number)
    for (const auto& size : sizes) {
      auto& [what, series] = *size;
      if (series.samples.size() > number) continue;
      if (calibration.sampler.has_spent(share)) return false;
      calibration.sampler.sample(series, [&, what = what](int repetitions) {
        return time_ping_pong(calibration, what, static_cast<int>(number), repetitions);
      });
    }
  return true;
}

/// Samples segments again whose slope is not known to 1 %: the slope of a few small sizes is much less certain than
/// their times. Fits their lines and intervals again, and keeps their ends.
void sharpen_slopes(Calibration& calibration, PingPongs& ping_pongs, Level level, std::vector<Segment>& segments) {
  constexpr double slope_precision = 0.01;
  constexpr int rounds_max = 3;
  const double share = switch_share.of(level, calibration.levels).end;
  Bytes begin = 1;
  for (auto& segment : segments) {
    const Bytes first = std::exchange(begin, segment.max_bytes + 1);
    std::vector<PingPongs::iterator> sizes;
    for (auto size = ping_pongs.lower_bound({level, first});
         size != ping_pongs.end() && size->first <= PingPong{level, segment.max_bytes}; ++size)
      sizes.push_back(size);
    for (int round = 0; round < rounds_max; ++round) {
      if (segment.beta_interval.high - segment.beta_interval.low <= 2 * slope_precision * segment.line.beta_s_per_byte)
        break;
      if (!double_samples(calibration, sizes, share)) return;
      std::vector<SizePoint> points;
      for (const auto& size : sizes) points.push_back({size->first.bytes, size->second.time()});
      const Bytes last = segment.max_bytes;  // lies between the sizes
      segment = fit_segment(points);
      segment.max_bytes = last;
    }
  }
}

/// Segments and their ends. Sizes measured during a bisection may reveal another segment.
std::vector<Segment> find_switches(Calibration& calibration, PingPongs& ping_pongs, Level level) {
  constexpr int rounds_max = 3;
  const double share = switch_share.of(level, calibration.levels).end;
  for (int round = 1;; ++round) {
    auto segments = find_segments(calibration, ping_pongs, level);
    for (std::size_t i = 0; i + 1 < segments.size(); ++i) narrow_switch(calibration, ping_pongs, level, segments, i);
    if (round == rounds_max || calibration.sampler.has_spent(share) ||
        sizes_beside_unexplained(points_of(ping_pongs, level), segments).empty())
      return segments;
  }
}

void fit_protocols(Calibration& calibration, PingPongs& ping_pongs, Level level) {
  calibration.progress(fmt::format("switch points, {}", calibration.name_of(level)));
  auto segments = find_switches(calibration, ping_pongs, level);
  sharpen_slopes(calibration, ping_pongs, level, segments);
  auto& channel = calibration.machine.host.by_level[level].emplace();
  channel.protocols = protocols_of(points_of(ping_pongs, level), segments);
  for (std::size_t i = 0; i < segments.size(); ++i)
    calibration.provenance.fits.push_back({calibration.name_of(level), channel.protocols[i].name, segments[i]});
}

}  // namespace

void measure_protocols(Calibration& calibration) {
  calibration.progress("ping-pong");
  PingPongs ping_pongs;
  const auto sizes = draw_sizes(calibration.options.largest_bytes);
  const auto add_every = [&](std::size_t step) {
    for (const auto level : calibration.levels)
      for (std::size_t i = 0; i < sizes.size(); i += step) ping_pongs[{level, sizes[i]}];
  };
  // On an oversubscribed machine every sixth size may spend the share.
  constexpr std::size_t late_step = 6;
  add_every(late_step);
  time_ping_pongs(calibration, ping_pongs, ping_pong_share.end, 1);
  if (!calibration.sampler.is_late(ping_pong_share.end)) {
    add_every(1);
    time_ping_pongs(calibration, ping_pongs, ping_pong_share.end);
  }
  // Before bisections, whose sizes need not settle.
  auto& provenance = calibration.provenance;
  for (const auto& [what, series] : ping_pongs) provenance.ping_pong_unsettled += !series.settled();
  for (const auto level : calibration.levels) fit_protocols(calibration, ping_pongs, level);

  provenance.ping_pong_sizes = std::ssize(ping_pongs);
  for (const auto& [what, series] : ping_pongs)
    if (!series.samples.empty())
      provenance.messages.push_back(
          {calibration.name_of(what.level), what.bytes, series.time(), lower_quartile_interval(series.samples)});
  for (const auto& [what, series] : ping_pongs) provenance.ping_pong_outliers += count_outliers(series.samples);
}

void find_rendezvous(Calibration& calibration, Level level) {
  calibration.progress(fmt::format("rendezvous, {}", calibration.name_of(level)));
  const auto pair = calibration.pairs(level).front();
  const auto waits = [&](Bytes bytes) {
    constexpr Seconds late_s = 1e-3;
    constexpr int tries_max = 5;
    const int tries = calibration.sampler.is_late(switch_share.end) ? 1 : tries_max;
    std::vector<double> times;
    for (int i = 0; i < tries; ++i) {
      times.push_back(calibration.bench.early_send(pair.first, pair.second, bytes, late_s));
      calibration.sampler.check_time();
    }
    return median(std::move(times)) > late_s / 2;
  };
  const Bytes largest = calibration.options.largest_bytes;
  auto& from = calibration.channel(level).rendezvous_from_bytes;
  if (waits(largest)) from = waits(1) ? 0 : bisect(1, largest, waits) + 1;
  else
    calibration.not_measured(fmt::format("{}: a send of {} bytes does not wait for its receive",
                                         calibration.host_key(level, "rendezvous_from_bytes"), largest));
}

}  // namespace commpass
