#include "runtime/alltoall/alltoallw.hpp"

#include <fmt/core.h>

#include "runtime/device/find_device.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

void AlltoallwCall::Bytewise::assign(const AlltoallCall::Side& side, MPI_Comm comm, bool must_be_packed) {
  const void* const buffer = side.buffer;
  if (buffer == MPI_IN_PLACE)
    throw CallError(MPI_ERR_BUFFER, name, "MPI_IN_PLACE is given to receive in",
                    "give a buffer, and MPI_IN_PLACE as the send buffer alone");
  const int ranks = ranks_in(comm);
  const auto all = static_cast<std::size_t>(ranks);
  if (side.counts.size() != all || side.displacements.size() != all || side.types.size() != all)
    throw InputError(name,
                     fmt::format("there are {} counts, {} displacements and {} types for {} ranks", side.counts.size(),
                                 side.displacements.size(), side.types.size(), ranks),
                     "give one of each for every rank");
  blocks.clear();
  for (Rank rank = 0; rank < ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    // The type of a block without elements may be any.
    if (side.counts[r] == 0) blocks.add({rank, side.displacements[r]});
    else blocks.add_checked(name, buffer, {rank, side.displacements[r], side.counts[r]}, side.types[r], comm);
  }
  blocks.lay_out(TypedBlocks::Places::users);
  bool is_packed = must_be_packed || !buffer || !blocks.are_contiguous();
  for (std::size_t i = 0; i < blocks.size(); ++i) is_packed = is_packed || blocks[i].place > largest_library_number;
  if (is_packed) blocks.lay_out(TypedBlocks::Places::packed);
  if (is_packed) require_host_memory(blocks.first_byte(buffer), name);
  counts.clear();
  displacements.clear();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    counts.push_back(blocks.bytes(i));
    displacements.push_back(blocks[i].place);
  }
}

AlltoallCall AlltoallwCall::begin(MPI_Comm comm, const AlltoallCall& call) {
  received_ = call.receive_buffer();
  receives_.assign(call.receives, comm, call.is_in_place());
  if (!call.is_in_place()) sends_.assign(call.sends, comm, false);
  AlltoallCall bytes{AlltoallCall::Kind::v, {call.sends.buffer}, receives_.side(received_)};
  if (call.is_in_place()) {
    receives_.blocks.pack(received_);
  } else {
    bytes.sends = sends_.side(call.sends.buffer);
    sends_.blocks.pack(call.sends.buffer);
  }
  return bytes;
}

void AlltoallwCall::end() { receives_.blocks.unpack(received_); }

void AlltoallwCall::run(AlltoallvEngine& engine, MPI_Comm comm, const AlltoallCall& call,
                        const AlltoallvOptions& options) {
  const auto bytes = begin(comm, call);
  try {
    engine.run(bytes, options);
  } catch (const CallError&) {
    end();  // the other blocks have come
    throw;
  }
  if (!engine.was_left()) end();
}

}  // namespace commpass
