// Star forests of type commpass against those of type basic: random graphs, all units and operations, several in
// flight, embedded ones. Both must give the same bytes. PETSC_OPTIONS loads the type, and says how it runs.
#include <petscsf.h>

#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using Random = std::mt19937;
using Array = std::vector<unsigned char>;

struct Count {
  int compared = 0, different = 0;
};

int draw(Random& random, int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); }

/// Units of a type, the operations that PETSc has for them, and whether sums of them are fetched, too.
struct Unit {
  std::string name;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<std::pair<std::string, MPI_Op>> operations = {};
  bool is_fetched = false;
  std::size_t bytes = 0;
  enum class Values { reals, integers, bytes } values = Values::bytes;
};

/// Where values are combined in another order than by basic, numbers whose sums and products are exact.
bool needs_exact_numbers() {
  PetscBool is_on_the_way = PETSC_FALSE;
  (void)PetscOptionsGetBool(nullptr, nullptr, "-sf_commpass_sums_on_the_way", &is_on_the_way, nullptr);
  return is_on_the_way == PETSC_TRUE;
}

template <class Number>
void fill_with(Random& random, Array& array, int below) {
  const bool is_exact = needs_exact_numbers();
  for (std::size_t at = 0; at + sizeof(Number) <= array.size(); at += sizeof(Number)) {
    const auto value = is_exact ? static_cast<Number>(1 << draw(random, 4))
                                : static_cast<Number>(draw(random, below)) / static_cast<Number>(3);
    std::memcpy(array.data() + at, &value, sizeof value);
  }
}

Array drawn(Random& random, const Unit& unit, PetscInt units) {
  Array array(static_cast<std::size_t>(units) * unit.bytes);
  constexpr int most = 1000;
  switch (unit.values) {
    case Unit::Values::reals: fill_with<PetscReal>(random, array, most); break;
    case Unit::Values::integers: fill_with<PetscInt>(random, array, most); break;
    case Unit::Values::bytes:
      for (auto& byte : array) byte = static_cast<unsigned char>(draw(random, 8));
      break;
  }
  return array;
}

MPI_Datatype contiguous(int count, MPI_Datatype of) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(count, of, &type);
  MPI_Type_commit(&type);
  return type;
}

/// An operation that only MPI knows, on units that PETSc does not: the byte is rotated by the other one.
void rotate_and_add(void* in, void* inout, int* count, MPI_Datatype* type) {
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  for (int i = 0; i < *count * bytes; ++i) {
    auto& to = static_cast<unsigned char*>(inout)[i];
    to = static_cast<unsigned char>(to * 3 + static_cast<unsigned char*>(in)[i]);
  }
}

std::vector<Unit> all_units() {
  MPI_Op own = MPI_OP_NULL;
  MPI_Op_create(rotate_and_add, 0, &own);
  using Operations = std::vector<std::pair<std::string, MPI_Op>>;
  const Operations replace{{"REPLACE", MPI_REPLACE}};
  Operations scalars{{"REPLACE", MPI_REPLACE}, {"SUM", MPIU_SUM}};
  // Products of complex numbers are not exact.
  if (!(PetscDefined(USE_COMPLEX) && needs_exact_numbers())) scalars.emplace_back("PROD", MPI_PROD);
  const Operations reals{
      {"REPLACE", MPI_REPLACE}, {"SUM", MPIU_SUM}, {"PROD", MPI_PROD}, {"MAX", MPIU_MAX}, {"MIN", MPIU_MIN}};
  const Operations integers{{"REPLACE", MPI_REPLACE}, {"SUM", MPI_SUM},   {"PROD", MPI_PROD}, {"MAX", MPI_MAX},
                            {"MIN", MPI_MIN},         {"LAND", MPI_LAND}, {"BAND", MPI_BAND}, {"LOR", MPI_LOR},
                            {"BOR", MPI_BOR},         {"LXOR", MPI_LXOR}, {"BXOR", MPI_BXOR}};
  const Operations pairs{{"REPLACE", MPI_REPLACE}, {"MAXLOC", MPI_MAXLOC}, {"MINLOC", MPI_MINLOC}};
  using Values = Unit::Values;
  std::vector<Unit> units{
      {"scalar", MPIU_SCALAR, scalars, true, 0, Values::reals},
      {"3 scalars", contiguous(3, MPIU_SCALAR), scalars, true, 0, Values::reals},
      {"4 scalars", contiguous(4, MPIU_SCALAR), scalars, true, 0, Values::reals},
      {"real", MPIU_REAL, reals, true, 0, Values::reals},
      {"8 reals", contiguous(8, MPIU_REAL), reals, true, 0, Values::reals},
      {"PetscInt", MPIU_INT, integers, true, 0, Values::integers},
      {"5 PetscInts", contiguous(5, MPIU_INT), integers, true, 0, Values::integers},
      {"int", MPI_INT, integers, true, 0, Values::bytes},
      {"signed char", MPI_SIGNED_CHAR, integers, true, 0, Values::bytes},
      {"unsigned char", MPI_UNSIGNED_CHAR, integers, true, 0, Values::bytes},
      {"2 PetscInts", MPIU_2INT, pairs, false, 0, Values::integers},
      {"2 ints", MPI_2INT, pairs, false, 0, Values::bytes},
      {"char", MPI_CHAR, replace, false, 0, Values::bytes},
      {"7 chars", contiguous(7, MPI_CHAR), {{"REPLACE", MPI_REPLACE}, {"own", own}}, false, 0, Values::bytes},
      {"100 shorts", contiguous(100, MPI_SHORT), replace, false, 0, Values::bytes},
  };
  for (auto& unit : units) {
    MPI_Aint lower = 0, extent = 0;
    MPI_Type_get_extent(unit.type, &lower, &extent);
    unit.bytes = static_cast<std::size_t>(extent);
  }
  return units;
}

