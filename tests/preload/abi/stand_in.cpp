#include "preload/abi/stand_in.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace stand_in {

void* find_in_mpich(const char* name) {
  // Its own calls of MPI's names are not ours.
  static void* const library = dlopen("libmpich.so.12", RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
  void* const found = library ? dlsym(library, name) : nullptr;
  if (!found) {
    std::fprintf(stderr, "stand-in: %s\n", dlerror());
    std::abort();
  }
  return found;
}

namespace {

#define STAND_IN_PAIR(name) std::pair{reinterpret_cast<std::intptr_t>(ABI_##name), MPI_##name},
const std::pair<std::intptr_t, int> predefined[] = {STAND_IN_HANDLES(STAND_IN_PAIR)};
#undef STAND_IN_PAIR

}  // namespace

int handle_to_mpich(const void* handle) {
  constexpr std::intptr_t predefined_end = 4096;
  static const auto known = std::map<std::intptr_t, int>(std::begin(predefined), std::end(predefined));
  const auto value = reinterpret_cast<std::intptr_t>(handle);
  if (value <= 0 || value >= predefined_end) return static_cast<int>(value);
  const auto found = known.find(value);
  return found == known.end() ? 0 : found->second;
}

void* handle_to_abi(int handle) {
  static const auto known = [] {
    std::map<int, std::intptr_t> all;
    for (const auto& [abi, mpich] : predefined) all.emplace(mpich, abi);
    return all;
  }();
  const auto found = known.find(handle);
  return reinterpret_cast<void*>(found == known.end() ? static_cast<std::intptr_t>(handle) : found->second);
}

#define STAND_IN_PAIR(name) {ABI_##name, MPI_##name},
#define STAND_IN_USE(use)                                                                \
  Numbers numbers_of_##use() {                                                           \
    static const std::pair<int, int> all[] = {STAND_IN_NUMBERS_OF_##use(STAND_IN_PAIR)}; \
    return all;                                                                          \
  }
STAND_IN_USE(error)
STAND_IN_USE(rank)
STAND_IN_USE(tag)
STAND_IN_USE(thread)
STAND_IN_USE(combiner)
STAND_IN_USE(topology)
STAND_IN_USE(split)
STAND_IN_USE(attribute)

int to_mpich(Numbers all, int number) {
  for (const auto& [abi, mpich] : all)
    if (abi == number) return mpich;
  return number;
}

int to_abi(Numbers all, int number) {
  for (const auto& [abi, mpich] : all)
    if (mpich == number) return abi;
  return number;
}

int to_abi_code(int code) {
  if (code == MPI_SUCCESS) return ABI_SUCCESS;
  static const auto class_of = find_mpich<decltype(&PMPI_Error_class)>("PMPI_Error_class");
  int found = MPI_ERR_OTHER;
  class_of(code, &found);
  return to_abi(numbers_of_error(), found);
}

#define STAND_IN_CALL(name, comm, ...) find_mpich<decltype(&PMPI_##name)>("PMPI_" #name)(to_mpich(comm), __VA_ARGS__)

int peers_of(ABI_Comm comm) {
  int is_inter = 0, ranks = 0;
  STAND_IN_CALL(Comm_test_inter, comm, &is_inter);
  if (is_inter) STAND_IN_CALL(Comm_remote_size, comm, &ranks);
  else STAND_IN_CALL(Comm_size, comm, &ranks);
  return ranks;
}

int neighbors_of(ABI_Comm comm, bool is_sent) {
  int topology = MPI_UNDEFINED, rank = 0, in = 0, out = 0, weighted = 0;
  STAND_IN_CALL(Topo_test, comm, &topology);
  STAND_IN_CALL(Comm_rank, comm, &rank);
  if (topology == MPI_CART) {
    STAND_IN_CALL(Cartdim_get, comm, &in);
    return 2 * in;
  }
  if (topology == MPI_GRAPH) {
    STAND_IN_CALL(Graph_neighbors_count, comm, rank, &in);
    return in;
  }
  if (topology == MPI_DIST_GRAPH) STAND_IN_CALL(Dist_graph_neighbors_count, comm, &in, &out, &weighted);
  return is_sent ? out : in;
}

Statuses::Statuses(const ABI_Status* statuses, int count) {
  for (int i = 0; statuses && i < count; ++i) {
    auto& made = statuses_.emplace_back();
    made.MPI_SOURCE = to_mpich(numbers_of_rank(), statuses[i].ABI_SOURCE);
    made.MPI_TAG = to_mpich(numbers_of_tag(), statuses[i].ABI_TAG);
    made.MPI_ERROR = to_mpich(numbers_of_error(), statuses[i].ABI_ERROR);
    made.count_lo = statuses[i].ABI_internal[0];
    made.count_hi_and_cancelled = statuses[i].ABI_internal[1];
  }
}

Statuses::~Statuses() {
  for (std::size_t i = 0; changed_ && i < statuses_.size(); ++i) {
    const auto& made = statuses_[i];
    changed_[i].ABI_SOURCE = to_abi(numbers_of_rank(), made.MPI_SOURCE);
    changed_[i].ABI_TAG = to_abi(numbers_of_tag(), made.MPI_TAG);
    changed_[i].ABI_ERROR = to_abi_code(made.MPI_ERROR);
    changed_[i].ABI_internal[0] = made.count_lo;
    changed_[i].ABI_internal[1] = made.count_hi_and_cancelled;
  }
}

namespace {

struct Keyval {
  ABI_Comm_copy_attr_function* copy;
  ABI_Comm_delete_attr_function* remove;
  void* extra_state;
};

int copy_attribute(MPI_Comm comm, int keyval, void* state, void* in, void* out, int* flag) {
  const auto* const of = static_cast<Keyval*>(state);
  return to_mpich(numbers_of_error(),
                  of->copy(static_cast<ABI_Comm>(handle_to_abi(comm)), keyval, of->extra_state, in, out, flag));
}

int delete_attribute(MPI_Comm comm, int keyval, void* value, void* state) {
  const auto* const of = static_cast<Keyval*>(state);
  return to_mpich(numbers_of_error(),
                  of->remove(static_cast<ABI_Comm>(handle_to_abi(comm)), keyval, value, of->extra_state));
}

/// Functions of the program for MPICH, which hands them nothing else to be told apart by.
constexpr std::size_t slots = 8;
std::array<ABI_User_function*, slots> reductions{};
std::array<ABI_Comm_errhandler_function*, slots> handlers{};

template <std::size_t Slot>
void reduce(void* in, void* inout, int* count, MPI_Datatype* type) {
  auto as_abi = static_cast<ABI_Datatype>(handle_to_abi(*type));
  reductions[Slot](in, inout, count, &as_abi);
}

template <std::size_t Slot>
void handle(MPI_Comm* comm, int* code, ...) {
  auto as_abi = static_cast<ABI_Comm>(handle_to_abi(*comm));
  int abi_code = to_abi_code(*code);
  handlers[Slot](&as_abi, &abi_code);
}

template <class Function>
std::size_t slot_for(std::array<Function*, slots>& all, Function* function) {
  for (std::size_t i = 0; i < slots; ++i)
    if (!all[i] || all[i] == function) {
      all[i] = function;
      return i;
    }
  std::fputs("stand-in: too many functions of the program\n", stderr);
  std::abort();
}

template <std::size_t... Slots>
MPI_User_function* reduction_in(std::size_t slot, std::index_sequence<Slots...>) {
  return std::array<MPI_User_function*, slots>{reduce<Slots>...}[slot];
}

template <std::size_t... Slots>
MPI_Comm_errhandler_function* handler_in(std::size_t slot, std::index_sequence<Slots...>) {
  return std::array<MPI_Comm_errhandler_function*, slots>{handle<Slots>...}[slot];
}

}  // namespace

}  // namespace stand_in

