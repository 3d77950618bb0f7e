#include "selector/report/scaled_record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "model/base/error.hpp"

namespace commpass {

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

/// Growth of a number as a power of the number of ranks.
struct Growth {
  int ranks;  ///< of the larger record
  double exponent;

  /// @param value  in the larger record
  double at(int other_ranks, double value) const {
    return value * std::pow(static_cast<double>(other_ranks) / ranks, exponent);
  }
};

/// @param before,now  the number on `ranks_before` and on `ranks`
Growth growth_of(int ranks_before, double before, int ranks, double now, double exponent_min, double exponent_max) {
  if (!(before > 0) || !(now > 0)) return {ranks, 0};
  const auto exponent = std::log(now / before) / std::log(static_cast<double>(ranks) / ranks_before);
  return {ranks, std::clamp(exponent, exponent_min, exponent_max)};
}

bool is_of_all_ranks(const Record& record, const RecordedExchange& exchange) {
  return record.communicators[exchange.communicator].size() == static_cast<std::size_t>(record.ranks());
}

bool is_all_with_all(const Record& record, const RecordedExchange& exchange) {
  if (!is_of_all_ranks(record, exchange) || is_sent_directly(exchange)) return false;
  constexpr double density_min = 0.9;
  const auto pairs = static_cast<double>(record.ranks()) * std::max(record.ranks() - 1, 1);
  return exchange.equal_bytes ||
         static_cast<double>(exchange.blocks) >= density_min * pairs * static_cast<double>(exchange.calls);
}

/// The bytes that every rank sends to the rank at a distance, modulo the number of ranks.
using Distances = std::map<Rank, Bytes>;

/// Nothing if ranks differ in their distances or bytes.
std::optional<Distances> distances_of(const Record& record, const RecordedExchange& exchange) {
  const int ranks = record.ranks();
  if (!is_of_all_ranks(record, exchange) || exchange.edges.empty()) return std::nullopt;
  Distances distances;
  std::map<Rank, int> senders;
  for (const auto& edge : exchange.edges) {
    auto distance = (edge.destination - edge.source + ranks) % ranks;
    if (2 * distance > ranks) distance -= ranks;
    const auto [known, is_new] = distances.emplace(distance, edge.bytes);
    if (!is_new && known->second != edge.bytes) return std::nullopt;
    ++senders[distance];
  }
  if (std::ranges::any_of(senders, [&](const auto& each) { return each.second != ranks; })) return std::nullopt;
  return distances;
}

/// The exchange from the same place in another record. Null if the place has several exchanges in either record.
const RecordedExchange* counterpart_of(const Record& record, const RecordedExchange& exchange, const Record& in) {
  const auto only_one = [&](const Record& one) -> const RecordedExchange* {
    const auto is_same = [&](const RecordedExchange& other) {
      return other.site == exchange.site && other.call == exchange.call && is_of_all_ranks(one, other);
    };
    if (std::ranges::count_if(one.exchanges, is_same) != 1) return nullptr;
    return &*std::ranges::find_if(one.exchanges, is_same);
  };
  return only_one(record) ? only_one(in) : nullptr;
}

// Exponents of the bytes of a pair if their sum is constant, and of the time of a rank if the work is constant.
constexpr double constant_sum_exponent = -2, constant_work_exponent = -1;

Bytes whole_bytes(double bytes) { return static_cast<Bytes>(std::ceil(std::min(bytes, 0x1p62))); }

/// Scales an exchange of all ranks with all. @param before  its counterpart in a smaller record; null: none
RecordedExchange scale_all(const Record& record, const RecordedExchange& exchange, const Record* smaller,
                           const RecordedExchange* before, int ranks) {
  const auto pairs = [](int count) { return static_cast<double>(count) * std::max(count - 1, 1); };
  const auto pair_bytes = [&](const Record& of, const RecordedExchange& one) {
    if (one.equal_bytes) return static_cast<double>(*one.equal_bytes);
    return static_cast<double>(one.bytes) / static_cast<double>(one.calls) / pairs(of.ranks());
  };
  const auto now = pair_bytes(record, exchange);
  const Growth growth = before ? growth_of(smaller->ranks(), pair_bytes(*smaller, *before), record.ranks(), now,
                                           constant_sum_exponent, -constant_sum_exponent)
                               : Growth{record.ranks(), constant_sum_exponent};
  auto other = exchange;
  other.communicator = 0;
  other.edges.clear();
  const auto blocks = std::min(static_cast<double>(other.calls) * pairs(ranks), 0x1p62);
  const auto bytes = growth.at(ranks, now);
  if (other.equal_bytes) other.equal_bytes = whole_bytes(bytes);
  other.blocks = static_cast<std::int64_t>(blocks);
  other.bytes = whole_bytes(blocks * bytes);
  return other;
}

/// Scales an exchange with neighbours at fixed distances. @return nothing if the distances in the records differ
std::optional<RecordedExchange> scale_distances(const Record& record, const RecordedExchange& exchange,
                                                const Record& smaller, const RecordedExchange& before, int ranks) {
  const auto now = distances_of(record, exchange), then = distances_of(smaller, before);
  const auto key = &Distances::value_type::first;
  if (!now || !then || !std::ranges::equal(*now, *then, {}, key, key)) return std::nullopt;
  if (now->size() * static_cast<std::size_t>(ranks) > recorded_edges_max) return std::nullopt;
  auto other = exchange;
  other.communicator = 0;
  other.edges.clear();
  double bytes = 0;
  for (Rank from = 0; from < ranks; ++from)
    for (const auto& [distance, now_bytes] : *now) {
      const auto growth = growth_of(smaller.ranks(), static_cast<double>(then->at(distance)), record.ranks(),
                                    static_cast<double>(now_bytes), constant_sum_exponent, -constant_sum_exponent);
      const auto block = whole_bytes(growth.at(ranks, static_cast<double>(now_bytes)));
      other.edges.push_back({from, ((from + distance) % ranks + ranks) % ranks, block});
      bytes += static_cast<double>(block);
    }
  other.blocks = other.calls * std::ssize(other.edges);
  other.bytes = whole_bytes(static_cast<double>(other.calls) * bytes);
  return other;
}

void check_scale(const Record& largest, const Record* smaller, int ranks) {
  const auto what = "--ranks " + std::to_string(ranks);
  const auto known = largest.ranks();
  if (known < scaled_ranks_min || (smaller && smaller->ranks() < scaled_ranks_min))
    throw InputError(
        what,
        fmt::format("a record of {} ranks does not tell neighbours from all ranks", smaller ? smaller->ranks() : known),
        fmt::format("record the program on {} or more ranks", scaled_ranks_min));
  if (smaller && smaller->ranks() == known)
    throw InputError(what, fmt::format("both records are of {} ranks", known),
                     "record the program on another number of ranks, too");
  if (ranks > scaled_ratio_max * known || known > scaled_ratio_max * ranks)
    throw InputError(
        what,
        fmt::format("a record of {} ranks tells of at most {} times as many, and as few", known, scaled_ratio_max),
        fmt::format("record the program on {} ranks or more", (ranks - 1) / scaled_ratio_max + 1));
}

}  // namespace

