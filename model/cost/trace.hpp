// What each rank does when in a predicted exchange, as the burst model tells it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/cost/cost.hpp"

namespace commpass {

enum class Activity : std::uint8_t {
  copy,     ///< packing, unpacking, to itself, or between a device and host memory
  send,     ///< a message leaves
  wait,     ///< for a message that comes, or for one that has to be taken in
  receive,  ///< a message is taken in; may go on at the same time as sending
  library   ///< calls of Commpass, and what the MPI library's collective adds
};
const char* name_of(Activity activity);

struct TraceSpan {
  Rank rank = 0;
  Activity activity = Activity::wait;
  int stage = 0;  ///< copies of staged data before the first one: -1, behind the last one: the number of stages
  Seconds begin = 0, end = 0;
  Rank peer = -1;   ///< to whom a message is sent; -1: of none, or of several
  Bytes bytes = 0;  ///< of the message sent
};

/// One step of the critical path, which determines the last finish: the work that rank `from` began at `begin` let rank
/// `to` finish at `end`.
struct TraceLeg {
  Rank from = 0, to = 0;
  int stage = 0;
  Seconds begin = 0, end = 0;
};

struct Trace {
  Cost cost;                       ///< as evaluate() gives it
  std::vector<TraceSpan> spans;    ///< by rank, then by begin
  std::vector<TraceLeg> critical;  ///< from the first to the last
  std::vector<Seconds> finish;     ///< by rank

  /// Those of one rank.
  std::span<const TraceSpan> spans_of(Rank rank) const;
};

/// Evaluates a schedule under burst and keeps all events: some hundred bytes for each message.
/// @throws InputError as evaluate
Trace trace_exchange(const Schedule& schedule, const Layout& layout, const Machine& machine,
                     Usage usage = Usage::planned, const DataPath& path = {});

/// Listens to the burst model. Private to the model.
class TraceRecorder {
 public:
  /// A rank is through with a batch.
  struct Finish {
    TraceLeg leg;  ///< whose time since the batch began led to it
    int before;    ///< number of the finish of leg.from before that; -1: there is none
  };

  explicit TraceRecorder(int ranks) : last_finish_(static_cast<std::size_t>(ranks), -1) {}

  void spend(Rank rank, Activity activity, int stage, Seconds begin, Seconds end, Rank peer = -1, Bytes bytes = 0);
  void finish(const Finish& finish);
  /// The number of a rank's latest finish; -1: there is none.
  int last_finish(Rank rank) const { return last_finish_[at(rank)]; }
  Trace take(Cost cost, std::span<const Seconds> now);

 private:
  void follow_critical(Trace& trace) const;

  std::vector<TraceSpan> spans_;
  std::vector<Finish> finishes_;
  std::vector<int> last_finish_;  // by rank
};

}  // namespace commpass
