// The star forest type commpass, as PETSc sees it.
#pragma once

#include <petscsf.h>

namespace commpass {

/// Makes a star forest one of type commpass. What PetscSFRegister takes.
PetscErrorCode create_forest(PetscSF forest);

}  // namespace commpass
