// How a star forest is wired: whom its ranks send to, and where the units lie that travel.
#pragma once

#include <petscsf.h>

#include <vector>

#include "bindings/petsc/local_forest.hpp"
#include "model/base/types.hpp"

namespace commpass {

/// Units that go to, or come from, another rank; they lie together in a buffer.
struct UnitEdge {
  Rank peer = 0;
  PetscInt offset = 0, count = 0;  ///< in units
};

/// One side of the edges that leave this rank.
struct WiredSide {
  std::vector<UnitEdge> edges = {};
  PetscInt units = 0;        ///< of all edges: the size of the buffer
  LocalForest packing = {};  ///< its roots are the array of PETSc's user, its leaves the buffer
};

struct ForestWiring {
  WiredSide roots = {}, leaves = {};
  LocalForest inner = {};  ///< the edges that stay on this rank
};

/// Local.
/// @param forest  that type basic has set up; the wiring must not outlive its set-up
PetscErrorCode wire(PetscSF forest, ForestWiring& wiring);

}  // namespace commpass
