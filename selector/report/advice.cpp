#include "selector/report/advice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "model/base/error.hpp"
#include "model/cost/plan_cost.hpp"
#include "model/route/catalogue.hpp"
#include "model/route/library_algorithm.hpp"
#include "selector/choose/alltoall_choice.hpp"
#include "selector/choose/baseline.hpp"
#include "selector/choose/library_price.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/profile_note.hpp"
#include "selector/choose/rivalry.hpp"
#include "selector/choose/select.hpp"
#include "selector/environment/interposed_call.hpp"

namespace commpass {

namespace {

/// Sums of times by rank, since communicators may share ranks.
class RankTimes {
 public:
  explicit RankTimes(const Record& record) : record_(record), of_rank_(static_cast<std::size_t>(record.ranks())) {}

  void add(const RecordedExchange& exchange, Seconds seconds) {
    for (const Rank rank : record_.communicators[exchange.communicator])
      of_rank_[static_cast<std::size_t>(rank)] += seconds;
  }
  Seconds max() const { return std::ranges::max(of_rank_); }
  void clear() { std::ranges::fill(of_rank_, 0); }

 private:
  const Record& record_;
  std::vector<Seconds> of_rank_;
};

/// PETSc's plug-in sends the messages of its star forests.
bool has_plug_in(const RecordedExchange& exchange) {
  return is_counted_call(exchange.call) && exchange.site.find("libpetsc") != std::string::npos;
}

/// Does a rank send two blocks to another one? An all-to-all has one block for each pair.
bool has_pair_twice(const RecordedExchange& exchange) {
  std::vector<std::pair<Rank, Rank>> pairs;
  for (const auto& edge : exchange.edges) pairs.emplace_back(edge.source, edge.destination);
  std::ranges::sort(pairs);
  return std::ranges::adjacent_find(pairs) != pairs.end();
}

bool can_be_taken_over(const RecordedExchange& exchange) {
  const auto call = find_interposed_call(exchange.call);
  return call && can_be_taken_over(*call) && !has_pair_twice(exchange);
}

/// The mean blocks of an exchange without edges: their number and size.
RandomPattern mean_of(const RecordedExchange& exchange, int ranks) {
  const auto calls = static_cast<double>(exchange.calls), blocks = static_cast<double>(exchange.blocks);
  if (!(blocks > 0)) return {0, 0, 0};
  const double pairs = static_cast<double>(ranks) * std::max(ranks - 1, 1);
  const double density = std::min(1.0, blocks / calls / pairs);
  return {density, density, static_cast<double>(exchange.bytes) / calls / (density * pairs)};
}

/// Predicted times of one call.
struct Price {
  Seconds library_s = 0;
  Seconds once_s = 0;                       ///< by the strategy chosen for unplanned calls, without trials
  Seconds planned_s = 0;                    ///< planned, without planning
  Seconds plan_s = 0;                       ///< planning, for each communicator
  Seconds once_choice_s = 0, choice_s = 0;  ///< choosing the strategy of unplanned and of planned calls
  std::string library = {}, once = {}, planned = {};
  Seconds trial_s = 0;  ///< agreement of the ranks after a call that ran both ways

  bool is_once_faster() const { return once != library && once_s < library_s; }
};

class ExchangePricer {
 public:
  ExchangePricer(const Record& record, const RecordedExchange& exchange, const Layout& run, const Machine& machine)
      : exchange_(exchange),
        layout_(layout_of_ranks(run, record.communicators[exchange.communicator])),
        machine_(machine) {
    // A quarter of a million edges. Beyond, equal blocks are priced in closed form.
    constexpr int pattern_ranks_max = 512;
    if (!exchange.equal_bytes || layout_.ranks() <= pattern_ranks_max) pattern_ = pattern_of(record, exchange);
    if (pattern_) pattern_->validate(exchange.call + " from " + exchange.site);
    if (exchange.equal_bytes) {
      blocks_ = {1, 1, static_cast<double>(*exchange.equal_bytes)};
      sizes_ = BlockSizes::equal;
    } else {
      blocks_ = pattern_ ? random_pattern(totals_of(*pattern_, layout_), layout_) : mean_of(exchange, layout_.ranks());
    }
    ranking_ = rank_one_shot(blocks_, layout_, machine_, CostModel::burst, {}, sizes_, RankingDepth::all,
                             offered_paths(DataPlace::host, layout_, machine_));
  }

