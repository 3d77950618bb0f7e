// If one rank fails, all ranks get the error.
#pragma once

#include <mpi.h>

#include <exception>
#include <new>
#include <string>

namespace commpass {

/// What went wrong first on this rank. It goes on to take part, with nothing, until all ranks agree.
struct Failure {
  std::string sentence;     ///< empty: nothing
  bool may_follow = false;  ///< from a failure of another rank, which then is the one to tell

  explicit operator bool() const { return !sentence.empty(); }
};

/// Throws the same Error on every rank if any rank gives a message: that of the lowest such rank. Collective.
/// @param message     what went wrong here; empty: nothing
/// @param may_follow  it is told only where no rank has one that may not
void agree(MPI_Comm comm, const std::string& message, bool may_follow = false);
inline void agree(MPI_Comm comm, const Failure& failure) { agree(comm, failure.sentence, failure.may_follow); }

/// What an exception says, as one sentence; if there is no memory for that, a very short one.
std::string sentence_of(const std::exception& error) noexcept;

/// Runs a step, and keeps what it throws unless something has failed before.
template <class Step>
void attempt_even_so(Failure& failure, Step step, bool may_follow = false) {
  try {
    step();
  } catch (const std::exception& error) {
    if (!failure) failure = {sentence_of(error), may_follow};
  }
}

/// The same; runs nothing where something has failed before.
template <class Step>
void attempt(Failure& failure, Step step, bool may_follow = false) {
  if (!failure) attempt_even_so(failure, step, may_follow);
}

/// Runs a local step that either succeeds on all ranks or throws on all: then they agree. The step must not
/// communicate, but among ranks none of which waits for one that has failed. Collective.
template <class Step>
void all_or_none(MPI_Comm comm, Step step) {
  Failure failure;
  attempt(failure, step);
  agree(comm, failure);
}

/// Waits until all ranks of a communicator are here, and moves on meanwhile what is in flight. To be called before
/// collective calls that block: another rank may come to them only when this one has passed on what it waits for.
/// Collective.
void assemble(MPI_Comm comm);

/// For what takes little memory, and without which a rank could not even take part with nothing, so that others would
/// wait for it: tries it twice.
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

/// What rank 0 finds, on every rank; what it throws, every rank throws. Collective.
/// @param find  gives a text
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
