// The version and the number types of PETSc. The private table of star forests depends on both.
#pragma once

#include <string>

namespace commpass {

struct PetscKind {
  int major = 0, minor = 0;
  bool is_complex = false;
  int scalar_bytes = 0, index_bytes = 0;  ///< of PetscScalar and PetscInt
  bool operator==(const PetscKind&) const = default;
};

/// "PETSc 3.18 with real numbers of 8 bytes and indices of 4 bytes".
inline std::string to_text(const PetscKind& kind) {
  return "PETSc " + std::to_string(kind.major) + "." + std::to_string(kind.minor) + " with " +
         (kind.is_complex ? "complex" : "real") + " numbers of " + std::to_string(kind.scalar_bytes) +
         " bytes and indices of " + std::to_string(kind.index_bytes) + " bytes";
}

/// The reason why one PETSc cannot load a type that was built for another: a sentence; empty: it can.
inline std::string why_not_loaded(const PetscKind& built_for, const PetscKind& running) {
  if (built_for == running) return {};
  return "libsfcommpass: it was built for " + to_text(built_for) + ", and this is " + to_text(running) +
         "; load the one that was built for this PETSc.";
}

}  // namespace commpass