  Price price() const {
    // Choosing takes 0.39 s for 1024 ranks with 50 messages each, 21 ms for 16384 in closed form (docs/benchmarks.md).
    constexpr Seconds choice_s_per_message = 8e-6, choice_s_per_rank = 1.3e-6;
    // Two barriers and two reductions of the times.
    constexpr int trial_collectives = 4;
    // MPI libraries send to neighbours directly.
    const auto library = baselines()[is_sent_directly(exchange_) ? 0 : 1].strategy;
    const auto chosen = as_run(ranking_.front());
    Price result{.library_s = seconds_of(library), .library = to_string(library), .once = to_string(chosen)};
    result.once_s = chosen == library ? result.library_s : seconds_of(chosen);
    result.once_choice_s = result.choice_s = choice_s_per_rank * layout_.ranks();
    result.trial_s = trial_collectives * small_collective_seconds(layout_, machine_);
    if (const auto planned = best_planned()) {
      result.planned_s = planned->cost.seconds;
      result.plan_s = planned->plan_seconds.value_or(0);
      if (pattern_) result.choice_s = choice_s_per_message * static_cast<double>(pattern_->edges.size());
      result.planned = to_string(as_run(*planned));
    }
    return result;
  }
  std::string note() const { return profile_note(machine_, layout_, CostModel::burst, ranking_); }

 private:
  /// The time of an unplanned call. Ranks choose its strategy by statistics; its price is that of the edges.
  Seconds seconds_of(const Strategy& strategy) const {
    const bool is_by_rules = strategy.route == "mpi" && !library_call(machine_.operations, Usage::once).call_s;
    if (!pattern_ || is_by_rules)
      return price_one_shot(strategy, blocks_, layout_, machine_, CostModel::burst, sizes_).cost.seconds;
    const auto route = make_route(strategy, layout_, *pattern_);
    auto schedule = make_schedule(*route, strategy.window, *pattern_, strategy.coalescing);
    set_window(*route, schedule, window_of(strategy, schedule));
    const auto seconds = evaluate(schedule, layout_, machine_, CostModel::burst, Usage::once).seconds;
    return sizes_ == BlockSizes::equal ? seconds : seconds + estimate_size_seconds(*route, layout_, machine_);
  }

  /// The window of a measured call of the MPI library is that of its algorithm, where that is known.
  Window window_of(const Strategy& strategy, const Schedule& schedule) const {
    if (strategy.route == "mpi" && has_known_rules(machine_.mpi_library)) {
      const auto algorithm = library_algorithm(library_exchange(blocks_, layout_, sizes_), layout_, machine_);
      if (algorithm.strategy.route == "standard") return algorithm.strategy.window;
    }
    return window_within(machine_.limits, schedule, layout_, strategy);
  }

  std::optional<Candidate> best_planned() const {
    constexpr Calls calls_max = 1e6;  // candidates have times of planning only with a number of calls
    if (pattern_)
      return rank_strategies(*pattern_, layout_, machine_, CostModel::burst, {}, calls_max, RankingDepth::cheapest)
          .front();
    if (exchange_.equal_bytes)
      return rank_alltoall(*exchange_.equal_bytes, layout_, machine_, CostModel::burst, {}, calls_max).front();
    return std::nullopt;
  }

  const RecordedExchange& exchange_;
  Layout layout_;
  const Machine& machine_;
  std::optional<Pattern> pattern_;
  RandomPattern blocks_;
  BlockSizes sizes_ = BlockSizes::told;
  std::vector<Candidate> ranking_;  ///< of strategies for an unplanned call
};

/// The inputs of the price of a call, which several communicators may share.
struct PriceKey {
  bool is_direct;
  std::optional<Bytes> equal_bytes;
  std::int64_t calls_if_mean, blocks_if_mean;
  Bytes bytes_if_mean;
  std::vector<std::array<int, 3>> places;  ///< group, node and socket of each rank
  std::span<const Edge> edges;

  bool operator==(const PriceKey& other) const {
    const auto numbers = [](const PriceKey& key) {
      return std::tie(key.is_direct, key.equal_bytes, key.calls_if_mean, key.blocks_if_mean, key.bytes_if_mean,
                      key.places);
    };
    return numbers(*this) == numbers(other) && std::ranges::equal(edges, other.edges);
  }
};

PriceKey key_of(const Record& record, const RecordedExchange& exchange, const Layout& run) {
  const std::int64_t if_mean = exchange.edges.empty() && !exchange.equal_bytes ? 1 : 0;
  PriceKey key{is_sent_directly(exchange),
               exchange.equal_bytes,
               if_mean * exchange.calls,
               if_mean * exchange.blocks,
               if_mean * exchange.bytes,
               {},
               exchange.edges};
  const auto layout = layout_of_ranks(run, record.communicators[exchange.communicator]);
  for (Rank rank = 0; rank < layout.ranks(); ++rank)
    key.places.push_back({layout.group(layout.node(rank)), layout.node(rank), layout.socket(rank)});
  return key;
}

/// Prices of exchanges; equal keys are priced once.
class KnownPrices {
 public:
  KnownPrices(const Record& record, const Layout& layout, const Machine& machine)
      : record_(record), layout_(layout), machine_(machine) {}

