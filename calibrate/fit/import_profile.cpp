#include "calibrate/fit/import_profile.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <type_traits>

#include "calibrate/fit/fit.hpp"
#include "calibrate/fit/switches.hpp"
#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/named_parameters.hpp"
#include "model/machine/stand_ins.hpp"
#include "model/median.hpp"

namespace commpass {

namespace {

using Test = BenchmarkTime::Test;
using Memory = BenchmarkTime::Memory;

const char* name_of(Memory memory) { return memory == Memory::host ? "host" : "device"; }

/// The lower quartiles of times, by a key.
template <class KeyOf, class Wanted>
auto times_by(std::span<const BenchmarkTime> times, KeyOf key_of, Wanted is_wanted) {
  using Key = std::decay_t<std::invoke_result_t<KeyOf, const BenchmarkTime&>>;
  std::map<Key, std::vector<double>> samples;
  for (const auto& time : times)
    if (is_wanted(time)) samples[std::invoke(key_of, time)].push_back(time.seconds);
  std::map<Key, Seconds> result;
  for (const auto& [key, sample] : samples) result[key] = lower_quartile(sample);
  return result;
}

std::vector<SizePoint> points_of(const std::map<Bytes, Seconds>& times) {
  std::vector<SizePoint> points;
  for (const auto& [bytes, seconds] : times) points.push_back({bytes, seconds});
  return points;
}

/// Rounds all parameters but integers: measurements are known to four digits. Below 1e-17 they are rounding errors.
void round_parameters(Machine& machine) {
  constexpr double rounds_to_0 = 1e-17;
  for (const auto& parameter : named_parameters(machine))
    if (const auto value = parameter.get(); !is_absent(value) && !parameter.parameter->is_integer()) {
      const double number = to_double(value);
      parameter.set(
          std::abs(number) < rounds_to_0 ? 0.0 : parse_number<double>(fmt::format("{:.4g}", number)).value_or(number));
    }
}

/// The slope of the time over the number of messages of one size, if it is positive.
std::optional<Seconds> step_of(const std::map<int, Seconds>& by_messages) {
  if (by_messages.size() < 2) return std::nullopt;
  double n = 0, sum_m = 0, sum_t = 0, sum_mm = 0, sum_mt = 0;
  for (const auto& [messages, seconds] : by_messages) {
    ++n;
    sum_m += messages;
    sum_t += seconds;
    sum_mm += static_cast<double>(messages) * messages;
    sum_mt += messages * seconds;
  }
  const double step = (n * sum_mt - sum_m * sum_t) / (n * sum_mm - sum_m * sum_m);
  return step > 0 ? std::optional(step) : std::nullopt;
}

/// Fits the machine of one import.
class Import {
 public:
  Import(std::span<const BenchmarkTime> times, const ImportedOrigin& origin)
      : times_(times), ways_(origin.pairs_in_step ? 1 : 2) {
    machine_.name = origin.name;
    machine_.levels = levels();
    for (const auto memory : {Memory::host, Memory::device}) {
      auto& channels = memory == Memory::host ? machine_.host : machine_.device;
      for (Level level = 0; level < machine_.levels.size(); ++level) fit_channel(channels, memory, level);
      for (Level level = 0; level < machine_.levels.size(); ++level) fit_sharing(channels, memory, level);
    }
    if (!machine_.host.has(machine_.outermost()))
      throw InputError(origin.files.empty() ? "import" : join(origin.files, ", "),
                       fmt::format("there are no ping-pongs of host memory of {} sizes between nodes", sizes_min),
                       fmt::format("give {}=FILE of a latency benchmark", machine_.name_of(machine_.outermost())));
    check_levels();
    fit_copies(Memory::to_host, machine_.device_to_host);
    fit_copies(Memory::to_device, machine_.host_to_device);
    round_parameters(machine_);
  }

  const Machine& machine() const { return machine_; }
  const std::vector<std::string>& fitted() const { return fitted_; }
  const std::vector<std::string>& left_out() const { return left_out_; }
  std::string assumed() const {
    return ways_ == 1 ? "pairs send in step: what they move together is the rate of one direction"
                      : "pairs do not keep in step: of what they move together each direction has half";
  }

