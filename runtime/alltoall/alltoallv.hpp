// Exchanges between all pairs of ranks, with the arguments of MPI_Alltoallv (runtime/communicator.hpp).
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

namespace commpass {

/// The same on every rank.
struct AlltoallvOptions {
  std::string strategy;                 ///< run this one; empty: COMMPASS_ALLTOALLV_STRATEGY, else the cheapest
  std::optional<double> block_bytes{};  ///< a hint: the mean size of a block, 0 or more. Absent: what was told last
                                        ///< (Communicator::alltoallv)
};

/// Planned once, run many times with the same counts. Move-only. Destroying it completes an exchange in flight, so
/// buffers and datatypes must outlive it.
class PersistentAlltoallv {
 public:
  ~PersistentAlltoallv();
  PersistentAlltoallv(PersistentAlltoallv&&) noexcept;
  PersistentAlltoallv& operator=(PersistentAlltoallv&&) noexcept;

  /// Begins an exchange; see Exchange::start. @throws Error
  void start();
  /// Completes it. @throws Error
  void wait();
  /// The strategy that runs, in text form.
  const std::string& strategy() const;

 private:
  friend class Communicator;
  struct State;
  explicit PersistentAlltoallv(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace commpass
