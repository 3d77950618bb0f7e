// Tells all ranks why one of them has failed, without waiting.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "model/base/types.hpp"
#include "runtime/mpi/nonblocking_reduction.hpp"

namespace commpass {

/// Begun by all ranks when all know that some have failed: in the end each has the sentence of the lowest of these. A
/// long one is cut.
class FailureNotice {
 public:
  /// @param sentence  why this rank has failed; empty: it has not
  FailureNotice(MPI_Comm comm, const TallyOperation& combine, std::string sentence);

  /// Moves on without waiting; as DiscoveryStage::progress. @throws std::bad_alloc, and it may be called again
  bool progress(bool may_reduce);

  /// "rank R: …", when it is complete.
  std::string text() const;

 private:
  MPI_Comm comm_;
  const TallyOperation& combine_;
  Rank rank_ = 0, lowest_ = 0;
  int ranks_ = 0;
  std::string sentence_;
  NonblockingReduction finding_, telling_;
};

}  // namespace commpass
