#include "selector/report/advice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "model/base/error.hpp"
#include "model/cost/telling_cost.hpp"
#include "model/route/catalogue.hpp"
#include "model/route/library_algorithm.hpp"
#include "selector/choose/alltoall_choice.hpp"
#include "selector/choose/baseline.hpp"
#include "selector/choose/profile_note.hpp"
#include "selector/choose/select.hpp"
#include "selector/environment/interposed_call.hpp"

namespace commpass {

namespace {

/// Adds up what each rank spends, since communicators may share ranks or not.
class RankTimes {
 public:
  explicit RankTimes(const Record& record) : record_(record), of_rank_(static_cast<std::size_t>(record.ranks())) {}

  void add(const RecordedExchange& exchange, Seconds seconds) {
    for (const Rank rank : record_.communicators[exchange.communicator])
      of_rank_[static_cast<std::size_t>(rank)] += seconds;
  }
  Seconds most() const { return std::ranges::max(of_rank_); }
  void clear() { std::ranges::fill(of_rank_, 0); }

 private:
  const Record& record_;
  std::vector<Seconds> of_rank_;
};

bool is_of_neighbors(const RecordedExchange& exchange) { return exchange.call.find("neighbor") != std::string::npos; }

/// Does a rank send to another one twice, which an all-to-all cannot say?
bool has_pair_twice(const RecordedExchange& exchange) {
  std::vector<std::pair<Rank, Rank>> pairs;
  for (const auto& edge : exchange.edges) pairs.emplace_back(edge.source, edge.destination);
  std::ranges::sort(pairs);
  return std::ranges::adjacent_find(pairs) != pairs.end();
}

/// By libcommpass-mpi.
bool can_be_taken_over(const RecordedExchange& exchange) {
  const auto call = find_interposed_call(exchange.call);
  return call && can_be_taken_over(*call) && !has_pair_twice(exchange);
}

/// Calls that block, of which alone it is known how long they take.
bool is_timed(const RecordedExchange& exchange) { return exchange.exchange_s > 0; }

/// Of an exchange without edges: as many blocks, of the same size, as there were on average.
RandomPattern mean_of(const RecordedExchange& exchange, int ranks) {
  const auto calls = static_cast<double>(exchange.calls), blocks = static_cast<double>(exchange.blocks);
  if (!(blocks > 0)) return {0, 0, 0};
  const double pairs = static_cast<double>(ranks) * std::max(ranks - 1, 1);
  const double density = std::min(1.0, blocks / calls / pairs);
  return {density, density, static_cast<double>(exchange.bytes) / calls / (density * pairs)};
}

struct Price {
  Seconds library_s, taken_s, planned_s;
  std::string library, taken, planned;
};

/// One call of an exchange on a machine, in several ways.
class ExchangePricer {
 public:
  ExchangePricer(const Record& record, const RecordedExchange& exchange, const Layout& run, const Machine& machine)
      : exchange_(exchange),
        layout_(layout_of_ranks(run, record.communicators[exchange.communicator])),
        machine_(machine) {
    constexpr int most_with_edges =
        512;  // a quarter of a million of them: beyond, equal blocks are priced in closed form
    if (!exchange.equal_bytes || layout_.ranks() <= most_with_edges) pattern_ = pattern_of(record, exchange);
    if (pattern_) pattern_->validate(exchange.call + " from " + exchange.site);
    if (exchange.equal_bytes) {
      blocks_ = {1, 1, static_cast<double>(*exchange.equal_bytes)};
      sizes_ = BlockSizes::equal;
    } else {
      blocks_ = pattern_ ? random_pattern(totals_of(*pattern_, layout_), layout_) : mean_of(exchange, layout_.ranks());
    }
    ranking_ = rank_one_shot(blocks_, layout_, machine_, CostModel::burst, {}, sizes_);
  }

  Price price() const {
    const auto library = library_among_all();
    const auto chosen = as_run(ranking_.front());
    Price result{seconds_of(library), 0, 0, to_string(library), to_string(chosen), {}};
    result.taken_s = chosen == library ? result.library_s : seconds_of(chosen);
    if (result.taken_s >= result.library_s || !can_be_taken_over(exchange_)) {
      result.taken_s = result.library_s;
      result.taken = result.library;
    }
    result.planned_s = result.taken_s;
    if (const auto planned = best_planned()) {
      result.planned_s = std::min(planned->cost.seconds, result.taken_s);
      result.planned = to_string(as_run(*planned));
    }
    return result;
  }
  std::string note() const { return profile_note(machine_, layout_, CostModel::burst, ranking_); }

