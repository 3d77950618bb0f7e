// The star forest type commpass for PETSc: the function that PETSc calls after loading libsfcommpass.so (-dll_append),
// and the table of functions. A forest has the set-up and the data of type basic. Its ForestOperations are composed
// with it.
#include <petsc/private/sfimpl.h>

#include <sstream>
#include <string>

#include "bindings/petsc/forest_operations.hpp"
#include "bindings/petsc/petsc_kind.hpp"

namespace commpass {

namespace {

using Kind = ForestOperation::Kind;

constexpr auto* kept_as = "commpass_forest_operations";

/// The functions of type basic.
_PetscSFOps basic = {};

/// Turns exceptions into errors of PETSc.
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

template <class Action>
PetscErrorCode with_operations(PetscSF forest, Action action) {
  return guarded(forest, [&]() -> PetscErrorCode {
    ForestOperations* operations = nullptr;
    PetscCall(operations_of(forest, operations));
    PetscCall(action(*operations));
    return 0;
  });
}

/// @param ours      runs the step unless it is left to basic, and returns in its second argument whether it did
/// @param by_basic  runs the step otherwise
template <class Ours, class ByBasic>
PetscErrorCode step(PetscSF forest, Ours ours, ByBasic by_basic) {
  return with_operations(forest, [&](ForestOperations& operations) -> PetscErrorCode {
    bool is_ours = false;
    PetscCall(ours(operations, is_ours));
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

/// PETSc's functions have const pointers to the arrays that they only read.
ForestOperation operation_of(Kind kind, MPI_Datatype unit, const void* roots, const void* leaves, MPI_Op op,
                             void* fetched = nullptr) {
  return {.kind = kind,
          .unit = unit,
          .roots = const_cast<void*>(roots),
          .leaves = const_cast<void*>(leaves),
          .fetched = fetched,
          .op = op};
}

ForestOperation in_memory(ForestOperation operation, PetscMemType root_memory, PetscMemType leaf_memory) {
  operation.root_memory = root_memory;
  operation.leaf_memory = leaf_memory;
  return operation;
}

PetscErrorCode begin_bcast(PetscSF forest, MPI_Datatype unit, PetscMemType root_memory, const void* roots,
                           PetscMemType leaf_memory, void* leaves, MPI_Op op) {
  return begin(forest, in_memory(operation_of(Kind::bcast, unit, roots, leaves, op), root_memory, leaf_memory),
               [&] { return basic.BcastBegin(forest, unit, root_memory, roots, leaf_memory, leaves, op); });
}

PetscErrorCode end_bcast(PetscSF forest, MPI_Datatype unit, const void* roots, void* leaves, MPI_Op op) {
  return end(forest, operation_of(Kind::bcast, unit, roots, leaves, op),
             [&] { return basic.BcastEnd(forest, unit, roots, leaves, op); });
}

PetscErrorCode begin_reduce(PetscSF forest, MPI_Datatype unit, PetscMemType leaf_memory, const void* leaves,
                            PetscMemType root_memory, void* roots, MPI_Op op) {
  return begin(forest, in_memory(operation_of(Kind::reduce, unit, roots, leaves, op), root_memory, leaf_memory),
               [&] { return basic.ReduceBegin(forest, unit, leaf_memory, leaves, root_memory, roots, op); });
}

PetscErrorCode end_reduce(PetscSF forest, MPI_Datatype unit, const void* leaves, void* roots, MPI_Op op) {
  return end(forest, operation_of(Kind::reduce, unit, roots, leaves, op),
             [&] { return basic.ReduceEnd(forest, unit, leaves, roots, op); });
}

PetscErrorCode begin_fetch(PetscSF forest, MPI_Datatype unit, PetscMemType root_memory, void* roots,
                           PetscMemType leaf_memory, const void* leaves, void* fetched, MPI_Op op) {
  return begin(
      forest, in_memory(operation_of(Kind::fetch, unit, roots, leaves, op, fetched), root_memory, leaf_memory),
      [&] { return basic.FetchAndOpBegin(forest, unit, root_memory, roots, leaf_memory, leaves, fetched, op); });
}

PetscErrorCode end_fetch(PetscSF forest, MPI_Datatype unit, void* roots, const void* leaves, void* fetched, MPI_Op op) {
  return end(forest, operation_of(Kind::fetch, unit, roots, leaves, op, fetched),
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
  PetscBool is_on_the_way = settings.sums_on_the_way ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscOptionsBool("-sf_commpass_sums_on_the_way",
                             "Reductions may combine values where they meet, in another order than type basic", "none",
                             is_on_the_way, &is_on_the_way, nullptr));
  settings.sums_on_the_way = is_on_the_way == PETSC_TRUE;
  PetscOptionsHeadEnd();
  if (settings.after < 0)
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
            "-sf_commpass_after %" PetscInt_FMT ": it is negative; use 0 or more.", settings.after);
  PetscFunctionReturn(0);
}

PetscErrorCode set_from_options(PetscSF forest, PetscOptionItems* items) {
  return with_operations(forest, [&](ForestOperations& ours) { return read_options(ours.settings, items); });
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
  return with_operations(forest, [&](const ForestOperations& ours) -> PetscErrorCode {
    PetscCall(basic.View(forest, viewer));
    PetscCall(print(ours, viewer));
    return 0;
  });
}

/// -sf_commpass_view describes the exchanges at the end of the forest, where few programs call PetscSFView.
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
  return with_operations(forest, [&](ForestOperations& ours) -> PetscErrorCode {
    if (ours.is_any_in_flight())
      SETERRQ(PetscObjectComm(reinterpret_cast<PetscObject>(forest)), PETSC_ERR_ARG_WRONGSTATE,
              "star forest of type commpass: an operation has begun and not ended; end it first");
    PetscCall(view_at_end(forest, ours));
    ours.reset();
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
  return with_operations(forest, [&](const ForestOperations& from) -> PetscErrorCode {
    ForestOperations* to = nullptr;
    PetscCall(operations_of(copy, to));
    to->settings = from.settings;
    return 0;
  });
}

/// Calls PETSc's general implementation: that of type basic returns a forest of type basic.
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

/// Makes a star forest one of type commpass.
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

constexpr PetscKind built_for{PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_SCALAR == PETSC_COMPLEX,
                              static_cast<int>(sizeof(PetscScalar)), static_cast<int>(sizeof(PetscInt))};

/// The kind of the loaded library, which may differ from that of the headers.
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
}  // namespace commpass

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_sfcommpass() {
  commpass::PetscKind running;
  PetscCall(commpass::find_running(running));
  const auto refusal = commpass::why_not_loaded(commpass::built_for, running);
  if (!refusal.empty()) SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "%s", refusal.c_str());
  PetscCall(PetscSFRegister("commpass", commpass::create_forest));
  return 0;
}
