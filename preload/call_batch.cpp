#include "preload/call_batch.hpp"

#include <limits.h>  // NOLINT(modernize-deprecated-headers): HOST_NAME_MAX is POSIX
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <tuple>

#include "model/mixed.hpp"

namespace commpass {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double ns_per_s = 1e9;
constexpr unsigned bits_beyond_a_double = 12;

// One number that is told has the site of rank 0, and counts of ranks without an entry and without a row.
constexpr unsigned without_entry_bit = 24, site_bit = 48;
constexpr std::uint64_t count_end = std::uint64_t{1} << without_entry_bit;  ///< more ranks than MPI libraries start

/// Equal on processes whose monotonic clocks are one: those of one boot of one system (where that is hidden, of one
/// host name), in one time namespace. A whole number that a double holds.
double clock_identity() {
  static const double identity = [] {
    std::string boot;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
    std::error_code ignored;
    const auto space = std::filesystem::read_symlink("/proc/self/ns/time", ignored).string();
    if (boot.empty()) {
      std::array<char, HOST_NAME_MAX + 1> host{};
      gethostname(host.data(), host.size() - 1);
      boot = host.data();
    }
    std::uint64_t hash = 0;
    for (const char letter : boot + space) hash = mixed({hash, static_cast<unsigned char>(letter)});
    return static_cast<double>(hash >> bits_beyond_a_double);
  }();
  return identity;
}

/// Runs a step without which less is known of a call, and that is all: the program goes on.
template <class Step>
void if_there_is_memory(Step step) {
  try {
    step();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
  }
}

/// @param exchange_s  that the call took
void count(const CallRunner& by, Seconds exchange_s, WhoRan& ran) {
  switch (by.turn) {
    case Rivalry::Turn::library: ran.by_library += by.calls; return;
    case Rivalry::Turn::ours:
      ++ran.by_ours;
      if (by.ratio.median > 0) ran.saved += saved_by_ours(exchange_s, by.ratio);
      else ran.is_saved_known = false;
      break;
    case Rivalry::Turn::both:
      ++ran.by_both;
      if (by.library_s) ran.saved += SavedTime{-1, -1, -1} * std::max(exchange_s - *by.library_s, 0.0);
      break;
  }
  if (by.strategy) ran.strategy = *by.strategy;
}

Bytes bytes_of(const BlockRow& row) { return static_cast<Bytes>(row.capacity() * sizeof(SentBlock)); }

/// @return null where some rank has no room for an entry
RecordEntry* find_or_make(const PendingCall& call, const RecordKey& told_key, std::uint64_t blocks,
                          bool is_without_entry, bool is_without_row) {
  auto& entries = record_table().entries;
  auto key = told_key;
  if (const auto known = entries.find(key); known != entries.end()) return &known->second;
  const auto patterns = std::distance(entries.lower_bound({key.group, key.kind, key.site, 0}),
                                      entries.upper_bound({key.group, key.kind, key.site, ~std::uint64_t{0}}));
  const bool is_one_of_many = patterns >= static_cast<std::ptrdiff_t>(RecordTable::most_patterns);
  if (is_one_of_many) key.pattern = 0;
  if (const auto known = entries.find(key); known != entries.end()) return &known->second;
  if (is_without_entry) return nullptr;
  auto& made = entries[key];
  made.numbers.call = interposed_call_names[static_cast<std::size_t>(call.kind)];
  if (is_one_of_many) return &made;
  if (call.is_equal) made.numbers.equal_bytes = call.each;
  if (call.is_equal || is_without_row || blocks > RecordTable::most_edges) return &made;
  made.edges = static_cast<std::int64_t>(blocks);
  made.row = call.row;
  return &made;
}

void count_as_other(const PendingCall& call, const CallGroup& group) noexcept {
  if (group.rank != 0) return;
  auto& other = record_table().others[static_cast<std::size_t>(call.kind)];
  other.calls += call.by.calls;
  other.bytes += call.bytes * call.by.calls;
  other.in_call_s += std::max(call.end_s - call.begin_s, 0.0) * static_cast<double>(call.by.calls);
}

}  // namespace

