#include "calibrate/calibrate.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <thread>

#include "calibrate/fit.hpp"
#include "calibrate/timing.hpp"
#include "model/error.hpp"
#include "model/text.hpp"
#include "runtime/agreement.hpp"
#include "runtime/mpi_library.hpp"
#include "runtime/mpi_error.hpp"

namespace commpass {

namespace {

using Json = nlohmann::ordered_json;

/// Two ranks of one locality.
struct Pair {
  Rank first = 0, second = 0;
};

/// Pairs of a locality whose ranks are all different, so that they can be active at once; those between the first two
/// nodes, or within the first node (or the socket of its first rank). The pair of the lowest ranks comes first.
std::vector<Pair> disjoint_pairs(const Layout& layout, Locality locality) {
  std::vector<Pair> pairs;
  if (locality == Locality::network) {
    if (layout.nodes() < 2) return pairs;
    // The two largest nodes carry most pairs.
    std::vector<int> nodes(static_cast<std::size_t>(layout.nodes()));
    for (int n = 0; n < layout.nodes(); ++n) nodes[static_cast<std::size_t>(n)] = n;
    std::ranges::stable_sort(nodes, std::greater{}, [&](int n) { return layout.ppn(n); });
    const auto here = layout.ranks_of(nodes[0]), there = layout.ranks_of(nodes[1]);
    for (std::size_t i = 0; i < std::min(here.size(), there.size()); ++i) pairs.push_back({here[i], there[i]});
    return pairs;
  }
  for (int node = 0; node < layout.nodes(); ++node) {
    const auto ranks = layout.ranks_of(node);
    std::vector<bool> used(ranks.size(), false);
    std::optional<int> socket;  // pairs on one socket, to see what it shares
    std::vector<Pair> found;
    for (std::size_t i = 0; i < ranks.size(); ++i)
      for (std::size_t j = i + 1; j < ranks.size() && !used[i]; ++j) {
        if (used[j] || layout.locality(ranks[i], ranks[j]) != locality) continue;
        if (locality == Locality::socket && socket && *socket != layout.socket(ranks[i])) continue;
        socket = layout.socket(ranks[i]);
        used[i] = used[j] = true;
        found.push_back({ranks[i], ranks[j]});
      }
    if (found.size() > pairs.size()) pairs = std::move(found);
  }
  return pairs;
}

/// All samples of one thing that is timed.
struct Series {
  std::vector<double> samples;
  int repetitions = 1;
  double middle() const { return median(samples); }
  bool settled() const {
    constexpr std::size_t least = 9;
    constexpr double precision = 0.03;
    if (samples.size() < least) return false;
    const auto interval = median_interval(samples);
    return interval.high - interval.low <= precision * middle();
  }
};

class Calibration {
 public:
  Calibration(MPI_Comm comm, const Layout& layout, const CalibrationOptions& options)
      : layout_(layout), options_(options), bench_(comm, options.largest_bytes), begin_(MPI_Wtime()) {
    COMMPASS_MPI_CALL(MPI_Comm_rank, comm, &rank_);
    for (const auto locality : {Locality::socket, Locality::node, Locality::network}) pairs_[static_cast<std::size_t>(locality)] = disjoint_pairs(layout, locality);
  }

  Profile run() {
    measure_ping_pongs();
    for (const auto locality : {Locality::socket, Locality::node, Locality::network}) {
      if (pairs(locality).empty()) {
        missing(fmt::format("host.{}: no two ranks of this layout are so related", name_of(locality)));
        continue;
      }
      fit_protocols(locality);
      find_rendezvous(locality);
      measure_bursts(locality);
      measure_receiving(locality);
      measure_sharing(locality);
    }
    missing("ejection: a node that many nodes send to is not measured yet");
    measure_copies();
    measure_operations();
    missing("operations.put_s, fence_s, window_s: not measured yet");
    return finish();
  }

