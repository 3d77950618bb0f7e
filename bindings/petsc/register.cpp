// What PETSc calls when it has loaded libsfcommpass.so (-dll_append): adds the star forest type commpass.
#include <petscsf.h>

#include <string>

#include "bindings/petsc/forest_type.hpp"
#include "bindings/petsc/petsc_kind.hpp"

namespace {

using commpass::PetscKind;

constexpr PetscKind built_for{PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_SCALAR == PETSC_COMPLEX,
                              static_cast<int>(sizeof(PetscScalar)), static_cast<int>(sizeof(PetscInt))};

/// Of the library that is in the process, which need not be the one whose headers were used.
PetscErrorCode find_running(PetscKind& running) {
  PetscInt major = 0, minor = 0, subminor = 0, release = 0;
  PetscCall(PetscGetVersionNumber(&major, &minor, &subminor, &release));
  PetscDataType scalar = PETSC_DATATYPE_UNKNOWN;
  PetscBool is_known = PETSC_FALSE;
  PetscCall(PetscDataTypeFromString("scalar", &scalar, &is_known));
  std::size_t scalar_bytes = 0, index_bytes = 0;
  PetscCall(PetscDataTypeGetSize(scalar, &scalar_bytes));
  PetscCall(PetscDataTypeGetSize(PETSC_INT, &index_bytes));
  running = {static_cast<int>(major), static_cast<int>(minor), scalar == PETSC_COMPLEX, static_cast<int>(scalar_bytes),
             static_cast<int>(index_bytes)};
  return 0;
}

}  // namespace

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_sfcommpass() {
  PetscKind running;
  PetscCall(find_running(running));
  const auto refusal = commpass::why_not_loaded(built_for, running);
  if (!refusal.empty()) SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "%s", refusal.c_str());
  PetscCall(PetscSFRegister("commpass", commpass::create_forest));
  return 0;
}
