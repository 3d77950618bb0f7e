#include "preload/call_log.hpp"

#include <limits.h>  // NOLINT(modernize-deprecated-headers): HOST_NAME_MAX is POSIX
#include <time.h>    // NOLINT(modernize-deprecated-headers): clock_gettime is POSIX
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

#include "model/mixed.hpp"
#include "preload/call_site.hpp"

namespace commpass {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double ns_per_s = 1e9;

std::uint64_t hash_of(const SentBlocks& blocks) {
  auto hash = mixed({blocks.is_equal ? 1U : 0U, static_cast<std::uint64_t>(blocks.each)});
  for (const auto& block : blocks.list)
    hash = mixed({hash, static_cast<std::uint64_t>(block.to), static_cast<std::uint64_t>(block.bytes)});
  return hash;
}

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
    constexpr unsigned beyond_a_double = 12;
    return static_cast<double>(hash >> beyond_a_double);
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
    case Rivalry::Turn::library: ++ran.by_library; return;
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

}  // namespace

RecordTable& record_table() {
  static auto& only = *new RecordTable;  // never destroyed: programs call MPI until the very end
  return only;
}

Seconds monotonic_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / ns_per_s;
}

std::uint64_t RecordTable::number_of(const void* site) {
  if (const auto known = sites.find(site); known != sites.end()) return known->second;
  if (site_names.size() > most_sites) return 0;
  site_names.push_back(describe_site(site));
  return sites[site] = site_names.size() - 1;
}

CallLog::CallLog(MPI_Comm comm, std::vector<Rank> group) : comm_(comm), ranks_(static_cast<int>(group.size())) {
  PMPI_Comm_rank(comm, &rank_);
  for (const Rank rank : group) group_ = mixed({group_, static_cast<std::uint64_t>(rank)});
  pending_.reserve(most_pending);
  least_.reserve(clocks * most_pending + 2);
  sums_.reserve(numbers * most_pending);
  auto& table = record_table();
  const std::lock_guard lock(table.mutex);
  if (rank_ == 0 && table.groups.size() < RecordTable::most_groups) table.groups.try_emplace(group_, std::move(group));
}

void CallLog::add(InterposedCall kind, const void* site, const SentBlocks& blocks, const CallRunner& by,
                  Seconds begin_s, Seconds end_s) noexcept {
  auto& table = record_table();
  const std::lock_guard lock(table.mutex);
  std::uint64_t site_number = 0;
  if_there_is_memory([&] { site_number = table.number_of(site); });
  Pending call{kind,
               site_number,
               hash_of(blocks),
               blocks.is_equal,
               blocks.is_equal ? blocks.each > 0 : blocks.receives || !blocks.list.empty(),
               blocks.each,
               blocks.total(ranks_),
               blocks.is_equal && blocks.each > 0 ? static_cast<std::uint64_t>(ranks_) : blocks.list.size(),
               {},
               by,
               begin_s,
               end_s};
  if (is_full()) return count_as_other(call);  // by calls that do not block, in which ranks may not meet
  if (!blocks.is_equal && !blocks.is_cut) if_there_is_memory([&] { keep_row(call, blocks.list); });
  pending_.push_back(std::move(call));
}

void CallLog::keep_row(Pending& call, const BlockRow& blocks) {
  auto& table = record_table();
  auto& row = rows_[call.hash];
  if (!row && table.row_bytes < RecordTable::most_row_bytes) {
    row = std::make_shared<const BlockRow>(blocks);
    table.row_bytes += bytes_of(*row);
  }
  call.row = row;
}

/// What this rank tells. @return is there anything to tell, and a communicator?
bool CallLog::collect() noexcept {
  if (pending_.empty() || comm_ == MPI_COMM_NULL) return false;
  auto& table = record_table();
  const std::lock_guard lock(table.mutex);
  least_.clear();
  sums_.clear();
  const auto flag = [](bool is) { return is ? std::uint64_t{1} : 0; };
  const bool is_without_entry =
      table.entries.size() >= RecordTable::most_entries || (rank_ == 0 && !table.groups.contains(group_));
  for (const auto& call : pending_) {
    const auto in_call_s = std::max(call.end_s - call.begin_s, 0.0);
    // No rank waits for a rank that neither sends nor receives.
    if (call.takes_part) least_.insert(least_.end(), {in_call_s, -call.begin_s, -call.end_s});
    else least_.insert(least_.end(), {infinite, infinite, infinite});
    sums_.insert(sums_.end(), {mixed({static_cast<std::uint64_t>(rank_), call.hash}), rank_ == 0 ? call.site : 0,
                               static_cast<std::uint64_t>(call.bytes), call.blocks, call.row ? call.row->size() : 0,
                               flag(is_without_entry), flag(!call.is_equal && !call.row),
                               static_cast<std::uint64_t>(in_call_s * ns_per_s)});
  }
  least_.insert(least_.end(), {clock_identity(), -clock_identity()});
  return true;
}