CallBatch::CallBatch(std::size_t calls_max) : calls_max_(calls_max) {
  pending_.reserve(calls_max);
  least_.reserve(clocks * calls_max + common_clocks);
  sums_.reserve(numbers * calls_max);
}

std::shared_ptr<const BlockRow> CallBatch::keep_row(std::uint64_t hash, const BlockRow& blocks) {
  auto& table = record_table();
  std::shared_ptr<const BlockRow> kept;
  if_there_is_memory([&] {
    auto& row = rows_[hash];
    if (!row && table.row_bytes < RecordTable::most_row_bytes) {
      row = std::make_shared<const BlockRow>(blocks);
      table.row_bytes += bytes_of(*row);
    }
    kept = row;
  });
  return kept;
}

void CallBatch::add_or_count(PendingCall&& call, const CallGroup& group) noexcept {
  if (is_full()) count_as_other(call, group);
  else pending_.push_back(std::move(call));
}

void CallBatch::absorb(CallBatch& other, const CallGroup& group) noexcept {
  for (auto& call : other.pending_) {
    if (const auto*& strategy = call.by.strategy) {  // which goes with the engines
      const auto* const kept = strategy;
      strategy = nullptr;
      if_there_is_memory([&] { strategy = &*record_table().strategies.insert(*kept).first; });
    }
    add_or_count(std::move(call), group);
  }
  other.pending_.clear();
  for (auto row = other.rows_.begin(); row != other.rows_.end();) {
    const auto next = std::next(row);
    if (row->second && rows_.contains(row->first)) record_table().row_bytes -= bytes_of(*row->second);
    else rows_.insert(other.rows_.extract(row));
    row = next;
  }
  counted_.merge(other.counted_);
}

double CallBatch::sort_and_digest() noexcept {
  if (!std::ranges::is_sorted(pending_, {}, &PendingCall::communicator))
    std::ranges::stable_sort(pending_, {}, &PendingCall::communicator);
  std::uint64_t digest = 0;
  for (const auto& call : pending_) digest = mixed({digest, call.communicator, static_cast<std::uint64_t>(call.kind)});
  return static_cast<double>(digest >> bits_beyond_a_double);
}

void CallBatch::collect(const CallGroup& group, double digest) noexcept {
  auto& table = record_table();
  least_.clear();
  sums_.clear();
  const auto flag = [](bool is) { return is ? std::uint64_t{1} : 0; };
  const bool is_without_entry =
      table.entries.size() >= RecordTable::most_entries || (group.rank == 0 && !table.groups.contains(group.hash));
  for (const auto& call : pending_) {
    const auto in_call_s = std::max(call.end_s - call.begin_s, 0.0);
    // No rank waits for a rank that neither sends nor receives.
    if (call.takes_part) least_.insert(least_.end(), {in_call_s, -call.begin_s, -call.end_s});
    else least_.insert(least_.end(), {infinite, infinite, infinite});
    const auto site = group.rank == 0 ? call.site : 0;
    sums_.insert(sums_.end(),
                 {mixed({static_cast<std::uint64_t>(group.rank), call.hash}), static_cast<std::uint64_t>(call.bytes),
                  call.blocks, static_cast<std::uint64_t>(in_call_s * ns_per_s),
                  site << site_bit | flag(is_without_entry) << without_entry_bit | flag(!call.is_equal && !call.row)});
  }
  least_.insert(least_.end(), {digest, -digest, clock_identity(), -clock_identity()});
  collected_ = pending_.size();
}

void CallBatch::tell(MPI_Comm comm) noexcept {
  PMPI_Allreduce(MPI_IN_PLACE, least_.data(), static_cast<int>(least_.size()), MPI_DOUBLE, MPI_MIN, comm);
  PMPI_Allreduce(MPI_IN_PLACE, sums_.data(), static_cast<int>(sums_.size()), MPI_UINT64_T, MPI_SUM, comm);
}

