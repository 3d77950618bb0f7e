#include "runtime/alltoall/alltoallv_arguments.hpp"

#include <fmt/core.h>

#include <string>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

CallError wrong_argument(Side side, int error_class, const std::string& what, const std::string& remedy) {
  return {error_class, side == Side::send ? "alltoallv, send side" : "alltoallv, receive side", what, remedy};
}

bool has_one_for_each(const Numbers& numbers, int ranks) { return numbers.size() == static_cast<std::size_t>(ranks); }

void require_buffer(Side side, const void* buffer, const BlocksArgument& argument) {
  if (buffer == MPI_IN_PLACE)
    throw wrong_argument(side, MPI_ERR_BUFFER, "MPI_IN_PLACE is given",
                         "give a buffer, and MPI_IN_PLACE as the send buffer alone");
  if (buffer || !argument.type->is_contiguous() || argument.type->size() == 0) return;
  for (std::size_t rank = 0; rank < argument.counts.size(); ++rank)
    if (argument.counts[rank] > 0)
      throw wrong_argument(side, MPI_ERR_BUFFER,
                           fmt::format("there are {} elements for rank {} and no buffer", argument.counts[rank], rank),
                           "give a buffer, or counts of 0");
}

}  // namespace

void BlocksArgument::assign(Side side, MPI_Comm comm, const AlltoallCall::Side& given, bool are_equal) {
  const int ranks = ranks_in(comm);
  if (are_equal) {
    if (given.count < 0)
      throw wrong_argument(side, MPI_ERR_COUNT, fmt::format("the count is {}", given.count), "use 0 or more");
    counts.assign(static_cast<std::size_t>(ranks), given.count);
    offsets.clear();
    for (int rank = 0; rank < ranks; ++rank) offsets.push_back(rank * given.count);
  } else {
    if (!has_one_for_each(given.counts, ranks) || !has_one_for_each(given.displacements, ranks))
      throw wrong_argument(side, MPI_ERR_ARG,
                           fmt::format("there are {} counts and {} displacements for {} ranks", given.counts.size(),
                                       given.displacements.size(), ranks),
                           "give one of each for every rank");
    for (std::size_t rank = 0; rank < given.counts.size(); ++rank)
      if (given.counts[rank] < 0)
        throw wrong_argument(side, MPI_ERR_COUNT, fmt::format("the count for rank {} is {}", rank, given.counts[rank]),
                             "use 0 or more");
    given.counts.copy_to(counts);
    given.displacements.copy_to(offsets);
  }
  type.emplace(given.type, comm);
  require_buffer(side, given.buffer, *this);
}

void AlltoallvArguments::make_room(int ranks) {
  for (auto* side : {&sends, &receives})
    for (auto* numbers : {&side->counts, &side->offsets}) numbers->reserve(static_cast<std::size_t>(ranks));
}

void AlltoallvArguments::send_in_place(MPI_Comm comm, const void* receive_buffer, AlltoallSpace& space) {
  sends.counts.clear();
  sends.offsets.clear();
  Bytes total = 0;
  for (const Bytes count : receives.counts) {
    sends.counts.push_back(count * receives.type->size());
    sends.offsets.push_back(total);
    total += sends.counts.back();
  }
  sends.type.emplace(MPI_BYTE, comm);
  is_copied_ = space.try_reserve(space.in_place, total);
  auto* const copy = space.in_place.data();
  copy_ = copy;
  if (!is_copied_) return;
  copies_.clear();
  const auto blocks = receives.blocks(static_cast<const std::byte*>(receive_buffer));
  for (Rank rank = 0; rank < static_cast<Rank>(sends.counts.size()); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    if (const Bytes bytes = sends.counts[r]; bytes == 0) continue;
    else if (space.is_on_device())
      copies_.push_back({blocks.at(rank), copy + sends.offsets[r], static_cast<std::size_t>(bytes)});
    else receives.type->pack(blocks.at(rank), receives.counts[r], copy + sends.offsets[r]);
  }
  if (copies_.empty()) return;
  space.memory->copy(copies_);
  space.memory->order();
}

}  // namespace commpass
