#include "runtime/mpi/lost_message.hpp"

#include <array>
#include <cstddef>

#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

// A datatype whose blocks lie on top of each other. MPI calls it an error that a place is received twice (MPI 3.1
// §4.1.11), for what is there then is not defined; libraries just write one block after another.
void receive_and_forget(Bytes bytes, Rank peer, int tag, MPI_Comm comm, MPI_Request* request) {
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