 private:
  /// MPI libraries send to neighbours directly.
  Strategy library_among_all() const { return baselines()[is_of_neighbors(exchange_) ? 0 : 1].strategy; }

  /// Of an exchange that is called once. It was chosen by what ranks can know of it; its price is that of the edges.
  Seconds seconds_of(const Strategy& strategy) const {
    const bool is_by_rules = strategy.route == "mpi" && !library_call(machine_.operations, Usage::once).call_s;
    if (!pattern_ || is_by_rules)
      return price_one_shot(strategy, blocks_, layout_, machine_, CostModel::burst, sizes_).cost.seconds;
    const auto route = make_route(strategy, layout_, *pattern_);
    auto schedule = make_schedule(*route, strategy.window, *pattern_, strategy.coalescing);
    set_window(*route, schedule, window_within(machine_.limits, schedule, layout_, strategy));
    const auto seconds = evaluate(schedule, layout_, machine_, CostModel::burst, Usage::once).seconds;
    return sizes_ == BlockSizes::equal ? seconds
                                       : seconds + telling_seconds(*route, layout_, machine_, CostModel::burst);
  }

  std::optional<Candidate> best_planned() const {
    if (pattern_)
      return rank_strategies(*pattern_, layout_, machine_, CostModel::burst, {}, {}, RankingDepth::cheapest).front();
    if (exchange_.equal_bytes) return rank_alltoall(*exchange_.equal_bytes, layout_, machine_).front();
    return std::nullopt;
  }

  const RecordedExchange& exchange_;
  Layout layout_;
  const Machine& machine_;
  std::optional<Pattern> pattern_;
  RandomPattern blocks_;
  BlockSizes sizes_ = BlockSizes::told;
  std::vector<Candidate> ranking_;  ///< of ways to run it as it is called: once
};

/// What decides the price of a call: many communicators may do the same in the same places.
struct Alike {
  bool is_of_neighbors, can_be_taken_over;
  std::optional<Bytes> equal_bytes;
  std::int64_t calls_if_mean, blocks_if_mean;
  Bytes bytes_if_mean;
  const std::vector<Edge>* edges;
  std::vector<std::array<int, 3>> places;  ///< group, node and socket of each rank

