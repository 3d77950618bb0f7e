#include "bindings/petsc/local_forest.hpp"

#include <petsc/private/sfimpl.h>

#include <algorithm>

namespace commpass {

namespace {

constexpr auto here = PETSC_MEMTYPE_HOST;

/// PetscSFSetGraph would sort the leaves, which changes the order of sums.
void place_leaves(PetscSF forest, PetscInt edges, const PetscInt* places) {
  const auto [first, last] = std::minmax_element(places, places + edges);
  forest->mine = const_cast<PetscInt*>(places);
  forest->minleaf = *first;
  forest->maxleaf = *last;
}

}  // namespace

void DestroyForest::operator()(PetscSF forest) const noexcept {
  PetscBool is_over = PETSC_FALSE;
  if (PetscFinalized(&is_over) == 0 && !is_over) (void)PetscSFDestroy(&forest);
}

PetscErrorCode make_local_forest(PetscInt roots, PetscInt edges, const PetscInt* root_places,
                                 const PetscInt* leaf_places, LocalForest& made) {
  made.reset();
  if (edges == 0) return 0;
  PetscSF forest = nullptr;
  PetscCall(PetscSFCreate(PETSC_COMM_SELF, &forest));
  made.reset(forest);
  PetscCall(PetscSFSetType(forest, PETSCSFBASIC));
  PetscSFNode* nodes = nullptr;
  PetscCall(PetscMalloc1(edges, &nodes));
  for (PetscInt i = 0; i < edges; ++i) nodes[i] = {0, root_places[i]};
  PetscCall(PetscSFSetGraph(forest, roots, edges, nullptr, PETSC_OWN_POINTER, nodes, PETSC_OWN_POINTER));
  if (leaf_places) place_leaves(forest, edges, leaf_places);
  forest->vscat.logging = PETSC_TRUE;  // keeps it out of the log, which has the user's forest
  PetscCall(PetscSFSetUp(forest));
  return 0;
}

PetscErrorCode bcast(const LocalForest& forest, MPI_Datatype unit, const void* roots, void* leaves, MPI_Op op) {
  if (!forest) return 0;
  PetscCall(PetscSFBcastWithMemTypeBegin(forest.get(), unit, here, roots, here, leaves, op));
  PetscCall(PetscSFBcastEnd(forest.get(), unit, roots, leaves, op));
  return 0;
}

PetscErrorCode reduce(const LocalForest& forest, MPI_Datatype unit, const void* leaves, void* roots, MPI_Op op) {
  if (!forest) return 0;
  PetscCall(PetscSFReduceWithMemTypeBegin(forest.get(), unit, here, leaves, here, roots, op));
  PetscCall(PetscSFReduceEnd(forest.get(), unit, leaves, roots, op));
  return 0;
}

PetscErrorCode fetch_and_op(const LocalForest& forest, MPI_Datatype unit, void* roots, const void* leaves,
                            void* fetched, MPI_Op op) {
  if (!forest) return 0;
  PetscCall(PetscSFFetchAndOpWithMemTypeBegin(forest.get(), unit, here, roots, here, leaves, here, fetched, op));
  PetscCall(PetscSFFetchAndOpEnd(forest.get(), unit, roots, leaves, fetched, op));
  return 0;
}

}  // namespace commpass
