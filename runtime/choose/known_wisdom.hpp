// Wisdom in a run: rank 0 reads and writes the file, and all ranks get the same.
#pragma once

#include <mpi.h>

#include <optional>
#include <span>
#include <string>

#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "runtime/choose/decision.hpp"
#include "selector/choose/wisdom.hpp"

namespace commpass {

/// What a communicator knows of earlier measurements.
struct KnownWisdom {
  bool is_used = false;   ///< the same on every rank
  std::string file{};     ///< on rank 0
  Wisdom wisdom{};        ///< on rank 0
  std::string machine{};  ///< on rank 0: of the keys
  std::string layout{};   ///< the same
};

/// That of a file, which rank 0 reads. A file that is no wisdom is left as it is, and rank 0 says so once on stderr;
/// then nothing is known and nothing kept. Collective.
/// @param file  of rank 0; empty: none
KnownWisdom know_wisdom(MPI_Comm comm, const std::string& file, const Layout& layout, const Machine& machine);

/// Of the pattern of all ranks; on rank 0. Collective.
WisdomKey wisdom_key(MPI_Comm comm, const KnownWisdom& known, std::span<const SendEdge> sends,
                     bool are_transposed = false);

/// The earlier measurement for this key, as a decision; nothing where there is none, or it cannot run here. Collective.
/// @param key,planner  on rank 0
std::optional<Decision> recall(MPI_Comm comm, const KnownWisdom& known, const WisdomKey& key, const Layout& layout,
                               PlannerMode planner);

/// Keeps a decision that was measured, here and in the file. Where that cannot be written, rank 0 says so once on
/// stderr. On rank 0, and elsewhere nothing. Not collective. @throws std::bad_alloc
void keep_wisdom(KnownWisdom& known, const WisdomKey& key, const Decision& decision);

}  // namespace commpass
