// If one rank fails, all ranks get the error.
#pragma once

#include <mpi.h>

#include <exception>
#include <new>
#include <string>

namespace commpass {

/// The first failure of this rank, which takes part without data until all ranks agree.
struct Failure {
  std::string sentence;     ///< empty: none
  bool may_follow = false;  ///< from a failure of another rank, which is reported instead

  explicit operator bool() const { return !sentence.empty(); }
};

/// Throws the same Error on every rank if any rank gives a message: that of the lowest such rank. Collective.
/// @param message     the failure of this rank; empty: none
/// @param may_follow  reported only if no rank has a message that may not follow
void agree(MPI_Comm comm, const std::string& message, bool may_follow = false);
inline void agree(MPI_Comm comm, const Failure& failure) { agree(comm, failure.sentence, failure.may_follow); }

/// The text of an exception, as one sentence; a short one if there is no memory for it.
std::string sentence_of(const std::exception& error) noexcept;

/// Runs a step, and keeps its exception unless there is a failure already.
template <class Step>
void attempt_even_so(Failure& failure, Step step, bool may_follow = false) {
  try {
    step();
  } catch (const std::exception& error) {
    if (!failure) failure = {sentence_of(error), may_follow};
  }
}

/// Likewise, but runs nothing after a failure.
template <class Step>
void attempt(Failure& failure, Step step, bool may_follow = false) {
  if (!failure) attempt_even_so(failure, step, may_follow);
}

/// Runs a step that either succeeds on all ranks or throws on all. It must not communicate, except among ranks of which
/// none waits for one that has failed. Collective.
template <class Step>
void all_or_none(MPI_Comm comm, Step step) {
  Failure failure;
  attempt(failure, step);
  agree(comm, failure);
}

/// A barrier that moves on the exchanges in flight. To be called before collective calls that block: another rank may
/// reach them only when this one has forwarded a message that it waits for. Collective.
void assemble(MPI_Comm comm);

/// Tries an action twice that takes little memory, and without which a rank could not take part, so that others would
/// wait for it.
template <class Action>
decltype(auto) insist(Action action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return action();
  }
}

/// The text of rank `root` on every rank. Collective.
std::string broadcast(MPI_Comm comm, const std::string& text, int root = 0);

/// Calls `find` on rank 0. Collective.
/// @return its text, on every rank. @throws its exception, on every rank
template <class Find>
std::string found_by_rank_0(MPI_Comm comm, Find find) {
  std::string found;
  all_or_none(comm, [&] {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0) found = find();
  });
  return broadcast(comm, found);
}

}  // namespace commpass
