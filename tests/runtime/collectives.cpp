#include "runtime/collectives.hpp"

#include <mpi.h>

namespace commpass::test {

Calls counted;

}  // namespace commpass::test

// NOLINTBEGIN(bugprone-macro-parentheses)
#define COUNTED(counter, name, parameters, arguments) \
  int MPI_##name parameters {                         \
    ++commpass::test::counted.counter;                \
    return PMPI_##name arguments;                     \
  }

extern "C" {

COUNTED(small, Barrier, (MPI_Comm comm), (comm))
COUNTED(small, Ibarrier, (MPI_Comm comm, MPI_Request* request), (comm, request))
COUNTED(small, Bcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
        (buffer, count, type, root, comm))
COUNTED(small, Ibcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request),
        (buffer, count, type, root, comm, request))
COUNTED(small, Reduce, (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
        (from, to, count, type, op, root, comm))
COUNTED(small, Allreduce, (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (from, to, count, type, op, comm))
COUNTED(small, Iallreduce,
        (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request),
        (from, to, count, type, op, comm, request))
COUNTED(small, Scan, (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (from, to, count, type, op, comm))
COUNTED(small, Exscan, (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (from, to, count, type, op, comm))
COUNTED(small, Gather,
        (const void* from, int sent, MPI_Datatype send_type, void* to, int received, MPI_Datatype receive_type,
         int root, MPI_Comm comm),
        (from, sent, send_type, to, received, receive_type, root, comm))
COUNTED(small, Gatherv,
        (const void* from, int sent, MPI_Datatype send_type, void* to, const int* received, const int* at,
         MPI_Datatype receive_type, int root, MPI_Comm comm),
        (from, sent, send_type, to, received, at, receive_type, root, comm))
COUNTED(small, Allgather,
        (const void* from, int sent, MPI_Datatype send_type, void* to, int received, MPI_Datatype receive_type,
         MPI_Comm comm),
        (from, sent, send_type, to, received, receive_type, comm))
COUNTED(small, Alltoall,
        (const void* from, int sent, MPI_Datatype send_type, void* to, int received, MPI_Datatype receive_type,
         MPI_Comm comm),
        (from, sent, send_type, to, received, receive_type, comm))
COUNTED(communicators, Comm_dup, (MPI_Comm comm, MPI_Comm* duplicate), (comm, duplicate))
COUNTED(communicators, Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* part), (comm, color, key, part))
COUNTED(communicators, Dist_graph_create_adjacent,
        (MPI_Comm comm, int sources, const int* from, const int* source_weights, int destinations, const int* to,
         const int* destination_weights, MPI_Info info, int reorder, MPI_Comm* graph),
        (comm, sources, from, source_weights, destinations, to, destination_weights, info, reorder, graph))
COUNTED(counting, Reduce_scatter,
        (const void* from, void* to, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (from, to, counts, type, op, comm))
COUNTED(counting, Reduce_scatter_block,
        (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (from, to, count, type, op, comm))
COUNTED(counting, Ireduce_scatter_block,
        (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request),
        (from, to, count, type, op, comm, request))

COUNTED(messages, Isend,
        (const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request),
        (buffer, count, type, peer, tag, comm, request))
COUNTED(messages, Send, (const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm),
        (buffer, count, type, peer, tag, comm))

}  // extern "C"
// NOLINTEND(bugprone-macro-parentheses)
