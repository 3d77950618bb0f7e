// Which PETSc this is: a star forest's private table differs between versions, its functions between kinds of numbers.
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
std::string to_text(const PetscKind& kind);

/// Why a star forest type that was built for one PETSc cannot be loaded by another: a sentence; empty: it can.
std::string why_not_loaded(const PetscKind& built_for, const PetscKind& running);

}  // namespace commpass
