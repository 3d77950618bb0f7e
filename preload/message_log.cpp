#include "preload/message_log.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "model/mixed.hpp"
#include "preload/world_rank.hpp"

namespace commpass {

namespace {

/// Messages from the first one that is posted until no request is left.
struct Phase {
  std::vector<Edge> sends = {};
  std::uint64_t hash = 0;  ///< the same in any order of the messages
  std::size_t place = none;
  bool has_sent = false, is_cut = false;
  int requests = 0;
  std::uint64_t ticks = 0;
  std::int64_t blocks = 0;
  Bytes bytes = 0;

  static constexpr std::size_t none = ~std::size_t{0};

  bool is_open() const { return place != none; }
  void clear() {
    auto kept = std::move(sends);
    kept.clear();
    *this = {};
    sends = std::move(kept);
  }
};

thread_local Phase phase;

template <class Handle>
std::uint64_t key_of(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle));
  else return static_cast<std::uint64_t>(handle);
}

bool is_partner(Rank rank) { return rank >= 0; }

/// Slots for twice as many numbers, which stay half empty.
std::vector<std::uint16_t> slots_for(std::size_t most) { return std::vector<std::uint16_t>(std::bit_ceil(2 * most)); }

/// The number at a hash, by linear probing. @param is_it  of a number
/// @return the slot, whose number is 0 where there is none yet
template <class IsIt>
std::uint16_t& find_slot(std::vector<std::uint16_t>& slots, std::uint64_t hash, IsIt is_it) {
  const auto mask = slots.size() - 1;
  for (auto at = hash & mask;; at = (at + 1) & mask)
    if (slots[at] == 0 || is_it(slots[at] - 1U)) return slots[at];
}

}  // namespace

void RankSet::add(Rank rank) {
  if (rank == last_) return;
  last_ = rank;
  constexpr std::size_t slots_min = 8;
  if (2 * size_ >= slots_.size()) {
    if (size_ >= ranks_max) return;
    const auto before = std::exchange(slots_, std::vector<Rank>(std::max(slots_min, 2 * slots_.size()), -1));
    size_ = 0;
    for (const auto each : before)
      if (each >= 0) insert(each);
  }
  insert(rank);
}

void RankSet::insert(Rank rank) {
  const auto mask = slots_.size() - 1;
  for (auto at = mixed({static_cast<std::uint64_t>(rank)}) & mask;; at = (at + 1) & mask) {
    if (slots_[at] == rank) return;
    if (slots_[at] >= 0) continue;
    slots_[at] = rank;
    ++size_;
    return;
  }
}

MessageLog::MessageLog(bool is_shared)
    : is_shared_(is_shared),
      place_slots_(slots_for(places_max + counted_call_names.size())),
      pattern_slots_(slots_for(patterns_max + places_max)) {
  places_.reserve(places_max + counted_call_names.size());
}

std::size_t MessageLog::find_place(const void* site, CountedCall call) {
  const auto is_it = [&](std::size_t i) { return places_[i].site == site && places_[i].call == call; };
  const auto hash = mixed({key_of(site), static_cast<std::uint64_t>(call)});
  auto& slot = find_slot(place_slots_, hash, is_it);
  if (slot > 0) return slot - 1U;
  if (site && places_.size() >= places_max) return find_place(nullptr, call);
  places_.push_back({site, call});
  slot = static_cast<std::uint16_t>(places_.size());
  return places_.size() - 1;
}

std::size_t MessageLog::count(const MessageCall& of) {
  const auto number = find_place(of.site, of.call);
  auto& place = places_[number];
  ++place.calls;
  place.ticks += of.end_ticks - of.begin_ticks;
  return number;
}

void MessageLog::count_send(std::size_t place, Rank to, Bytes bytes) {
  if (to == MPI_PROC_NULL) return;
  places_[place].bytes += bytes;
  if (is_partner(to)) places_[place].partners.add(to);
}

void MessageLog::add_send(std::size_t place, Rank to, Bytes bytes) {
  count_send(place, to, bytes);
  if (!phase.has_sent) phase.place = place;  // rather than that of a receive
  phase.has_sent = true;
  if (!is_partner(to)) return;
  phase.hash += mixed({2 * static_cast<std::uint64_t>(to)});
  ++phase.blocks;
  phase.bytes += bytes;
  if (phase.sends.size() < phase_messages_max) phase.sends.push_back({0, to, bytes});
  else phase.is_cut = true;
}

void MessageLog::add_receive(std::size_t place, Rank from) {
  if (!phase.is_open()) phase.place = place;
  if (!is_partner(from)) return;
  places_[place].partners.add(from);
  phase.hash += mixed({2 * static_cast<std::uint64_t>(from) + 1});
}

void MessageLog::send(const MessageCall& of, Rank to, Bytes bytes, MakesRequest request) {
  const auto lock = guard();
  const auto place = count(of);
  if (request == MakesRequest::no && !phase.is_open()) {  // a message alone is no exchange
    count_send(place, to, bytes);
    return;
  }
  add_send(place, to, bytes);
  phase.ticks += of.end_ticks - of.begin_ticks;
  if (request == MakesRequest::yes) ++phase.requests;
}

void MessageLog::receive(const MessageCall& of, Rank from, MakesRequest request) {
  const auto lock = guard();
  const auto place = count(of);
  if (request == MakesRequest::no && !phase.is_open()) {
    if (is_partner(from)) places_[place].partners.add(from);
    return;
  }
  add_receive(place, from);
  phase.ticks += of.end_ticks - of.begin_ticks;
  if (request == MakesRequest::yes) ++phase.requests;
}