extern "C" {

int abi_Abi_get_version(int* major, int* minor) __asm__("PMPI_Abi_get_version");
int abi_Abi_get_version(int* major, int* minor) {
  *major = ABI_ABI_VERSION;
  *minor = ABI_ABI_SUBVERSION;
  return ABI_SUCCESS;
}

int abi_Error_class(int code, int* found) __asm__("PMPI_Error_class");
int abi_Error_class(int code, int* found) {
  *found = code;
  return ABI_SUCCESS;
}

// Of MPI 4.1, which MPICH 4.0 does not have.
int abi_Request_get_status(ABI_Request request, int* flag, ABI_Status* status) __asm__("PMPI_Request_get_status");

int abi_Request_get_status_all(int count, const ABI_Request* requests, int* flag,
                               ABI_Status* statuses) __asm__("PMPI_Request_get_status_all");
int abi_Request_get_status_all(int count, const ABI_Request* requests, int* flag, ABI_Status* statuses) {
  *flag = 1;
  for (int i = 0; i < count && *flag; ++i) abi_Request_get_status(requests[i], flag, statuses ? &statuses[i] : nullptr);
  return ABI_SUCCESS;
}

int abi_Request_get_status_any(int count, const ABI_Request* requests, int* index, int* flag,
                               ABI_Status* status) __asm__("PMPI_Request_get_status_any");
int abi_Request_get_status_any(int count, const ABI_Request* requests, int* index, int* flag, ABI_Status* status) {
  *index = ABI_UNDEFINED;
  *flag = 1;  // none is active
  for (int i = 0; i < count; ++i) {
    if (requests[i] == ABI_REQUEST_NULL) continue;
    abi_Request_get_status(requests[i], flag, status);
    if (*flag) *index = i;
    if (*flag) break;
  }
  return ABI_SUCCESS;
}

int abi_Request_get_status_some(int count, const ABI_Request* requests, int* completed, int* indices,
                                ABI_Status* statuses) __asm__("PMPI_Request_get_status_some");
int abi_Request_get_status_some(int count, const ABI_Request* requests, int* completed, int* indices,
                                ABI_Status* statuses) {
  *completed = ABI_UNDEFINED;
  for (int i = 0; i < count; ++i) {
    if (requests[i] == ABI_REQUEST_NULL) continue;
    if (*completed == ABI_UNDEFINED) *completed = 0;
    int flag = 0;
    abi_Request_get_status(requests[i], &flag, statuses ? &statuses[*completed] : nullptr);
    if (flag) indices[(*completed)++] = i;
  }
  return ABI_SUCCESS;
}

double abi_Wtime() __asm__("PMPI_Wtime");
double abi_Wtime() { return find_mpich<decltype(&PMPI_Wtime)>("PMPI_Wtime")(); }

int abi_Comm_create_keyval(ABI_Comm_copy_attr_function* copy, ABI_Comm_delete_attr_function* remove, int* keyval,
                           void* extra_state) __asm__("PMPI_Comm_create_keyval");
int abi_Comm_create_keyval(ABI_Comm_copy_attr_function* copy, ABI_Comm_delete_attr_function* remove, int* keyval,
                           void* extra_state) {
  static const auto create = find_mpich<decltype(&PMPI_Comm_create_keyval)>("PMPI_Comm_create_keyval");
  return to_abi_code(create(copy ? copy_attribute : MPI_COMM_NULL_COPY_FN,
                            remove ? delete_attribute : MPI_COMM_NULL_DELETE_FN, keyval,
                            new Keyval{copy, remove, extra_state}));
}

int abi_Op_create(ABI_User_function* function, int commute, ABI_Op* op) __asm__("PMPI_Op_create");
int abi_Op_create(ABI_User_function* function, int commute, ABI_Op* op) {
  static const auto create = find_mpich<decltype(&PMPI_Op_create)>("PMPI_Op_create");
  const auto slot = slot_for(reductions, function);
  return to_abi_code(
      create(reduction_in(slot, std::make_index_sequence<slots>()), commute, ChangedHandles(op, 1).get()));
}

int abi_Comm_create_errhandler(ABI_Comm_errhandler_function* function,
                               ABI_Errhandler* handler) __asm__("PMPI_Comm_create_errhandler");
int abi_Comm_create_errhandler(ABI_Comm_errhandler_function* function, ABI_Errhandler* handler) {
  static const auto create = find_mpich<decltype(&PMPI_Comm_create_errhandler)>("PMPI_Comm_create_errhandler");
  const auto slot = slot_for(handlers, function);
  return to_abi_code(create(handler_in(slot, std::make_index_sequence<slots>()), ChangedHandles(handler, 1).get()));
}

}  // extern "C"
