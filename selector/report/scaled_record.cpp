#include "selector/report/advice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "model/base/error.hpp"
#include "model/pattern/grid.hpp"

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

/// The record with one exchange for all patterns of all ranks with all that one place has: of their mean blocks.
Record with_joined_patterns(Record joined) {
  auto exchanges = std::exchange(joined.exchanges, {});
  for (auto& exchange : exchanges) {
    const auto is_same = [&](const RecordedExchange& other) {
      return other.site == exchange.site && other.call == exchange.call && !other.equal_bytes &&
             is_all_with_all(joined, other);
    };
    const auto known = std::ranges::find_if(joined.exchanges, is_same);
    if (known == joined.exchanges.end() || !is_same(exchange)) {
      joined.exchanges.push_back(std::move(exchange));
      continue;
    }
    known->calls += exchange.calls;
    known->exchange_s += exchange.exchange_s;
    known->in_call_s += exchange.in_call_s;
    known->bytes += exchange.bytes;
    known->blocks += exchange.blocks;
    known->over_time.add(exchange.over_time);
    known->edges.clear();
  }
  return joined;
}

/// The sizes of a grid of ranks that differ least, in descending order, as MPI_Dims_create makes them.
std::vector<int> balanced_dims(int ranks, int dimensions) {
  if (dimensions == 1) return {ranks};
  std::vector<int> best;
  for (int last = 1; last <= ranks; ++last) {
    if (ranks % last != 0) continue;
    auto dims = balanced_dims(ranks / last, dimensions - 1);
    dims.push_back(last);
    if (std::ranges::is_sorted(dims, std::greater()) && (best.empty() || dims.front() <= best.front())) best = dims;
  }
  return best;
}

/// An exchange in which every rank of a grid sends the same to the ranks at the same offsets.
struct GridExchange {
  Grid grid;
  std::map<std::vector<int>, Bytes> offsets = {};  ///< the bytes of the block to the rank at an offset
};

Grid make_grid(int ranks, int dimensions, bool is_periodic) {
  return {balanced_dims(ranks, dimensions), std::vector(static_cast<std::size_t>(dimensions), is_periodic)};
}