ScaledRecord scaled(std::span<const Record> records, int ranks) {
  std::vector<const Record*> by_ranks;
  for (const auto& record : records) by_ranks.push_back(&record);
  std::ranges::stable_sort(by_ranks, std::greater(), &Record::ranks);
  const auto& record = *by_ranks[0];
  const auto* const smaller = by_ranks.size() > 1 ? by_ranks[1] : nullptr;
  check_scale(record, smaller, ranks);
  Record result{record.program, record.mpi, fmt::format("1x{}", ranks), 0, {{}}, {}, {}};
  for (Rank rank = 0; rank < ranks; ++rank) result.communicators[0].push_back(rank);
  for (const auto& exchange : record.exchanges) {
    const auto* const before = smaller ? counterpart_of(record, exchange, *smaller) : nullptr;
    if (smaller && !before) continue;
    if (is_all_with_all(record, exchange) && (!before || is_all_with_all(*smaller, *before)))
      result.exchanges.push_back(scale_all(record, exchange, smaller, before, ranks));
    else if (before)
      if (auto other = scale_distances(record, exchange, *smaller, *before, ranks))
        result.exchanges.push_back(std::move(*other));
  }
  if (result.exchanges.empty())
    throw InputError("--ranks " + std::to_string(ranks),
                     smaller ? "no exchange has a shape that both records have"
                             : "no exchange of the record is one of all ranks with all",
                     fmt::format("{}record the program on {} ranks",
                                 smaller ? "" : "name a second record, of other ranks, or ", ranks));
  const auto outside_s = [](const Record& of) { return std::max(of.run_s - measured_in_calls(of), 0.0); };
  const Growth work = smaller ? growth_of(smaller->ranks(), outside_s(*smaller), record.ranks(), outside_s(record),
                                          constant_work_exponent, -constant_work_exponent)
                              : Growth{record.ranks(), constant_work_exponent};
  result.run_s = work.at(ranks, outside_s(record)) + measured_in_calls(result);
  return {std::move(result), smaller ? ""
                                     : fmt::format("one record, of {} ranks, does not tell how exchanges grow; with a "
                                                   "second one, of another number of ranks, savings are told",
                                                   record.ranks())};
}

}  // namespace commpass
