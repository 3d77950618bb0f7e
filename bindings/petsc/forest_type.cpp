#include "bindings/petsc/forest_type.hpp"

#include <petsc/private/sfimpl.h>

#include <sstream>

#include "bindings/petsc/forest_operations.hpp"
#include "model/base/error.hpp"

// A forest of type commpass is one of type basic, whose set-up and data it has, with other operations. What it keeps
// besides is composed with the object.

namespace commpass {

namespace {

constexpr auto* kept_as = "commpass_forest_operations";

/// Of type basic, the same for all forests.
_PetscSFOps basic = {};

/// Runs what PETSc calls, which knows no exceptions.
template <class Action>
PetscErrorCode guarded(PetscSF forest, Action action) {
  std::string sentence;
  try {
    return action();
  } catch (const std::exception& error) {
    sentence = error.what();
  }
  SETERRQ(PetscObjectComm(reinterpret_cast<PetscObject>(forest)), PETSC_ERR_LIB, "%s", sentence.c_str());
}

PetscErrorCode destroy_operations(void* operations) {
  delete static_cast<ForestOperations*>(operations);
  return 0;
}

PetscErrorCode operations_of(PetscSF forest, ForestOperations*& operations) {
  PetscObject container = nullptr;
  PetscCall(PetscObjectQuery(reinterpret_cast<PetscObject>(forest), kept_as, &container));
  void* kept = nullptr;
  PetscCall(PetscContainerGetPointer(reinterpret_cast<PetscContainer>(container), &kept));
  operations = static_cast<ForestOperations*>(kept);
  return 0;
}

PetscErrorCode keep_operations(PetscSF forest) {
  PetscContainer container = nullptr;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, new ForestOperations));
  PetscCall(PetscContainerSetUserDestroy(container, destroy_operations));
  PetscCall(
      PetscObjectCompose(reinterpret_cast<PetscObject>(forest), kept_as, reinterpret_cast<PetscObject>(container)));
  PetscCall(PetscContainerDestroy(&container));
  return 0;
}

/// @param ours      called with the forest's operations, tells whether the step is theirs
/// @param by_basic  does it otherwise
template <class Ours, class ByBasic>
PetscErrorCode step(PetscSF forest, Ours ours, ByBasic by_basic) {
  return guarded(forest, [&]() -> PetscErrorCode {
    ForestOperations* operations = nullptr;
    PetscCall(operations_of(forest, operations));
    bool is_ours = false;
    PetscCall(ours(*operations, is_ours));
    if (!is_ours) PetscCall(by_basic());
    return 0;
  });
}

template <class ByBasic>
PetscErrorCode begin(PetscSF forest, const ForestOperation& operation, ByBasic by_basic) {
  return step(
      forest, [&](ForestOperations& ours, bool& is_begun) { return ours.begin(forest, operation, is_begun); },
      by_basic);
}

template <class ByBasic>
PetscErrorCode end(PetscSF forest, const ForestOperation& operation, ByBasic by_basic) {
  return step(
      forest, [&](ForestOperations& ours, bool& is_ended) { return ours.end(operation, is_ended); }, by_basic);
}

ForestOperation bcast_of(MPI_Datatype unit, const void* roots, void* leaves, MPI_Op op) {
  ForestOperation operation;
  operation.kind = ForestOperation::Kind::bcast;
  operation.unit = unit;
  operation.roots = const_cast<void*>(roots);
  operation.leaves = leaves;
  operation.op = op;
  return operation;
}

ForestOperation reduce_of(MPI_Datatype unit, const void* leaves, void* roots, MPI_Op op) {
  ForestOperation operation;
  operation.kind = ForestOperation::Kind::reduce;
  operation.unit = unit;
  operation.roots = roots;
  operation.leaves = const_cast<void*>(leaves);
  operation.op = op;
  return operation;
}

ForestOperation fetch_of(MPI_Datatype unit, void* roots, const void* leaves, void* fetched, MPI_Op op) {
  ForestOperation operation = reduce_of(unit, leaves, roots, op);
  operation.kind = ForestOperation::Kind::fetch;
  operation.fetched = fetched;
  return operation;
}

ForestOperation in_memory(ForestOperation operation, PetscMemType root_memory, PetscMemType leaf_memory) {
  operation.root_memory = root_memory;
  operation.leaf_memory = leaf_memory;
  return operation;
}