void MessageLog::exchange(const MessageCall& of, Rank to, Bytes bytes, Rank from) {
  const auto lock = guard();
  const auto place = count(of);
  add_send(place, to, bytes);
  add_receive(place, from);
  phase.ticks += of.end_ticks - of.begin_ticks;
  if (phase.requests == 0) close_phase(of.end_ticks);
}

void MessageLog::access(const MessageCall& of, Rank target, Bytes bytes) {
  const auto lock = guard();
  count_send(count(of), target, bytes);
}

void MessageLog::prepare_send(const MessageCall& of, MPI_Request request, Rank to, Bytes bytes) {
  prepare(of, request, {true, to, bytes});
}

void MessageLog::prepare_receive(const MessageCall& of, MPI_Request request, Rank from) {
  prepare(of, request, {false, from, 0});
}

void MessageLog::prepare(const MessageCall& of, MPI_Request request, const Prepared& prepared) {
  const auto lock = guard();
  auto& place = places_[count(of)];
  if (is_partner(prepared.partner)) place.partners.add(prepared.partner);
  if (prepared_.size() < prepared_max) prepared_[key_of(request)] = prepared;
}

void MessageLog::start(const MessageCall& of, std::span<const MPI_Request> requests) {
  const auto lock = guard();
  const auto place = count(of);
  for (const auto request : requests) {
    const auto found = prepared_.find(key_of(request));
    if (found == prepared_.end()) continue;  // a collective, or one of too many
    const auto& [is_send, partner, bytes] = found->second;
    if (is_send) add_send(place, partner, bytes);
    else add_receive(place, partner);
    ++phase.requests;
  }
  phase.ticks += of.end_ticks - of.begin_ticks;
}

void MessageLog::complete(const MessageCall& of, int completed) {
  const auto lock = guard();
  count(of);
  if (!phase.is_open()) return;
  phase.ticks += of.end_ticks - of.begin_ticks;
  phase.requests = std::max(phase.requests - completed, 0);
  if (phase.requests == 0) close_phase(of.end_ticks);
}

void MessageLog::release(const MessageCall& of, MPI_Request request) {
  const auto lock = guard();
  count(of);
  if (prepared_.erase(key_of(request)) > 0 || !phase.is_open()) return;
  phase.requests = std::max(phase.requests - 1, 0);
  if (phase.requests == 0) close_phase(read_ticks());
}

MessagePattern& MessageLog::find_pattern(std::uint64_t hash, std::size_t place, bool has_partners) {
  const auto is_it = [&](std::size_t i) { return patterns_[i].hash == hash && patterns_[i].place == place; };
  auto& slot = find_slot(pattern_slots_, mixed({hash}), is_it);
  if (slot > 0) return patterns_[slot - 1U];
  if (has_partners) {
    auto& of_place = places_[place].patterns;
    if (of_place >= patterns_of_place_max || patterns_.size() >= patterns_max ||
        kept_partners_ + phase.sends.size() > kept_partners_max)
      return find_pattern(0, place, false);
    ++of_place;
    kept_partners_ += phase.sends.size();
  }
  auto& made = patterns_.emplace_back(MessagePattern{hash, place});
  slot = static_cast<std::uint16_t>(patterns_.size());
  if (has_partners) {
    made.sends = phase.sends;
    for (auto& send : made.sends) send.bytes = 0;
    made.has_partners = true;
  }
  return made;
}

void MessageLog::close_phase(std::uint64_t end_ticks) {
  const auto hash = mixed({phase.hash}) | 1U;  // 0 is that of phases without partners
  auto& pattern = phase.is_cut ? find_pattern(0, phase.place, false) : find_pattern(hash, phase.place, true);
  const auto at_s = clock_.since_begin(end_ticks);
  const auto seconds = clock_.duration(phase.ticks);
  ++pattern.phases;
  pattern.blocks += phase.blocks;
  pattern.bytes += phase.bytes;
  pattern.seconds += seconds;
  pattern.over_time.add(at_s, seconds);
  for (std::size_t i = 0; i < pattern.sends.size(); ++i) {
    // Most phases send in one order. In others bytes go to any message of the partner: their sum is right.
    auto at = pattern.sends.begin() + static_cast<std::ptrdiff_t>(i);
    if (at->destination != phase.sends[i].destination)
      at = std::ranges::find(pattern.sends, phase.sends[i].destination, &Edge::destination);
    if (at != pattern.sends.end()) at->bytes += phase.sends[i].bytes;
  }
  phase.clear();
}

void begin_counting_messages() noexcept {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  message_log = new (std::nothrow) MessageLog(level == MPI_THREAD_MULTIPLE);  // never destroyed
}

MessageLog* end_counting_messages() noexcept { return message_log.exchange(nullptr); }

Seconds measure_counting() {
  constexpr int pairs = 1000;
  MessageLog log(false);
  phase.clear();
  const auto begin_s = monotonic_seconds();
  for (int i = 0; i < pairs; ++i) {
    log.send({CountedCall::isend, &log, 0, 0}, world_rank(MPI_COMM_WORLD, 1), 8, MakesRequest::yes);
    const auto begin = read_ticks();
    log.complete({CountedCall::wait, &log, begin, read_ticks()}, 1);
  }
  return (monotonic_seconds() - begin_s) / (2 * pairs);
}

}  // namespace commpass
