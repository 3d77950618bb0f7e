// Star forests of one rank, by which PETSc packs and unpacks values of all units and operations.
#pragma once

#include <petscsf.h>

#include <memory>

namespace commpass {

struct DestroyForest {
  void operator()(PetscSF forest) const noexcept;
};
using LocalForest = std::unique_ptr<_p_PetscSF, DestroyForest>;

/// Edge i connects root_places[i] of one array with leaf_places[i] of another one. Operations keep the order of edges.
/// @param roots        size of the array of roots, in units
/// @param leaf_places  null: leaves are contiguous. Else it must outlive the forest; places may repeat
/// @param made         null if there are no edges
PetscErrorCode make_local_forest(PetscInt roots, PetscInt edges, const PetscInt* root_places,
                                 const PetscInt* leaf_places, LocalForest& made);

// PETSc's functions of these names, from begin to end. Without a forest they do nothing.
PetscErrorCode bcast(const LocalForest& forest, MPI_Datatype unit, const void* roots, void* leaves, MPI_Op op);
PetscErrorCode reduce(const LocalForest& forest, MPI_Datatype unit, const void* leaves, void* roots, MPI_Op op);
PetscErrorCode fetch_and_op(const LocalForest& forest, MPI_Datatype unit, void* roots, const void* leaves,
                            void* fetched, MPI_Op op);

}  // namespace commpass
