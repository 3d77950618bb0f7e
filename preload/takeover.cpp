#include "preload/takeover.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <limits>
#include <new>
#include <string>
#include <tuple>
#include <utility>

#include "preload/call_site.hpp"
#include "preload/settings.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

namespace {

thread_local bool is_within = false;

class Inside {
 public:
  Inside() { is_within = true; }
  ~Inside() { is_within = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

/// As MPI has it.
std::string name_of(InterposedCall kind) {
  std::string name = interposed_call_names[static_cast<std::size_t>(kind)];
  name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
  return "MPI_" + name;
}

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

/// @return MPI's class of an error, of which the program's handler does not know yet
int run_ours(const Call& call, TakenCommunicator& of) {
  try {
    call.ours(of);
    of.record(call.kind).strategy = of.engines->alltoallv->last_strategy();
    return MPI_SUCCESS;
  } catch (const std::exception& error) {
    return tell(call, error);
  }
}

struct Timed {
  double seconds;  ///< of the slowest rank, a little more than nothing; infinite: ours has failed on some rank
  int code;        ///< of this rank
};

/// One of the two ways, begun by all ranks together. All take part to its end, also where it has failed.
Timed time_one_way(const Call& call, TakenCommunicator& of, bool is_library) {
  PMPI_Barrier(call.comm);
  const double begin = PMPI_Wtime();
  const int code = is_library ? call.library() : run_ours(call, of);
  constexpr double nothing_s = 1e-9;
  double slowest = is_library || code == MPI_SUCCESS ? std::max(PMPI_Wtime() - begin, nothing_s)
                                                     : std::numeric_limits<double>::infinity();
  PMPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, call.comm);
  return {slowest, code};
}

/// A code of MPI, and whose it is.
struct Ran {
  int code;
  CallRunner by;
};

const std::string* strategy_of(const TakenCommunicator& of) { return &of.engines->alltoallv->last_strategy(); }

/// The same bytes twice, since receiving does not change what is sent. An error is one only where the MPI library finds
/// one; where ours has failed after it on some rank, the library brings all bytes again.
Ran run_both(const Call& call, TakenCommunicator& of) {
  auto& rivalry = of.record(call.kind).rivalry;
  const bool is_library_first = rivalry.calls() % 2 == 0;
  const auto first = time_one_way(call, of, is_library_first), second = time_one_way(call, of, !is_library_first);
  const auto& [library, ours] = is_library_first ? std::tie(first, second) : std::tie(second, first);
  rivalry.add(library.seconds, ours.seconds);
  const bool is_damaged = is_library_first && std::isinf(ours.seconds);
  return {is_damaged ? call.library() : library.code, {Rivalry::Turn::both, 0, library.seconds, strategy_of(of)}};
}

/// In place what is sent is gone afterwards: of two calls one is the library's, and one ours. Who is first changes with
/// every pair, so that a program that takes turns itself, of large calls and small ones, favours nobody.
Ran run_in_turn(const Call& call, TakenCommunicator& of) {
  auto& record = of.record(call.kind);
  const bool is_first = record.pending_s == 0;
  const bool is_library = is_first == record.is_library_first;
  const auto [seconds, code] = time_one_way(call, of, is_library);
  const Ran ran{is_library ? code : raise(call, code), {Rivalry::Turn::both, 0, {}, strategy_of(of)}};
  if (is_first) {
    record.pending_s = seconds;
    return ran;
  }
  const double before = std::exchange(record.pending_s, 0);
  record.rivalry.add(is_library ? seconds : before, is_library ? before : seconds);
  record.is_library_first = !record.is_library_first;
  return ran;
}

bool is_refused(const Call& call, const TakenCommunicator& of) {
  return !of.left_to_library.empty() || (is_of_neighborhood(call.kind) && !of.neighborhoods_left_to_library.empty());
}

/// Whose turn it is, on a communicator with engines where that is not the library's alone.
Rivalry::Turn turn_of(const Call& call, TakenCommunicator& of) {
  if (!call.ours || call.is_aliased || settings().mode < Interposition::on || is_refused(call, of))
    return Rivalry::Turn::library;
  if (is_wrong_by_library(call.kind, of, call.comm)) {
    if (!of.engines) open_engines(of, call.comm);
    return is_refused(call, of) ? Rivalry::Turn::library : Rivalry::Turn::ours;
  }
  const auto turn =
      settings().mode == Interposition::always ? Rivalry::Turn::ours : of.record(call.kind).rivalry.next();
  if (turn != Rivalry::Turn::library && !of.engines) open_engines(of, call.comm);
  return is_refused(call, of) ? Rivalry::Turn::library : turn;
}

Ran run_taken(const Call& call, TakenCommunicator& of) {
  auto& record = of.record(call.kind);
  switch (turn_of(call, of)) {
    case Rivalry::Turn::library: break;
    case Rivalry::Turn::ours: {
      ++record.by_ours;
      const int code = raise(call, run_ours(call, of));
      return {code, {Rivalry::Turn::ours, record.rivalry.ratio(), {}, strategy_of(of)}};
    }
    case Rivalry::Turn::both: ++record.by_both; return call.is_in_place ? run_in_turn(call, of) : run_both(call, of);
  }
  ++record.by_library;
  return {call.library(), {}};
}

/// May be collective where the call blocks.
void write_down(const Call& call, const CallRunner& by, TakenCommunicator& of, double begin_s, double end_s) {
  thread_local SentBlocks sent;
  sent.clear();
  try {
    call.sends(of, sent);
  } catch (const std::bad_alloc&) {
    sent.is_cut = true;
  }
  auto& record = of.record(call.kind);
  record.seconds += end_s - begin_s;
  record.bytes += sent.total(peers_in(call.comm));
  if (!of.log) return;
  const auto tell_if = [&](bool is_time) {
    if (!blocks(call.kind) || !is_time) return;
    of.log->begin_telling();
    of.log->end_telling();
  };
  tell_if(of.log->is_full());  // of calls that only started exchanges: there must be room for this one
  of.log->add(call.kind, CallSite::of_program(), sent, by, begin_s, end_s);
  tell_if(of.log->is_due());
}

/// Of a communicator that MPI knows. What it carries takes little memory, and others would wait for a rank without it.
/// @param of  null: nothing
/// @return a code of MPI
int find_taken(const Call& call, TakenCommunicator*& of) {
  try {
    of = insist([&] { return taken(call.comm); });
    return MPI_SUCCESS;
  } catch (const std::exception& error) {
    return raise(call, tell(call, error));
  }
}

}  // namespace

bool is_inside() { return is_within; }

int run(const Call& call) {
  const auto& asked = settings();
  if (is_within || asked.mode == Interposition::off || !asked.is_taken[static_cast<std::size_t>(call.kind)])
    return call.library();
  TakenCommunicator* of = nullptr;
  if (const int failed = find_taken(call, of); failed != MPI_SUCCESS) return failed;
  if (!of) return call.library();
  const Inside inside;
  const double begin_s = monotonic_seconds();
  const auto ran = run_taken(call, *of);
  if (asked.reports || asked.logs()) write_down(call, ran.by, *of, begin_s, monotonic_seconds());
  return ran.code;
}

}  // namespace commpass