/// Roots and leaves of this rank.
struct Graph {
  PetscInt roots = 0, leaf_places = 0;
  std::vector<PetscInt> places = {};  ///< of leaves
  std::vector<PetscSFNode> targets = {};
};

/// @param spread  to how many ranks after this one leaves lead at most; 0: to this one alone
PetscErrorCode draw_graph(Random& random, int spread, Graph& graph) {
  PetscMPIInt rank = 0, ranks = 0;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  graph.roots = draw(random, 3) == 0 ? 0 : draw(random, 20);
  std::vector<PetscInt> roots(static_cast<std::size_t>(ranks));
  PetscCallMPI(MPI_Allgather(&graph.roots, 1, MPIU_INT, roots.data(), 1, MPIU_INT, PETSC_COMM_WORLD));
  graph.leaf_places = draw(random, 4) == 0 ? 0 : draw(random, 40);
  const bool has_gaps = draw(random, 2) == 0;
  for (PetscInt place = 0; place < graph.leaf_places; ++place) {
    const auto target = (rank + draw(random, spread + 1)) % ranks;
    const auto choices = roots[static_cast<std::size_t>(target)];
    if (choices == 0 || (has_gaps && draw(random, 3) == 0)) continue;
    graph.places.push_back(place);
    graph.targets.push_back({target, draw(random, static_cast<int>(choices))});
  }
  return 0;
}

PetscErrorCode make(const Graph& graph, PetscSFType type, PetscSF& forest) {
  PetscCall(PetscSFCreate(PETSC_COMM_WORLD, &forest));
  PetscCall(PetscSFSetType(forest, type));
  PetscCall(PetscObjectSetOptionsPrefix(reinterpret_cast<PetscObject>(forest),
                                        std::strcmp(type, PETSCSFBASIC) == 0 ? "basic_" : ""));
  PetscCall(PetscSFSetFromOptions(forest));
  auto places = graph.places;
  auto targets = graph.targets;
  PetscCall(PetscSFSetGraph(forest, graph.roots, static_cast<PetscInt>(places.size()), places.data(), PETSC_COPY_VALUES,
                            targets.data(), PETSC_COPY_VALUES));
  return 0;
}

/// What operations work on, and leave behind.
struct Arrays {
  Array roots, leaves, fetched;
  bool operator==(const Arrays&) const = default;
};

enum class Kind { bcast, reduce, fetch };

PetscErrorCode begin(PetscSF forest, Kind kind, const Unit& unit, MPI_Op op, Arrays& on) {
  switch (kind) {
    case Kind::bcast: return PetscSFBcastBegin(forest, unit.type, on.roots.data(), on.leaves.data(), op);
    case Kind::reduce: return PetscSFReduceBegin(forest, unit.type, on.leaves.data(), on.roots.data(), op);
    case Kind::fetch:
      return PetscSFFetchAndOpBegin(forest, unit.type, on.roots.data(), on.leaves.data(), on.fetched.data(), op);
  }
  return 0;
}