  bool operator==(const Alike& other) const {
    return std::tie(is_of_neighbors, can_be_taken_over, equal_bytes, calls_if_mean, blocks_if_mean, bytes_if_mean,
                    places) == std::tie(other.is_of_neighbors, other.can_be_taken_over, other.equal_bytes,
                                        other.calls_if_mean, other.blocks_if_mean, other.bytes_if_mean, other.places) &&
           *edges == *other.edges;
  }
};

Alike alike_of(const Record& record, const RecordedExchange& exchange, const Layout& run) {
  const bool is_mean = exchange.edges.empty() && !exchange.equal_bytes;
  Alike alike{
      is_of_neighbors(exchange),     can_be_taken_over(exchange),  exchange.equal_bytes, is_mean ? exchange.calls : 0,
      is_mean ? exchange.blocks : 0, is_mean ? exchange.bytes : 0, &exchange.edges,      {}};
  const auto layout = layout_of_ranks(run, record.communicators[exchange.communicator]);
  for (Rank rank = 0; rank < layout.ranks(); ++rank)
    alike.places.push_back({layout.group(layout.node(rank)), layout.node(rank), layout.socket(rank)});
  return alike;
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
    for (const auto& [communicator, those] : patterns) call.patterns = std::max(call.patterns, those);
    call.calls = static_cast<std::int64_t>(std::lround(count / static_cast<double>(call.communicators)));
    call.bytes = bytes / count;
    call.measured_s = times.most();
    calls.push_back(std::move(call));
  }
  std::ranges::stable_sort(calls, std::greater(), &AdvisedCall::measured_s);
  return calls;
}

Seconds measured_in_calls(const Record& record) {
  RankTimes times(record);
  for (const auto& exchange : record.exchanges) times.add(exchange, exchange.exchange_s);
  return times.most();
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
  std::vector<std::pair<Alike, Price>> known;
  struct Ways {
    RankTimes library, taken, planned;
    explicit Ways(const Record& of) : library(of), taken(of), planned(of) {}
    void add(const RecordedExchange& exchange, const Price& price) {
      const auto count = static_cast<double>(exchange.calls);
      library.add(exchange, count * price.library_s);
      taken.add(exchange, count * price.taken_s);
      planned.add(exchange, count * price.planned_s);
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
      auto alike = alike_of(record, exchange, layout);
      auto found = std::ranges::find(known, alike, &std::pair<Alike, Price>::first);
      if (found == known.end()) {
        const ExchangePricer pricer(record, exchange, layout, machine);
        if (advice.note.empty()) advice.note = pricer.note();
        known.emplace_back(std::move(alike), pricer.price());
        found = known.end() - 1;
      }
      const auto& price = found->second;
      if (!is_of_neighbors(exchange) && !library_call(machine.operations, Usage::once).call_s)
        advice.library_rules = describe_rules_of(machine.mpi_library);
      ways.add(exchange, price);
      if (is_timed(exchange)) all.add(exchange, price);
      measured.add(exchange, exchange.exchange_s);
      if (const auto seconds = static_cast<double>(exchange.calls) * price.library_s; seconds > longest_s) {
        longest_s = seconds;
        std::tie(sum.library, sum.taken, sum.planned) = std::tie(price.library, price.taken, price.planned);
      }
    }
    sum.library_s = ways.library.most();
    sum.taken_s = ways.taken.most();
    sum.planned_s = ways.planned.most();
    advice.prices.push_back(std::move(sum));
  }
  advice.all.library_s = all.library.most();
  advice.all.taken_s = all.taken.most();
  advice.all.planned_s = all.planned.most();
  advice.outside_s = std::max(record.run_s - measured.most(), 0.0);
  return advice;
}

bool can_be_scaled(const Record& record, const RecordedExchange& exchange) {
  const auto ranks = record.communicators[exchange.communicator].size();
  if (ranks != static_cast<std::size_t>(record.ranks()) || is_of_neighbors(exchange)) return false;
  constexpr double nearly_all = 0.9;
  return exchange.equal_bytes || mean_of(exchange, static_cast<int>(ranks)).density_off_node >= nearly_all;
}

std::vector<AdvisedCall> scaled_calls(const Record& scaled, std::span<const AdvisedCall> calls, int ranks_before) {
  const auto all = advised_calls(scaled);
  std::vector<AdvisedCall> result;
  for (const auto& call : calls) {
    const auto found = std::ranges::find_if(all, [&](const AdvisedCall& other) {
      return call.ranks == ranks_before && other.site == call.site && other.call == call.call;
    });
    result.push_back(found == all.end() ? AdvisedCall{call.site, call.call} : *found);
  }
  return result;
}

namespace {

/// All ranks to all others, so many times.
std::int64_t blocks_of_all(std::int64_t calls, int ranks) {
  constexpr double most = static_cast<double>(std::int64_t{1} << 62U);
  return static_cast<std::int64_t>(std::min(static_cast<double>(calls) * ranks * (ranks - 1.0), most));
}

}  // namespace

Record scaled(const Record& record, int ranks) {
  const double growth = static_cast<double>(ranks) / record.ranks();
  Record result{record.program, record.mpi, fmt::format("1x{}", ranks), 0, {{}}, {}, {}};
  for (Rank rank = 0; rank < ranks; ++rank) result.communicators[0].push_back(rank);
  for (const auto& exchange : record.exchanges) {
    if (!can_be_scaled(record, exchange)) continue;
    auto other = exchange;
    other.communicator = 0;
    other.edges.clear();
    // The bytes of all ranks stay, in blocks for all pairs.
    if (other.equal_bytes)
      other.equal_bytes = static_cast<Bytes>(std::ceil(static_cast<double>(*other.equal_bytes) / growth / growth));
    else other.blocks = blocks_of_all(other.calls, ranks);
    result.exchanges.push_back(std::move(other));
  }
  if (result.exchanges.empty())
    throw InputError("--ranks " + std::to_string(ranks), "no exchange of the record is one of all ranks with all",
                     fmt::format("leave it out, or record the program on {} ranks", ranks));
  const auto outside_s = std::max(record.run_s - measured_in_calls(record), 0.0);
  result.run_s = outside_s / growth + measured_in_calls(result);
  return result;
}

}  // namespace commpass