void CallLog::tell() noexcept {
  const bool is_told = collect();
  if (is_told) {
    PMPI_Allreduce(MPI_IN_PLACE, least_.data(), static_cast<int>(least_.size()), MPI_DOUBLE, MPI_MIN, comm_);
    PMPI_Allreduce(MPI_IN_PLACE, sums_.data(), static_cast<int>(sums_.size()), MPI_UINT64_T, MPI_SUM, comm_);
  }
  take_all(is_told);
}

void CallLog::begin_telling() noexcept {
  if (!collect()) return;
  PMPI_Iallreduce(MPI_IN_PLACE, least_.data(), static_cast<int>(least_.size()), MPI_DOUBLE, MPI_MIN, comm_,
                  &requests_[0]);
  PMPI_Iallreduce(MPI_IN_PLACE, sums_.data(), static_cast<int>(sums_.size()), MPI_UINT64_T, MPI_SUM, comm_,
                  &requests_[1]);
}

void CallLog::end_telling() noexcept {
  if (pending_.empty()) return;
  const bool is_told = comm_ != MPI_COMM_NULL;
  if (is_told) PMPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  take_all(is_told);
}

void CallLog::take_all(bool is_told) noexcept {
  auto& table = record_table();
  const std::lock_guard lock(table.mutex);
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (!is_told) {
      count_as_other(pending_[i]);
      continue;
    }
    const auto* const sum = &sums_[i * numbers];
    const auto* const least = &least_[i * clocks];
    const bool is_by_clock = least_.back() == -least_[least_.size() - 2];
    const double exchange_s = is_by_clock ? least[1] - least[2] : least[0];  // the last arrival and finish are negative
    const Told told{std::isfinite(exchange_s) ? std::max(exchange_s, 0.0) : 0,
                    is_by_clock,
                    sum[0],
                    sum[1],
                    sum[2],
                    sum[3],
                    sum[4],
                    sum[5],
                    sum[6],
                    sum[7]};
    if_there_is_memory([&] { take(pending_[i], told); });
  }
  told_ += pending_.size();
  pending_.clear();
  std::erase_if(rows_, [&](const auto& row) {
    const bool is_gone = row.second.use_count() <= 1;  // no entry has it
    if (is_gone && row.second) table.row_bytes -= bytes_of(*row.second);
    return is_gone;
  });
}

void CallLog::take(const Pending& call, const Told& told) {
  auto* const entry = find_or_make(call, told);
  if (!entry) return count_as_other(call);
  auto& sums = entry->numbers;
  if (++sums.calls == 1) sums.handles = 0;
  if (counted_in_.insert(entry).second) ++sums.handles;
  const auto exchange_s = blocks(call.kind) ? told.exchange_s : 0;  // unknown for a start
  sums.exchange_s += exchange_s;
  sums.in_call_s += static_cast<double>(told.in_call_ns) / ns_per_s / ranks_;
  sums.is_by_clock = sums.is_by_clock && told.is_by_clock;
  sums.bytes += static_cast<Bytes>(told.bytes);
  sums.blocks += static_cast<std::int64_t>(told.blocks);
  sums.over_time.add(call.begin_s - record_table().begin_s, exchange_s);
  count(call.by, exchange_s, entry->ran);
}

/// All ranks decide alike: by the told numbers, and by keys of which all have the same.
RecordEntry* CallLog::find_or_make(const Pending& call, const Told& told) {
  auto& entries = record_table().entries;
  RecordKey key{group_, static_cast<std::uint64_t>(call.kind), told.site, told.hash};
  if (const auto known = entries.find(key); known != entries.end()) return &known->second;
  const auto patterns = std::distance(entries.lower_bound({key.group, key.kind, key.site, 0}),
                                      entries.upper_bound({key.group, key.kind, key.site, ~std::uint64_t{0}}));
  const bool is_one_of_many = patterns >= static_cast<std::ptrdiff_t>(RecordTable::most_patterns);
  if (is_one_of_many) key.pattern = 0;
  if (const auto known = entries.find(key); known != entries.end()) return &known->second;
  if (told.without_entry > 0) return nullptr;
  auto& made = entries[key];
  made.numbers.call = interposed_call_names[static_cast<std::size_t>(call.kind)];
  if (is_one_of_many) return &made;
  if (call.is_equal) made.numbers.equal_bytes = call.each;
  if (call.is_equal || told.without_row > 0 || told.edges > RecordTable::most_edges) return &made;
  made.edges = static_cast<std::int64_t>(told.edges);
  made.row = call.row;
  return &made;
}

void CallLog::count_as_other(const Pending& call) noexcept {
  if (rank_ != 0) return;
  auto& other = record_table().others[static_cast<std::size_t>(call.kind)];
  ++other.calls;
  other.bytes += call.bytes;
  other.in_call_s += std::max(call.end_s - call.begin_s, 0.0);
}

}  // namespace commpass
