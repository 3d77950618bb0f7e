// Star forests of one rank: PETSc's own code for all units and operations, by which values are packed and unpacked.
#pragma once

#include <petscsf.h>

#include <memory>

namespace commpass {

struct DestroyForest {
  void operator()(PetscSF forest) const noexcept;
};
using LocalForest = std::unique_ptr<_p_PetscSF, DestroyForest>;

/// Edge i leads from root_places[i] in one array to leaf_places[i] in another one. Operations take edges in this order.
/// @param roots        the size of the roots' array, in units
/// @param leaf_places  null: the leaves lie one after the other. Else it must live as long as the forest; a place may
/// be there several times
/// @param made         null if there are no edges
PetscErrorCode make_local_forest(PetscInt roots, PetscInt edges, const PetscInt* root_places,
                                 const PetscInt* leaf_places, LocalForest& made);

// What PETSc's functions of these names do, at once. Nothing where there is no forest.
PetscErrorCode bcast(const LocalForest& forest, MPI_Datatype unit, const void* roots, void* leaves, MPI_Op op);
PetscErrorCode reduce(const LocalForest& forest, MPI_Datatype unit, const void* leaves, void* roots, MPI_Op op);
PetscErrorCode fetch_and_op(const LocalForest& forest, MPI_Datatype unit, void* roots, const void* leaves,
                            void* fetched, MPI_Op op);

}  // namespace commpass
