#include "model/cost/trace.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/cost/models.hpp"

namespace commpass {

const char* name_of(Activity activity) {
  switch (activity) {
    case Activity::copy: return "copy";
    case Activity::send: return "send";
    case Activity::wait: return "wait";
    case Activity::receive: return "receive";
    case Activity::library: return "library";
  }
  return "?";
}

std::span<const TraceSpan> Trace::spans_of(Rank rank) const {
  const auto begin = std::ranges::lower_bound(spans, rank, {}, &TraceSpan::rank),
             end = std::ranges::upper_bound(spans, rank, {}, &TraceSpan::rank);
  return {begin, end};
}

void TraceRecorder::spend(Rank rank, Activity activity, int stage, Seconds begin, Seconds end, Rank peer, Bytes bytes) {
  if (end > begin) spans_.push_back({rank, activity, stage, begin, end, peer, bytes});
}

void TraceRecorder::finish(const Finish& finish) {
  last_finish_[at(finish.leg.to)] = static_cast<int>(finishes_.size());
  finishes_.push_back(finish);
}

/// Back from the last finish.
void TraceRecorder::follow_critical(Trace& trace) const {
  const auto last = static_cast<Rank>(std::ranges::max_element(trace.finish) - trace.finish.begin());
  for (int number = last_finish(last); number >= 0;) {
    const auto& finish = finishes_[static_cast<std::size_t>(number)];
    trace.critical.push_back(finish.leg);
    number = finish.before;
  }
  std::ranges::reverse(trace.critical);
}

Trace TraceRecorder::take(Cost cost, std::span<const Seconds> now) {
  Trace trace;
  trace.cost = std::move(cost);
  trace.finish.assign(now.begin(), now.end());
  std::ranges::stable_sort(spans_, {}, [](const TraceSpan& s) { return std::tuple(s.rank, s.begin, s.end); });
  // What nothing else fills until a rank's finish, it waits.
  const auto wait = [&](Rank rank, int stage, Seconds begin, Seconds end) {
    constexpr double rounding = 1e-12;
    if (end - begin > rounding * end) trace.spans.push_back({rank, Activity::wait, stage, begin, end});
  };
  auto span = spans_.begin();
  for (Rank rank = 0; rank < std::ssize(now); ++rank) {
    Seconds until = 0;
    int stage = 0;
    for (; span != spans_.end() && span->rank == rank; ++span) {
      wait(rank, span->stage, until, span->begin);
      until = std::max(until, span->end);
      stage = span->stage;
      trace.spans.push_back(*span);
    }
    wait(rank, stage, until, now[at(rank)]);
  }
  std::vector<TraceSpan>().swap(spans_);  // large
  follow_critical(trace);
  return trace;
}

Trace trace_exchange(const Schedule& schedule, const Layout& layout, const Machine& machine, Usage usage,
                     const DataPath& path) {
  require_parameters(layout, machine, path);
  Trace trace;
  evaluate_path(schedule, layout, machine, CostModel::burst, usage, path, nullptr, &trace);
  return trace;
}

}  // namespace commpass