  Price of(const RecordedExchange& exchange) {
    auto key = key_of(record_, exchange, layout_);
    const auto found = std::ranges::find(known_, key, &std::pair<PriceKey, Price>::first);
    if (found != known_.end()) return found->second;
    const ExchangePricer pricer(record_, exchange, layout_, machine_);
    if (note_.empty()) note_ = pricer.note();
    known_.emplace_back(std::move(key), pricer.price());
    return known_.back().second;
  }
  const std::string& note() const { return note_; }

 private:
  const Record& record_;
  const Layout& layout_;
  const Machine& machine_;
  std::vector<std::pair<PriceKey, Price>> known_ = {};
  std::string note_ = {};
};

double number(std::int64_t count) { return static_cast<double>(count); }

/// The calls of one kind on one communicator: one Rivalry decides who runs them.
class TakenCalls {
 public:
  void add(const RecordedExchange& exchange, const Price& price) {
    calls_ += number(exchange.calls);
    handles_ = std::max(handles_, number(exchange.handles));
    library_s_ += number(exchange.calls) * price.library_s;
    once_s_ += number(exchange.calls) * price.once_s;
    trial_s_ = std::max(trial_s_, price.trial_s);
    is_faster_ = is_faster_ || price.is_once_faster();
  }

  /// The time of all calls of an added exchange.
  Seconds seconds_of(const RecordedExchange& exchange, const Price& price) const {
    const auto library_s = number(exchange.calls) * price.library_s;
    if (!is_faster_ || once_s_ >= library_s_) return library_s;
    const auto turns = turns_of(calls_ / handles_, {library_s_ / calls_, once_s_ / calls_, trial_s_});
    const auto all = turns.library + turns.ours + turns.both;
    const auto each_s = turns.opening_s / handles_ + turns.library * price.library_s + turns.ours * price.once_s +
                        turns.both * (price.library_s + price.once_s + price.trial_s);
    return number(exchange.calls) * each_s / all;
  }