 private:
  // Shares of the budget at which each part ends.
  static constexpr double ping_pong_share = 0.55, refine_share = 0.65, burst_share = 0.75, receive_share = 0.85, sharing_share = 0.95;

  const std::vector<Pair>& pairs(Locality locality) const { return pairs_[static_cast<std::size_t>(locality)]; }
  double spent() const { return (MPI_Wtime() - begin_) / options_.budget_s; }
  /// Has the budget's share been spent? Rank 0's clock decides for all.
  bool spent_share(double share) const {
    int over = spent() >= share;
    COMMPASS_MPI_CALL(MPI_Bcast, &over, 1, MPI_INT, 0, bench_.comm());
    return over != 0;
  }
  void progress(const std::string& what) const {
    if (rank_ == 0 && options_.progress) options_.progress(what, spent());
  }
  void missing(const std::string& what) { missing_.push_back(what); }

  /// One sample; the first use of a series finds how many repetitions make a sample long enough for the clock.
  template <class Time>
  void sample(Series& series, Time time) {
    if (series.samples.empty()) {
      constexpr Seconds sample_s = 1e-4;
      constexpr int most = 200;
      time(1);  // warm-up: first use of a path is slow
      const Seconds once = std::max(time(2), 1e-9);
      series.repetitions = static_cast<int>(std::clamp(sample_s / once, 1.0, static_cast<double>(most)));
    }
    series.samples.push_back(time(series.repetitions));
    ++samples_;
  }

  /// Samples all series in shuffled rounds until each is settled or the share of the budget is spent.
  template <class Key, class Time>
  void sample_all(std::map<Key, Series>& all, double share, Time time) {
    std::vector<Key> keys;
    for (const auto& [key, series] : all) keys.push_back(key);
    constexpr int least_rounds = 3;
    for (int round = 0;; ++round) {
      std::shuffle(keys.begin(), keys.end(), random_);
      bool all_settled = true;
      for (const auto& key : keys) {
        auto& series = all.at(key);
        if (series.settled()) continue;
        all_settled = false;
        sample(series, [&](int repetitions) { return time(key, round, repetitions); });
        if (round >= least_rounds && spent_share(share)) return;
      }
      if (all_settled) return;
    }
  }

  struct PingPongKey {
    Locality locality;
    Bytes bytes;
    auto operator<=>(const PingPongKey&) const = default;
  };

  Seconds ping_pong(const PingPongKey& key, int round, int repetitions) {
    // Different pairs in turn: no single core decides.
    const auto& choice = pairs(key.locality)[static_cast<std::size_t>(round) % std::min<std::size_t>(pairs(key.locality).size(), 4)];
    return bench_.ping_pong(choice.first, choice.second, key.bytes, repetitions);
  }

  void measure_ping_pongs() {
    progress("ping-pong");
    // Log-uniform sizes, one drawn from each of `bins` bins, and the ends.
    constexpr int bins = 44;
    const double logarithm = std::log(static_cast<double>(options_.largest_bytes));
    std::vector<Bytes> sizes{1, options_.largest_bytes};
    for (int bin = 0; bin < bins; ++bin) {
      const double fraction = static_cast<double>(random_() >> 11) * 0x1p-53;
      sizes.push_back(std::llround(std::exp(logarithm * (bin + fraction) / bins)));
    }
    for (const auto locality : {Locality::socket, Locality::node, Locality::network})
      for (const Bytes size : sizes)
        if (!pairs(locality).empty()) ping_pongs_[{locality, size}];
    sample_all(ping_pongs_, ping_pong_share, [&](const auto& key, int round, int repetitions) { return ping_pong(key, round, repetitions); });
  }

  std::vector<SizePoint> points(Locality locality) const {
    std::vector<SizePoint> result;
    for (const auto& [key, series] : ping_pongs_)
      if (key.locality == locality) result.push_back({key.bytes, series.middle()});
    return result;
  }

