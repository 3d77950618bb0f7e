#include "runtime/alltoallv_arguments.hpp"

#include <fmt/format.h>

#include <string>

#include "model/error.hpp"

namespace commpass {

namespace {

InputError wrong_argument(Side side, const std::string& what, const std::string& remedy) {
  return {side == Side::send ? "alltoallv, send side" : "alltoallv, receive side", what, remedy};
}

}  // namespace

void BlocksArgument::assign(Side side, int ranks, std::span<const int> new_counts, std::span<const int> new_offsets, MPI_Datatype new_type) {
  if (std::ssize(new_counts) != ranks || std::ssize(new_offsets) != ranks)
    throw wrong_argument(side, fmt::format("there are {} counts and {} displacements for {} ranks", new_counts.size(), new_offsets.size(), ranks), "give one of each for every rank");
  for (std::size_t rank = 0; rank < new_counts.size(); ++rank)
    if (new_counts[rank] < 0) throw wrong_argument(side, fmt::format("the count for rank {} is {}", rank, new_counts[rank]), "use 0 or more");
  counts.assign(new_counts.begin(), new_counts.end());
  offsets.assign(new_offsets.begin(), new_offsets.end());
  type.emplace(new_type);
}

void BlocksArgument::assign_equal(Side side, int ranks, int count, MPI_Datatype new_type) {
  if (count < 0) throw wrong_argument(side, fmt::format("the count is {}", count), "use 0 or more");
  counts.assign(static_cast<std::size_t>(ranks), count);
  offsets.clear();
  for (int rank = 0; rank < ranks; ++rank) offsets.push_back(Bytes{rank} * count);
  type.emplace(new_type);
}

void AlltoallvArguments::send_in_place(const void* receive_buffer) {
  sends.counts.clear();
  sends.offsets.clear();
  Bytes total = 0;
  for (const Bytes count : receives.counts) {
    sends.counts.push_back(count * receives.type->size());
    sends.offsets.push_back(total);
    total += sends.counts.back();
  }
  sends.type.emplace(MPI_BYTE);
  auto* const copy = copy_.reserve(total);
  const auto blocks = receives.blocks(static_cast<const std::byte*>(receive_buffer));
  for (Rank rank = 0; rank < static_cast<Rank>(sends.counts.size()); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    receives.type->pack(blocks.at(rank), receives.counts[r], copy + sends.offsets[r]);
  }
}

}  // namespace commpass