void CallBatch::begin_telling(MPI_Comm comm) noexcept {
  PMPI_Iallreduce(MPI_IN_PLACE, least_.data(), static_cast<int>(least_.size()), MPI_DOUBLE, MPI_MIN, comm,
                  &requests_[0]);
  PMPI_Iallreduce(MPI_IN_PLACE, sums_.data(), static_cast<int>(sums_.size()), MPI_UINT64_T, MPI_SUM, comm,
                  &requests_[1]);
}

void CallBatch::end_telling() noexcept {
  PMPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

bool CallBatch::take_told(const CallGroup& group) noexcept {
  const auto is_equal = [](const double* least) { return least[0] == -least[1]; };
  const auto* const common = &least_[collected_ * clocks];
  const bool is_by_clock = is_equal(common + 2);
  LastEntry last;
  for (std::size_t i = 0; i < collected_; ++i) {
    const auto* const least = &least_[i * clocks];
    const double exchange_s = is_by_clock ? least[1] - least[2] : least[0];  // the last arrival and finish are negative
    if_there_is_memory([&] {
      take(pending_[i], &sums_[i * numbers], std::isfinite(exchange_s) ? std::max(exchange_s, 0.0) : 0, is_by_clock,
           group, last);
    });
  }
  forget_first(collected_);
  return is_equal(common);
}

void CallBatch::give_up(const CallGroup& group) noexcept {
  for (const auto& call : pending_) count_as_other(call, group);
  forget_first(pending_.size());
}

void CallBatch::clear() noexcept {
  pending_.clear();
  rows_.clear();
  counted_.clear();
  collected_ = 0;
}

void CallBatch::forget_first(std::size_t calls) noexcept {
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(calls));
  collected_ = 0;
  std::erase_if(rows_, [&](const auto& row) {
    const bool is_gone = row.second.use_count() <= 1;  // no entry has it
    if (is_gone && row.second) record_table().row_bytes -= bytes_of(*row.second);
    return is_gone;
  });
}

/// All ranks decide alike: by the told numbers, and by keys of which all have the same.
void CallBatch::take(const PendingCall& call, const std::uint64_t* told, Seconds exchange_s, bool is_by_clock,
                     const CallGroup& group, LastEntry& last) {
  const auto [hash, bytes, sent, in_call_ns, counts] = std::tie(told[0], told[1], told[2], told[3], told[4]);
  const RecordKey key{group.hash, static_cast<std::uint64_t>(call.kind), counts >> site_bit, hash};
  const bool is_known = last.entry && last.key == key;
  if (!is_known) {
    last = {key, call.communicator};
    last.entry = find_or_make(call, key, sent, (counts >> without_entry_bit) % count_end > 0, counts % count_end > 0);
  }
  if (!last.entry) return count_as_other(call, group);
  auto& sums = last.entry->numbers;
  if (sums.calls == 0) sums.handles = 0;
  sums.calls += call.by.calls;
  if (!is_known || std::exchange(last.communicator, call.communicator) != call.communicator)
    if (counted_.insert({call.communicator, last.entry}).second) ++sums.handles;
  if (!blocks(call.kind)) exchange_s = 0;  // unknown for a start
  const auto calls = static_cast<double>(call.by.calls);
  sums.exchange_s += exchange_s * calls;
  sums.in_call_s += static_cast<double>(in_call_ns) / ns_per_s / group.ranks * calls;
  sums.is_by_clock = sums.is_by_clock && is_by_clock;
  sums.bytes += static_cast<Bytes>(bytes) * call.by.calls;
  sums.blocks += static_cast<std::int64_t>(sent) * call.by.calls;
  sums.over_time.add(call.begin_s - record_table().begin_s, exchange_s);
  count(call.by, exchange_s, last.entry->ran);
}

}  // namespace commpass