 private:
  static constexpr std::size_t sizes_min = 4;
  static constexpr double sharing_slowdown_min = 1.25;  ///< of a message, if pairs share a rate
  static constexpr Bytes shared_bytes_min = 4096;       ///< smaller messages show latencies, not rates
  static constexpr Bytes latency_bytes_max = 64;        ///< larger messages of all pairs may show rates
  /// Of the best rate of all pairs, and of a lone pair's at that size: larger messages have other buffers, or tell
  /// nothing.
  static constexpr double collapsed_rate_ratio = 0.25, faster_rate_ratio = 1.5;
  /// As in the calibration. Larger messages show memory, and pages that were never written.
  static constexpr Bytes bytes_max = Bytes{4} << 20;

  /// The levels of the times, innermost first, with the node and the network.
  std::vector<MachineLevel> levels() const {
    std::set<std::string> named{node_level_name, "network"};
    for (const auto& time : times_)
      if (time.memory == Memory::host || time.memory == Memory::device) named.insert(time.level);
    std::vector<MachineLevel> result;
    for (const auto* name : imported_levels)
      if (named.erase(name) > 0) result.push_back({.name = name});
    if (!named.empty())
      throw InputError("import", fmt::format("there is no level '{}'", *named.begin()), imported_levels_remedy());
    return result;
  }

  bool is_of(const BenchmarkTime& time, Test test, Memory memory, Level level) const {
    return time.test == test && time.memory == memory && time.level == machine_.levels[level].name &&
           time.bytes <= bytes_max;
  }

  /// Messages by size, of the greatest number of active pairs.
  std::map<Bytes, Seconds> all_pairs(Memory memory, Level level) const {
    int pairs_max = 2;
    for (const auto& time : times_)
      if (is_of(time, Test::many_pairs, memory, level)) pairs_max = std::max(pairs_max, time.pairs);
    return times_by(times_, &BenchmarkTime::bytes, [&](const auto& time) {
      return is_of(time, Test::many_pairs, memory, level) && time.pairs == pairs_max;
    });
  }

  /// Ping-pongs by size, as an exchange has them, whose ranks are all active.
  std::map<Bytes, Seconds> ping_pongs(Memory memory, Level level) const {
    auto result = lone_ping_pongs(memory, level);
    if (memory != Memory::host) return result;  // pairs of a device wait for one another
    const auto all = all_pairs(memory, level);
    // The pair of a ping-pong may be the one next to the network's interface. Others are farther away.
    Seconds farther_s = 0;
    for (auto& [bytes, seconds] : result) {
      if (const auto of_all = all.find(bytes); of_all != all.end() && bytes <= latency_bytes_max)
        farther_s = std::max(0.0, of_all->second - seconds);
      seconds += farther_s;
    }
    // The buffers of all levels within nodes are alike.
    if (level <= machine_.node_level())
      for (Level inner = 0; inner <= level; ++inner)
        result.erase(result.lower_bound(unwritten_from(inner)), result.end());
    return result;
  }

  /// The size from which on messages within nodes tell nothing, because their pages were never written: these are all
  /// the same one, which a lone pair has in its cache, and for which all pairs fight.
  Bytes unwritten_from(Level level) const {
    constexpr auto never = std::numeric_limits<Bytes>::max();
    const auto lone_pairs = lone_ping_pongs(Memory::host, level);
    const auto all = all_pairs(Memory::host, level);
    const auto rate = [](const auto& time) { return static_cast<double>(time.first) / time.second; };
    const auto best = std::ranges::max_element(all, {}, rate);
    const auto lone_best = best == all.end() ? lone_pairs.end() : lone_pairs.find(best->first);
    if (lone_best == lone_pairs.end()) return never;
    for (auto lone = std::next(lone_best); lone != lone_pairs.end(); ++lone)
      if (const auto of_all = all.find(lone->first); of_all != all.end() && lone->first >= shared_bytes_min &&
                                                     rate(*of_all) < collapsed_rate_ratio * rate(*best) &&
                                                     rate(*lone) > faster_rate_ratio * rate(*lone_best))
        return lone->first;
    return never;
  }

  std::map<Bytes, Seconds> lone_ping_pongs(Memory memory, Level level) const {
    auto result = times_by(times_, &BenchmarkTime::bytes,
                           [&](const auto& t) { return is_of(t, Test::ping_pong, memory, level); });
    if (result.size() >= sizes_min) return result;
    return times_by(times_, &BenchmarkTime::bytes, [&](const auto& t) {
      return is_of(t, Test::ping_pong, memory, level) || (is_of(t, Test::many_pairs, memory, level) && t.pairs == 1);
    });
  }