  void fit_protocols(Locality locality) {
    progress(fmt::format("switch points, {}", name_of(locality)));
    auto segments = fit_segments(points(locality));
    for (std::size_t i = 0; i + 1 < segments.size(); ++i) narrow_switch(locality, segments, i);
    auto& fitted = machine_.host.by_locality[static_cast<std::size_t>(locality)].emplace();
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const auto& s = segments[i];
      Protocol protocol{protocol_name(i, segments.size()), s.max_bytes, s.line.alpha_s, s.line.beta_s_per_byte, s.line.alpha_s};
      if (i + 1 == segments.size()) protocol.max_bytes = std::numeric_limits<Bytes>::max();
      fits_.push_back({{"locality", name_of(locality)},
                       {"protocol", protocol.name},
                       {"sizes", s.sizes},
                       {"median_relative_error", s.median_relative_error},
                       {"alpha_interval_s", {s.alpha_interval.low, s.alpha_interval.high}},
                       {"beta_interval_s_per_byte", {s.beta_interval.low, s.beta_interval.high}}});
      fitted.protocols.push_back(std::move(protocol));
    }
  }

  static std::string protocol_name(std::size_t index, std::size_t count) {
    if (count == 1) return "eager";
    if (index + 1 == count) return "rendezvous";
    if (count == 2) return "eager";
    if (index == 0) return "short";
    return index == 1 ? "eager" : fmt::format("eager-{}", index);
  }

  /// The number between two others (exclusive) that is a multiple of the largest power of two.
  static Bytes roundest_between(Bytes low, Bytes high) {
    Bytes unit = 1;
    while ((low / (2 * unit) + 1) * 2 * unit < high) unit *= 2;
    return (low / unit + 1) * unit;
  }

  /// The largest size found below the switch, to 1/64. Asks at round numbers: libraries switch there, and applications send them.
  /// @param low, high  below and above it
  template <class IsAbove>
  static Bytes bisect(Bytes low, Bytes high, IsAbove is_above) {
    while (high - low > std::max<Bytes>(1, low / 64)) {
      const Bytes middle = roundest_between(low, high);
      (is_above(middle) ? high : low) = middle;
    }
    return low;
  }

  /// Bisects between the last size of a segment and the first of the next: on whose side are sizes between
  /// them?
  void narrow_switch(Locality locality, std::vector<Segment>& segments, std::size_t index) {
    Bytes low = segments[index].max_bytes, high = options_.largest_bytes;
    for (const auto& point : points(locality))
      if (point.bytes > low) high = std::min(high, point.bytes);
    constexpr double indistinguishable = 0.03;
    constexpr int samples = 9;
    segments[index].max_bytes = bisect(low, high, [&](Bytes bytes) {
      const double before = segments[index].line.at(bytes), after = segments[index + 1].line.at(bytes);
      // Where it makes no difference, and when the time is over, what is known to be below stays the limit.
      if (spent_share(refine_share) || std::abs(after / before - 1) < indistinguishable) return true;
      auto& series = ping_pongs_[{locality, bytes}];
      for (int i = 0; i < samples; ++i) sample(series, [&](int repetitions) { return ping_pong({locality, bytes}, i, repetitions); });
      const double time = series.middle();
      return std::abs(std::log(time / before)) > std::abs(std::log(time / after));
    });
  }

  /// From which size on does a send wait for its receive? Found by what a send does, not by what it costs.
  void find_rendezvous(Locality locality) {
    progress(fmt::format("rendezvous, {}", name_of(locality)));
    const auto pair = pairs(locality).front();
    const auto waits = [&](Bytes bytes) {
      constexpr Seconds late_s = 1e-3;
      constexpr int tries = 5;
      std::vector<double> times;
      for (int i = 0; i < tries; ++i) times.push_back(bench_.early_send(pair.first, pair.second, bytes, late_s));
      return median(std::move(times)) > late_s / 2;
    };
    auto& from = machine_.host.by_locality[static_cast<std::size_t>(locality)]->rendezvous_from_bytes;
    if (!waits(options_.largest_bytes)) {
      missing(fmt::format("host.{}.rendezvous_from_bytes: a send of {} bytes does not wait for its receive", name_of(locality), options_.largest_bytes));
    } else if (waits(1)) {
      from = 0;
    } else {
      from = bisect(1, options_.largest_bytes, waits) + 1;
    }
  }

