#include "preload/takeover.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "model/mixed.hpp"
#include "preload/call_site.hpp"
#include "preload/settings.hpp"
#include "preload/ticks.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "selector/choose/trial_budget.hpp"

namespace commpass {

namespace {

thread_local bool is_within = false;
std::atomic<int> threads_within = 0;

TrialBudget& trial_budget() {
  static TrialBudget of_process;
  return of_process;
}

std::string name_of(InterposedCall kind) { return mpi_name_of(interposed_call_names[static_cast<std::size_t>(kind)]); }

/// One line. @return MPI's class of the error
int tell(const Call& call, const std::exception& error) {
  std::fprintf(stderr, "commpass: %s: %s\n", name_of(call.kind).c_str(), sentence_of(error).c_str());
  return error_class_of(error);
}

/// An error goes to the program's handler, as if the MPI library had found it. @return the code
int raise(const Call& call, int code) {
  if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(call.comm, code);
  return code;
}

/// Of our way.
struct OursRan {
  int code;      ///< MPI's class of an error, of which the program's handler does not know yet
  bool is_left;  ///< the choice is the library's call, which nothing has run yet; the same on every rank
};

OursRan run_ours(const Call& call, TakenCommunicator& of) {
  try {
    auto& engine = *of.engines->alltoallv;
    engine.leave_library_calls(settings().mode == Interposition::on);
    call.ours(of);
    of.record(call.kind).strategy = of.engines->alltoallv->last_strategy();
    return {MPI_SUCCESS, of.engines->alltoallv->was_left()};
  } catch (const std::exception& error) {
    return {tell(call, error), false};
  }
}

struct Timed {
  double seconds;  ///< of this rank, a little more than nothing
  int code;
  bool is_left;
};

constexpr double nothing_s = 1e-9;

/// One of the two ways, begun by all ranks together. All take part to its end, also where it has failed.
Timed time_one_way(const Call& call, TakenCommunicator& of, bool is_library) {
  PMPI_Barrier(call.comm);
  const double begin = PMPI_Wtime();
  const auto ran = is_library ? OursRan{call.library(), false} : run_ours(call, of);
  return {std::max(PMPI_Wtime() - begin, nothing_s), ran.code, ran.is_left};
}

/// Of the slowest rank. Collective.
template <std::size_t N>
void slowest_of_ranks(std::array<double, N>& seconds, MPI_Comm comm) {
  PMPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(N), MPI_DOUBLE, MPI_MAX, comm);
}

/// A code of MPI, and whose it is.
struct Ran {
  int code;
  CallRunner by;
};

const std::string* strategy_of(const TakenCommunicator& of) { return &of.engines->alltoallv->last_strategy(); }

Ran run_library(const Call& call, TakenCommunicator& of) {
  ++of.record(call.kind).by_library;
  return {call.library(), {}};
}

/// Either way once. A call brings the same bytes twice, since receiving does not change the sent data. In place that is
/// gone afterwards: of two calls one is the library's, and one ours. Which is the first one changes with every pair, so
/// that a program that takes turns itself, of large calls and small ones, is fair to both.
///
/// The library's call is run once where it is our choice, too. An error is one only where the MPI library finds one;
/// where ours has failed after it on some rank, the library brings all bytes again.
Ran run_trial(const Call& call, TakenCommunicator& of) {
  constexpr double failed_s = std::numeric_limits<double>::infinity();
  auto& record = of.record(call.kind);
  auto& rivalry = record.rivalry;
  const bool is_library_first = rivalry.is_library_next();
  std::optional<Timed> library, ours;
  bool is_complete = false;
  do {
    const bool is_library = rivalry.is_library_next();
    const auto timed = time_one_way(call, of, is_library);
    if (timed.is_left) {
      rivalry.leave();
      if (!library) return run_library(call, of);
      ++record.by_library;
      return {library->code, {}};
    }
    (is_library ? library : ours) = timed;
    is_complete = rivalry.note(timed.code == MPI_SUCCESS ? timed.seconds : failed_s);
  } while (!is_complete && !call.is_in_place);
  ++record.by_both;
  const auto ran = [&](std::optional<Seconds> library_s) {
    return Ran{library ? library->code : raise(call, ours->code),
               {Rivalry::Turn::both, 1, {}, library_s, strategy_of(of)}};
  };
  if (!is_complete) return ran({});
  std::array seconds{rivalry.library_s(), rivalry.ours_s(), ours ? ours->seconds : 0.0};
  slowest_of_ranks(seconds, call.comm);
  const auto [library_s, ours_s, added_s] = seconds;
  const auto known_s = call.is_in_place ? std::nullopt : std::optional(library_s);
  if (std::isinf(library_s)) {  // which told the program's handler of it
    rivalry.repeat();
    return ran(known_s);
  }
  const bool has_failed = std::isinf(ours_s);
  const Seconds loss_s = !call.is_in_place ? added_s : has_failed ? library_s : std::max(ours_s - library_s, 0.0);
  trial_budget().spend(loss_s);
  rivalry.add(library_s, ours_s, loss_s);
  if (has_failed && is_library_first && !call.is_in_place) library->code = call.library();
  return ran(known_s);
}

bool is_refused(const Call& call, const TakenCommunicator& of) {
  return !of.left_to_library.empty() || (is_of_neighborhood(call.kind) && !of.neighborhood);
}

/// Does the library run it in any case?
bool is_for_library(const Call& call, const TakenCommunicator& of) {
  return !call.ours || call.is_aliased || settings().mode < Interposition::on || is_refused(call, of);
}

/// How many calls the trial that is due has to wait until its loss is affordable on all ranks. Collective.
double calls_to_wait(const Call& call, TakenCommunicator& of) {
  const auto& record = of.record(call.kind);
  const auto& rivalry = record.rivalry;
  std::array calls{trial_budget().calls_to_wait(rivalry.trial_loss_s(), of.engines != nullptr,
                                                record.seconds / static_cast<double>(rivalry.calls()),
                                                settings().trial_loss_share)};
  slowest_of_ranks(calls, call.comm);
  return calls[0];
}

Rivalry::Turn turn_of_rivalry(const Call& call, TakenCommunicator& of) {
  auto& record = of.record(call.kind);
  auto& rivalry = record.rivalry;
  const auto turn = rivalry.next();
  if (turn != Rivalry::Turn::both || rivalry.is_within_trial()) return turn;
  const double calls = calls_to_wait(call, of);
  if (calls == 0) return turn;
  rivalry.postpone(calls);
  return rivalry.decided();
}

/// Whose turn it is, on a communicator with engines where that is not the library's alone.
Rivalry::Turn turn_of(const Call& call, TakenCommunicator& of) {
  if (is_for_library(call, of)) return Rivalry::Turn::library;
  const auto turn = settings().mode == Interposition::always ? Rivalry::Turn::ours : turn_of_rivalry(call, of);
  if (turn != Rivalry::Turn::library && !of.engines) {
    const double begin_s = monotonic_seconds();
    open_engines(of, call.comm);
    trial_budget().note_opening(monotonic_seconds() - begin_s);
  }
  return is_refused(call, of) ? Rivalry::Turn::library : turn;
}

/// How many calls the library runs after this one, which it runs, before the next one is watched. None of the first
/// ones and no trial is left; numbers vary, since a program may make different calls by turns. The same on every rank.
std::int64_t calls_to_leave(const Call& call, const TakenCommunicator& of, const CallRecord& record) {
  constexpr std::int64_t calls_to_left = 64, mean_max = 128;
  if (settings().records()) return 0;
  const auto calls = record.calls(), mean = std::min(calls / calls_to_left, mean_max);
  const auto drawn = mixed({static_cast<std::uint64_t>(calls)}) % static_cast<std::uint64_t>(2 * mean + 1);
  const auto left = static_cast<std::int64_t>(drawn);
  return is_for_library(call, of) ? left : std::min(left, record.rivalry.calls_to_trial());
}

Ran run_taken(const Call& call, TakenCommunicator& of, CallRecord& record) {
  switch (turn_of(call, of)) {
    case Rivalry::Turn::library: {
      auto ran = run_library(call, of);
      record.unwatched = calls_to_leave(call, of, record);
      record.rivalry.pass(record.unwatched);
      record.by_library += record.unwatched;
      ran.by.calls += record.unwatched;
      if (record.unwatched > 0) record_table().are_sampled = true;
      return ran;
    }
    case Rivalry::Turn::ours: {
      const auto ran = run_ours(call, of);
      if (ran.is_left) break;
      ++record.by_ours;
      return {raise(call, ran.code), {Rivalry::Turn::ours, 1, record.rivalry.ratio(), {}, strategy_of(of)}};
    }
    case Rivalry::Turn::both: return run_trial(call, of);
  }
  return run_library(call, of);
}

/// May be collective where the call blocks.
void write_down(const Call& call, const Ran& ran, TakenCommunicator& of, double begin_s, double end_s) {
  thread_local SentBlocks sent;
  sent.clear();
  try {
    std::optional<ReturnedErrors> errors;  // which a type that is none gives once more
    if (ran.code != MPI_SUCCESS) errors.emplace();
    call.sends(of, sent);
  } catch (const std::bad_alloc&) {
    sent.is_cut = true;
  }
  of.record(call.kind).bytes += sent.total(peers_in(call.comm)) * ran.by.calls;
  if (!of.log) return;
  const auto tell_if = [&](bool is_time) {
    if (!blocks(call.kind) || !is_time) return;
    of.log->tell();
  };
  tell_if(of.log->is_full());  // of calls that only started exchanges: there must be room for this one
  of.log->add(call.kind, CallSite::of_program(), sent, ran.by, begin_s, end_s);
  tell_if(of.log->is_due());
}

}  // namespace

