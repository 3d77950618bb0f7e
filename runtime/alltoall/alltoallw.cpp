#include "runtime/alltoall/alltoallw.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "model/base/error.hpp"
#include "runtime/device/find_device.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

void AlltoallwCall::Packing::assign(const Side& side, const void* buffer, MPI_Comm comm) {
  if (buffer == MPI_IN_PLACE)
    throw InputError(name, "MPI_IN_PLACE is given to receive in",
                     "give a buffer, and MPI_IN_PLACE as the send buffer alone");
  const int ranks = ranks_in(comm);
  const auto all = static_cast<std::size_t>(ranks);
  if (side.counts.size() != all || side.displacements.size() != all || side.types.size() != all)
    throw InputError(name,
                     fmt::format("there are {} counts, {} displacements and {} types for {} ranks", side.counts.size(),
                                 side.displacements.size(), side.types.size(), ranks),
                     "give one of each for every rank");
  parts.clear();
  for (std::size_t rank = 0; rank < side.counts.size(); ++rank) {
    const Bytes count = side.counts[rank];
    if (count < 0) throw InputError(name, fmt::format("the count for rank {} is {}", rank, count), "use 0 or more");
    Part part{side.displacements[rank], count, {}};
    if (count > 0) part.type.emplace(side.types[rank], comm);
    // Address 0 is MPI_BOTTOM, from which elements of a derived type may lie anywhere.
    if (!buffer && part.offset == 0 && part.bytes() > 0 && part.type->is_contiguous())
      throw InputError(name, fmt::format("there are {} elements for rank {} and no buffer", count, rank),
                       "give a buffer, or counts of 0");
    parts.push_back(part);
  }
}

/// Do all blocks lie as they travel, from where the library reaches?
bool AlltoallwCall::Packing::lie_as_they_travel(const void* buffer) const {
  return buffer && std::ranges::all_of(parts, [](const Part& part) {
           return !part.type || (part.type->is_contiguous() && std::abs(part.offset) <= largest_library_number);
         });
}

/// Counts and displacements in bytes: those of the user, or of blocks one after another.
void AlltoallwCall::Packing::lay_out() {
  counts.clear();
  displacements.clear();
  Bytes total = 0;
  for (const auto& part : parts) {
    counts.push_back(part.bytes());
    displacements.push_back(is_packed ? total : part.type ? part.offset : 0);  // that of nothing may be anything
    total += part.bytes();
  }
  packed.resize(is_packed ? static_cast<std::size_t>(total) : 0);
}

/// Blocks that are packed here lie in host memory. @throws InputError
void AlltoallwCall::Packing::require_host(const void* buffer) const {
  const auto part = std::ranges::find_if(parts, [](const Part& its) { return its.bytes() > 0; });
  if (part != parts.end())
    require_host_memory(static_cast<const std::byte*>(buffer) + part->offset + part->type->begin(), name);
}

void AlltoallwCall::Packing::pack(const void* buffer) {
  for (std::size_t rank = 0; rank < parts.size(); ++rank)
    if (const auto& part = parts[rank]; part.type)
      part.type->pack(static_cast<const std::byte*>(buffer) + part.offset, part.count,
                      packed.data() + displacements[rank]);
}

void AlltoallwCall::Packing::unpack(void* buffer) const {
  for (std::size_t rank = 0; rank < parts.size(); ++rank)
    if (const auto& part = parts[rank]; part.type)
      part.type->unpack(packed.data() + displacements[rank], part.count, static_cast<std::byte*>(buffer) + part.offset);
}

AlltoallwCall::InBytes AlltoallwCall::begin(MPI_Comm comm, const void* sendbuf, const Side& sends, void* recvbuf,
                                            const Side& receives) {
  const bool in_place = sendbuf == MPI_IN_PLACE;
  received_ = recvbuf;
  receives_.assign(receives, recvbuf, comm);
  receives_.is_packed = in_place || !receives_.lie_as_they_travel(recvbuf);
  if (receives_.is_packed) receives_.require_host(recvbuf);
  if (!in_place) sends_.assign(sends, sendbuf, comm);
  receives_.lay_out();
  void* const received = receives_.is_packed ? receives_.packed.data() : recvbuf;
  if (in_place) {
    receives_.pack(recvbuf);
    return {MPI_IN_PLACE, {}, {}, received, receives_.counts, receives_.displacements};
  }
  sends_.is_packed = !sends_.lie_as_they_travel(sendbuf);
  if (sends_.is_packed) sends_.require_host(sendbuf);
  sends_.lay_out();
  if (sends_.is_packed) sends_.pack(sendbuf);
  return {sends_.is_packed ? sends_.packed.data() : sendbuf,
          sends_.counts,
          sends_.displacements,
          received,
          receives_.counts,
          receives_.displacements};
}

void AlltoallwCall::end() {
  if (receives_.is_packed) receives_.unpack(received_);
}

void AlltoallwCall::run(AlltoallvEngine& engine, MPI_Comm comm, const void* sendbuf, const Side& sends, void* recvbuf,
                        const Side& receives, const AlltoallvOptions& options) {
  const auto bytes = begin(comm, sendbuf, sends, recvbuf, receives);
  engine.alltoallv(bytes.sendbuf, bytes.sendcounts, bytes.sdispls, MPI_BYTE, bytes.recvbuf, bytes.recvcounts,
                   bytes.rdispls, MPI_BYTE, options);
  if (!engine.was_left()) end();
}

}  // namespace commpass