  /// What is varied in bursts: the protocol, a small or a large message of it, and how many.
  struct BurstKey {
    std::size_t protocol;
    bool large;
    int messages;
    auto operator<=>(const BurstKey&) const = default;
  };

  Bytes size_of(const Channel& channel, const BurstKey& key) const {
    const Bytes least = key.protocol == 0 ? 1 : channel.protocols[key.protocol - 1].max_bytes + 1;
    constexpr Bytes apart = 16;
    const Bytes wanted = key.large ? apart * least : least + least / 4;  // away from the switch, where both may hold
    return std::min({channel.protocols[key.protocol].max_bytes, options_.largest_bytes, wanted});
  }

  /// Seconds of one more message: alpha + beta·s.
  struct Step {
    Line line;
    Seconds gamma_s = 0;
  };

  /// Fits the steps of all protocols of a locality from bursts that `time` runs.
  template <class Time>
  std::vector<Step> measure_steps(const Channel& channel, double share, double messages_at_once, Time time) {
    std::map<BurstKey, Series> bursts;
    constexpr std::array counts{1, 2, 4, 8, 16, 32};
    for (std::size_t i = 0; i < channel.protocols.size(); ++i)
      for (const bool large : {false, true})
        for (const int messages : counts) bursts[{i, large, messages}];
    sample_all(bursts, share, [&](const BurstKey& key, int, int repetitions) {
      return time(size_of(channel, key), key.messages, std::max(1, repetitions / key.messages));
    });
    std::vector<Step> steps;
    for (std::size_t i = 0; i < channel.protocols.size(); ++i) {
      std::array<BurstFit, 2> fits;
      for (const bool large : {false, true}) {
        std::vector<double> messages, seconds;
        for (const int count : counts) {
          messages.push_back(messages_at_once * count);
          seconds.push_back(bursts.at({i, large, count}).middle());
        }
        fits[large ? 1 : 0] = fit_burst(messages, seconds);
      }
      const auto small = static_cast<double>(size_of(channel, {i, false, 0})), large = static_cast<double>(size_of(channel, {i, true, 0}));
      auto& step = steps.emplace_back();
      if (large > small) step.line.beta_s_per_byte = std::max(0.0, (fits[1].step_s - fits[0].step_s) / (large - small));
      step.line.alpha_s = std::max(0.0, fits[0].step_s - step.line.beta_s_per_byte * small);
      step.gamma_s = std::min(fits[0].gamma_s, fits[1].gamma_s);  // the queue does not depend on the size
    }
    return steps;
  }

  static Seconds median_gamma(const std::vector<Step>& steps) {
    std::vector<double> gammas;
    for (const auto& step : steps) gammas.push_back(step.gamma_s);
    return median(gammas);
  }

  void measure_bursts(Locality locality) {
    progress(fmt::format("bursts, {}", name_of(locality)));
    auto& channel = *machine_.host.by_locality[static_cast<std::size_t>(locality)];
    // To several receivers, if there are, so that it is the sender's time that shows.
    const Rank sender = pairs(locality).front().first;
    const auto receivers = partners(sender, locality);
    const double share = refine_share + (burst_share - refine_share) * locality_fraction(locality);
    const auto steps = measure_steps(channel, share, 1, [&](Bytes bytes, int messages, int repetitions) {
      return bench_.burst(sender, receivers, bytes, messages, repetitions);
    });
    for (std::size_t i = 0; i < steps.size(); ++i) {
      channel.protocols[i].alpha_next_s = steps[i].line.alpha_s;
      channel.protocols[i].beta_next_s_per_byte = steps[i].line.beta_s_per_byte;
    }
    // Several receivers have short queues; then measure_receiving sees the growth.
    if (receivers.size() == 1) channel.gamma_s = median_gamma(steps);
  }

