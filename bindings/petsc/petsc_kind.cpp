#include "bindings/petsc/petsc_kind.hpp"

namespace commpass {

std::string to_text(const PetscKind& kind) {
  return "PETSc " + std::to_string(kind.major) + "." + std::to_string(kind.minor) + " with " +
         (kind.is_complex ? "complex" : "real") + " numbers of " + std::to_string(kind.scalar_bytes) +
         " bytes and indices of " + std::to_string(kind.index_bytes) + " bytes";
}

std::string why_not_loaded(const PetscKind& built_for, const PetscKind& running) {
  if (built_for == running) return {};
  return "libsfcommpass: it was built for " + to_text(built_for) + ", and this is " + to_text(running) +
         "; load the one that was built for this PETSc.";
}

}  // namespace commpass
