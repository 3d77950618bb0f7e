// Messages of the program that MPI sends: how many, how large, with which partners, from which places, and the phases
// that recur. Local: ranks tell each other at the end.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/base/types.hpp"
#include "preload/ticks.hpp"
#include "selector/environment/interposed_call.hpp"
#include "selector/report/record.hpp"

namespace commpass {

/// Ranks, each once, as many as it may hold. Of open addresses, since most calls ask for a rank that it has.
class RankSet {
 public:
  static constexpr std::size_t ranks_max = std::size_t{1} << 14;

  void add(Rank rank);
  std::size_t size() const { return size_; }

 private:
  void insert(Rank rank);

  std::vector<Rank> slots_ = {};
  std::size_t size_ = 0;
  Rank last_ = -1;
};

/// One kind of call at one place of the program.
struct MessagePlace {
  const void* site;  ///< null: one of too many
  CountedCall call;
  std::int64_t calls = 0;
  Bytes bytes = 0;  ///< sent, put or got
  std::uint64_t ticks = 0;
  RankSet partners = {};
  std::size_t patterns = 0;  ///< MessagePattern that begin to send here
};

/// Phases of messages with the same partners.
struct MessagePattern {
  std::uint64_t hash;  ///< of the place and the partners; of phases whose partners are not kept: of the place
  std::size_t place;   ///< of the first call that sends; where none does, that receives
  std::int64_t phases = 0;
  std::int64_t blocks = 0;
  Bytes bytes = 0;
  Seconds seconds = 0;           ///< in the calls of these phases
  std::vector<Edge> sends = {};  ///< bytes of all phases; the source is this rank. Empty where they are not kept
  bool has_partners = false;     ///< they are kept
  OverTime over_time = {};
};

/// A call of the program, after the MPI library has run it.
struct MessageCall {
  CountedCall call;
  const void* site;
  std::uint64_t begin_ticks, end_ticks;  ///< 0 of calls that are not timed
};

/// Is a message left to a request, for which the program waits? One that goes nowhere may be null at once.
enum class MakesRequest { no, yes, null };

inline MakesRequest made_request(MPI_Request request) {
  return request == MPI_REQUEST_NULL ? MakesRequest::null : MakesRequest::yes;
}

/// What this process counts. Its memory is bounded: places and patterns by their number, partners by their sum.
class MessageLog {
 public:
  static constexpr std::size_t places_max = 512, patterns_max = 512;
  static constexpr std::size_t patterns_of_place_max = 16;
  static constexpr std::size_t kept_partners_max = std::size_t{1} << 19;  ///< of all patterns
  static constexpr std::size_t phase_messages_max = std::size_t{1} << 14;
  static constexpr std::size_t prepared_max = std::size_t{1} << 16;  ///< persistent requests

  /// @param is_shared  threads may call at the same time
  explicit MessageLog(bool is_shared);

  // Ranks are those of MPI_COMM_WORLD; MPI_PROC_NULL: no partner; MPI_ANY_SOURCE: one that is not known.
  void send(const MessageCall& of, Rank to, Bytes bytes, MakesRequest request);
  void receive(const MessageCall& of, Rank from, MakesRequest request);
  void exchange(const MessageCall& of, Rank to, Bytes bytes, Rank from);
  void access(const MessageCall& of, Rank target, Bytes bytes);
  /// A persistent request is made.
  void prepare_send(const MessageCall& of, MPI_Request request, Rank to, Bytes bytes);
  void prepare_receive(const MessageCall& of, MPI_Request request, Rank from);
  void start(const MessageCall& of, std::span<const MPI_Request> requests);
  /// Requests are completed. @param completed  how many
  void complete(const MessageCall& of, int completed);
  /// A request is freed before it is completed, or a persistent one for good.
  void release(const MessageCall& of, MPI_Request request);

  const std::vector<MessagePlace>& places() const { return places_; }
  const std::vector<MessagePattern>& patterns() const { return patterns_; }
  TickClock& clock() { return clock_; }

 private:
  struct Prepared {
    bool is_send;
    Rank partner;
    Bytes bytes;
  };
  using Guard = std::unique_lock<std::mutex>;

  Guard guard() { return is_shared_ ? Guard(mutex_) : Guard(mutex_, std::defer_lock); }
  std::size_t count(const MessageCall& of);
  void prepare(const MessageCall& of, MPI_Request request, const Prepared& prepared);
  std::size_t find_place(const void* site, CountedCall call);
  void count_send(std::size_t place, Rank to, Bytes bytes);
  void add_send(std::size_t place, Rank to, Bytes bytes);
  void add_receive(std::size_t place, Rank from);
  void close_phase(std::uint64_t end_ticks);
  MessagePattern& find_pattern(std::uint64_t hash, std::size_t place, bool has_partners);

  bool is_shared_;
  std::mutex mutex_ = {};
  TickClock clock_ = {};
  std::vector<MessagePlace> places_ = {};
  std::vector<MessagePattern> patterns_ = {};
  std::vector<std::uint16_t> place_slots_, pattern_slots_;  ///< numbers from 1, by hash
  std::size_t kept_partners_ = 0;
  std::unordered_map<std::uint64_t, Prepared> prepared_ = {};
};

/// That of the process; null: messages are not counted.
inline std::atomic<MessageLog*> message_log = nullptr;

/// From now on messages are counted. Called once, when MPI has been initialised.
void begin_counting_messages() noexcept;
/// Ends counting. @return the counts; null: nothing was counted
MessageLog* end_counting_messages() noexcept;

/// What counting a call takes, as measured now.
Seconds measure_counting();

}  // namespace commpass