bool is_inside() { return is_within; }

Inside::Inside() : is_logged_(settings().logs()), was_inside_(std::exchange(is_within, true)) {
  if (is_logged_ && threads_within.fetch_add(1) > 0 && !was_inside_) record_table().calls_overlap = true;
}

Inside::~Inside() {
  if (is_logged_) --threads_within;
  is_within = was_inside_;
}

int run(const Call& call) {
  const auto& asked = settings();
  if (is_within || asked.mode == Interposition::off || !asked.is_taken[static_cast<std::size_t>(call.kind)])
    return call.library();
  // It takes little memory, and others would wait for a rank without it.
  FoundCalls found{};
  try {
    found = insist([&] { return find_calls(call.kind, call.comm); });
  } catch (const std::exception& error) {
    return raise(call, tell(call, error));
  }
  if (!found.of || is_unwatched(call.kind, call.comm)) return call.library();
  const Inside inside;
  const double begin_s = monotonic_seconds();
  auto ran = run_taken(call, *found.of, *found.record);
  const double end_s = std::max(monotonic_seconds(), begin_s);
  const auto in_calls_s = (end_s - begin_s) * static_cast<double>(ran.by.calls);
  found.record->seconds += in_calls_s;
  if (call.ours) trial_budget().earn(in_calls_s);
  if (asked.reports || asked.logs()) write_down(call, ran, *found.of, begin_s, end_s);
  return ran.code;
}

}  // namespace commpass