PetscErrorCode end(PetscSF forest, Kind kind, const Unit& unit, MPI_Op op, Arrays& on) {
  switch (kind) {
    case Kind::bcast: return PetscSFBcastEnd(forest, unit.type, on.roots.data(), on.leaves.data(), op);
    case Kind::reduce: return PetscSFReduceEnd(forest, unit.type, on.leaves.data(), on.roots.data(), op);
    case Kind::fetch:
      return PetscSFFetchAndOpEnd(forest, unit.type, on.roots.data(), on.leaves.data(), on.fetched.data(), op);
  }
  return 0;
}

const char* name_of(Kind kind) { return kind == Kind::bcast ? "bcast" : kind == Kind::reduce ? "reduce" : "fetch"; }

void compare(const Arrays& basic, const Arrays& ours, const std::string& what, Count& count) {
  ++count.compared;
  if (basic == ours) return;
  ++count.different;
  std::printf("other bytes: %s\n", what.c_str());
}

/// Two forests with the same graph.
struct Both {
  PetscSF basic = nullptr, ours = nullptr;
};

PetscErrorCode compare_all(const Both& forests, const Graph& graph, const std::vector<Unit>& units, Random& random,
                           Count& count) {
  for (const auto& unit : units)
    for (const auto& [name, op] : unit.operations)
      for (const auto kind : {Kind::bcast, Kind::reduce, Kind::fetch}) {
        if (kind == Kind::fetch && !(unit.is_fetched && name == "SUM")) continue;  // PETSc has no others
        // Of several leaves that replace one root, the last is not known; gathering has one leaf for each.
        if (kind == Kind::reduce && op == MPI_REPLACE) continue;
        Arrays basic{drawn(random, unit, graph.roots), drawn(random, unit, graph.leaf_places),
                     drawn(random, unit, graph.leaf_places)};
        auto ours = basic;
        PetscCall(begin(forests.basic, kind, unit, op, basic));
        PetscCall(end(forests.basic, kind, unit, op, basic));
        PetscCall(begin(forests.ours, kind, unit, op, ours));
        PetscCall(end(forests.ours, kind, unit, op, ours));
        compare(basic, ours, name_of(kind) + (" of " + unit.name) + " with " + name, count);
      }
  return 0;
}

/// All kinds of two units at once, and ended in another order.
PetscErrorCode compare_in_flight(const Both& forests, const Graph& graph, const std::vector<Unit>& units,
                                 Random& random, Count& count) {
  struct Flight {
    Kind kind;
    const Unit* unit;
    Arrays basic, ours;
  };
  std::vector<Flight> flights;
  for (const auto kind : {Kind::bcast, Kind::bcast, Kind::reduce, Kind::fetch, Kind::reduce})
    for (const auto& unit : {&units[0], &units[2]}) {
      const auto leaves = drawn(random, *unit, graph.leaf_places);
      const Arrays arrays{drawn(random, *unit, graph.roots), leaves, leaves};
      flights.push_back({kind, unit, arrays, arrays});
    }
  for (const auto member : {&Flight::basic, &Flight::ours}) {
    const auto forest = member == &Flight::basic ? forests.basic : forests.ours;
    for (auto& one : flights) PetscCall(begin(forest, one.kind, *one.unit, MPIU_SUM, one.*member));
    for (std::size_t i = flights.size(); i-- > 0;)
      PetscCall(end(forest, flights[i].kind, *flights[i].unit, MPIU_SUM, flights[i].*member));
  }
  for (const auto& one : flights) compare(one.basic, one.ours, std::string(name_of(one.kind)) + " in flight", count);
  return 0;
}

PetscErrorCode require_type(PetscSF forest, PetscSFType type, Count& count) {
  PetscBool is_same = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(forest), type, &is_same));
  ++count.compared;
  if (!is_same) {
    ++count.different;
    std::printf("a forest that was made of one of type %s is of another one\n", type);
  }
  return 0;
}

