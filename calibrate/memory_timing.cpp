#include "calibrate/memory_timing.hpp"

#include <algorithm>
#include <vector>

#include "model/median.hpp"
#include "runtime/execute/local_copy.hpp"
#include "runtime/indexed/value_runs.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

Seconds median_over_ranks(MPI_Comm comm, Seconds seconds) {
  const int ranks = ranks_in(comm);
  std::vector<double> all(static_cast<std::size_t>(ranks));
  COMMPASS_MPI_CALL(MPI_Allgather, &seconds, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, comm);
  return median(std::move(all));
}

/// Blocks of one size with gaps of half and of a whole block: no constant stride that a library could simplify.
class GappedType {
 public:
  GappedType(Bytes piece_bytes, int pieces) {
    constexpr int every = 3;
    std::vector<MPI_Aint> places;
    for (int i = 0; i < pieces; ++i)
      places.push_back(static_cast<MPI_Aint>(2 * piece_bytes * i + (i % every == 1 ? piece_bytes / 2 : 0)));
    COMMPASS_MPI_CALL(MPI_Type_create_hindexed_block, pieces, static_cast<int>(piece_bytes), places.data(), MPI_BYTE,
                      &type_);
    COMMPASS_MPI_CALL(MPI_Type_commit, &type_);
  }
  GappedType(const GappedType&) = delete;
  GappedType& operator=(const GappedType&) = delete;
  ~GappedType() { MPI_Type_free(&type_); }
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace

Seconds time_local_copy(MPI_Comm comm, std::span<const std::byte> from, std::span<std::byte> to, Bytes bytes,
                        int repetitions) {
  const auto size = static_cast<std::size_t>(bytes);
  const std::size_t places = from.size() / size;
  COMMPASS_MPI_CALL(MPI_Barrier, comm);
  const double begin = MPI_Wtime();
  for (int i = 0; i < repetitions; ++i) {
    const auto place = static_cast<std::size_t>(i) % places * size;
    const LocalCopy copy{from.data() + place, to.data() + place, size};
    local_copy({&copy, 1});
  }
  return median_over_ranks(comm, (MPI_Wtime() - begin) / repetitions);
}

Seconds time_value_loop(MPI_Comm comm, std::span<const std::byte> from, std::span<std::byte> to, Bytes value_bytes,
                        int values, int repetitions) {
  ValueRuns runs;
  for (std::int64_t i = 0; i < values; ++i) runs.push_back({2 * i, i, 1});
  COMMPASS_MPI_CALL(MPI_Barrier, comm);
  const double begin = MPI_Wtime();
  for (int i = 0; i < repetitions; ++i) copy_values(runs, value_bytes, from.data(), to.data());
  return median_over_ranks(comm, (MPI_Wtime() - begin) / repetitions);
}

Seconds time_datatype(MPI_Comm comm, std::span<std::byte> scattered, std::span<std::byte> packed, Bytes piece_bytes,
                      int pieces, int repetitions) {
  const GappedType type(piece_bytes, pieces);
  const int packed_bytes = static_cast<int>(packed.size());
  COMMPASS_MPI_CALL(MPI_Barrier, comm);
  const double begin = MPI_Wtime();
  for (int i = 0; i < repetitions; ++i) {
    int end = 0;
    COMMPASS_MPI_CALL(MPI_Pack, scattered.data(), 1, type.get(), packed.data(), packed_bytes, &end, comm);
    end = 0;
    COMMPASS_MPI_CALL(MPI_Unpack, packed.data(), packed_bytes, &end, scattered.data(), 1, type.get(), comm);
  }
  constexpr double ways = 2;
  return median_over_ranks(comm, (MPI_Wtime() - begin) / ways / repetitions);
}

}  // namespace commpass
