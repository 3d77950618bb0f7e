#include "runtime/alltoall/alltoallw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "model/error.hpp"
#include "runtime/mpi/element_type.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

/// A rank's block, whose type is looked at only where there is something: elsewhere MPI allows any.
struct Part {
  Bytes offset = 0, count = 0;
  std::optional<ElementType> type;
  Bytes bytes() const { return type ? count * type->size() : 0; }
};

std::vector<Part> parts_of(const AlltoallwCall::Side& side, const void* buffer, MPI_Comm comm, const char* name) {
  const int ranks = ranks_in(comm);
  if (std::ssize(side.counts) != ranks || std::ssize(side.displacements) != ranks || std::ssize(side.types) != ranks)
    throw InputError(name,
                     fmt::format("there are {} counts, {} displacements and {} types for {} ranks", side.counts.size(),
                                 side.displacements.size(), side.types.size(), ranks),
                     "give one of each for every rank");
  std::vector<Part> blocks;
  for (std::size_t rank = 0; rank < side.counts.size(); ++rank) {
    const int count = side.counts[rank];
    if (count < 0) throw InputError(name, fmt::format("the count for rank {} is {}", rank, count), "use 0 or more");
    Part block{side.displacements[rank], count, {}};
    if (count > 0) block.type.emplace(side.types[rank], comm);
    // Address 0 is MPI_BOTTOM, from which elements of a derived type may lie anywhere.
    if (!buffer && block.offset == 0 && block.bytes() > 0 && block.type->is_contiguous())
      throw InputError(name, fmt::format("there are {} elements for rank {} and no buffer", count, rank),
                       "give a buffer, or counts of 0");
    if (block.bytes() > std::numeric_limits<int>::max())
      throw InputError(name, fmt::format("the block for rank {} has {} bytes", rank, block.bytes()),
                       "send blocks of less than 2^31 bytes");
    blocks.push_back(std::move(block));
  }
  return blocks;
}

/// Do all blocks lie as they travel, from where an int reaches?
bool lie_as_they_travel(const void* buffer, const std::vector<Part>& blocks) {
  return buffer &&
         std::ranges::all_of(blocks, [](const Part& block) { return !block.type || block.type->is_contiguous(); });
}

/// Counts and displacements in bytes: those of the user, or of blocks one after another.
void lay_out(const std::vector<Part>& blocks, bool is_packed, std::vector<int>& counts, std::vector<int>& displacements,
             std::vector<std::byte>& packed, const char* name) {
  counts.clear();
  displacements.clear();
  Bytes total = 0;
  for (const auto& block : blocks) {
    counts.push_back(static_cast<int>(block.bytes()));
    displacements.push_back(static_cast<int>(is_packed ? total : block.offset));
    total += block.bytes();
    if (is_packed && total > std::numeric_limits<int>::max())
      throw InputError(name, "blocks with gaps have 2^31 bytes or more together", "use alltoallw_init");
  }
  packed.resize(is_packed ? static_cast<std::size_t>(total) : 0);
}

void pack_all(const std::vector<Part>& blocks, const void* buffer, const std::vector<int>& at, std::byte* packed) {
  for (std::size_t rank = 0; rank < blocks.size(); ++rank)
    if (const auto& block = blocks[rank]; block.type)
      block.type->pack(static_cast<const std::byte*>(buffer) + block.offset, block.count, packed + at[rank]);
}

}  // namespace

void AlltoallwCall::run(AlltoallvEngine& engine, MPI_Comm comm, const void* sendbuf, const Side& sends, void* recvbuf,
                        const Side& receives, const AlltoallvOptions& options) {
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const auto to = parts_of(receives, recvbuf, comm, "alltoallw, receive side");
  const auto from = in_place ? std::vector<Part>() : parts_of(sends, sendbuf, comm, "alltoallw, send side");
  const bool packs_to = in_place || !lie_as_they_travel(recvbuf, to);
  const bool packs_from = !in_place && !lie_as_they_travel(sendbuf, from);
  lay_out(to, packs_to, receives_.counts, receives_.displacements, receives_.packed, "alltoallw, receive side");
  void* const received = packs_to ? receives_.packed.data() : recvbuf;
  if (in_place) {
    pack_all(to, recvbuf, receives_.displacements, receives_.packed.data());
    engine.alltoallv(MPI_IN_PLACE, {}, {}, MPI_BYTE, received, receives_.counts, receives_.displacements, MPI_BYTE,
                     options);
  } else {
    lay_out(from, packs_from, sends_.counts, sends_.displacements, sends_.packed, "alltoallw, send side");
    if (packs_from) pack_all(from, sendbuf, sends_.displacements, sends_.packed.data());
    engine.alltoallv(packs_from ? sends_.packed.data() : sendbuf, sends_.counts, sends_.displacements, MPI_BYTE,
                     received, receives_.counts, receives_.displacements, MPI_BYTE, options);
  }
  if (!packs_to) return;
  for (std::size_t rank = 0; rank < to.size(); ++rank)
    if (const auto& block = to[rank]; block.type)
      block.type->unpack(receives_.packed.data() + receives_.displacements[rank], block.count,
                         static_cast<std::byte*>(recvbuf) + block.offset);
}

}  // namespace commpass