PetscErrorCode begin_bcast(PetscSF forest, MPI_Datatype unit, PetscMemType root_memory, const void* roots,
                           PetscMemType leaf_memory, void* leaves, MPI_Op op) {
  return begin(forest, in_memory(bcast_of(unit, roots, leaves, op), root_memory, leaf_memory),
               [&] { return basic.BcastBegin(forest, unit, root_memory, roots, leaf_memory, leaves, op); });
}

PetscErrorCode end_bcast(PetscSF forest, MPI_Datatype unit, const void* roots, void* leaves, MPI_Op op) {
  return end(forest, bcast_of(unit, roots, leaves, op),
             [&] { return basic.BcastEnd(forest, unit, roots, leaves, op); });
}

PetscErrorCode begin_reduce(PetscSF forest, MPI_Datatype unit, PetscMemType leaf_memory, const void* leaves,
                            PetscMemType root_memory, void* roots, MPI_Op op) {
  return begin(forest, in_memory(reduce_of(unit, leaves, roots, op), root_memory, leaf_memory),
               [&] { return basic.ReduceBegin(forest, unit, leaf_memory, leaves, root_memory, roots, op); });
}

PetscErrorCode end_reduce(PetscSF forest, MPI_Datatype unit, const void* leaves, void* roots, MPI_Op op) {
  return end(forest, reduce_of(unit, leaves, roots, op),
             [&] { return basic.ReduceEnd(forest, unit, leaves, roots, op); });
}

PetscErrorCode begin_fetch(PetscSF forest, MPI_Datatype unit, PetscMemType root_memory, void* roots,
                           PetscMemType leaf_memory, const void* leaves, void* fetched, MPI_Op op) {
  return begin(forest, in_memory(fetch_of(unit, roots, leaves, fetched, op), root_memory, leaf_memory), [&] {
    return basic.FetchAndOpBegin(forest, unit, root_memory, roots, leaf_memory, leaves, fetched, op);
  });
}

PetscErrorCode end_fetch(PetscSF forest, MPI_Datatype unit, void* roots, const void* leaves, void* fetched, MPI_Op op) {
  return end(forest, fetch_of(unit, roots, leaves, fetched, op),
             [&] { return basic.FetchAndOpEnd(forest, unit, roots, leaves, fetched, op); });
}

PetscErrorCode read_options(ForestSettings& settings, PetscOptionItems* PetscOptionsObject) {  // macros need the name
  PetscFunctionBegin;  // and may return as if it was there
  PetscOptionsHeadBegin(PetscOptionsObject, "PetscSF commpass options");
  PetscCall(PetscOptionsInt("-sf_commpass_after", "Exchanges of one kind that are left to type basic first", "none",
                            settings.after, &settings.after, nullptr));
  char strategy[PETSC_MAX_PATH_LEN] = "";
  PetscBool is_named = PETSC_FALSE;
  PetscCall(PetscOptionsString("-sf_commpass_strategy", "The strategy, if it is not to be chosen", "none",
                               settings.strategy.c_str(), strategy, sizeof strategy, &is_named));
  if (is_named) settings.strategy = strategy;
  PetscOptionsHeadEnd();
  if (settings.after < 0)
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
            "-sf_commpass_after %" PetscInt_FMT ": it is negative; use 0 or more.", settings.after);
  PetscFunctionReturn(0);
}

PetscErrorCode set_from_options(PetscSF forest, PetscOptionItems* items) {
  return guarded(forest, [&]() -> PetscErrorCode {
    ForestOperations* operations = nullptr;
    PetscCall(operations_of(forest, operations));
    PetscCall(read_options(operations->settings, items));
    return 0;
  });
}

PetscErrorCode print(const ForestOperations& operations, PetscViewer viewer) {
  PetscBool is_text = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &is_text));
  if (!is_text) return 0;
  PetscCall(PetscViewerASCIIPushTab(viewer));
  std::istringstream lines(operations.description());
  for (std::string line; std::getline(lines, line);) PetscCall(PetscViewerASCIIPrintf(viewer, "%s\n", line.c_str()));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  return 0;
}

