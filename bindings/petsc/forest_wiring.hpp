// The wiring of a star forest: peers of a rank, and the places of units.
#pragma once

#include <petscsf.h>

#include <vector>

#include "bindings/petsc/local_forest.hpp"
#include "model/base/types.hpp"

namespace commpass {

/// Units for or from another rank, contiguous in a buffer.
struct UnitEdge {
  Rank peer = 0;
  PetscInt offset = 0, count = 0;  ///< in units
};

/// The edges between roots, or leaves, of this rank and other ranks.
struct WiredSide {
  std::vector<UnitEdge> edges = {};
  PetscInt units = 0;        ///< size of the buffer
  LocalForest packing = {};  ///< its roots are the user's array, its leaves the buffer
};

struct ForestWiring {
  WiredSide roots = {}, leaves = {};
  LocalForest inner = {};                      ///< edges within this rank
  PetscInt root_places = 0;                    ///< size of the array of roots
  std::vector<PetscInt> roots_of_leaves = {};  ///< by unit of the leaves' buffer: the place of its root at its rank
};

/// Local.
/// @param forest  set up by type basic; its set-up must outlive the wiring
PetscErrorCode wire(PetscSF forest, ForestWiring& wiring);

}  // namespace commpass
