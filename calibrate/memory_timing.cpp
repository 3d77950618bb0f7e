#include "calibrate/memory_timing.hpp"

#include <vector>

#include "calibrate/sampling.hpp"
#include "runtime/execute/local_copy.hpp"
#include "runtime/indexed/value_runs.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

namespace {

/// @param work  called with the number of the repetition
template <class Work>
Seconds time_on_each_rank(MPI_Comm comm, int repetitions, Work work) {
  COMMPASS_MPI_CALL(MPI_Barrier, comm);
  const double begin = MPI_Wtime();
  for (int i = 0; i < repetitions; ++i) work(i);
  return median_over_ranks(comm, (MPI_Wtime() - begin) / repetitions);
}

/// Blocks of one size with gaps of half and of a whole block: libraries simplify constant strides.
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
  const auto size = at(bytes);
  const std::size_t places = from.size() / size;
  return time_on_each_rank(comm, repetitions, [&](int i) {
    const auto place = at(i) % places * size;
    const LocalCopy copy{from.data() + place, to.data() + place, size};
    local_copy({&copy, 1});
  });
}

Seconds time_value_loop(MPI_Comm comm, std::span<const std::byte> from, std::span<std::byte> to, Bytes value_bytes,
                        int values, int repetitions) {
  ValueRuns runs;
  for (std::int64_t i = 0; i < values; ++i) runs.push_back({2 * i, i, 1});
  return time_on_each_rank(comm, repetitions, [&](int) { copy_values(runs, value_bytes, from.data(), to.data()); });
}

Seconds time_datatype(MPI_Comm comm, std::span<std::byte> scattered, std::span<std::byte> packed, Bytes piece_bytes,
                      int pieces, int repetitions) {
  const GappedType type(piece_bytes, pieces);
  const int packed_bytes = static_cast<int>(packed.size());
  constexpr double directions = 2;
  return time_on_each_rank(
             comm, repetitions,
             [&](int) {
               int end = 0;
               COMMPASS_MPI_CALL(MPI_Pack, scattered.data(), 1, type.get(), packed.data(), packed_bytes, &end, comm);
               end = 0;
               COMMPASS_MPI_CALL(MPI_Unpack, packed.data(), packed_bytes, &end, scattered.data(), 1, type.get(), comm);
             }) /
         directions;
}

}  // namespace commpass