PetscErrorCode view(PetscSF forest, PetscViewer viewer) {
  return guarded(forest, [&]() -> PetscErrorCode {
    ForestOperations* operations = nullptr;
    PetscCall(operations_of(forest, operations));
    PetscCall(basic.View(forest, viewer));
    PetscCall(print(*operations, viewer));
    return 0;
  });
}

/// -sf_commpass_view: what was exchanged how, when the forest ends. Few programs call PetscSFView then.
PetscErrorCode view_at_end(PetscSF forest, const ForestOperations& operations) {
  if (!operations.is_any_planned()) return 0;
  auto* const object = reinterpret_cast<PetscObject>(forest);
  PetscViewer viewer = nullptr;
  PetscViewerFormat format = PETSC_VIEWER_DEFAULT;
  PetscBool is_wanted = PETSC_FALSE;
  PetscCall(PetscOptionsGetViewer(PetscObjectComm(object), object->options, object->prefix, "-sf_commpass_view",
                                  &viewer, &format, &is_wanted));
  if (!is_wanted) return 0;
  PetscCall(PetscObjectPrintClassNamePrefixType(object, viewer));
  PetscCall(print(operations, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  return 0;
}

PetscErrorCode forget_graph(PetscSF forest) {
  return guarded(forest, [&]() -> PetscErrorCode {
    ForestOperations* operations = nullptr;
    PetscCall(operations_of(forest, operations));
    if (operations->is_any_in_flight())
      SETERRQ(PetscObjectComm(reinterpret_cast<PetscObject>(forest)), PETSC_ERR_ARG_WRONGSTATE,
              "star forest of type commpass: an operation has begun and not ended; end it first");
    PetscCall(view_at_end(forest, *operations));
    operations->reset();
    return 0;
  });
}

PetscErrorCode reset(PetscSF forest) {
  PetscCall(forget_graph(forest));
  PetscCall(basic.Reset(forest));
  return 0;
}

PetscErrorCode destroy(PetscSF forest) {
  PetscCall(forget_graph(forest));
  PetscCall(PetscObjectCompose(reinterpret_cast<PetscObject>(forest), kept_as, nullptr));
  PetscCall(basic.Destroy(forest));
  return 0;
}

PetscErrorCode duplicate(PetscSF forest, PetscSFDuplicateOption, PetscSF copy) {
  return guarded(forest, [&]() -> PetscErrorCode {
    ForestOperations *from = nullptr, *to = nullptr;
    PetscCall(operations_of(forest, from));
    PetscCall(operations_of(copy, to));
    to->settings = from->settings;
    return 0;
  });
}

/// PETSc's general way, for that of type basic makes a forest of type basic.
PetscErrorCode create_embedded_root_forest(PetscSF forest, PetscInt count, const PetscInt* selected,
                                           PetscSF* embedded) {
  forest->ops->CreateEmbeddedRootSF = nullptr;
  const PetscErrorCode error = PetscSFCreateEmbeddedRootSF(forest, count, selected, embedded);
  forest->ops->CreateEmbeddedRootSF = create_embedded_root_forest;
  PetscCall(error);
  PetscCall(PetscSFSetType(*embedded, reinterpret_cast<PetscObject>(forest)->type_name));
  PetscCall(duplicate(forest, PETSCSF_DUPLICATE_CONFONLY, *embedded));
  return 0;
}

}  // namespace

PetscErrorCode create_forest(PetscSF forest) {
  PetscErrorCode (*create_basic)(PetscSF) = nullptr;
  PetscCall(PetscFunctionListFind(PetscSFList, PETSCSFBASIC, &create_basic));
  PetscCall(create_basic(forest));
  basic = *forest->ops;
  PetscCall(guarded(forest, [&] { return keep_operations(forest); }));
  auto& operations = *forest->ops;
  operations.Reset = reset;
  operations.Destroy = destroy;
  operations.SetFromOptions = set_from_options;
  operations.View = view;
  operations.Duplicate = duplicate;
  operations.BcastBegin = begin_bcast;
  operations.BcastEnd = end_bcast;
  operations.ReduceBegin = begin_reduce;
  operations.ReduceEnd = end_reduce;
  operations.FetchAndOpBegin = begin_fetch;
  operations.FetchAndOpEnd = end_fetch;
  operations.CreateEmbeddedRootSF = create_embedded_root_forest;
  return 0;
}

}  // namespace commpass