 private:
  double calls_ = 0, handles_ = 1;
  Seconds library_s_ = 0, once_s_ = 0, trial_s_ = 0;
  bool is_faster_ = false;
};

/// The time of all calls of an exchange by the cheapest API call of Commpass.
struct ChangedSource {
  Seconds seconds;
  std::string strategy = {};  ///< empty: MPI's call stays
};

ChangedSource change_source(const RecordedExchange& exchange, const Price& price) {
  const auto calls = number(exchange.calls);
  ChangedSource best{calls * price.library_s};
  const auto offer = [&](Seconds seconds, const std::string& strategy) {
    if (!strategy.empty() && seconds < best.seconds) best = {seconds, strategy};
  };
  if (!is_sent_directly(exchange)) offer(calls * price.once_s + price.once_choice_s, price.once);
  offer(calls * price.planned_s + number(exchange.handles) * price.plan_s + price.choice_s, price.planned);
  return best;
}

}  // namespace

std::vector<AdvisedCall> advised_calls(const Record& record) {
  std::map<std::tuple<std::string, std::string, std::size_t>, AdvisedCall> found;
  for (std::size_t i = 0; i < record.exchanges.size(); ++i) {
    const auto& exchange = record.exchanges[i];
    const auto ranks = record.communicators[exchange.communicator].size();
    auto& call = found[{exchange.site, exchange.call, ranks}];
    call.site = exchange.site;
    call.call = exchange.call;
    call.ranks = static_cast<int>(ranks);
    call.exchanges.push_back(i);
  }
  std::vector<AdvisedCall> calls;
  RankTimes times(record);
  for (auto& [key, call] : found) {
    std::map<std::size_t, std::size_t> patterns;  // by communicator
    double bytes = 0, count = 0;
    times.clear();
    for (const auto i : call.exchanges) {
      const auto& exchange = record.exchanges[i];
      ++patterns[exchange.communicator];
      bytes += static_cast<double>(exchange.bytes);
      count += static_cast<double>(exchange.calls);
      times.add(exchange, exchange.exchange_s);
    }
    call.communicators = patterns.size();
    for (const auto& [communicator, count_of_patterns] : patterns)
      call.patterns = std::max(call.patterns, count_of_patterns);
    call.calls = static_cast<std::int64_t>(std::lround(count / static_cast<double>(call.communicators)));
    call.bytes = bytes / count;
    call.measured_s = times.max();
    calls.push_back(std::move(call));
  }
  std::ranges::stable_sort(calls, std::greater(), &AdvisedCall::measured_s);
  return calls;
}

Seconds measured_in_calls(const Record& record) {
  RankTimes times(record);
  for (const auto& exchange : record.exchanges) times.add(exchange, exchange.exchange_s);
  return times.max();
}

OverTime spread_over_time(const Record& record, const AdvisedCall& call) {
  std::vector<std::pair<Seconds, std::int64_t>> of_rank(static_cast<std::size_t>(record.ranks()));
  for (const auto i : call.exchanges)
    for (const Rank rank : record.communicators[record.exchanges[i].communicator]) {
      of_rank[static_cast<std::size_t>(rank)].first += record.exchanges[i].exchange_s;
      of_rank[static_cast<std::size_t>(rank)].second += record.exchanges[i].calls;
    }
  const auto busiest = static_cast<Rank>(std::ranges::max_element(of_rank) - of_rank.begin());
  OverTime spread;
  for (const auto i : call.exchanges)
    if (std::ranges::count(record.communicators[record.exchanges[i].communicator], busiest) > 0)
      spread.add(record.exchanges[i].over_time);
  return spread;
}

double MachineAdvice::share(Seconds seconds) const {
  const auto whole_s = outside_s + all.library_s;
  return whole_s > 0 ? seconds / whole_s : 0;
}

MachineAdvice advise(const Record& record, std::span<const AdvisedCall> calls, const Layout& layout,
                     const Machine& machine) {
  MachineAdvice advice{machine.name, layout.describe(), layout.ranks(), {}, {}, 0, {}, {}};
  KnownPrices known(record, layout, machine);
  std::map<std::pair<std::size_t, std::string>, TakenCalls> taken;  // by communicator and kind
  std::map<std::size_t, Price> prices;                              // by number of the exchange
  for (const auto& call : calls)
    for (const auto i : call.exchanges) {
      const auto& exchange = record.exchanges[i];
      const auto& price = prices.emplace(i, known.of(exchange)).first->second;
      if (can_be_taken_over(exchange)) taken[{exchange.communicator, exchange.call}].add(exchange, price);
      if (!is_sent_directly(exchange) && !library_call(machine.operations, Usage::once).call_s)
        advice.library_rules = describe_rules_of(machine.mpi_library);
    }
  advice.note = known.note();

  struct Ways {
    RankTimes library, taken, plugged, planned;
    explicit Ways(const Record& of) : library(of), taken(of), plugged(of), planned(of) {}
    void set(CallPrice& sum) const {
      sum.library_s = library.max();
      sum.taken_s = taken.max();
      sum.plugged_s = plugged.max();
      sum.planned_s = planned.max();
    }
  };
  Ways all(record);
  RankTimes measured(record);
  for (const auto& call : calls) {
    Ways ways(record);
    CallPrice sum;
    Seconds longest_s = -1;
    for (const auto i : call.exchanges) {
      const auto& exchange = record.exchanges[i];
      const auto& price = prices[i];
      const auto library_s = number(exchange.calls) * price.library_s;
      const auto changed = change_source(exchange, price);
      const auto taken_s = can_be_taken_over(exchange)
                               ? taken[{exchange.communicator, exchange.call}].seconds_of(exchange, price)
                               : library_s;
      for (auto* sums : {&ways, &all}) {
        const bool is_timed = exchange.exchange_s > 0;  // else it does not block
        if (sums == &all && !is_timed) continue;
        sums->library.add(exchange, library_s);
        sums->taken.add(exchange, taken_s);
        sums->plugged.add(exchange, has_plug_in(exchange) ? changed.seconds : library_s);
        sums->planned.add(exchange, changed.seconds);
      }
      measured.add(exchange, exchange.exchange_s);
      if (library_s > longest_s) {
        longest_s = library_s;
        sum.library = price.library;
        sum.taken = taken_s < library_s ? price.once : price.library;
        sum.planned = changed.strategy;
      }
    }
    ways.set(sum);
    advice.prices.push_back(std::move(sum));
  }
  all.set(advice.all);
  advice.outside_s = std::max(record.run_s - measured.max(), 0.0);
  return advice;
}

}  // namespace commpass