  /// Many ranks send to one: when they are more than it can take in, its time for each message shows. Where the receiver
  /// takes next to none, what is found is the senders' time, divided by their number: an upper bound.
  void measure_receiving(Locality locality) {
    progress(fmt::format("receiving, {}", name_of(locality)));
    auto& channel = *machine_.host.by_locality[static_cast<std::size_t>(locality)];
    const Rank receiver = pairs(locality).front().second;
    const auto senders = partners(receiver, locality);
    if (senders.size() < 2) {
      missing(fmt::format("host.{}.protocols: alpha_receive_s and beta_receive_s_per_byte need two senders to one receiver", name_of(locality)));
      return;
    }
    const double share = burst_share + (receive_share - burst_share) * locality_fraction(locality);
    const auto steps = measure_steps(channel, share, static_cast<double>(senders.size()), [&](Bytes bytes, int messages, int repetitions) {
      return bench_.fan_in(senders, receiver, bytes, messages, repetitions);
    });
    for (std::size_t i = 0; i < steps.size(); ++i) {
      channel.protocols[i].alpha_receive_s = steps[i].line.alpha_s;
      channel.protocols[i].beta_receive_s_per_byte = steps[i].line.beta_s_per_byte;
    }
    channel.gamma_s = median_gamma(steps);
  }

  /// Up to 16 ranks that are so related to `rank`.
  std::vector<Rank> partners(Rank rank, Locality locality) const {
    constexpr std::size_t most = 16;
    std::vector<Rank> result;
    for (Rank other = 0; other < layout_.ranks() && result.size() < most; ++other)
      if (other != rank && layout_.locality(other, rank) == locality) result.push_back(other);
    return result;
  }

  /// The part of a step that is due when this locality is done.
  double locality_fraction(Locality locality) const {
    double present = 0, done = 0;
    for (const auto l : {Locality::socket, Locality::node, Locality::network}) {
      if (pairs(l).empty()) continue;
      ++present;
      if (l <= locality) ++done;
    }
    return done / present;
  }

  void measure_sharing(Locality locality) {
    progress(fmt::format("sharing, {}", name_of(locality)));
    const auto what = locality == Locality::network ? std::string("injection") : fmt::format("host.{}.aggregate_rate_bytes_per_s", name_of(locality));
    const auto& all = pairs(locality);
    if (all.size() < 2) {
      missing(what + ": needs two disjoint pairs of ranks");
      return;
    }
    std::vector<int> counts;
    for (const int count : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128})
      if (count < std::ssize(all)) counts.push_back(count);
    counts.push_back(static_cast<int>(all.size()));
    const Bytes bytes = options_.largest_bytes / 4;
    std::map<int, Series> sweeps;
    for (const int count : counts) sweeps[count];
    const double share = receive_share + (sharing_share - receive_share) * locality_fraction(locality);
    sample_all(sweeps, share, [&](int count, int, int repetitions) {
      std::vector<Rank> senders, receivers;
      for (int i = 0; i < count; ++i) {
        senders.push_back(all[static_cast<std::size_t>(i)].first);
        receivers.push_back(all[static_cast<std::size_t>(i)].second);
      }
      constexpr int least = 4;  // so that ranks that leave the barrier late do not count
      return bench_.streams(senders, receivers, bytes, std::max(least, repetitions));
    });
    std::vector<double> seconds;
    for (const int count : counts) seconds.push_back(sweeps.at(count).middle());
    auto& channel = *machine_.host.by_locality[static_cast<std::size_t>(locality)];
    const double rate = fit_shared_rate(counts, seconds, bytes, channel.protocol(bytes).alpha_s);
    if (!std::isfinite(rate)) missing(fmt::format("{}: not reached by {} pairs", what, all.size()));
    (locality == Locality::network ? machine_.injection_rate_bytes_per_s : channel.aggregate_rate_bytes_per_s) = rate;
  }