  /// The place of the first ping-pong of a level, for messages.
  std::string where_of(Memory memory, Level level) const {
    const auto found = std::ranges::find_if(
        times_, [&](const auto& time) { return is_of(time, Test::ping_pong, memory, level) && !time.where.empty(); });
    return found == times_.end() ? "import" : found->where;
  }

  /// Do times grow with bytes? Refuses those of host memory that do not. A library may stage device memory by means
  /// that take as long for all sizes: the others are of use.
  bool do_grow(const std::vector<SizePoint>& points, Memory memory, Level level) {
    constexpr Bytes bytes_min = Bytes{64} << 10;
    constexpr double growth_min = 1.2;
    const auto &first = points.front(), &last = points.back();
    if (last.bytes < bytes_min || last.seconds >= growth_min * first.seconds) return true;
    const auto what =
        fmt::format("messages of {} take {}, and those of {} no longer", format_bytes(static_cast<double>(first.bytes)),
                    format_seconds(first.seconds), format_bytes(static_cast<double>(last.bytes)));
    if (memory == Memory::host)
      throw InputError(where_of(memory, level), what, "give one-way times of single messages by their size");
    left_out_.push_back(fmt::format("{} device: {}", machine_.levels[level].name, what));
    return false;
  }

  /// Refuses levels within a node whose small messages are slower than those between nodes: medians of common sizes.
  void check_levels() const {
    constexpr Bytes small_bytes_max = 1024;
    constexpr double ratio_max = 1.3;
    const auto out = ping_pongs(Memory::host, machine_.outermost());
    for (Level level = 0; level <= machine_.node_level(); ++level) {
      std::vector<double> ratios;
      for (const auto& [bytes, seconds] : ping_pongs(Memory::host, level))
        if (const auto other = out.find(bytes); other != out.end() && bytes <= small_bytes_max)
          ratios.push_back(seconds / other->second);
      if (ratios.empty() || median(ratios) < ratio_max) continue;
      throw InputError(where_of(Memory::host, level),
                       fmt::format("small messages of the level {} take {:.1f} times as long as those of {}",
                                   machine_.name_of(level), median(ratios), machine_.name_of(machine_.outermost())),
                       "name the levels of the files the other way round, or leave this level out");
    }
  }

  void fit_channel(MemoryChannels& channels, Memory memory, Level level) {
    const auto points = points_of(ping_pongs(memory, level));
    if (points.size() < sizes_min || !do_grow(points, memory, level)) return;
    auto segments = fit_segments(points);
    auto& channel = channels.by_level[level].emplace();
    channel.protocols = protocols_of(points, segments);
    // Between nodes no message moves faster than a large one: the slope of a few small sizes is that of their errors.
    if (level > machine_.node_level())
      for (auto& protocol : channel.protocols)
        protocol.beta_s_per_byte = std::max(protocol.beta_s_per_byte, channel.protocols.back().beta_s_per_byte);
    std::vector<double> errors;
    for (const auto& segment : segments) errors.push_back(segment.median_relative_error);
    fitted_.push_back(fmt::format("{} {}: ping-pongs of {} sizes, median error {} at most", machine_.levels[level].name,
                                  name_of(memory), points.size(), format_share(std::ranges::max(errors))));
    fit_next_messages(channel, memory, level);
  }

  /// The time of a further message of a burst, by size.
  std::map<Bytes, Seconds> next_messages(Memory memory, Level level) const {
    const auto size_and_count = [](const BenchmarkTime& time) { return std::pair(time.bytes, time.messages); };
    for (const auto test : {Test::burst, Test::streams, Test::burst_one_peer}) {
      std::map<Bytes, Seconds> result;
      const auto is_wanted = [&](const auto& t) {
        return is_of(t, test, memory, level) && (test != Test::streams || t.pairs == 1);
      };
      std::map<Bytes, std::map<int, Seconds>> by_size;
      for (const auto& [key, seconds] : times_by(times_, size_and_count, is_wanted))
        by_size[key.first][key.second] = seconds;
      if (test == Test::streams) result = times_by(times_, &BenchmarkTime::bytes, is_wanted);
      else
        for (const auto& [bytes, by_messages] : by_size)
          if (const auto step = step_of(by_messages)) result.emplace(bytes, *step);
      if (!result.empty()) return result;
    }
    return {};
  }

