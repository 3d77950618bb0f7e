#include "preload/takeover.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "model/error.hpp"
#include "preload/settings.hpp"
#include "runtime/mpi/agreement.hpp"

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

/// The seconds of an action, and its code.
template <class Action>
std::pair<double, int> timed(Action action) {
  const double begin = PMPI_Wtime();
  const int code = action();
  return {PMPI_Wtime() - begin, code};
}

/// @return MPI's code for it
int tell(const std::exception& error) {
  std::fprintf(stderr, "commpass: %s\n", sentence_of(error).c_str());
  return dynamic_cast<const InputError*>(&error) ? MPI_ERR_ARG : MPI_ERR_OTHER;
}

}  // namespace

bool is_inside() { return is_within; }

int Takeover::run() {
  const auto& asked = settings();
  if (is_within || asked.mode == Interposition::off || !asked.is_taken[static_cast<std::size_t>(call_)])
    return library();
  auto* const of = taken(comm_);
  if (!of) return library();
  const Inside inside;
  auto& record = of->record(call_);
  const auto [seconds, code] = timed([&] { return run_taken(*of); });
  record.seconds += seconds;
  record.bytes += bytes();
  return code;
}

int Takeover::run_taken(TakenCommunicator& of) {
  auto& record = of.record(call_);
  auto turn = Rivalry::Turn::library;
  const auto is_refused = [&] {
    return !of.left_to_library.empty() || (is_of_neighborhood(call_) && !of.neighborhoods_left_to_library.empty());
  };
  if (settings().mode >= Interposition::on && !is_refused()) {
    turn = settings().mode == Interposition::always ? Rivalry::Turn::ours : record.rivalry.next();
    if (turn != Rivalry::Turn::library && !of.engines) open_engines(of, comm_);
    if (is_refused()) turn = Rivalry::Turn::library;
  }
  switch (turn) {
    case Rivalry::Turn::library: ++record.by_library; return library();
    case Rivalry::Turn::ours: ++record.by_ours; return run_ours(of);
    case Rivalry::Turn::both: ++record.by_both; return is_in_place_ ? run_in_turn(of) : run_both(of);
  }
  return MPI_ERR_INTERN;
}

int Takeover::run_ours(TakenCommunicator& of) {
  try {
    ours(of);
    of.record(call_).strategy = of.engines->alltoallv->last_strategy();
    return MPI_SUCCESS;
  } catch (const std::exception& error) {
    const int code = tell(error);
    PMPI_Comm_call_errhandler(comm_, code);
    return code;
  }
}

/// The same bytes twice, since receiving does not change what is sent.
int Takeover::run_both(TakenCommunicator& of) {
  std::array<double, 2> seconds{};
  int failed = MPI_SUCCESS;
  const bool is_library_first = of.record(call_).rivalry.calls() % 2 == 0;
  for (const bool is_library : {is_library_first, !is_library_first}) {
    PMPI_Barrier(comm_);
    const auto [taken_s, code] = timed([&] { return is_library ? library() : run_ours(of); });
    if (code != MPI_SUCCESS) failed = code;
    seconds[is_library ? 0 : 1] = taken_s;
  }
  of.record(call_).rivalry.add(agreed_seconds(seconds[0]), agreed_seconds(seconds[1]));
  return failed;
}

/// In place what is sent is gone afterwards: of two calls one is the library's, and one ours. Who is first changes with
/// every pair, so that a program that takes turns itself, of large calls and small ones, favours nobody.
int Takeover::run_in_turn(TakenCommunicator& of) {
  auto& record = of.record(call_);
  const bool is_first = record.pending_s == 0;
  const bool is_library = is_first == record.is_library_first;
  PMPI_Barrier(comm_);
  const auto [here_s, code] = timed([&] { return is_library ? library() : run_ours(of); });
  const double seconds = agreed_seconds(here_s);
  if (is_first) {
    record.pending_s = seconds;
    return code;
  }
  const double before = std::exchange(record.pending_s, 0);
  record.rivalry.add(is_library ? seconds : before, is_library ? before : seconds);
  record.is_library_first = !record.is_library_first;
  return code;
}

/// Of the slowest rank, a little more than nothing. All take part, also where a call has failed.
double Takeover::agreed_seconds(double here) const {
  constexpr double nothing_s = 1e-9;
  double slowest = std::max(here, nothing_s);
  PMPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm_);
  return slowest;
}

}  // namespace commpass
