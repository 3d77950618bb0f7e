#include "runtime/resources.hpp"

#include <mpi.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

commpass::test::Held held_now, taken_ever;
std::atomic<std::int64_t> allocation_count{0};

struct {
  std::size_t at_least_bytes = 0;
  std::int64_t first = 0, end = 0, seen = 0;
} refused;

bool is_refused(std::size_t size) {
  if (refused.first == refused.end || size < refused.at_least_bytes) return false;
  const auto number = refused.seen++;
  return number >= refused.first && number < refused.end;
}

using Counter = std::int64_t commpass::test::Held::*;

int take(Counter counter, int code) {
  if (code == MPI_SUCCESS) {
    ++(held_now.*counter);
    ++(taken_ever.*counter);
  }
  return code;
}
int give(Counter counter, int code) {
  if (code == MPI_SUCCESS) --(held_now.*counter);
  return code;
}

constexpr Counter communicators = &commpass::test::Held::communicators, requests = &commpass::test::Held::requests,
                  types = &commpass::test::Held::types;

}  // namespace

namespace commpass::test {

Held held() { return held_now; }
Held taken() { return taken_ever; }
std::int64_t allocations() { return allocation_count; }

Scarcity::Scarcity(std::size_t at_least_bytes, std::int64_t after, std::int64_t refusals) {
  refused = {at_least_bytes, after, after + refusals, 0};
}
Scarcity::~Scarcity() { refused.end = refused.first; }
bool Scarcity::was_felt() { return refused.seen > refused.first; }

}  // namespace commpass::test

extern "C" {

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* result) { return take(communicators, PMPI_Comm_dup(comm, result)); }
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* result) {
  return take(communicators, PMPI_Comm_split(comm, color, key, result));
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* result) {
  return take(communicators, PMPI_Comm_split_type(comm, type, key, info, result));
}
int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[], const int source_weights[],
                                   int outdegree, const int destinations[], const int destination_weights[],
                                   MPI_Info info, int reorder, MPI_Comm* result) {
  return take(communicators, PMPI_Dist_graph_create_adjacent(comm, indegree, sources, source_weights, outdegree,
                                                             destinations, destination_weights, info, reorder, result));
}
int MPI_Comm_free(MPI_Comm* comm) { return give(communicators, PMPI_Comm_free(comm)); }

int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return take(requests, PMPI_Send_init(buffer, count, type, peer, tag, comm, request));
}
int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request) {
  return take(requests, PMPI_Recv_init(buffer, count, type, peer, tag, comm, request));
}
#if MPI_VERSION >= 4
int MPI_Neighbor_alltoallv_init_c(const void* sent, const MPI_Count send_counts[], const MPI_Aint send_offsets[],
                                  MPI_Datatype send_type, void* received, const MPI_Count receive_counts[],
                                  const MPI_Aint receive_offsets[], MPI_Datatype receive_type, MPI_Comm comm,
                                  MPI_Info info, MPI_Request* request) {
  return take(requests,
              PMPI_Neighbor_alltoallv_init_c(sent, send_counts, send_offsets, send_type, received, receive_counts,
                                             receive_offsets, receive_type, comm, info, request));
}
#endif
int MPI_Request_free(MPI_Request* request) { return give(requests, PMPI_Request_free(request)); }

int MPI_Type_contiguous(int count, MPI_Datatype type, MPI_Datatype* result) {
  return take(types, PMPI_Type_contiguous(count, type, result));
}
int MPI_Type_create_struct(int count, const int lengths[], const MPI_Aint offsets[], const MPI_Datatype members[],
                           MPI_Datatype* result) {
  return take(types, PMPI_Type_create_struct(count, lengths, offsets, members, result));
}
int MPI_Type_create_hindexed(int count, const int lengths[], const MPI_Aint offsets[], MPI_Datatype type,
                             MPI_Datatype* result) {
  return take(types, PMPI_Type_create_hindexed(count, lengths, offsets, type, result));
}
int MPI_Type_free(MPI_Datatype* type) { return give(types, PMPI_Type_free(type)); }

}  // extern "C"

// All forms but the over-aligned ones, so that none is left to a sanitizer. Not inlined, or GCC takes malloc and free
// for the wrong pair.
#define COMMPASS_NOINLINE __attribute__((noinline))
COMMPASS_NOINLINE void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocation_count;
  if (is_refused(size)) return nullptr;
  return std::malloc(size > 0 ? size : 1);
}
COMMPASS_NOINLINE void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
COMMPASS_NOINLINE void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return operator new(size, std::nothrow);
}
COMMPASS_NOINLINE void* operator new[](std::size_t size) { return operator new(size); }
COMMPASS_NOINLINE void operator delete(void* memory) noexcept { std::free(memory); }
COMMPASS_NOINLINE void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
COMMPASS_NOINLINE void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
COMMPASS_NOINLINE void operator delete[](void* memory) noexcept { std::free(memory); }
COMMPASS_NOINLINE void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
COMMPASS_NOINLINE void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