  /// Fits further messages, which are never slower than lone ones.
  void fit_next_messages(Channel& channel, Memory memory, Level level) {
    const auto steps = next_messages(memory, level);
    if (steps.empty()) return;
    fitted_.push_back(fmt::format("{} {}: next message of a burst of {} size{}", machine_.levels[level].name,
                                  name_of(memory), steps.size(), steps.size() == 1 ? "" : "s"));
    Bytes first = 0;
    for (auto& protocol : channel.protocols) {
      std::vector<SizePoint> points;
      for (const auto& [bytes, step] : steps)
        if (bytes >= first && bytes <= protocol.max_bytes) points.push_back({bytes, step});
      first = protocol.max_bytes == std::numeric_limits<Bytes>::max() ? first : protocol.max_bytes + 1;
      if (points.empty()) continue;
      constexpr std::size_t enough_for_a_slope = 3;
      const auto line = points.size() >= enough_for_a_slope ? fit_line(points)
                                                            : Line{points.front().seconds, protocol.beta_s_per_byte};
      protocol.alpha_next_s = std::min(line.alpha_s, protocol.alpha_s);
      if (line.beta_s_per_byte != protocol.beta_s_per_byte)
        protocol.beta_next_s_per_byte = std::min(line.beta_s_per_byte, 2 * protocol.beta_s_per_byte);
    }
  }

  /// The largest rate, one way, at which all pairs together move messages of one size.
  /// @param is_whole_node  pairs all over the node, else in one instance of the level below
  /// @return infinity if pairs are as fast as one pair
  double shared_rate(Memory memory, Level level, bool is_whole_node) const {
    double largest = 0;
    bool is_reached = false;
    for (const auto test : {Test::many_pairs, Test::streams}) {
      std::map<Bytes, std::map<int, Seconds>> by_size;
      // A ping-pong stands in for a stream of one pair, which is not slower.
      for (const auto of : {Test::ping_pong, test})
        for (const auto& [key, seconds] : times_by(
                 times_, [](const BenchmarkTime& time) { return std::pair(time.bytes, time.pairs); },
                 [&](const auto& t) {
                   return is_of(t, of, memory, level) && t.bytes >= shared_bytes_min &&
                          (t.pairs == 1 || t.variant.starts_with("all-") == is_whole_node);
                 }))
          by_size[key.first][key.second] = seconds;
      const int ways = test == Test::many_pairs && level > machine_.node_level() ? ways_ : 1;
      // Small messages do not reach the rate, and large ones may leave the caches. The best size counts.
      for (const auto& [bytes, by_pairs] : by_size) {
        if (by_pairs.size() < 2 || by_pairs.begin()->first != 1) continue;
        const auto& [pairs, seconds] = *by_pairs.rbegin();
        const double rate = pairs * static_cast<double>(bytes) / seconds / ways;
        if (rate <= largest) continue;
        largest = rate;
        is_reached = seconds > sharing_slowdown_min * by_pairs.begin()->second;
      }
    }
    return is_reached ? largest : std::numeric_limits<double>::infinity();
  }

  void fit_sharing(MemoryChannels& channels, Memory memory, Level level) {
    if (!channels.find(level)) return;
    const auto node = machine_.node_level();
    const double rate = shared_rate(memory, level, false);
    if (level > node) {
      if (memory == Memory::host) machine_.levels[node].up_rate_bytes_per_s = rate;
      else if (channels.has(level)) channels.by_level[level]->aggregate_rate_bytes_per_s = rate;
      return;
    }
    if (channels.has(level)) channels.by_level[level]->aggregate_rate_bytes_per_s = rate;
    if (memory != Memory::host) return;
    auto& inside = machine_.levels[node].inside_rate_bytes_per_s;
    const double whole = shared_rate(memory, level, true);
    if (std::isfinite(whole)) inside = std::isfinite(inside) ? std::max(inside, whole) : whole;
  }

