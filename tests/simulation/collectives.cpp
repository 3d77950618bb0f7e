// The MPI library's all-to-alls and reductions on simulated clusters. SMPI's own send messages that cost their
// processors nothing, and copy for nothing; these are made of messages and copies that are charged as all others are.
// The algorithms, and where one follows on another, are MPICH's (src/mpi/coll).
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/execute/memory.hpp"
#include "runtime/mpi/nonblocking_reduction.hpp"
#include "simulation/work.hpp"

void simulation::link_collectives() {}

namespace {

struct Group {
  MPI_Comm comm;
  int rank = 0, ranks = 0, tag = 0;

  explicit Group(MPI_Comm of) : comm(of) {
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    void* value = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &found);
    tag = *static_cast<int*>(value) - 1;  // the largest is that of reductions, which may be in flight
  }
  int after(int distance) const { return (rank + distance) % ranks; }
  int before(int distance) const { return (rank - distance + ranks) % ranks; }

  /// One message to a rank and one from another, both of `bytes` bytes.
  int exchange(const std::byte* send, int to, std::byte* receive, int from, int bytes) const {
    MPI_Request requests[2];
    MPI_Irecv(receive, bytes, MPI_BYTE, from, tag, comm, &requests[0]);
    MPI_Isend(send, bytes, MPI_BYTE, to, tag, comm, &requests[1]);
    return MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
};

/// Blocks of one size that are copied at once; those that follow each other on both sides are one piece.
class BlockCopies {
 public:
  explicit BlockCopies(std::size_t block_bytes) : bytes_(block_bytes) {}

  void add(const std::byte* from, std::size_t at, std::byte* to, std::size_t place) {
    from += at * bytes_;
    to += place * bytes_;
    if (!copies_.empty() && copies_.back().from + copies_.back().bytes == from &&
        copies_.back().to + copies_.back().bytes == to)
      copies_.back().bytes += bytes_;
    else copies_.push_back({from, to, bytes_});
  }
  void run() {
    commpass::host_memory().copy(copies_);
    copies_.clear();
  }

 private:
  std::size_t bytes_;
  std::vector<commpass::LocalCopy> copies_;
};

/// Bruck et al. 1997: ⌈log2 P⌉ messages of up to P/2 blocks.
int alltoall_by_bruck(const Group& group, const std::byte* send, std::byte* receive, std::size_t block_bytes) {
  const auto ranks = static_cast<std::size_t>(group.ranks);
  const auto at = [](int rank) { return static_cast<std::size_t>(rank); };
  std::vector<std::byte> held(ranks * block_bytes), out(held.size()), in(held.size());
  BlockCopies copies(block_bytes);
  for (int i = 0; i < group.ranks; ++i) copies.add(send, at(group.after(i)), held.data(), at(i));
  copies.run();
  for (std::size_t distance = 1; distance < ranks; distance *= 2) {
    std::size_t moved = 0;
    for (std::size_t i = 0; i < ranks; ++i)
      if (i & distance) copies.add(held.data(), i, out.data(), moved++);
    copies.run();
    const auto step = static_cast<int>(distance);
    if (const int code = group.exchange(out.data(), group.after(step), in.data(), group.before(step),
                                        static_cast<int>(moved * block_bytes));
        code != MPI_SUCCESS)
      return code;
    moved = 0;
    for (std::size_t i = 0; i < ranks; ++i)
      if (i & distance) copies.add(in.data(), moved++, held.data(), i);
    copies.run();
  }
  for (int i = 0; i < group.ranks; ++i) copies.add(held.data(), at(i), receive, at(group.before(i)));
  copies.run();
  return MPI_SUCCESS;
}

/// One message at a time.
int alltoall_in_pairs(const Group& group, const std::byte* send, std::byte* receive, std::size_t block_bytes) {
  const auto at = [&](int rank) { return static_cast<std::size_t>(rank) * block_bytes; };
  commpass::host_memory().copy(
      std::vector<commpass::LocalCopy>{{send + at(group.rank), receive + at(group.rank), block_bytes}});
  for (int i = 1; i < group.ranks; ++i) {
    const int to = group.after(i), from = group.before(i);
    if (const int code = group.exchange(send + at(to), to, receive + at(from), from, static_cast<int>(block_bytes));
        code != MPI_SUCCESS)
      return code;
  }
  return MPI_SUCCESS;
}

bool is_contiguous(MPI_Datatype type, int bytes) {
  MPI_Aint lower = 0, extent = 0;
  PMPI_Type_get_extent(type, &lower, &extent);
  return lower == 0 && extent == bytes;
}

}  // namespace

