// A one-shot exchange between all pairs of ranks that was started and is completed later.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "model/base/types.hpp"
#include "runtime/state_pointer.hpp"

namespace commpass {

struct AlltoallCall;
class AlltoallvEngine;
struct AlltoallvOptions;

/// Move-only. Destroying it completes it, so buffers and datatypes must outlive it, but not counts and displacements;
/// it may outlive its Communicator.
class StartedAlltoallv {
 public:
  /// Makes progress on exchanges in flight, without waiting. @return true when it is complete. @throws as wait
  bool test();
  /// Completes it; returns at once if it is complete.
  /// @throws InputError, once, if what this rank gets is not what its counts say, or there is no memory on it or, for
  /// what it should get, on another, or MPI has failed
  void wait();

  /// The strategy that runs, in text form.
  const std::string& strategy() const;
  /// Its predicted seconds, for an exchange about like this one; nothing if it was named, or nothing has a price.
  std::optional<Seconds> predicted_seconds() const;
  /// Why it was chosen, for people, the same on every rank.
  std::string explanation() const;

  struct State;
  /// Communicator::start_alltoallv makes one.
  explicit StartedAlltoallv(std::unique_ptr<State> state);

 private:
  StatePointer<State> state_;
};

/// Starts one (Communicator::start_alltoallv). @throws as AlltoallData::assign, AlltoallvEngine::begin
StartedAlltoallv start_alltoall(const std::shared_ptr<AlltoallvEngine>& engine, const AlltoallCall& call,
                                const AlltoallvOptions& options);

}  // namespace commpass