  void measure_copies() {
    progress("local copies");
    std::map<Bytes, Series> copies;
    constexpr Bytes most = Bytes{1} << 20;
    for (Bytes size = 8; size <= std::min(most, options_.largest_bytes); size *= 4) copies[size];
    sample_all(copies, 1, [&](Bytes bytes, int, int repetitions) { return bench_.local_copy(bytes, repetitions); });
    std::vector<SizePoint> all;
    for (const auto& [bytes, series] : copies) all.push_back({bytes, series.middle()});
    const auto line = fit_line(all);
    machine_.copy_block_s = line.alpha_s;
    if (line.beta_s_per_byte > 0) machine_.copy_rate_bytes_per_s = 1 / line.beta_s_per_byte;
    else missing("local.copy_rate_bytes_per_s: copies take no measurable time");
  }

  void measure_operations() {
    progress("collectives and probes");
    enum class Operation { barrier, allreduce, probe };
    std::map<Operation, Series> operations{{Operation::barrier, {}}, {Operation::allreduce, {}}, {Operation::probe, {}}};
    sample_all(operations, 1, [&](Operation operation, int, int repetitions) {
      switch (operation) {
        case Operation::barrier: return bench_.barrier(repetitions);
        case Operation::allreduce: return bench_.allreduce(repetitions);
        case Operation::probe: return bench_.probe(repetitions);
      }
      return Seconds{0};
    });
    machine_.operations.barrier_s = operations[Operation::barrier].middle();
    machine_.operations.allreduce_s = operations[Operation::allreduce].middle();
    machine_.operations.probe_s = operations[Operation::probe].middle();
  }

  Profile finish() {
    Json provenance;
    provenance["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    provenance["mpi_library"] = mpi_library();
    provenance["layout"] = layout_.describe();
    provenance["hosts"] = "omitted";
    provenance["samples"] = samples_;
    provenance["elapsed_s"] = MPI_Wtime() - begin_;
    std::int64_t unsettled = 0, outliers = 0;
    for (const auto& [key, series] : ping_pongs_) {
      unsettled += !series.settled();
      outliers += count_outliers(series.samples);
    }
    provenance["ping_pong"] = {{"sizes", ping_pongs_.size()}, {"sizes_not_known_to_3_percent", unsettled}, {"outliers", outliers}};
    provenance["fits"] = fits_;
    provenance["not_measured"] = missing_;
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    if (layout_.ranks() > cores && cores > 0)
      provenance["warning"] = fmt::format("{} ranks on hosts with {} cores each: if they share a host, these are times of the scheduler", layout_.ranks(), cores);
    machine_.name = options_.name;
    Profile profile{machine_, provenance.dump()};
    // Rank 0's: dates and clocks differ.
    return parse_profile(broadcast(bench_.comm(), to_json(profile)), "calibration");
  }

  const Layout& layout_;
  const CalibrationOptions& options_;
  Bench bench_;
  double begin_;
  Rank rank_ = 0;
  std::mt19937_64 random_{1};
  std::array<std::vector<Pair>, locality_count> pairs_;
  std::map<PingPongKey, Series> ping_pongs_;
  std::int64_t samples_ = 0;
  Machine machine_;
  Json fits_ = Json::array();
  std::vector<std::string> missing_;
};

}  // namespace

Profile calibrate(MPI_Comm comm, const Layout& layout, const CalibrationOptions& options) {
  if (layout.ranks() < 2) throw InputError("calibrate", "it has one rank, and messages need two", "run 'mpirun -n 2 commpass calibrate …'");
  return Calibration(comm, layout, options).run();
}

}  // namespace commpass