  void fit_copies(Memory way, std::vector<DeviceCopy>& copies) {
    // Copies of the nearest level that was measured.
    const auto* const nearest = std::ranges::find_if(imported_levels, [&](const auto* level) {
      return std::ranges::any_of(
          times_, [&](const auto& t) { return t.test == Test::copy && t.memory == way && t.level == level; });
    });
    if (nearest == std::end(imported_levels)) return;
    const auto processes_of = [](const BenchmarkTime& time) {
      constexpr std::string_view before = "per-gpu=";
      const auto at = time.variant.find(before);
      if (at == std::string::npos) return 1;
      return parse_number<int>(split(time.variant.substr(at + before.size()), ' ').front()).value_or(1);
    };
    std::map<int, std::map<Bytes, Seconds>> by_processes;
    for (const auto& [key, seconds] : times_by(
             times_, [&](const auto& t) { return std::pair(processes_of(t), t.bytes); },
             [&](const auto& t) { return t.test == Test::copy && t.memory == way && t.level == *nearest; }))
      by_processes[key.first][key.second * key.first] = seconds;
    for (const auto& [processes, by_bytes] : by_processes) {
      auto points = points_of(by_bytes);
      if (points.size() < sizes_min) continue;
      // Fewer bytes never take longer, since a copy of more bytes includes them.
      for (auto i = points.size() - 1; i-- > 0;) points[i].seconds = std::min(points[i].seconds, points[i + 1].seconds);
      const auto line = fit_line(points);
      copies.push_back({processes, line.alpha_s, line.beta_s_per_byte});
    }
    for (const auto& time : times_)
      if (time.test == Test::copy && time.pairs > 1 && time.pairs % processes_of(time) == 0)
        machine_.devices_per_node = std::max(machine_.devices_per_node.value_or(1), time.pairs / processes_of(time));
  }

  std::span<const BenchmarkTime> times_;
  int ways_;  ///< directions of a link between nodes that pairs keep busy at once
  Machine machine_;
  std::vector<std::string> fitted_, left_out_;
};

}  // namespace

Profile import_profile(std::span<const BenchmarkTime> times, const ImportedOrigin& origin) {
  const Import import(times, origin);
  Json provenance;
  const auto tell = [&](const char* key, const std::string& text) {
    if (!text.empty()) provenance[key] = text;
  };
  tell("source", origin.source);
  tell("site", origin.site);
  tell("machine", origin.machine);
  tell("processor", origin.processor);
  tell("network", origin.network);
  tell("mpi_library", origin.mpi_library);
  provenance["nodes"] = origin.nodes;
  if (origin.ranks_per_node > 0) provenance["ranks_per_node"] = origin.ranks_per_node;
  tell("note", origin.note);
  provenance["imported"] = origin.files;
  provenance["measured"] = import.fitted();
  if (!import.left_out().empty()) provenance["left_out"] = import.left_out();
  provenance["assumed"] = import.assumed();
  Profile profile;
  profile.machine = import.machine();
  profile.provenance_json = provenance.dump();
  return parse_profile(to_json(profile), "import");  // checks relations between parameters
}

ExchangeFit correct_by_exchanges(Profile& profile, const ImportedExchanges& exchanges) {
  const auto files = join(exchanges.files, ", ");
  std::set<std::string> machines;
  for (const auto& time : exchanges.times) machines.insert(time.of.machine);
  if (machines.size() > 1)
    throw InputError(files, fmt::format("the exchanges are of several machines: {}", join(machines, ", ")),
                     "give the rows of one machine");
  auto& machine = profile.machine;
  const auto is_known = [&](Level level) { return machine.host.has(level); };
  int levels_within = 0;
  for (Level level = 0; level <= machine.node_level(); ++level) levels_within += is_known(level);
  auto fit = fit_exchanges(machine, exchanges.times, exchanges.sockets.value_or(levels_within > 1 ? 2 : 1), files);
  const auto digits = [](double value) { return parse_number<double>(fmt::format("{:.3g}", value)).value_or(value); };
  auto provenance = Json::parse(profile.provenance_json);
  auto& told = provenance["exchanges"];
  told = {{"imported", exchanges.files}, {"nodes", fit.nodes}, {"cases", fit.cases}, {"times", fit.times}};
  told[fit.is_held_out ? "median_factor_held_out" : "median_factor_of_the_fit"] = {
      {"before", digits(fit.before)}, {"after", digits(std::min(fit.before, fit.after))}};
  if (!fit.left_out.empty()) told["left_out"] = fit.left_out;
  if (fit.is_better()) {
    told["corrected"] = fit.corrected;
    if (const auto stand_ins = with_stand_ins(machine).stand_ins; !stand_ins.empty()) told["started_from"] = stand_ins;
    machine = fit.machine;
    machine.stand_ins.clear();
    round_parameters(machine);
  }
  profile.provenance_json = provenance.dump();
  profile = parse_profile(to_json(profile), "import");
  return fit;
}

}  // namespace commpass
