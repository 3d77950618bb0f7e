#include "preload/gathered_record.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "preload/call_site.hpp"
#include "preload/message_log.hpp"
#include "preload/packed_values.hpp"

namespace commpass {

namespace {

constexpr std::int64_t recurring_phases_min = 2;

struct PlaceNumbers {
  CountedCall call;
  std::int64_t calls;
  Bytes bytes;
  std::size_t partners;
  Seconds seconds;
};

struct PatternNumbers {
  std::size_t place;
  std::int64_t phases, blocks;
  Bytes bytes;
  Seconds seconds;
  bool has_partners;
  OverTime over_time;
};

PackedValues pack_messages(MessageLog* log) {
  PackedValues values;
  if (!log) {
    values.put(std::size_t{0});
    values.put(std::size_t{0});
    return values;
  }
  log->clock().measure();
  values.put(log->places().size());
  for (const auto& place : log->places()) {
    values.put_text(place.site ? describe_site(place.site) : "many places");
    values.put(
        PlaceNumbers{place.call, place.calls, place.bytes, place.partners.size(), log->clock().duration(place.ticks)});
  }
  values.put(log->patterns().size());
  for (const auto& pattern : log->patterns()) {
    values.put(PatternNumbers{pattern.place, pattern.phases, pattern.blocks, pattern.bytes, pattern.seconds,
                              pattern.has_partners, pattern.over_time});
    values.put_list(std::span(pattern.sends));
  }
  return values;
}

/// Adds up what the ranks tell. Ranks meet their phases in one order, so those of one place are told apart by that.
class MessageSums {
 public:
  void open(Rank rank, PackedValues& values) {
    std::vector<std::pair<std::string, CountedCall>> places(values.get<std::size_t>());
    for (auto& [site, call] : places) {
      site = values.get_text();
      const auto numbers = values.get<PlaceNumbers>();
      call = numbers.call;
      add_place(site, numbers);
    }
    std::map<std::size_t, int> patterns_of_place;
    for (auto count = values.get<std::size_t>(); count > 0; --count) {
      const auto numbers = values.get<PatternNumbers>();
      const auto sends = values.get_list<Edge>();
      const auto& [site, call] = places[numbers.place];
      // Those without partners come last, as one.
      const int order = numbers.has_partners ? patterns_of_place[numbers.place]++ : -1;
      if (numbers.phases >= recurring_phases_min && numbers.blocks > 0)
        add_phases(rank, {site, call, order}, numbers, sends);
    }
  }

  GatheredMessages sums() && {
    GatheredMessages result;
    for (auto& [key, place] : places_) result.places.push_back(std::move(place));
    std::ranges::stable_sort(result.places, [](const CountedMessages& a, const CountedMessages& b) {
      return std::tie(a.in_call_s, a.bytes) > std::tie(b.in_call_s, b.bytes);
    });
    for (auto& [key, phases] : phases_) {
      auto& exchange = phases.exchange;
      exchange.in_call_s /= std::max(phases.ranks, 1);
      if (phases.has_varying) exchange.edges.clear();
      std::ranges::stable_sort(exchange.edges, {}, &Edge::source);
      result.phases.push_back(std::move(exchange));
    }
    std::ranges::stable_sort(result.phases, std::greater(), &RecordedExchange::exchange_s);
    return result;
  }

 private:
  using PhaseKey = std::tuple<std::string, CountedCall, int>;
  struct Phases {
    RecordedExchange exchange;
    int ranks = 0;
    bool has_varying = false;
  };

  void add_place(const std::string& site, const PlaceNumbers& numbers) {
    auto& sum = places_[{site, numbers.call}];
    sum.call = counted_call_names[static_cast<std::size_t>(numbers.call)];
    sum.site = site;
    ++sum.ranks;
    sum.calls += numbers.calls;
    sum.bytes += numbers.bytes;
    sum.partners = std::max(sum.partners, static_cast<int>(numbers.partners));
    if (is_timed(numbers.call)) sum.in_call_s = std::max(sum.in_call_s, numbers.seconds);
  }

  void add_phases(Rank rank, const PhaseKey& key, const PatternNumbers& numbers, const std::vector<Edge>& sends) {
    auto& phases = phases_[key];
    auto& exchange = phases.exchange;
    exchange.call = counted_call_names[static_cast<std::size_t>(std::get<CountedCall>(key))];
    exchange.site = std::get<std::string>(key);
    exchange.is_by_clock = false;
    // The rank with the most phases tells their time; of several the one that waited least.
    if (numbers.phases > exchange.calls ||
        (numbers.phases == exchange.calls && numbers.seconds < exchange.exchange_s)) {
      exchange.exchange_s = numbers.seconds;
      exchange.over_time = numbers.over_time;
    }
    exchange.calls = std::max(exchange.calls, numbers.phases);
    exchange.in_call_s += numbers.seconds;
    exchange.bytes += numbers.bytes;
    exchange.blocks += numbers.blocks;
    ++phases.ranks;
    phases.has_varying = phases.has_varying || !numbers.has_partners;
    for (const auto& send : sends)
      if (send.bytes > 0) exchange.edges.push_back({rank, send.destination, send.bytes / numbers.phases});
  }

  std::map<std::pair<std::string, CountedCall>, CountedMessages> places_ = {};
  std::map<PhaseKey, Phases> phases_ = {};
};

}  // namespace

GatheredMessages gather_messages(MPI_Comm comm) {
  auto* const log = end_counting_messages();
  MessageSums sums;
  gather(
      comm, [&] { return pack_messages(log); }, [&](int from, PackedValues values) { sums.open(from, values); });
  auto result = std::move(sums).sums();
  if (log) result.counting_s = measure_counting();
  return result;
}

void add_messages(GatheredMessages messages, Record& record) {
  record.messages = std::move(messages.places);
  record.counting_s = messages.counting_s;
  if (messages.phases.empty()) return;
  std::vector<Rank> world(static_cast<std::size_t>(record.ranks()));
  std::iota(world.begin(), world.end(), 0);
  const auto known = std::ranges::find(record.communicators, world);
  const auto communicator = static_cast<std::size_t>(known - record.communicators.begin());
  if (known == record.communicators.end()) record.communicators.push_back(world);
  std::size_t edges = 0;
  for (const auto& exchange : record.exchanges) edges += exchange.edges.size();
  for (auto& phases : messages.phases) {
    phases.communicator = communicator;
    edges += phases.edges.size();
    if (edges > recorded_edges_max) {
      edges -= phases.edges.size();
      phases.edges.clear();
    }
    record.exchanges.push_back(std::move(phases));
  }
}

}  // namespace commpass
