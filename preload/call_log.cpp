#include "preload/call_log.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

#include "preload/call_site.hpp"

namespace commpass {

namespace {

constexpr std::size_t pending_calls_max = 64;

std::uint64_t hash_of(const SentBlocks& blocks) {
  auto hash = mixed({blocks.is_equal ? 1U : 0U, static_cast<std::uint64_t>(blocks.each)});
  for (const auto& block : blocks.list)
    hash = mixed({hash, static_cast<std::uint64_t>(block.to), static_cast<std::uint64_t>(block.bytes)});
  return hash;
}

}  // namespace

CallLogFamily::CallLogFamily(MPI_Comm comm, std::vector<Rank> ranks) {
  PMPI_Comm_rank(comm, &group_.rank);
  group_.ranks = static_cast<int>(ranks.size());
  for (const Rank rank : ranks) group_.hash = mixed({group_.hash, static_cast<std::uint64_t>(rank)});
  auto& table = record_table();
  const std::lock_guard lock(table.mutex);
  if (group_.rank == 0 && table.groups.size() < RecordTable::most_groups)
    table.groups.try_emplace(group_.hash, std::move(ranks));
}

CallLogFamily::~CallLogFamily() {
  const std::lock_guard lock(record_table().mutex);
  if (leftovers_) leftovers_->give_up(group_);
}

void CallLogFamily::begin_duplicates() {
  constexpr std::size_t leftover_calls_max = 512;
  if (leftovers_) return;
  const std::lock_guard lock(record_table().mutex);
  leftovers_ = std::make_unique<CallBatch>(leftover_calls_max);
}

CallBatch CallLogFamily::take_memory() {
  const std::lock_guard lock(record_table().mutex);
  if (!spare_) return CallBatch(pending_calls_max);
  auto memory = std::move(*spare_);
  spare_.reset();
  return memory;
}

void CallLogFamily::keep_memory(CallBatch&& memory) noexcept {
  memory.clear();
  spare_ = std::move(memory);
}

void CallLogFamily::take_leftovers(CallBatch& calls) noexcept {
  if (leftovers_) leftovers_->absorb(calls, group_);
  else calls.give_up(group_);
}

double CallLogFamily::offer() noexcept {
  if (!leftovers_ || leftovers_->size() == 0 || is_offered_) return 0;
  is_offered_ = true;
  const auto digest = leftovers_->sort_and_digest();
  leftovers_->collect(group_, digest);
  return digest;
}

void CallLogFamily::end_offer(bool is_told) noexcept {
  if (is_told) leftovers_->take_told(group_);
  if (leftovers_->size() == 0) leftovers_->forget_communicators();
  is_offered_ = false;
}

Kinship Kinship::make_duplicate() {
  const auto of_number = duplicates++;
  const auto next = static_cast<std::uint64_t>(of_number) + 1;
  Kinship made{number ? mixed({id, next}) : next, of_number};
  if (!is_logged()) return made;
  if (!own) own = std::make_shared<CallLogFamily>(parent->group());
  own->begin_duplicates();
  made.parent = own;
  return made;
}

CallLog::CallLog(MPI_Comm comm, const Kinship& kin)
    : comm_(comm), kin_(kin), pending_(kin.parent ? kin.parent->take_memory() : CallBatch(pending_calls_max)) {}

void CallLog::add(InterposedCall kind, const void* site, const SentBlocks& blocks, const CallRunner& by,
                  Seconds begin_s, Seconds end_s) noexcept {
  auto& table = record_table();
  const std::lock_guard lock(table.mutex);
  std::uint64_t site_number = 0;
  try {
    site_number = table.number_of(site);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): less is known of the call
  }
  PendingCall call{
      kind,
      kin_.id,
      site_number,
      hash_of(blocks),
      blocks.is_equal,
      blocks.is_equal ? blocks.each > 0 : blocks.receives || !blocks.list.empty(),
      blocks.each,
      blocks.total(kin_.group().ranks),
      blocks.is_equal && blocks.each > 0 ? static_cast<std::uint64_t>(kin_.group().ranks) : blocks.list.size(),
      {},
      by,
      begin_s,
      end_s};
  // It is full of calls that do not block, in which ranks may not meet.
  if (!is_full() && !blocks.is_equal && !blocks.is_cut) call.row = pending_.keep_row(call.hash, blocks.list);
  pending_.add_or_count(std::move(call), kin_.group());
}

bool CallLog::is_due() const {
  constexpr std::size_t told_to_pending = 8;
  constexpr std::int64_t duplicates_to_teller = 16;
  const auto pending = pending_.size();
  if (!kin_.is_late()) return pending >= std::clamp(told_ / told_to_pending, std::size_t{1}, pending_calls_max);
  const bool tells_of_others = *kin_.number % duplicates_to_teller == 0 && told_ == 0;
  return is_full() || (tells_of_others && pending > 0);
}

void CallLog::collect(CallLogFamily* offering) noexcept {
  const std::lock_guard lock(record_table().mutex);
  offering_ = offering;
  offered_ = offering_ ? offering_->offer() : 0;
  pending_.collect(kin_.group(), offered_);
}

void CallLog::take_told() noexcept {
  const std::lock_guard lock(record_table().mutex);
  told_ += pending_.size();
  const bool is_offer_of_all = pending_.take_told(kin_.group());
  tells_leftovers_ = offered_ > 0 && is_offer_of_all;
  if (offered_ > 0 && !is_offer_of_all) offering_->end_offer(false);
}

void CallLog::tell() noexcept {
  if (pending_.size() == 0) return;
  collect(kin_.has_duplicates() || !kin_.parent ? kin_.own.get() : kin_.parent.get());
  pending_.tell(comm_);
  take_told();
  if (!tells_leftovers_) return;
  offering_->offered().tell(comm_);
  const std::lock_guard lock(record_table().mutex);
  offering_->end_offer(true);
}

void CallLog::begin_telling() noexcept {
  is_telling_ = !is_forgotten() && (pending_.size() > 0 || kin_.has_duplicates());
  if (!is_telling_) return;
  collect(kin_.has_duplicates() ? kin_.own.get() : nullptr);
  pending_.begin_telling(comm_);
}

void CallLog::end_telling() noexcept {
  if (!is_telling_) return;
  pending_.end_telling();
  take_told();
}

void CallLog::begin_telling_leftovers() noexcept {
  if (tells_leftovers_) offering_->offered().begin_telling(comm_);
}

void CallLog::end_telling_leftovers() noexcept {
  if (!tells_leftovers_) return;
  offering_->offered().end_telling();
  const std::lock_guard lock(record_table().mutex);
  offering_->end_offer(true);
}

void CallLog::leave() noexcept {
  const std::lock_guard lock(record_table().mutex);
  auto& family = *(kin_.parent ? kin_.parent : kin_.own);
  family.take_leftovers(pending_);
  family.keep_memory(std::move(pending_));
}

RecordTable& record_table() {
  static auto& only = *new RecordTable;  // never destroyed: programs call MPI until the very end
  return only;
}

std::uint64_t RecordTable::number_of(const void* site) {
  if (const auto known = sites.find(site); known != sites.end()) return known->second;
  if (site_names.size() > most_sites) return 0;
  site_names.push_back(describe_site(site));
  return sites[site] = site_names.size() - 1;
}

}  // namespace commpass