/// Forests that PETSc makes of others: fewer roots, fewer leaves, one root for each leaf, what ranks bring together.
PetscErrorCode compare_derived(const Both& forests, const Graph& graph, const std::vector<Unit>& units, Random& random,
                               Count& count) {
  std::vector<PetscInt> roots, leaves;
  for (PetscInt i = 0; i < graph.roots; i += 2) roots.push_back(i);
  for (PetscInt i = 0; i < static_cast<PetscInt>(graph.places.size()); i += 3) leaves.push_back(i);
  Both fewer_roots, fewer_leaves, copies;
  const auto derive = [&](PetscSF from, PetscSF Both::*member) -> PetscErrorCode {
    PetscCall(
        PetscSFCreateEmbeddedRootSF(from, static_cast<PetscInt>(roots.size()), roots.data(), &(fewer_roots.*member)));
    PetscCall(PetscSFCreateEmbeddedLeafSF(from, static_cast<PetscInt>(leaves.size()), leaves.data(),
                                          &(fewer_leaves.*member)));
    PetscCall(PetscSFDuplicate(from, PETSCSF_DUPLICATE_GRAPH, &(copies.*member)));
    return 0;
  };
  PetscCall(derive(forests.basic, &Both::basic));
  PetscCall(derive(forests.ours, &Both::ours));
  for (auto* const derived : {&fewer_roots, &fewer_leaves, &copies}) {
    PetscCall(require_type(derived->ours, "commpass", count));
    PetscCall(compare_all(*derived, graph, {units[0], units[2]}, random, count));
    PetscCall(PetscSFDestroy(&derived->basic));
    PetscCall(PetscSFDestroy(&derived->ours));
  }
  const auto& unit = units[0];
  Arrays basic{drawn(random, unit, static_cast<PetscInt>(0)), drawn(random, unit, graph.leaf_places), {}};
  Arrays ours = basic;
  const auto gather = [&](PetscSF forest, Arrays& arrays) -> PetscErrorCode {
    const PetscInt* degree = nullptr;
    PetscCall(PetscSFComputeDegreeBegin(forest, &degree));
    PetscCall(PetscSFComputeDegreeEnd(forest, &degree));
    PetscInt all = 0;
    for (PetscInt i = 0; i < graph.roots; ++i) all += degree[i];
    arrays.roots.resize(static_cast<std::size_t>(all) * unit.bytes);
    PetscCall(PetscSFGatherBegin(forest, unit.type, arrays.leaves.data(), arrays.roots.data()));
    PetscCall(PetscSFGatherEnd(forest, unit.type, arrays.leaves.data(), arrays.roots.data()));
    arrays.fetched.resize(arrays.leaves.size());
    PetscCall(PetscSFScatterBegin(forest, unit.type, arrays.roots.data(), arrays.fetched.data()));
    PetscCall(PetscSFScatterEnd(forest, unit.type, arrays.roots.data(), arrays.fetched.data()));
    return 0;
  };
  PetscCall(gather(forests.basic, basic));
  PetscCall(gather(forests.ours, ours));
  compare(basic, ours, "gather and scatter", count);
  return 0;
}

PetscErrorCode compare_graphs(Random& random, Count& count) {
  PetscMPIInt ranks = 0;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  const auto units = all_units();
  Both reset;
  for (const int spread : {ranks - 1, 0, 1, ranks - 1}) {
    Graph graph;
    PetscCall(draw_graph(random, spread, graph));
    Both forests;
    PetscCall(make(graph, PETSCSFBASIC, forests.basic));
    PetscCall(make(graph, "commpass", forests.ours));
    PetscCall(compare_all(forests, graph, units, random, count));
    PetscCall(compare_in_flight(forests, graph, units, random, count));
    PetscCall(compare_derived(forests, graph, units, random, count));
    PetscCall(PetscSFDestroy(&forests.basic));
    if (reset.ours) {  // the forest of the graph before gets this one
      PetscCall(PetscSFReset(reset.ours));
      auto places = graph.places;
      auto targets = graph.targets;
      PetscCall(PetscSFSetGraph(reset.ours, graph.roots, static_cast<PetscInt>(places.size()), places.data(),
                                PETSC_COPY_VALUES, targets.data(), PETSC_COPY_VALUES));
      PetscCall(make(graph, PETSCSFBASIC, reset.basic));
      PetscCall(compare_in_flight(reset, graph, units, random, count));
      PetscCall(PetscSFDestroy(&reset.basic));
      PetscCall(PetscSFDestroy(&reset.ours));
    }
    reset.ours = forests.ours;
  }
  PetscCall(PetscSFDestroy(&reset.ours));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  PetscMPIInt rank = 0;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  Random random(static_cast<unsigned>(rank) + 7);
  Count count;
  PetscCall(compare_graphs(random, count));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &count.different, 1, MPI_INT, MPI_SUM, PETSC_COMM_WORLD));
  if (rank == 0 && count.different == 0) std::printf("all comparisons hold (%d on rank 0)\n", count.compared);
  if (rank == 0 && count.different > 0) std::printf("%d comparisons failed\n", count.different);
  PetscCall(PetscFinalize());
  return count.different == 0 ? 0 : 1;
}
