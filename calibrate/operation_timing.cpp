#include "calibrate/operation_timing.hpp"

#include <array>
#include <memory>

#include "calibrate/sampling.hpp"
#include "model/route/catalogue.hpp"
#include "runtime/alltoall/library_alltoallv.hpp"
#include "runtime/execute/library_requests.hpp"
#include "runtime/execute/memory.hpp"
#include "runtime/execute/persistent_requests.hpp"
#include "runtime/indexed/value_runs.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/mpi/timed_start.hpp"

namespace commpass {

namespace {

/// Times an operation on the slowest rank.
template <class Operation>
Seconds mean_seconds(MPI_Comm comm, int repetitions, Operation operation) {
  const auto repeat = [&] {
    for (int i = 0; i < repetitions; ++i) operation();
  };
  return time_exchange(comm, repeat) / repetitions;
}

constexpr Bytes message_bytes = 8;  // small, so that the call dominates

Plan plan_of(Rank rank, int ranks, int messages) {
  Plan plan;
  auto& batch = plan.batches.emplace_back();
  for (int i = 0; i < messages; ++i) {
    const int distance = 1 + i % (ranks - 1);
    const Bytes offset = i * message_bytes;
    batch.sends.push_back({(rank + distance) % ranks, {Place::Buffer::send, offset}, message_bytes});
    batch.receives.push_back({(rank - distance + ranks) % ranks, {Place::Buffer::receive, offset}, message_bytes});
  }
  return plan;
}

Seconds time_of(Executor& executor, int repetitions, MPI_Comm comm) {
  COMMPASS_MPI_CALL(MPI_Barrier, comm);
  const double begin = MPI_Wtime();
  for (int i = 0; i < repetitions; ++i) {
    executor.start();
    executor.wait();
  }
  Seconds seconds = (MPI_Wtime() - begin) / repetitions;
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

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

PutWindow::PutWindow(MPI_Comm comm, std::span<std::byte> memory) {
  COMMPASS_MPI_CALL(MPI_Win_create, memory.data(), static_cast<MPI_Aint>(memory.size()), 1, MPI_INFO_NULL, comm,
                    &window_);
  COMMPASS_MPI_CALL(MPI_Win_set_errhandler, window_, MPI_ERRORS_RETURN);
}

PutWindow::~PutWindow() { MPI_Win_free(&window_); }

Seconds time_barrier(MPI_Comm comm, int repetitions) {
  return mean_seconds(comm, repetitions, [&] { COMMPASS_MPI_CALL(MPI_Barrier, comm); });
}

Seconds time_allreduce(MPI_Comm comm, int repetitions) {
  double value = 1, sum = 0;
  return mean_seconds(comm, repetitions,
                      [&] { COMMPASS_MPI_CALL(MPI_Allreduce, &value, &sum, 1, MPI_DOUBLE, MPI_SUM, comm); });
}

Seconds time_window(MPI_Comm comm, std::span<std::byte> memory, int repetitions) {
  return mean_seconds(comm, repetitions, [&] { const PutWindow window(comm, memory); });
}

Seconds time_puts(MPI_Comm comm, const PutWindow& window, int puts, int repetitions) {
  const Rank rank = rank_in(comm);
  const int ranks = ranks_in(comm);
  const std::array<std::byte, put_bytes> data{};
  COMMPASS_MPI_CALL(MPI_Win_fence, 0, window.get());
  return mean_seconds(comm, repetitions, [&] {
    for (int i = 0; i < puts; ++i) {
      // Evenly over all other ranks, each into a place of its own.
      const int step = static_cast<int>(std::int64_t{ranks - 1} * i / puts);
      const auto place = static_cast<MPI_Aint>((std::int64_t{rank} * puts_max + i) * put_bytes);
      COMMPASS_MPI_CALL(MPI_Put, data.data(), static_cast<int>(put_bytes), MPI_BYTE, (rank + 1 + step) % ranks, place,
                        static_cast<int>(put_bytes), MPI_BYTE, window.get());
    }
    COMMPASS_MPI_CALL(MPI_Win_fence, 0, window.get());
  });
}

CollectiveBench::CollectiveBench(MPI_Comm comm, int messages, const Machine& machine)
    : comm_(comm), send_(static_cast<std::size_t>(messages * message_bytes)), receive_(send_.size()) {
  constexpr int tag = 1;
  const auto plan = plan_of(comm_.rank(), comm_.size(), messages);
  direct_.emplace(std::make_unique<PersistentRequests>(plan, comm_.get(), tag, send_.data(), receive_.data(), machine));
  auto by_library = std::make_unique<LibraryRequests>(plan, send_.data(), receive_.data());
  by_library->connect(comm_.get());
  by_library_.emplace(std::move(by_library));
}

Seconds CollectiveBench::direct(int repetitions) { return time_of(*direct_, repetitions, comm_.get()); }
Seconds CollectiveBench::by_library(int repetitions) { return time_of(*by_library_, repetitions, comm_.get()); }

AlltoallvBench::AlltoallvBench(MPI_Comm comm, const Layout& layout, int messages, Bytes bytes)
    : comm_(comm),
      structure_(make_alltoall_structure(comm_.get(), *make_route(parse_strategy("standard"), layout), {},
                                         Coalescing::coalesced)),
      exchange_(comm_.get()),
      arrivals_(layout.nodes() == 1) {
  const int ranks = comm_.size(), size = static_cast<int>(bytes);
  const auto index = [&](Rank rank) { return static_cast<std::size_t>((rank + ranks) % ranks); };
  sent_.resize(static_cast<std::size_t>(ranks));
  received_.resize(sent_.size());
  for (Rank rank = 0; rank < ranks; ++rank) offsets_.push_back(rank * size);
  for (int distance = 1; distance <= messages; ++distance)
    sent_[index(comm_.rank() + distance)] = received_[index(comm_.rank() - distance)] = size;
  send_.resize(static_cast<std::size_t>(ranks * bytes));
  receive_.resize(send_.size());
}

Seconds AlltoallvBench::direct(int repetitions) {
  AlltoallData data;
  return mean_seconds(comm_.get(), repetitions, [&] {
    data.assign({CallSide::v(send_.data(), sent_, offsets_, MPI_BYTE),
                 CallSide::v(receive_.data(), received_, offsets_, MPI_BYTE)},
                comm_.get(), nullptr);
    data.begin({});
    exchange_.run(structure_, data);
  });
}

Seconds AlltoallvBench::by_library(int repetitions) {
  return mean_seconds(comm_.get(), repetitions, [&] {
    arrivals_.announce(comm_.get());
    COMMPASS_MPI_CALL(MPI_Alltoallv, send_.data(), sent_.data(), offsets_.data(), MPI_BYTE, receive_.data(),
                      received_.data(), offsets_.data(), MPI_BYTE, comm_.get());
  });
}

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

Seconds time_addition(MPI_Comm comm, std::span<const std::byte> from, std::span<std::byte> to, Bytes bytes,
                      int repetitions) {
  const auto size = at(bytes);
  const std::size_t places = from.size() / size;
  const auto add = addition_of<double>(1);
  return time_on_each_rank(comm, repetitions, [&](int i) {
    const auto place = at(i) % places * size;
    const LocalCopy piece{from.data() + place, to.data() + place, size};
    add_pieces({&piece, 1}, sizeof(double), add);
  });
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
