#include "bindings/petsc/forest_wiring.hpp"

#include <petsc/private/sfimpl.h>

namespace commpass {

namespace {

/// PETSc's list of one side by rank; this rank, if present, is the first one ("distinguished").
struct ListedSide {
  PetscInt ranks = 0, own = 0;  ///< number of ranks, and of entries of this rank: 0 or 1
  const PetscMPIInt* rank = nullptr;
  const PetscInt *offsets = nullptr, *places = nullptr;

  PetscInt begin() const { return ranks == 0 ? 0 : offsets[own]; }
  PetscInt end() const { return ranks == 0 ? 0 : offsets[ranks]; }
};

PetscErrorCode wire_side(const ListedSide& listed, PetscInt array_units, WiredSide& side) {
  for (PetscInt i = listed.own; i < listed.ranks; ++i)
    side.edges.push_back(
        {listed.rank[i], listed.offsets[i] - listed.begin(), listed.offsets[i + 1] - listed.offsets[i]});
  side.units = listed.end() - listed.begin();
  PetscCall(make_local_forest(array_units, side.units, listed.places + listed.begin(), nullptr, side.packing));
  return 0;
}

}  // namespace

PetscErrorCode wire(PetscSF forest, ForestWiring& wiring) {
  ListedSide roots, leaves;
  const PetscInt* root_places = nullptr;  // of the edges of this rank's leaves
  PetscCall(PetscSFGetRootRanks(forest, &leaves.ranks, &leaves.rank, &leaves.offsets, &leaves.places, &root_places));
  PetscCall(PetscSFGetLeafRanks(forest, &roots.ranks, &roots.rank, &roots.offsets, &roots.places));
  leaves.own = roots.own = forest->ndranks;
  PetscCall(wire_side(roots, forest->nroots, wiring.roots));
  PetscCall(wire_side(leaves, forest->maxleaf + 1, wiring.leaves));
  wiring.root_places = forest->nroots;
  if (root_places) wiring.roots_of_leaves.assign(root_places + leaves.begin(), root_places + leaves.end());
  PetscCall(make_local_forest(forest->nroots, leaves.begin(), root_places, leaves.places, wiring.inner));
  return 0;
}

}  // namespace commpass