extern "C" {

// To and from 32 ranks at a time.
int MPI_Alltoallv(const void* send, const int send_counts[], const int send_offsets[], MPI_Datatype send_type,
                  void* receive, const int receive_counts[], const int receive_offsets[], MPI_Datatype receive_type,
                  MPI_Comm comm) {
  constexpr int at_a_time = 32;
  const Group group(comm);
  MPI_Aint lower = 0, send_extent = 0, receive_extent = 0;
  PMPI_Type_get_extent(send_type, &lower, &send_extent);
  PMPI_Type_get_extent(receive_type, &lower, &receive_extent);
  for (int begin = 0; begin < group.ranks; begin += at_a_time) {
    const int end = std::min(group.ranks, begin + at_a_time);
    std::vector<MPI_Request> requests;
    for (int i = begin; i < end; ++i)
      if (const int from = group.after(i); receive_counts[from] > 0)
        MPI_Irecv(static_cast<char*>(receive) + receive_offsets[from] * receive_extent, receive_counts[from],
                  receive_type, from, group.tag, comm, &requests.emplace_back());
    for (int i = begin; i < end; ++i)
      if (const int to = group.before(i); send_counts[to] > 0)
        MPI_Isend(static_cast<const char*>(send) + send_offsets[to] * send_extent, send_counts[to], send_type, to,
                  group.tag, comm, &requests.emplace_back());
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }
  return MPI_SUCCESS;
}

// Small blocks are combined; of middle size they go as above, and large ones one at a time.
int MPI_Alltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                 MPI_Datatype receive_type, MPI_Comm comm) {
  constexpr std::int64_t most_combined = 256, most_at_once = 32768;
  constexpr int least_combining = 8;
  const Group group(comm);
  int send_bytes = 0, receive_bytes = 0;
  PMPI_Type_size(send_type, &send_bytes);
  PMPI_Type_size(receive_type, &receive_bytes);
  const std::int64_t bytes = std::int64_t{receive_bytes} * receive_count;
  if (send != MPI_IN_PLACE && is_contiguous(send_type, send_bytes) && is_contiguous(receive_type, receive_bytes)) {
    const auto* from = static_cast<const std::byte*>(send);
    auto* to = static_cast<std::byte*>(receive);
    if (bytes <= most_combined && group.ranks >= least_combining)
      return alltoall_by_bruck(group, from, to, static_cast<std::size_t>(bytes));
    if (bytes > most_at_once) return alltoall_in_pairs(group, from, to, static_cast<std::size_t>(bytes));
  }
  if (send == MPI_IN_PLACE)
    return PMPI_Alltoall(send, send_count, send_type, receive, receive_count, receive_type, comm);
  const auto ranks = static_cast<std::size_t>(group.ranks);
  const std::vector<int> send_counts(ranks, send_count), receive_counts(ranks, receive_count);
  std::vector<int> send_offsets(ranks), receive_offsets(ranks);
  for (int i = 0; i < group.ranks; ++i) {
    send_offsets[static_cast<std::size_t>(i)] = i * send_count;
    receive_offsets[static_cast<std::size_t>(i)] = i * receive_count;
  }
  return MPI_Alltoallv(send, send_counts.data(), send_offsets.data(), send_type, receive, receive_counts.data(),
                       receive_offsets.data(), receive_type, comm);
}

int MPI_Reduce_scatter_block(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op operation,
                             MPI_Comm comm) {
  if (type != MPI_INT64_T || operation != MPI_SUM)
    return PMPI_Reduce_scatter_block(send, receive, count, type, operation, comm);
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  const auto* begin = static_cast<const std::int64_t*>(send);
  commpass::NonblockingReduction reduction;
  reduction.start_scattered_sum(comm, {begin, begin + static_cast<std::ptrdiff_t>(ranks) * count});
  while (!reduction.test()) continue;
  std::ranges::copy(reduction.result(), static_cast<std::int64_t*>(receive));
  return MPI_SUCCESS;
}

}  // extern "C"
