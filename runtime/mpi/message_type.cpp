#include "runtime/mpi/message_type.hpp"

#include <array>
#include <vector>

#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

MessageType::MessageType(Bytes bytes) {
  if (bytes <= largest_mpi_count) {
    count_ = static_cast<int>(bytes);
    return;
  }
  // As many whole chunks as fit, and the rest.
  MPI_Datatype chunk = MPI_DATATYPE_NULL;
  COMMPASS_MPI_CALL(MPI_Type_contiguous, static_cast<int>(largest_mpi_count), MPI_BYTE, &chunk);
  const std::array<int, 2> counts{static_cast<int>(bytes / largest_mpi_count),
                                  static_cast<int>(bytes % largest_mpi_count)};
  const std::array<MPI_Aint, 2> offsets{0, static_cast<MPI_Aint>(bytes - bytes % largest_mpi_count)};
  const std::array<MPI_Datatype, 2> types{chunk, MPI_BYTE};
  const int code = MPI_Type_create_struct(2, counts.data(), offsets.data(), types.data(), &own_);
  MPI_Type_free(&chunk);
  check_mpi("MPI_Type_create_struct", code);
  count_ = 1;
  COMMPASS_MPI_CALL(MPI_Type_commit, &own_);
}

MessageType::MessageType(std::span<const MemoryPiece> pieces) : count_(1) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> addresses;
  for (const auto& [begin, bytes] : pieces) {
    lengths.push_back(bytes);
    COMMPASS_MPI_CALL(MPI_Get_address, begin, &addresses.emplace_back());
  }
  COMMPASS_MPI_CALL(MPI_Type_create_hindexed, static_cast<int>(pieces.size()), lengths.data(), addresses.data(),
                    MPI_BYTE, &own_);
  COMMPASS_MPI_CALL(MPI_Type_commit, &own_);
}

MessageType::~MessageType() {
  if (own_ != MPI_DATATYPE_NULL && mpi_is_usable()) MPI_Type_free(&own_);  // requests that use it keep it alive
}

// The blocks of the datatype overlap. Receiving a place twice is an error in MPI (MPI 3.1 §4.1.11), because its
// contents are then undefined; libraries write one block after another.
void receive_and_discard(Bytes bytes, Rank peer, int tag, MPI_Comm comm, MPI_Request* request) {
  static std::array<std::byte, 4096> place;
  constexpr auto room = static_cast<Bytes>(place.size());
  if (bytes <= room) {
    COMMPASS_MPI_CALL(MPI_Irecv, place.data(), static_cast<int>(bytes), MPI_BYTE, peer, tag, comm, request);
    return;
  }
  const auto blocks = static_cast<int>((bytes + room - 1) / room);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  COMMPASS_MPI_CALL(MPI_Type_create_hvector, blocks, static_cast<int>(room), 0, MPI_BYTE, &type);
  int code = MPI_Type_commit(&type);
  if (code == MPI_SUCCESS) code = MPI_Irecv(place.data(), 1, type, peer, tag, comm, request);
  MPI_Type_free(&type);  // the request keeps it
  check_mpi("MPI_Irecv", code);
}

}  // namespace commpass