/// Nothing if ranks differ in their offsets or bytes.
std::optional<GridExchange> on_grid(const Record& record, const RecordedExchange& exchange, Grid grid) {
  if (!is_of_all_ranks(record, exchange) || exchange.edges.empty()) return std::nullopt;
  GridExchange found{std::move(grid)};
  std::map<std::vector<int>, int> senders;
  for (const auto& edge : exchange.edges) {
    const auto offset = found.grid.offset_between(edge.source, edge.destination);
    const auto [known, is_new] = found.offsets.emplace(offset, edge.bytes);
    if (!is_new && known->second != edge.bytes) return std::nullopt;
    ++senders[offset];
  }
  for (const auto& [offset, count] : senders) {
    int within = 0;
    for (Rank rank = 0; rank < record.ranks(); ++rank) within += found.grid.relative(rank, offset) ? 1 : 0;
    if (within != count) return std::nullopt;
  }
  return found;
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

/// The offset of the same neighbour on a smaller grid: of two ranks both neighbours are one. Nothing if there is none.
std::optional<std::vector<int>> counterpart_of(const std::vector<int>& offset, const GridExchange& smaller) {
  auto other = offset;
  for (std::size_t k = 0; k < other.size(); ++k)
    if (smaller.grid.dims[k] == 2 && smaller.grid.periodic[k]) other[k] = std::abs(other[k]);
  return smaller.offsets.contains(other) ? std::optional(other) : std::nullopt;
}

/// The number of ranks that share a face of the whole domain at right angles to an offset.
double ranks_of_face(const Grid& grid, const std::vector<int>& offset) {
  double ranks = 1;
  for (std::size_t k = 0; k < offset.size(); ++k)
    if (offset[k] == 0) ranks *= grid.dims[k];
  return ranks;
}

/// Do the ranks share faces whose bytes are the same for both numbers of ranks?
bool shares_faces(const GridExchange& now, const GridExchange& then) {
  constexpr double rounding_max = 0.05;  // of blocks of whole cells
  return std::ranges::all_of(now.offsets, [&](const auto& each) {
    const auto other = *counterpart_of(each.first, then);
    const auto face = static_cast<double>(each.second) * ranks_of_face(now.grid, each.first);
    const auto before = static_cast<double>(then.offsets.at(other)) * ranks_of_face(then.grid, other);
    return std::abs(face - before) <= rounding_max * face;
  });
}

/// Scales an exchange with neighbours on a grid. @return nothing if the offsets in the records differ
std::optional<RecordedExchange> scale_on_grid(const RecordedExchange& exchange, const GridExchange& now,
                                              const GridExchange& then, const Grid& grid) {
  std::set<std::vector<int>> met;
  for (const auto& [offset, bytes] : now.offsets) {
    const auto other = counterpart_of(offset, then);
    if (!other) return std::nullopt;
    met.insert(*other);
  }
  if (met.size() != then.offsets.size()) return std::nullopt;
  const int ranks = grid.ranks();
  if (now.offsets.size() * static_cast<std::size_t>(ranks) > recorded_edges_max) return std::nullopt;
  const bool is_shared = shares_faces(now, then);
  auto result = exchange;
  result.communicator = 0;
  result.edges.clear();
  double sum = 0;
  for (const auto& [offset, now_bytes] : now.offsets) {
    const auto large = static_cast<double>(now_bytes),
               small = static_cast<double>(then.offsets.at(*counterpart_of(offset, then)));
    const auto growth =
        growth_of(then.grid.ranks(), small, now.grid.ranks(), large, constant_sum_exponent, -constant_sum_exponent);
    const auto block = whole_bytes(is_shared ? large * ranks_of_face(now.grid, offset) / ranks_of_face(grid, offset)
                                             : growth.at(ranks, large));
    for (Rank from = 0; from < ranks; ++from) {
      const auto to = grid.relative(from, offset);
      if (!to) continue;
      result.edges.push_back({from, *to, block});
      sum += static_cast<double>(block);
    }
  }
  std::ranges::stable_sort(result.edges, {}, [](const Edge& edge) { return std::pair(edge.source, edge.destination); });
  result.blocks = result.calls * std::ssize(result.edges);
  result.bytes = whole_bytes(static_cast<double>(result.calls) * sum);
  return result;
}

/// Scales an exchange with neighbours on a grid of one to three dimensions. @return nothing if it has no such shape
std::optional<RecordedExchange> scale_neighbors(const Record& record, const RecordedExchange& exchange,
                                                const Record& smaller, const RecordedExchange& before, int ranks) {
  constexpr int dimensions_max = 3, ranks_min = 3;  // of a dimension, on fewer of which both neighbours are one
  for (int dimensions = 1; dimensions <= dimensions_max; ++dimensions)
    for (const bool is_periodic : {true, false}) {
      const auto grid_of = [&](int count) { return make_grid(count, dimensions, is_periodic); };
      const auto grid = grid_of(ranks), grid_now = grid_of(record.ranks());
      if (std::min(grid.dims.back(), grid_now.dims.back()) < ranks_min) continue;
      const auto now = on_grid(record, exchange, grid_now);
      const auto then = now ? on_grid(smaller, before, grid_of(smaller.ranks())) : std::nullopt;
      if (!then) continue;
      if (auto other = scale_on_grid(exchange, *now, *then, grid)) return other;
    }
  return std::nullopt;
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
  std::vector<Record> by_ranks;
  for (const auto& record : records) by_ranks.push_back(with_joined_patterns(record));
  std::ranges::stable_sort(by_ranks, std::greater(), &Record::ranks);
  const auto& record = by_ranks[0];
  const auto* const smaller = by_ranks.size() > 1 ? &by_ranks[1] : nullptr;
  check_scale(record, smaller, ranks);
  Record result{record.program, record.mpi, fmt::format("1x{}", ranks), 0, {{}}, {}, {}};
  for (Rank rank = 0; rank < ranks; ++rank) result.communicators[0].push_back(rank);
  for (const auto& exchange : record.exchanges) {
    const auto* const before = smaller ? counterpart_of(record, exchange, *smaller) : nullptr;
    if (smaller && !before) continue;
    if (is_all_with_all(record, exchange) && (!before || is_all_with_all(*smaller, *before)))
      result.exchanges.push_back(scale_all(record, exchange, smaller, before, ranks));
    else if (before)
      if (auto other = scale_neighbors(record, exchange, *smaller, *before, ranks))
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
